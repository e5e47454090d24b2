# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits beside keys in an action: renamed bones, constraints, keys that are gone or moved, copies, and appended models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.builders.session import Session, middle, others
from tests.conftest import ROOT

FOX = ROOT / "examples" / "fox.b3d"
PART = "walk"


@pytest.fixture
def session(blender: Any) -> Session:
    return Session.open(blender, FOX)


def rig(session: Session) -> Any:
    return session.owners()[0]


def edit(session: Session) -> None:
    """A part, while the others stay as they are."""
    session.expect_untouched(*others(session, PART))
    session.assign(PART)
    session.move(middle(session, PART))
    session.expect(PART, PART, *session.parts()[PART].frames)


def saved(session: Session, path: Path) -> str:
    warnings = session.export(path)
    session.check(path)
    return warnings


def curves(session: Session, name: str) -> list[Any]:
    from io_retro_meshes.blender import compat

    found = [compat.action_curves(action) for action in session.parts()[name].actions]
    return [curve for slots in found for _, each in slots for curve in each]


# ----------------------------------------------------------------------------------------------------------------- keys


@pytest.mark.parametrize("by", [-49, 10])
def test_keys_that_were_all_moved_play_the_same(session: Session, tmp_path: Path, by: int) -> None:
    session.expect_untouched(*session.parts())
    frames = session.parts()[PART].frames
    for curve in curves(session, PART):
        for key in curve.keyframe_points:
            key.co.x += by
        curve.update()
    assert saved(session, tmp_path / "fox.b3d") == ""
    assert Session.open(session.bpy, tmp_path / "fox.b3d").parts()[PART].frames == frames


def test_a_part_without_keys_rests(session: Session, tmp_path: Path) -> None:
    from io_retro_meshes.blender import compat
    from io_retro_meshes.blender.rest import POSE_FIELDS, set_rest

    session.expect_untouched(*others(session, PART))
    frames = session.parts()[PART].frames
    for action in session.parts()[PART].actions:
        for slot, found in compat.action_curves(action):
            bag = action.layers[0].strips[0].channelbag(slot) if compat.HAS_SLOTS else action
            for curve in found:
                bag.fcurves.remove(curve)
    session.assign(None)
    for bone in rig(session).pose.bones:
        for field in POSE_FIELDS:
            set_rest(rig(session), bone.name, field)
    session.truth[PART] = session.poses(*frames)
    session.bpy.context.view_layer.objects.active = rig(session)
    session.bpy.ops.object.retro_play_animation(action=session.parts()[PART].actions[0].name)
    assert rig(session).animation_data.action == session.parts()[PART].actions[0]
    assert saved(session, tmp_path / "fox.b3d") == ""


