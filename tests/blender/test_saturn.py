# SPDX-License-Identifier: GPL-3.0-or-later
"""Battle characters through the operators: posed, textured and animated as the files say, there and back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import saturn
from io_retro_meshes.formats.saturn import face_attributes
from io_retro_meshes.formats.saturn.document import Document
from tests.builders import saturn as made
from tests.builders.posing import shown
from tests.conftest import CORPUS, corpus_files

FOLDER = CORPUS / "saturn"
CHARACTERS = [path for path in corpus_files("saturn", "*.bin") if path.parent == FOLDER and not path.stem.endswith("_an")]


def start_over(bpy: Any) -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def rigs(bpy: Any) -> list[Any]:
    return sorted((o for o in bpy.data.objects if o.type == "ARMATURE"), key=lambda o: o.retro_saturn.character)


def check_frames(bpy: Any, rig: Any, frames: list[dict[str, Any]]) -> None:
    """Skinned vertices, the weapon and the tags, seen from the armature."""
    for frame in frames:
        points = {name: places - np.array(rig.location) for name, places in shown(bpy, frame["frame"]).items()}
        parts = sorted(o.name for o in rig.children if o.type == "MESH")
        known = [np.array(mesh) for mesh in frame["body_blender"]]
        size = np.linalg.norm(np.ptp(np.concatenate(known), 0))
        if len(parts) == 1:
            assert np.abs(points[parts[0]][: sum(map(len, known))] - np.concatenate(known)).max() < 1e-4 * size
        else:
            for part, mesh in zip(parts, known, strict=True):
                assert np.abs(points[part][: len(mesh)] - mesh).max() < 1e-4 * size
        tags = [o for o in rig.children if o.type == "EMPTY"]
        places = np.array([o.matrix_world.translation - rig.location for o in tags]).reshape(-1, 3)
        for place in frame["tags_world"]:
            place = np.array(place)[[0, 2, 1]] * (1, 1, -1)
            assert np.linalg.norm(places - place, axis=1).min() < 1e-4 * size
        weapon = [o.name for tag in tags for o in tag.children if o.name.endswith("_weapon")]
        if "weapon_blender" in frame:
            assert np.abs(points[weapon[0]] - frame["weapon_blender"]).max() < 1e-4 * size


# --------------------------------------------------------------------------------------------------------------- import


@pytest.mark.parametrize("parts", ["ONE", "EACH"])
@pytest.mark.parametrize("path", CHARACTERS)
def test_poses(blender: Any, path: Path, parts: str) -> None:
    """Every listed frame, at keys and between them."""
    assert blender.ops.import_scene.saturn(filepath=str(path), parts=parts, images="EACH" if parts == "ONE" else "ATLAS") == {
        "FINISHED"
    }
    facts = json.loads(path.with_suffix(".json").read_text())
    for rig, fact in zip(rigs(blender), facts["characters"], strict=True):
        check_frames(blender, rig, fact["frames"])
        armature = rig.data
        parents = [armature.bones[f"bone_{index:02}"].parent for index in range(fact["bone_count"])]
        assert [int(parent.name[5:]) if parent else -1 for parent in parents] == fact["parents"]


@pytest.mark.parametrize(("name", "beside"), [("x8pc90a.bin", "x8an90.bin"), ("hero.bin", "hero_an.bin"), ("a.bin", None)])
def test_more_animations_are_found_beside(blender: Any, tmp_path: Path, corpus: Path, name: str, beside: str | None) -> None:
    shutil.copy(corpus / "saturn/hero.bin", tmp_path / name)
    shutil.copy(corpus / "saturn/hero_an.bin", tmp_path / (beside or "other.bin"))
    chosen = "" if beside else str(tmp_path / "other.bin")
    assert blender.ops.import_scene.saturn(filepath=str(tmp_path / name), animation_file=chosen) == {"FINISHED"}
    [rig] = rigs(blender)
    facts = json.loads((corpus / "saturn/hero_an.json").read_text())
    own = [blender.data.actions[title] for title in ("attack", "special 1", "special 3")]
    for action, segment in zip(own, facts["segments"], strict=True):
        assert tuple(action.frame_range) == (segment["first_frame"], segment["last_frame"])
        rig.animation_data.action = action
        if hasattr(action, "slots"):
            rig.animation_data.action_slot = action.slots[0]
        check_frames(blender, rig, segment["frames"])


def test_a_broken_animation_file_beside(blender: Any, tmp_path: Path) -> None:
    (tmp_path / "puppet.bin").write_bytes(saturn.write(made.puppet(1)))
    (tmp_path / "puppet_an.bin").write_bytes(saturn.write(made.more_animations(1))[:100])
    assert blender.ops.import_scene.saturn(filepath=str(tmp_path / "puppet.bin")) == {"FINISHED"}
    assert "puppet_an.bin" in blender.data.texts["Retro Meshes Log"].as_string()
    assert {"idle", "counter"} <= set(blender.data.actions.keys())


def test_what_an_import_looks_like(blender: Any, tmp_path: Path) -> None:
    path = tmp_path / "puppet.bin"
    path.write_bytes(saturn.write(made.puppet()))
    assert blender.ops.import_scene.saturn(filepath=str(path)) == {"FINISHED"}
    scene = blender.context.scene
    assert (scene.render.fps, scene.frame_start, scene.frame_end) == (20, 1, 21)
    body, weapon = blender.data.objects["puppet_body"], blender.data.objects["puppet_weapon"]
    assert sorted(len(face.vertices) for face in body.data.polygons) == [3] + [4] * 11
    assert [group.name for group in body.vertex_groups] == ["bone_00", "bone_01", "bone_02"]
    assert body.modifiers[0].object.name == "puppet"
    assert weapon.parent.name == "tag_weapon" and weapon.parent.parent_bone == "bone_02"
    chest = blender.data.objects["tag_chest"]
    assert chest.parent_bone == "bone_01" and np.allclose(chest.matrix_world.translation, (0, -1, 5), atol=1e-4)
    markers = blender.data.actions["counter"].pose_markers
    assert [(marker.name, marker.frame) for marker in markers] == [
        ("swoosh on", 13),
        ("hit", 15),
        ("sound 21", 15),
    ]
    assert blender.data.objects["puppet"].animation_data.action.name == "puppet"
    heads = [blender.data.armatures["puppet"].bones[f"bone_{index:02}"].head_local for index in range(3)]
    assert np.allclose(heads[1].xy, 0, atol=0.01) and np.allclose(heads[2], (1, 0, 5), atol=0.2)
    assert [image.name for image in blender.data.images if image.name.startswith("puppet")] == ["puppet atlas"]
    for name, double, blended in (("puppet atlas double", True, False), ("puppet atlas mesh half", False, True)):
        material = blender.data.materials[name]
        assert material.use_backface_culling != double
        assert (material.surface_render_method == "BLENDED") == blended
    nodes = blender.data.materials["puppet atlas"].node_tree.nodes
    assert {node.interpolation for node in nodes if node.type == "TEX_IMAGE"} == {"Closest"}


def test_characters_stand_side_by_side(blender: Any, tmp_path: Path) -> None:
    path = tmp_path / "team.bin"
    path.write_bytes(saturn.write(Document(made.puppet().characters * 3)))
    assert blender.ops.import_scene.saturn(filepath=str(path), spacing=2) == {"FINISHED"}
    assert [rig.location.x for rig in rigs(blender)] == pytest.approx([0, 8, 16])
    boxes = [np.ptp(points[:, 0]) for points in shown(blender, 1).values()]
    assert max(boxes) < 8


@pytest.mark.parametrize("name", ["empty.bin", "copy_before_start.bin", "an_truncated.bin", "skeleton_never_pops.bin"])
def test_bad_files_leave_nothing_behind(blender: Any, corpus: Path, name: str) -> None:
    with pytest.raises(RuntimeError, match=name):
        blender.ops.import_scene.saturn(filepath=str(corpus / "saturn/malformed" / name))
    assert not blender.data.objects and not blender.data.images


def test_an_animation_file_alone(blender: Any, tmp_path: Path) -> None:
    path = tmp_path / "x8an01.bin"
    path.write_bytes(saturn.write(made.more_animations(1)))
    with pytest.raises(RuntimeError, match="x8pc"):
        blender.ops.import_scene.saturn(filepath=str(path))


# --------------------------------------------------------------------------------------------------------------- export


def attributes(bpy: Any) -> dict[str, list[tuple[int, ...]]]:
    """Every face attribute of every mesh, and the polygons' corners."""
    found = {}
    for source in bpy.data.objects:
        if source.type != "MESH":
            continue
        layers = [
            source.data.attributes[name].data
            for name in (face_attributes.PART, face_attributes.PAIR, *face_attributes.ATTRIBUTES)
        ]
        rows = [tuple(layer[index].value for layer in layers) for index in range(len(source.data.polygons))]
        found[source.name] = [(*row, *face.vertices) for row, face in zip(rows, source.data.polygons, strict=True)]
    return found


