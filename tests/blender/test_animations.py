# SPDX-License-Identifier: GPL-3.0-or-later
"""Animations of models: of several objects, under one name, in formats with and without named parts; and their player."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import FORMATS, b3d
from io_retro_meshes.formats.b3d import document as doc
from tests.builders.session import TOLERANCE, Session
from tests.conftest import CORPUS, ROOT

FOX = ROOT / "examples" / "fox.b3d"


# ----------------------------------------------------------------------------------------------------- several objects


@pytest.fixture
def train(blender: Any, tmp_path: Path) -> Path:
    """A file with three objects that move by themselves, and two named parts."""
    blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    for number in range(3):
        blender.ops.mesh.primitive_cube_add(size=1 + number, location=(3 * number, 0, 0))
        cube = blender.context.object
        for frame in (1, 20, 40):
            cube.location.z = frame * (number + 1) / 20
            cube.keyframe_insert("location", frame=frame)
    path = tmp_path / "train.b3d"
    assert blender.ops.export_scene.b3d(filepath=str(path)) == {"FINISHED"}
    document = b3d.read(path.read_bytes())
    assert not [chunk for node, _ in document.walk() for chunk in doc.of_kind(node.chunks, doc.Sequence)]
    root = next(node for node, _ in document.walk())
    root.chunks[:0] = [doc.Sequence(b"up", 1, 20), doc.Sequence(b"on", 21, 40)]
    path.write_bytes(b3d.write(document))
    return path


def test_three_objects_are_one_choice(blender: Any, tmp_path: Path, train: Path) -> None:
    from io_retro_meshes.blender.animations import animations_of

    session = Session.open(blender, train)
    cubes = [source for source in session.scene.objects if source.type == "MESH"]
    found = animations_of(list(session.scene.objects))
    assert [(each.name, each.role, len(each.owners)) for each in found][1:] == [("up", "SEQUENCE", 3), ("on", "SEQUENCE", 3)]
    assert found[0].role == "TIMELINE" and len(found[0].owners) == 3
    blender.context.view_layer.objects.active = cubes[1]
    assert blender.ops.object.retro_play_animation(action=found[2].actions[0].name) == {"FINISHED"}
    assert [source.animation_data.action.retro_meshes.name for source in cubes] == ["on"] * 3
    session.expect_untouched("up")
    session.assign("on")
    session.move(30)
    session.expect("on", "on", 21, 40)
    assert "Left out" not in session.export(tmp_path / "again.b3d")
    session.check(tmp_path / "again.b3d")


def test_renamed_objects_keep_their_animations(blender: Any, tmp_path: Path, train: Path) -> None:
    session = Session.open(blender, train)
    session.expect_untouched("up", "on")
    names = [source.name for source in session.owners()]
    for source, name in zip(session.owners(), [*names[1:], names[0]], strict=True):
        source.name = f"{name} now"
    for source in session.owners():
        source.name = source.name.removesuffix(" now")
    session.assign("on")
    session.export(tmp_path / "again.b3d")
    session.check(tmp_path / "again.b3d")


def test_edits_are_known_after_the_file_was_saved_and_opened(blender: Any, tmp_path: Path) -> None:
    session = Session.open(blender, FOX)
    session.expect_untouched("idle", "wave")
    session.assign("walk")
    session.move(60)
    session.expect("walk", "walk", 50, 74)
    session.assign("wave")
    blender.ops.wm.save_as_mainfile(filepath=str(tmp_path / "fox.blend"))
    blender.ops.wm.open_mainfile(filepath=str(tmp_path / "fox.blend"))
    assert "edited" not in session.export(tmp_path / "fox.b3d")
    session.check(tmp_path / "fox.b3d")


def test_a_bone_that_is_gone_is_told(blender: Any, tmp_path: Path) -> None:
    session = Session.open(blender, FOX)
    rig = session.owners()[0]
    blender.context.view_layer.objects.active = rig
    blender.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones["tail.3"])
    blender.ops.object.mode_set(mode="OBJECT")
    assert '"tail.3" is no bone of "fox_armature": what it does in fox was left out' in session.export(tmp_path / "fox.b3d")


def test_names_of_frames_in_which_nothing_moves(blender: Any, tmp_path: Path) -> None:
    """They are kept, told by the player, and can be given keys."""
    from io_retro_meshes.blender.animations import animations_of

    blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    blender.ops.mesh.primitive_cube_add()
    path = tmp_path / "still.b3d"
    Session(blender, "b3d").export(path)
    document = b3d.read(path.read_bytes())
    next(node for node, _ in document.walk()).chunks[:0] = [doc.Sequence(b"wait", 1, 20), doc.Sequence(b"end", 21, 21)]
    path.write_bytes(b3d.write(document))
    for _ in range(2):
        session = Session.open(blender, path)
        found = animations_of(list(session.scene.objects))
        assert [(each.name, each.role, each.frames) for each in found[1:]] == [
            ("wait", "SEQUENCE", (1, 20)),
            ("end", "SEQUENCE", (21, 21)),
        ]
        assert session.export(path) == ""
    session.expect_untouched("end")
    cube = session.owners()[0]
    cube.animation_data.action = session.parts()["wait"].actions[0]
    for frame, x in ((1, 0.0), (10, 2.0), (20, 0.0)):
        cube.location.x = x
        cube.keyframe_insert("location", frame=frame)
    session.truth["wait"] = session.poses(1, 20)
    assert "left out" not in session.export(path)
    session.check(path)


# ------------------------------------------------------------------------------------------- other ways of exporting


def test_what_an_option_leaves_out_is_told(blender: Any, tmp_path: Path) -> None:
    session = Session.open(blender, FOX)
    path = tmp_path / "fox.b3d"
    assert "Left out" not in session.export(path, animation="ACTIVE")
    session.assign("walk")
    session.move(60)
    session.expect("walk", "walk", 50, 74)
    assert 'Left out: "fox", "idle", "wave"' in session.export(path, animation="ACTIVE")
    session.assign("")
    assert 'Left out: "walk"' in session.export(path, animation="ACTIVE")
    assert 'Left out: "idle", "walk", "wave"' in session.export(path, animation="SCENE")
    assert 'Left out: "fox", "idle", "walk", "wave"' in session.export(path, animation="NONE")
    session.assign("walk")
    session.export(path, animation="ACTIVE")
    session.check(path)  # alone, at its own frames, under its name


def test_a_single_action_keeps_its_name(blender: Any, tmp_path: Path) -> None:
    blender.ops.mesh.primitive_cube_add()
    cube = blender.context.object
    for frame in (3, 12):
        cube.location.z = frame
        cube.keyframe_insert("location", frame=frame)
    cube.animation_data.action.name = "Rise"
    for format_id, extension in (("b3d", ".b3d"), ("dbo", ".dbo")):
        session = Session(blender, format_id)
        session.export(tmp_path / f"cube{extension}")
        scene = FORMATS[format_id].to_scene(FORMATS[format_id].read((tmp_path / f"cube{extension}").read_bytes()))
        assert [(clip.name, clip.first, clip.last) for clip in scene.clips] == [("Rise", 3, 12)]


# ------------------------------------------------------------------------------------- formats without named parts


def test_a_new_action_on_a_timeline_without_names(blender: Any, tmp_path: Path) -> None:
    """The robot's file has frames and no names: the new ones are behind the others, and a warning says where."""
    session = Session.open(blender, ROOT / "examples" / "robot.bo3d")
    timeline = session.owners()[0].retro_meshes.timeline
    first, last = timeline.frame_range
    before = session.poses(first, last)
    rig = next(source for source in session.owners() if source.type == "ARMATURE")
    rig.animation_data.action = None
    bone = rig.pose.bones[0]
    for frame, x in ((5, 0.0), (15, 1.0)):
        bone.location.x = x
        bone.keyframe_insert("location", frame=frame)
    rig.animation_data.action.name = "nod"
    for source in session.owners():
        if source != rig:
            source.animation_data.action = None
    new = [session.pose(frame)[2:] for frame in (5, 15)]
    warnings = session.export(tmp_path / "robot.bo3d")
    assert f'"nod" is frames {last + 1:g} to {last + 11:g}' in warnings
    after = Session.open(blender, tmp_path / "robot.bo3d")
    assert max(np.abs(a - b).max() for a, b in zip(after.poses(first, last), before, strict=True)) < TOLERANCE * after.size()
    moved = after.pose(last + 11) - after.pose(last + 1)
    assert np.allclose(moved[2:], new[1] - new[0], atol=TOLERANCE * after.size()) and np.abs(moved).max() > 0.1