def test_constraints_and_properties_that_are_keyed_in_a_part(session: Session, tmp_path: Path) -> None:
    """They stay out of the other parts, and the export leaves them as they were."""
    idle = session.parts()["idle"].frames
    session.expect_untouched(*others(session, "idle"))
    source = rig(session)
    bone = source.pose.bones["chest"]
    limit = bone.constraints.new("LIMIT_SCALE")
    limit.use_max_x = limit.use_max_y = limit.use_max_z = True
    limit.max_x = limit.max_y = limit.max_z = 0.5
    turn = bone.constraints.new("TRANSFORM")
    turn.target, turn.map_to, turn.influence = source, "ROTATION", 0
    turn.to_min_x_rot = turn.to_max_x_rot = 0.8
    source["small"] = 0.0
    driver = limit.driver_add("influence").driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = source, '["small"]'
    driver.expression = variable.name
    session.assign("idle")
    for frame, amount in zip((idle[0], sum(idle) // 2, idle[1]), (0.0, 1.0, 1.0), strict=True):
        source["small"] = turn.influence = amount
        source.keyframe_insert('["small"]', frame=frame)
        turn.keyframe_insert("influence", frame=frame)
    session.expect("idle", "idle", *idle)
    session.assign("")
    source["small"] = turn.influence = 0.0
    source.update_tag()
    assert saved_without_change(session, tmp_path / "fox.b3d") == (0.0, 0.0)


def saved_without_change(session: Session, path: Path) -> tuple[float, float]:
    source = rig(session)
    session.export(path)
    kept = source["small"], source.pose.bones["chest"].constraints[1].influence
    session.check(path)
    return kept


# ---------------------------------------------------------------------------------------------------------------- bones


@pytest.mark.parametrize("assigned", ["", PART, "idle", None])
def test_a_bone_that_was_renamed(session: Session, tmp_path: Path, assigned: str | None) -> None:
    """Blender tells the assigned action alone."""
    from io_retro_meshes.blender.renamed import bone_of

    edit(session)
    session.assign(assigned)
    rig(session).pose.bones["hips"].name = "pelvis"
    before = {curve.data_path for name in session.parts() for curve in curves(session, name)}
    assert saved(session, tmp_path / "fox.b3d") == ""
    session = Session.open(session.bpy, FOX)
    session.assign(assigned)
    rig(session).pose.bones["hips"].name = "pelvis"
    session.export(tmp_path / "fox.b3d")
    assert {curve.data_path for name in session.parts() for curve in curves(session, name)} == before
    session.bpy.context.view_layer.objects.active = rig(session)
    session.bpy.ops.object.retro_play_animation(action="wave")
    assert not [each for name in session.parts() for each in curves(session, name) if bone_of(each.data_path) == "hips"]


# --------------------------------------------------------------------------------------------------------------- copies


def test_a_copy_of_a_part_is_not_lost_by_playing_another(session: Session, tmp_path: Path) -> None:
    """As the action editor's own button makes it: without a fake user."""
    from io_retro_meshes.blender import compat

    session.expect_untouched(*session.parts())
    session.assign(PART)
    source = rig(session)
    copy = source.animation_data.action.copy()
    copy.name = "limp"
    compat.assign_action(source, copy, compat.slot_for(copy, source, [source.retro_meshes.slot]))
    session.move(sum(copy.frame_range) // 2)
    session.truth["limp"] = session.poses(*copy.frame_range)
    session.bpy.context.view_layer.objects.active = source
    session.bpy.ops.object.retro_play_animation(action="idle")
    session.bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "fox.blend"))
    session.bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "fox.blend"))
    saved(session, tmp_path / "fox.b3d")


def test_an_appended_model_has_all_its_animations(session: Session, tmp_path: Path) -> None:
    edit(session)
    session.assign("idle")
    session.bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "fox.blend"))
    session.bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with session.bpy.data.libraries.load(str(tmp_path / "fox.blend")) as (found, wanted):
        wanted.objects = found.objects
    for source in wanted.objects:
        session.scene.collection.objects.link(source)
    saved(session, tmp_path / "fox.b3d")


@pytest.mark.parametrize("saves", [False, True])
def test_a_part_without_its_fake_user_is_deleted(session: Session, tmp_path: Path, saves: bool) -> None:
    """Blender's button for that: it is gone when the .blend file is saved."""
    session.expect_untouched(*others(session, PART))
    session.parts()[PART].actions[0].use_fake_user = False
    if saves:
        session.bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "fox.blend"))
        session.bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "fox.blend"))
    saved(session, tmp_path / "fox.b3d")


def test_a_copy_of_the_model(session: Session, tmp_path: Path) -> None:
    """It has the same animations, also when the first one is gone; the player plays each by itself."""
    edit(session)
    session.assign("")
    first = rig(session)
    for source in session.scene.objects:
        source.select_set(True)
    old = list(session.bpy.context.selected_objects)
    session.bpy.ops.object.duplicate()
    session.bpy.context.view_layer.objects.active = next(each for each in session.owners() if each != first)
    session.bpy.ops.object.retro_play_animation(action=PART)
    assert first.animation_data.action.name == "fox"
    session.bpy.data.batch_remove(old)
    saved(session, tmp_path / "fox.b3d")