def pictures(bpy: Any) -> dict[str, bytes]:
    found = {}
    for image in bpy.data.images:
        if image.type == "IMAGE":
            pixels = np.empty(image.size[0] * image.size[1] * 4, np.float32)
            image.pixels.foreach_get(pixels)
            found[image.name] = np.rint(pixels * 255).astype(np.uint8).tobytes()
    return found


def looks(bpy: Any) -> dict[str, tuple[Any, ...]]:
    return {
        material.name: (
            material.use_backface_culling,
            material.surface_render_method,
            material.retro_saturn.flag,
            material.retro_saturn.atrb,
        )
        for material in bpy.data.materials
        if material.users
    }


def actions(bpy: Any) -> dict[str, tuple[Any, ...]]:
    return {
        action.name: (
            tuple(action.frame_range),
            sorted((marker.name, marker.frame) for marker in action.pose_markers),
            (action.retro_saturn.type, action.retro_saturn.distance, action.retro_saturn.external),
        )
        for action in bpy.data.actions
    }


@pytest.mark.parametrize("path", CHARACTERS)
def test_there_and_back(blender: Any, path: Path, tmp_path: Path) -> None:
    """Import, export, import: the same posed vertices, textures, attributes, looks and animations."""
    assert blender.ops.import_scene.saturn(filepath=str(path)) == {"FINISHED"}
    frames = [blender.context.scene.frame_start, blender.context.scene.frame_end, 7, 33, 61, 90, 120.5]
    before = [attributes(blender), pictures(blender), looks(blender), actions(blender)]
    poses = [shown(blender, frame) for frame in frames]
    out = tmp_path / path.name
    assert blender.ops.export_scene.saturn(filepath=str(out)) == {"FINISHED"}
    assert (tmp_path / f"{path.stem}_an.bin").exists() == (path.stem == "hero")
    start_over(blender)
    assert blender.ops.import_scene.saturn(filepath=str(out)) == {"FINISHED"}
    assert [attributes(blender), pictures(blender), looks(blender), actions(blender)] == before
    for frame, pose in zip(frames, poses, strict=True):
        again = shown(blender, frame)
        assert again.keys() == pose.keys()
        size = max(np.linalg.norm(np.ptp(points, 0)) for points in pose.values())
        for name, points in pose.items():
            assert np.abs(again[name] - points).max() < 2e-3 * size, (frame, name)
    if path.stem == "hero":
        facts = json.loads((path.parent / "hero_an.json").read_text())
        [rig] = rigs(blender)
        for name, segment in zip(("attack", "special 1", "special 3"), facts["segments"], strict=True):
            rig.animation_data.action = blender.data.actions[name]
            if hasattr(rig.animation_data, "action_slot"):
                rig.animation_data.action_slot = blender.data.actions[name].slots[0]
            for frame in segment["frames"]:
                known = np.concatenate(frame["body_blender"])
                points = shown(blender, frame["frame"])["hero_body"]
                assert np.abs(points - known).max() < 2e-3 * np.linalg.norm(np.ptp(known, 0))