@pytest.mark.parametrize("name", ["lighthouse.bgl", "scene_anim.bgl"])
def test_clips_with_keys_of_their_own(blender: Any, tmp_path: Path, name: str) -> None:
    path = next((path for path in [ROOT / "examples" / name, CORPUS / "bogle" / name] if path.is_file()), None)
    if path is None:
        pytest.skip("no corpus")
    session = Session.open(blender, path)
    rig = next(source for source in session.scene.objects if source.type == "ARMATURE")
    blender.context.view_layer.objects.active = rig
    names = [action.name for action in sorted(blender.data.actions, key=lambda action: action.retro_meshes.place)]
    bone = max(rig.pose.bones, key=lambda bone: len(bone.children_recursive))
    expected = {}
    for number, action in enumerate(names):
        assert blender.ops.object.retro_play_animation(action=action) == {"FINISHED"}
        frame = session.scene.frame_preview_start + 4
        session.scene.frame_set(frame)
        bone.rotation_quaternion = (0.8, 0.6 * (-1) ** number, 0, 0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
        expected[action] = session.pose(frame)
    blender.data.actions[names[0]].name = "Renamed"
    session.export(tmp_path / "out.bgl", file_layout="ANIM", exact_joints=True)
    after = Session.open(blender, tmp_path / "out.bgl")
    assert {action.retro_meshes.name for action in blender.data.actions} == {"Renamed", *names[1:]}
    blender.context.view_layer.objects.active = next(each for each in after.scene.objects if each.type == "ARMATURE")
    for action, pose in expected.items():
        blender.ops.object.retro_play_animation(action="Renamed" if action == names[0] else action)
        assert np.abs(after.pose(after.scene.frame_preview_start + 4) - pose).max() < TOLERANCE * after.size(), action


def test_skeletons_with_animations_of_their_own(blender: Any, tmp_path: Path) -> None:
    """What an import lets them play together is no animation of the file."""
    for number in range(2):
        blender.ops.object.armature_add(location=(3 * number, 0, 0))
        rig = blender.context.object
        blender.ops.mesh.primitive_cube_add(location=(3 * number, 0, 0))
        cube = blender.context.object
        cube.modifiers.new("Armature", "ARMATURE").object = rig
        cube.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")
        for frame, turn in ((1, 0.0), (11, 0.6)):
            rig.pose.bones[0].rotation_quaternion = (0.8, turn, 0, 0)
            rig.pose.bones[0].keyframe_insert("rotation_quaternion", frame=frame)
        rig.animation_data.action.name = f"turn {number}"
    path = tmp_path / "two.bgl"
    Session(blender, "bogle").export(path, file_layout="ANIM", animation="ACTIONS")
    for _ in range(2):
        session = Session.open(blender, path)
        assert {action.retro_meshes.role for action in blender.data.actions} == {"TIMELINE", "ACTION"}
        session.export(path, file_layout="ANIM")
        document = FORMATS["bogle"].read(path.read_bytes())
        names = {animation.name for collection in document.collections for animation in collection.animations}
        assert names == {b"turn 0", b"turn 1"}


# ----------------------------------------------------------------------------------------------------------- the player


def test_the_player(blender: Any) -> None:
    """A click assigns, sets the preview range and goes to the first frame. No animation begins where another one has ended."""
    session = Session.open(blender, FOX)
    scene, rig = session.scene, session.owners()[0]
    rest = session.poses(1, 123)
    blender.context.view_layer.objects.active = next(source for source in scene.objects if source.type == "MESH")
    bare = rig.pose.bones[-1]
    rig.animation_data.action = None
    bare.scale = (3, 3, 3)
    bare.keyframe_insert("scale", frame=200)
    rig.animation_data.action.name = "swell"
    rig.animation_data.action.use_fake_user = True
    play = blender.ops.object.retro_play_animation
    assert play(action="walk") == {"FINISHED"}
    assert rig.animation_data.action.name == "walk" and tuple(bare.scale) == (1, 1, 1)
    assert (scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end, scene.frame_current) == (
        True,
        50,
        74,
        50,
    )
    play(action="swell")
    assert (scene.frame_preview_start, scene.frame_current, tuple(bare.scale)) == (200, 200, (3, 3, 3))
    rig.animation_data.action = blender.data.actions["wave"]
    blender.ops.object.retro_show_frames()
    assert (scene.frame_preview_start, scene.frame_preview_end, scene.frame_current) == (75, 123, 75)
    blender.ops.object.retro_whole_timeline()
    assert not scene.use_preview_range and rig.animation_data.action.name == "fox" and scene.frame_current == 1
    assert max(np.abs(a - b).max() for a, b in zip(session.poses(1, 123), rest, strict=True)) < 1e-5
    with pytest.raises(RuntimeError, match="no animation"):
        play(action="fly")


def test_nothing_leads_to_an_action_that_is_gone(blender: Any) -> None:
    """Blender itself ends when such a link is followed."""
    session = Session.open(blender, FOX)
    whole = session.owners()[0].retro_meshes.timeline
    part = blender.data.actions["idle"]
    blender.data.actions.remove(blender.data.actions["wave"])
    assert [link.action for link in whole.retro_meshes.parts] == [part, blender.data.actions["walk"], None]
    blender.data.actions.remove(whole)
    assert part.retro_meshes.timeline is None and session.owners() == []
