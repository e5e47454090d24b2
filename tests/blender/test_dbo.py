# SPDX-License-Identifier: GPL-3.0-or-later
"""Dark Basic Pro through the operators: what Blender shows is what the engine draws, and goes back as it came."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import dbo
from io_retro_meshes.formats.dbo.document import AnimationSet, Document
from tests.builders import dbo as made
from tests.conftest import CORPUS, corpus_files
from tests.engines import dbo as engine
from tests.formats.test_dbo_engine import level_triangles, with_levels

FILES = corpus_files("dbo", "*.dbo", "*.DBO")
FRAMES = (0, 7, 16)


def shown(bpy: Any, frame: int) -> list[np.ndarray]:
    """The vertices of all mesh objects in the world, as the depsgraph has them."""
    bpy.context.scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    found = []
    for source in bpy.context.scene.objects:
        if source.type == "MESH":
            evaluated = source.evaluated_get(graph)
            points = np.empty(len(evaluated.data.vertices) * 3, np.float32)
            evaluated.data.vertices.foreach_get("co", points)
            matrix = np.array(evaluated.matrix_world)
            found.append(points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])
    return found


def apart(a: list[np.ndarray], b: list[np.ndarray]) -> float:
    """The largest distance between the two, as a part of the size; objects may come in another order."""
    assert sorted(map(len, a)) == sorted(map(len, b))
    rest, worst = list(b), 0.0
    for points in a:
        errors = [np.abs(points - other).max() if len(other) == len(points) else np.inf for other in rest]
        best = int(np.argmin(errors))
        worst = max(worst, errors[best])
        rest.pop(best)
    return worst / float(np.ptp(np.concatenate(a), 0).max())


def clear(bpy: Any) -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def there_and_back(bpy: Any, data: bytes, folder: Path, **options: Any) -> bytes:
    """Imported, and exported again."""
    source, target = folder / "in.dbo", folder / "out.dbo"
    source.write_bytes(data)
    clear(bpy)
    assert bpy.ops.import_scene.dbo(filepath=str(source)) == {"FINISHED"}
    assert bpy.ops.export_scene.dbo(filepath=str(target), use_visible=False, **options) == {"FINISHED"}
    return target.read_bytes()


def matrices() -> Document:
    root = made.frame("root")
    root.child = made.frame("moved", made.box())
    return made.document(root, AnimationSet(name="m", length=10, animation=made.matrix_keys("moved")))


def uneven() -> Document:
    """An arm below a frame that is longer one way than the others; bound and modelled there."""
    document = made.arm()
    root = document.root.frame
    scale = np.diag([1, 3, 0.5, 1]).astype(np.float32)
    root.matrix = scale
    skin = root.child.sibling.mesh
    rows = np.frombuffer(skin.vertices, np.float32).reshape(16, 8).copy()
    rows[:, :3] *= (1, 3, 0.5)
    skin.vertices = rows.tobytes()
    for bone in skin.bones:
        bone.matrix = np.linalg.inv(scale) @ bone.matrix
    return document


MADE = {"arm": made.arm, "matrices": matrices, "declared": made.declared, "uneven": uneven}


@pytest.mark.parametrize("path", [*FILES, *MADE])
def test_blender_shows_what_the_engine_draws_before_and_after_an_export(blender: Any, path: Path | str, tmp_path: Path) -> None:
    data = dbo.write(MADE[path]()) if isinstance(path, str) else path.read_bytes()
    written = there_and_back(blender, data, tmp_path)
    for frame in FRAMES:
        assert apart(engine.pose(data, frame), shown(blender, frame)) < 1e-4
    engine.walk(written)
    names = sorted(source.name for source in blender.context.scene.objects)
    for frame in FRAMES:
        assert apart(engine.pose(data, frame), engine.pose(written, frame)) < 1e-4
    again = there_and_back(blender, written, tmp_path)
    assert sorted(source.name for source in blender.context.scene.objects) == names
    for frame in FRAMES:
        assert apart(engine.pose(data, frame), shown(blender, frame)) < 1e-4
        assert apart(engine.pose(data, frame), engine.pose(again, frame)) < 1e-4


@pytest.mark.parametrize("name", ["Babe.dbo", "hornbug.dbo", "Test Box.dbo"])
def test_poses_of_a_third_evaluator(blender: Any, corpus: Path, name: str) -> None:
    facts = json.loads((CORPUS / "dbo" / "poses.json").read_text())[name]
    blender.ops.import_scene.dbo(filepath=str(corpus / "dbo" / name))
    for frame, fact in facts.items():
        points = np.concatenate(shown(blender, int(frame)))
        size = np.linalg.norm(np.subtract(fact["max"], fact["min"]))
        assert np.abs(points.min(0) - fact["min"]).max() < 1e-3 * size
        assert np.abs(points.max(0) - fact["max"]).max() < 1e-3 * size
        for some in fact["some"]:
            assert np.linalg.norm(points - some, axis=1).min() < 1e-3 * size


@pytest.mark.parametrize("path", FILES)
def test_normals_uvs_and_materials_come_back(blender: Any, path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    first = dbo.to_scene(dbo.read(data))
    second = dbo.to_scene(dbo.read(there_and_back(blender, data, tmp_path)))
    assert [material.name for material in second.materials] == [material.name for material in first.materials]
    for one, other in zip(first.materials, second.materials, strict=True):
        assert (one.blend, one.full_bright, one.double_sided) == (other.blend, other.full_bright, other.double_sided)
        assert [(layer.uv, layer.blend, layer.use) for layer in one.layers] == [(y.uv, y.blend, y.use) for y in other.layers]
    assert [image.name for image in second.images] == [image.name for image in first.images]
    for name in {mesh.name for mesh in first.meshes}:
        one, other = ([mesh for mesh in scene.meshes if mesh.name == name] for scene in (first, second))
        assert sum(len(mesh.corners) for mesh in one) == sum(len(mesh.corners) for mesh in other)
        for a, b in zip(one, other, strict=True):
            uvs_a, uvs_b = (np.concatenate([layer.data[mesh.corners] for layer in mesh.uvs], 1) for mesh in (a, b))
            assert np.allclose(uvs_a, uvs_b, atol=1e-5)
            dot = np.sum(a.normals.data[a.corners] * b.normals.data[b.corners], 1)
            real = np.linalg.norm(a.normals.data[a.corners], axis=1) > 0.5
            # Before 4.5 Blender keeps all custom normals in 16 bits a corner.
            assert (dot[real] > np.cos(np.radians(0.5 if blender.app.version >= (4, 5) else 1.5))).all()


def test_a_rig_comes_as_an_armature_with_a_weapon_in_the_hand(blender: Any, tmp_path: Path) -> None:
    (tmp_path / "arm.dbo").write_bytes(dbo.write(made.arm()))
    blender.ops.import_scene.dbo(filepath=str(tmp_path / "arm.dbo"))
    objects = blender.context.scene.objects
    body, hand, rig = objects["body"], objects["hand"], objects["arm"]
    assert body.modifiers[0].object == rig and body.parent == rig
    assert (hand.parent, hand.parent_type, hand.parent_bone) == (rig, "BONE", "upper")
    assert [bone.name for bone in rig.data.bones] == ["root", "lower", "upper"]
    assert rig.animation_data.action is not None and blender.context.scene.render.fps == 30
    assert (blender.context.scene.frame_start, blender.context.scene.frame_end) == (0, 10)


def test_clips_become_actions_and_actions_clips(blender: Any, tmp_path: Path) -> None:
    document = made.arm()
    first = document.root.animation_set
    first.type = 123
    first.next = AnimationSet(name="wave", type=124, start=2.0, finish=6.0, footfall_1=3)
    written = there_and_back(blender, dbo.write(document), tmp_path)
    assert "wave" in blender.data.actions
    engine.walk(written)
    clips = [
        (entry.name, entry.type, entry.start, entry.finish, entry.footfall_1) for entry in dbo.read(written).animation_sets()
    ]
    assert clips[1:] == [("wave", 124, 2.0, 6.0, 3)]
    assert apart(engine.pose(dbo.write(document), 4), engine.pose(written, 4)) < 1e-4


def test_several_actions_become_clips_of_one_timeline(blender: Any, tmp_path: Path) -> None:
    (tmp_path / "arm.dbo").write_bytes(dbo.write(made.arm()))
    blender.ops.import_scene.dbo(filepath=str(tmp_path / "arm.dbo"))
    first = blender.data.actions[0]
    first.copy().name = "again"
    expected = {frame: shown(blender, frame) for frame in (0, 4, 10)}
    blender.ops.export_scene.dbo(filepath=str(tmp_path / "two.dbo"))
    data = (tmp_path / "two.dbo").read_bytes()
    engine.walk(data)
    sets = dbo.read(data).animation_sets()
    assert [(entry.name, entry.type, entry.finish - entry.start) for entry in sets[1:]] == [
        (name, 124, 10.0) for name in (first.name, "again")
    ]
    for entry in sets[1:]:
        for frame, points in expected.items():
            assert apart(points, engine.pose(data, entry.start + frame)) < 1e-4


def test_lines_and_points_have_no_faces(blender: Any, tmp_path: Path) -> None:
    mesh = made.box()
    mesh.primitive_type = 2
    written = there_and_back(blender, dbo.write(made.document(made.frame("wires", mesh))), tmp_path)
    assert len(blender.data.meshes["wires"].edges) == 18 and not blender.data.meshes["wires"].polygons
    again = dbo.read(written).root.frame.mesh
    assert (again.primitive_type, again.draw_primitives, again.vertex_count) == (2, 18, 8)


def test_flags_travel_as_typed_settings(blender: Any, tmp_path: Path) -> None:
    document = made.parts()
    document.custom_data = b"terrain"
    written = there_and_back(blender, dbo.write(document), tmp_path)
    material = blender.data.materials["wall"]
    assert (
        material.retro_dbo.ghost and material.retro_dbo.ghost_mode == "MULTIPLY_2X" and material.retro_dbo.effect == "glow.fx"
    )
    assert not material.use_backface_culling
    assert blender.data.meshes["house"].retro_dbo.arbitrary_value == 7
    again = dbo.read(written)
    mesh = again.root.frame.mesh
    assert again.custom_data == b"terrain"
    assert (mesh.ghost, mesh.ghost_mode, mesh.light, mesh.cull, mesh.effect) == (True, 5, False, False, "glow.fx")
    assert (mesh.arbitrary_value, mesh.z_bias, mesh.z_bias_slope, mesh.visible) == (7, True, 0.25, False)
    assert [(part.name, part.start, part.polygons) for part in mesh.multi_materials] == [
        ("wall.png", 0, 4),
        ("C:\\art\\roof.tga", 12, 8),
    ]
    assert mesh.textures[0].address_u == 3 and mesh.fvf == 0x252


def test_the_engines_search_finds_a_dds_beside_the_model(blender: Any, tmp_path: Path) -> None:
    document = made.parts()
    (tmp_path / "house.dbo").write_bytes(dbo.write(document))
    picture = blender.data.images.new("pixel", 4, 4)
    picture.filepath_raw, picture.file_format = str(tmp_path / "roof_D.png"), "PNG"
    picture.save()
    (tmp_path / "roof_D.png").rename(tmp_path / "roof_D.dds")  # the search goes by names
    clear(blender)
    blender.ops.import_scene.dbo(filepath=str(tmp_path / "house.dbo"))
    assert any(image.filepath.endswith("roof_D.dds") for image in blender.data.images)


def test_bad_files_are_told_and_add_nothing(blender: Any, tmp_path: Path) -> None:
    path = tmp_path / "bad.dbo"
    path.write_bytes(dbo.write(made.arm())[:700])
    with pytest.raises(RuntimeError, match="offset"):
        blender.ops.import_scene.dbo(filepath=str(path))
    assert not blender.data.objects


def rig(bpy: Any) -> None:
    """A character as people make them: an armature that is moved, turned and scaled, loose vertices, an action."""
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    low, high = (armature.data.edit_bones.new(name) for name in ("low", "high"))
    low.head, low.tail, low.roll = (0, 0, 0), (0, 0.3, 2), 0.4
    high.head, high.tail, high.parent = low.tail, (1, 0, 4), low
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_cylinder_add(vertices=8, depth=4, location=(0, 0, 2))
    body = bpy.context.object
    body.name = "Body"
    body.parent = armature
    body.modifiers.new("Armature", "ARMATURE").object = armature
    height = np.array([vertex.co.z for vertex in body.data.vertices])
    for name, rows in (("low", height < 0), ("high", (height > 0) & (np.arange(len(height)) != 15))):
        body.vertex_groups.new(name=name).add(np.flatnonzero(rows).tolist(), 1.0, "REPLACE")
    pose = armature.pose.bones
    for frame, turn in ((0, 0.0), (6, 1.0), (10, -0.5)):
        for bone in pose:
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = (turn, turn / 2, 0)
            bone.keyframe_insert("rotation_euler", frame=frame)
        pose["high"].location.x = turn
        pose["high"].keyframe_insert("location", frame=frame)
    holder = bpy.data.objects.new("Holder", None)
    bpy.context.collection.objects.link(holder)
    holder.location, holder.rotation_euler = (1, 2, 3), (0, 0, 0.7)
    armature.parent = holder
    armature.location, armature.rotation_euler, armature.scale = (0, 1, 0), (0.3, 0, 0), (2, 2, 2)


def test_a_rig_made_in_blender_moves_in_the_engine_as_it_does_here(blender: Any, tmp_path: Path) -> None:
    rig(blender)
    before = blender.context.scene.frame_current
    blender.ops.export_scene.dbo(filepath=str(tmp_path / "rig.dbo"))
    assert blender.context.scene.frame_current == before
    data = (tmp_path / "rig.dbo").read_bytes()
    engine.walk(data)
    bones = [bone for frame, _ in dbo.read(data).frames() if frame.mesh is not None for bone in frame.mesh.bones]
    assert sum(bone.influences for bone in bones) >= 16
    for frame in (0, 3, 6, 9):
        here = np.unique(np.concatenate(shown(blender, frame)).round(3), axis=0)
        there = np.unique(np.concatenate(engine.pose(data, frame)).round(3), axis=0)
        distances = np.linalg.norm(here[:, None] - there[None], axis=2)
        assert max(distances.min(0).max(), distances.min(1).max()) < 1e-2
    clear(blender)
    blender.ops.import_scene.dbo(filepath=str(tmp_path / "rig.dbo"))
    for frame in (0, 3, 6, 9):
        assert apart(engine.pose(data, frame), shown(blender, frame)) < 1e-4


@pytest.mark.parametrize("wanted", [False, True])
def test_levels_of_detail_go_through_blender(blender: Any, tmp_path: Path, wanted: bool) -> None:
    data = dbo.write(made.document(made.frame("box", with_levels())))
    (tmp_path / "box.dbo").write_bytes(data)
    assert blender.ops.import_scene.dbo(filepath=str(tmp_path / "box.dbo"), levels=wanted) == {"FINISHED"}
    assert [each.name for each in blender.data.objects if each.hide_get()] == (["box LOD 1", "box LOD 2"] if wanted else [])
    assert blender.ops.export_scene.dbo(filepath=str(tmp_path / "again.dbo")) == {"FINISHED"}
    for before, after in zip(level_triangles(data), level_triangles((tmp_path / "again.dbo").read_bytes()), strict=True):
        assert np.array_equal(before, after)