def test_an_edited_character(blender: Any, tmp_path: Path) -> None:
    path = tmp_path / "puppet.bin"
    path.write_bytes(saturn.write(made.puppet()))
    blender.ops.import_scene.saturn(filepath=str(path), images="EACH")
    blender.data.materials["puppet texture 00"].use_backface_culling = False
    body = blender.data.objects["puppet_body"]
    colors = body.data.color_attributes[0].data
    flat = next(face for face in body.data.polygons if body.material_slots[face.material_index].material.name == "puppet flat")
    for corner in flat.loop_indices:
        colors[corner].color_srgb = (1, 0, 0, 1)
    counter = blender.data.actions["counter"]
    counter.pose_markers.new("dust").frame = 12
    assert blender.ops.export_scene.saturn(filepath=str(path)) == {"FINISHED"}
    [character] = saturn.read(path.read_bytes()).characters
    rows = np.concatenate([mesh.attributes for mesh in character.model.lists[0]])
    assert (rows["flag"][(rows["dir"] & 15 == 2) & (rows["texno"] == 0)] == 1).all()
    assert (rows["colno"] == 0x801F).sum() == 1
    assert [12, 7] in [list(event) for event in character.animation.definitions[1].events.tolist()]


def new_character(bpy: Any) -> Any:
    """A rig of two bones as people make them: a skinned body, and a head that is an object of its own on a bone."""
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    spine, neck = data.edit_bones.new("spine"), data.edit_bones.new("neck")
    spine.head, spine.tail = (0, 0, 0), (0, 0.2, 2)
    neck.head, neck.tail, neck.parent = (0, 0.2, 2), (0.1, 0.2, 2.6), spine
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, 1))
    body = bpy.context.object
    body.vertex_groups.new(name="spine").add(range(8), 1.0, "REPLACE")
    body.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.ops.mesh.primitive_uv_sphere_add(segments=8, ring_count=4, radius=0.5, location=(0, 0.2, 2.5))
    head = bpy.context.object
    head.name = "Head"
    world = head.matrix_world.copy()
    head.parent, head.parent_type, head.parent_bone = rig, "BONE", "neck"
    bpy.context.view_layer.update()
    head.matrix_world = world
    image = bpy.data.images.new("skin", 32, 16)
    image.pixels.foreach_set(np.random.default_rng(1).random(32 * 16 * 4, np.float32))
    material = bpy.data.materials.new("skin")
    material.use_nodes = True
    texture = material.node_tree.nodes.new("ShaderNodeTexImage")
    texture.image = image
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    material.node_tree.links.new(texture.outputs[0], shader.inputs[0])
    head.data.materials.append(material)
    for frame, angle in ((1, 0.0), (10, 0.7), (20, 0.0)):
        for bone, axis in (("spine", 2), ("neck", 0)):
            rig.pose.bones[bone].rotation_mode = "XYZ"
            rig.pose.bones[bone].rotation_euler[axis] = angle
            rig.pose.bones[bone].keyframe_insert("rotation_euler", frame=frame)
    rig.animation_data.action.name = "Idle"
    return rig


def test_a_new_character(blender: Any, tmp_path: Path) -> None:
    new_character(blender)
    poses = {frame: np.concatenate(list(shown(blender, frame).values())) for frame in (1, 5, 10, 14, 20)}
    objects = {source.name: source.matrix_world.copy() for source in blender.data.objects}
    path = tmp_path / "new.bin"
    assert blender.ops.export_scene.saturn(filepath=str(path)) == {"FINISHED"}
    assert {source.name: source.matrix_world for source in blender.data.objects} == objects
    start_over(blender)
    assert blender.ops.import_scene.saturn(filepath=str(path)) == {"FINISHED"}
    assert {tuple(action.frame_range) for action in blender.data.actions} == {(1, 20)}
    assert {action.name for action in blender.data.actions} == {"new", "idle"}
    heads = [bone.head_local for bone in blender.data.armatures[0].bones]
    assert np.allclose(heads[1].yz, (0.2, 2), atol=0.05)  # it turns about x alone
    for frame, points in poses.items():
        again = np.concatenate(list(shown(blender, frame).values()))
        assert len(again) == len(points)
        nearest = np.linalg.norm(again[:, None] - points[None], axis=2).min(1)
        assert nearest.max() < 2e-3 * np.linalg.norm(np.ptp(points, 0)), frame


def test_what_cannot_be_expressed_says_so(blender: Any, tmp_path: Path) -> None:
    new_character(blender)
    body = blender.data.objects["Cube"]
    body.vertex_groups.new(name="neck").add([0, 1], 0.5, "REPLACE")
    path = tmp_path / "new.bin"
    with pytest.raises(RuntimeError, match="several bones"):
        blender.ops.export_scene.saturn(filepath=str(path))
    assert not path.exists()
    assert blender.ops.export_scene.saturn(filepath=str(path), strongest=True) == {"FINISHED"}
