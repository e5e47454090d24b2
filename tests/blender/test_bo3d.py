# SPDX-License-Identifier: GPL-3.0-or-later
"""BO3D through the operators: what Blender shows is what the engine draws, both ways."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import bo3d
from tests.builders import bo3d as made
from tests.builders.posing import shown
from tests.conftest import corpus_files
from tests.engines import bo3d as engine

REAL = corpus_files("bo3d", "*.bo3d")
GOOD = [path for path in REAL if "82b970c" in path.name]
FRAMES = (0, 1, 37, 150)


def warnings_of(bpy: Any) -> str:
    text = bpy.data.texts.get("Retro Meshes Log")
    return text.as_string() if text else ""


def size_of(points: np.ndarray) -> float:
    return float(np.ptp(points, axis=0).max())


def nearest(points: np.ndarray, among: np.ndarray) -> float:
    """How far the worst of the points is from its nearest: vertices come in another order."""
    return max(float(np.linalg.norm(among - point, axis=1).min()) for point in points)


def worst(bpy: Any, document: Any, frames: tuple[float, ...]) -> float:
    """The greatest distance between what Blender shows and what the engine draws, in sizes of the model."""
    found = 0.0
    for frame in frames:
        expected, seen = engine.points(document, frame), np.concatenate(list(shown(bpy, frame).values()))
        found = max(found, nearest(expected, seen) / size_of(expected), nearest(seen, expected) / size_of(expected))
    return found


def corner_normals(bpy: Any, name: str, frame: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each corner of a mesh is in the world, and its normal."""
    bpy.context.scene.frame_set(frame)
    evaluated = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh, world = evaluated.data, np.array(evaluated.matrix_world)
    points = np.array([mesh.vertices[loop.vertex_index].co for loop in mesh.loops]) @ world[:3, :3].T + world[:3, 3]
    normals = np.array([corner.vector for corner in mesh.corner_normals]) @ np.linalg.inv(world[:3, :3])
    return points, normals / np.linalg.norm(normals, axis=1, keepdims=True)


# --------------------------------------------------------------------------------------------------------------- import


@pytest.mark.parametrize("path", REAL)
def test_real_file(blender: Any, path: Path) -> None:
    assert blender.ops.import_scene.bo3d(filepath=str(path)) == {"FINISHED"}
    assert worst(blender, bo3d.read(path.read_bytes()), FRAMES) < 1e-4
    body = blender.data.objects["ROOT"]
    assert [modifier.type for modifier in body.modifiers] == ["ARMATURE"]
    assert len(body.vertex_groups) >= 20
    scene = blender.context.scene
    assert (scene.frame_start, scene.frame_end) == (0, 299)
    log = warnings_of(blender)
    assert ("repeated" in log) == ("6c6fd96" in path.name)
    assert ("no normals" in log) == ("82b970c" not in path.name)


@pytest.mark.parametrize("path", GOOD)
def test_real_file_again(blender: Any, path: Path, tmp_path: Path) -> None:
    """In, out, in: the same model."""
    document = bo3d.read(path.read_bytes())
    copy = tmp_path / "again.bo3d"
    assert blender.ops.import_scene.bo3d(filepath=str(path)) == {"FINISHED"}
    assert blender.ops.export_scene.bo3d(filepath=str(copy)) == {"FINISHED"}
    again = bo3d.read(copy.read_bytes())
    assert [entity.name for entity in again.entities] == [entity.name for entity in document.entities]
    assert [entity.parent for entity in again.entities] == [entity.parent for entity in document.entities]
    assert again.length == document.length
    old, new = document.entities[0].mesh, again.entities[0].mesh
    assert (new.fx, new.color[:3], float(new.alpha)) == (old.fx, old.color[:3], 1)
    assert new.texture == b"nskinbl.jpg"
    assert (len(new.vertices), len(new.triangles)) == (len(old.vertices), len(old.triangles))
    assert new.bones.tolist() == old.bones.tolist()
    assert np.abs(_sorted(new, "uv") - _sorted(old, "uv")).max() < 1e-5
    for frame in FRAMES:
        expected = engine.points(document, frame)
        assert nearest(engine.points(again, frame), expected) < 1e-4 * size_of(expected)
    blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert blender.ops.import_scene.bo3d(filepath=str(copy)) == {"FINISHED"}
    assert worst(blender, document, FRAMES) < 2e-4


def _sorted(mesh: Any, field: str) -> np.ndarray:
    positions = mesh.vertices["position"].astype(np.float32).round(3)
    rows = np.concatenate([positions, mesh.vertices[field].astype(np.float32)], 1)
    return rows[np.lexsort(rows.T[::-1].round(3))]


def test_two_arms(blender: Any, tmp_path: Path) -> None:
    """Everything a file can say, in Blender and out again."""
    document = made.two_arms()
    path, copy = tmp_path / "arms.bo3d", tmp_path / "again.bo3d"
    path.write_bytes(bo3d.write(document))
    image = blender.data.images.new("body", 4, 4)
    image.filepath_raw, image.file_format = str(tmp_path / "body.png"), "PNG"
    image.save()
    assert blender.ops.import_scene.bo3d(filepath=str(path)) == {"FINISHED"}
    assert worst(blender, document, (0, 1, 5, 9, 20)) < 1e-4
    body, sword = blender.data.objects["Body"], blender.data.objects["Sword"]
    assert (sword.parent_type, sword.parent_bone) == ("BONE", "Left Hand")
    material = body.data.materials[0]
    assert material.retro_bo3d.fx == 1061
    assert material.retro_bo3d.no_fog
    assert not material.retro_bo3d.flat
    loaded = [node.image for node in material.node_tree.nodes if node.type == "TEX_IMAGE"]
    assert [Path(each.filepath_from_user()).name for each in loaded] == ["body.png"]
    points, normals = corner_normals(blender, "Body", 1)
    rest, expected = engine.drawn(document, 1)["Body"]
    match = np.array([np.linalg.norm(rest - point, axis=1).argmin() for point in points])
    right = (match < 16) | (match >= 24)  # the bone of the others rests turned: the engine lights them wrongly
    assert np.sum(normals * expected[match], 1)[right].min() > np.cos(np.radians(0.5))
    assert blender.ops.export_scene.bo3d(filepath=str(copy)) == {"FINISHED"}
    again = bo3d.read(copy.read_bytes())
    old, new = document.entities[0].mesh, again.entities[0].mesh
    assert (new.texture, new.color, float(new.alpha), new.fx) == (b"body.png", old.color, 0.5, 1061)
    assert np.array_equal(new.colors, old.colors)
    assert [entity.text for entity in again.entities] == [entity.text for entity in document.entities]
    for frame in (0, 1, 5, 9, 20):
        assert nearest(engine.points(again, frame), engine.points(document, frame)) < 1e-4 * size_of(
            engine.points(document, frame)
        )


@pytest.mark.parametrize(
    "change", [(0, b"XXXX"), (4, b"\xc8"), (16, b"\x18"), (20, b"\xff\xff\xff\x7f"), (20 + 60, b"\xff\xff\xff\xff")]
)
def test_bad_file(blender: Any, tmp_path: Path, change: tuple[int, bytes]) -> None:
    data = bytearray(bo3d.write(made.two_arms()))
    data[change[0] : change[0] + len(change[1])] = change[1]
    path = tmp_path / "bad.bo3d"
    path.write_bytes(data)
    with pytest.raises(RuntimeError, match=r"bad\.bo3d: .*offset \d+"):
        blender.ops.import_scene.bo3d(filepath=str(path))
    assert not blender.data.objects


# --------------------------------------------------------------------------------------------------------------- export


def make_rig(bpy: Any, soft: bool = False) -> Any:
    """Two arms of turned bones in Blender: scaled objects, a moved origin, a box on each bone, three animated bones."""
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    places = {
        "Spine": ("", (0, 0, 0), (0, 0, 1), 0.3),
        "Arm.L": ("Spine", (0.3, 0, 1), (1, 0.2, 1.2), 1.0),
        "Hand.L": ("Arm.L", (1, 0.2, 1.2), (1.5, 0, 1), -0.7),
        "Arm.R": ("Spine", (-0.3, 0, 1), (-1, 0.1, 0.8), 2.0),
    }
    for name, (parent, head, tail, roll) in places.items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.roll = head, tail, roll
        bone.parent = data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.location, rig.rotation_euler, rig.scale = (1, 2, 3), (0.3, 0.2, 1), (2, 2, 2)
    centres = [(np.array(head) + np.array(tail)) / 2 for _, head, tail, _ in places.values()]
    rows, triangles = made.boxes(*map(tuple, centres))
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata((rows["position"] / 0.5).tolist(), [], triangles.tolist())
    mesh.shade_smooth()
    body = bpy.data.objects.new("Body", mesh)
    bpy.context.collection.objects.link(body)
    body.parent, body.scale = rig, (0.5, 0.5, 0.5)
    body.modifiers.new("Armature", "ARMATURE").object = rig
    for number, name in enumerate(places):
        body.vertex_groups.new(name=name).add(list(range(number * 8, number * 8 + 8)), 0.75 if soft else 1.0, "REPLACE")
    if soft:
        body.vertex_groups["Spine"].add(list(range(8, 13)), 0.25, "REPLACE")
    for name, axis in (("Spine", 0), ("Arm.L", 1), ("Arm.R", 2)):
        bone = rig.pose.bones[name]
        bone.rotation_mode = "XYZ"
        for frame, angle in ((1, 0.0), (12, 1.2), (30, -0.8)):
            bone.rotation_euler[axis] = angle
            bone.keyframe_insert("rotation_euler", frame=frame)
    hand = rig.pose.bones["Hand.L"]
    for frame, place in ((1, 0.0), (20, 0.4)):
        hand.location[1] = place
        hand.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 30
    return rig


def exported(bpy: Any, tmp_path: Path, **options: Any) -> Any:
    path = tmp_path / "out.bo3d"
    assert bpy.ops.export_scene.bo3d(filepath=str(path), **options) == {"FINISHED"}
    return bo3d.read(path.read_bytes())


def test_rig_made_in_blender(blender: Any, tmp_path: Path) -> None:
    make_rig(blender)
    document = exported(blender, tmp_path)
    assert worst(blender, document, (1, 7, 12, 21, 30)) < 1e-4
    assert [entity.text for entity in document.entities] == ["Body", "Spine", "Arm.L", "Hand.L", "Arm.R"]
    assert document.length == 31
    for entity in document.entities:
        assert (entity.scale == 1).all()
        assert (entity.keys["scale"] == 1).all()
    for entity in document.entities[1:]:
        assert entity.rotation.tolist() == [1, 0, 0, 0]
        assert (entity.keys["frame"][0], entity.keys["frame"][-1]) == (1, 30)
    assert document.entities[0].mesh.bones.tolist() == [(1, 0, 7), (2, 8, 15), (3, 16, 23), (4, 24, 31)]
    for frame in (1, 12, 25):
        points, normals = corner_normals(blender, "Body", frame)
        drawn, expected = engine.drawn(document, frame)["Body"]
        match = [int(np.linalg.norm(drawn - point, axis=1).argmin()) for point in points]
        assert np.sum(normals * expected[match], 1).min() > np.cos(np.radians(0.5))
    path = tmp_path / "out.bo3d"
    before = {frame: shown(blender, frame)["Body"] for frame in (1, 12, 25)}
    blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert blender.ops.import_scene.bo3d(filepath=str(path)) == {"FINISHED"}
    for frame, points in before.items():
        assert nearest(points, shown(blender, frame)["Body"]) < 2e-4 * size_of(points)


def test_soft_weights_are_counted(blender: Any, tmp_path: Path) -> None:
    make_rig(blender, soft=True)
    document = exported(blender, tmp_path)
    assert "5 vertices were moved by several bones" in warnings_of(blender)
    assert document.entities[0].mesh.bones.tolist() == [(1, 0, 7), (2, 8, 15), (3, 16, 23), (4, 24, 31)]


def test_export_changes_nothing(blender: Any, tmp_path: Path) -> None:
    make_rig(blender)
    blender.context.scene.frame_set(5)
    before = {name: points.tolist() for name, points in shown(blender, 5).items()}
    counts = [len(getattr(blender.data, kind)) for kind in ("objects", "meshes", "actions", "materials", "images", "armatures")]
    exported(blender, tmp_path)
    assert blender.context.scene.frame_current == 5
    assert {name: points.tolist() for name, points in shown(blender, 5).items()} == before
    assert [
        len(getattr(blender.data, kind)) for kind in ("objects", "meshes", "actions", "materials", "images", "armatures")
    ] == counts


def test_half_floats_of_ten_units(blender: Any, tmp_path: Path) -> None:
    blender.ops.mesh.primitive_uv_sphere_add(radius=5, segments=48, ring_count=24, location=(0, 0, 0))
    exact = exported(blender, tmp_path)
    half = exported(blender, tmp_path, half_floats=True)
    assert (exact.vfloat, half.vfloat) == (32, 16)
    said = float(re.search(r"by up to ([\d.e-]+) units", warnings_of(blender)).group(1))
    off = np.abs(half.entities[0].mesh.vertices["position"].astype(float) - exact.entities[0].mesh.vertices["position"]).max()
    assert 0 < off <= said * 1.01 < 0.005
    seen = shown(blender, 1)["Sphere"]
    assert nearest(engine.points(half, None), seen) <= said * np.sqrt(3) * 1.01


def test_flags_from_the_panel(blender: Any, tmp_path: Path) -> None:
    blender.ops.mesh.primitive_cube_add()
    material = blender.data.materials.new("Paint")
    blender.context.object.data.materials.append(material)
    material.retro_bo3d.no_fog = True
    material.retro_bo3d.stencil_both = True
    assert exported(blender, tmp_path).entities[0].mesh.fx == 4 | 32 | 1024  # a new material is not culled
    material.use_backface_culling = True
    assert exported(blender, tmp_path).entities[0].mesh.fx == 4 | 1024 == material.retro_bo3d.fx


def test_more_vertices_than_an_entity_holds(blender: Any, tmp_path: Path) -> None:
    blender.ops.mesh.primitive_grid_add(x_subdivisions=300, y_subdivisions=300, size=10)
    document = exported(blender, tmp_path)
    assert len(document.entities) == 2
    assert max(len(entity.mesh.vertices) for entity in document.entities) <= 65536
    assert "split into several entities" in warnings_of(blender)


def test_objects_that_move_together(blender: Any, tmp_path: Path) -> None:
    """Each with an action of its own, one below the other, scaled; and what a default scene has besides."""
    blender.ops.wm.read_homefile(use_factory_startup=True)
    parent = blender.data.objects["Cube"]
    parent.scale = (2, 2, 2)
    blender.ops.mesh.primitive_monkey_add(location=(3, 0, 0))
    child = blender.context.object
    child.parent = parent
    for frame, place in ((1, 0.0), (15, 2.0), (30, -1.0)):
        for each, axis in ((parent, 0), (child, 2)):
            each.location[axis] = each.rotation_euler[axis] = place
            each.keyframe_insert("location", frame=frame)
            each.keyframe_insert("rotation_euler", frame=frame)
    document = exported(blender, tmp_path)
    assert [entity.text for entity in document.entities] == ["ROOT", "Cube", "Suzanne"]
    assert document.length == 31
    assert worst(blender, document, (1, 8, 15, 30)) < 1e-4


def test_meshes_and_materials_on_one_rig(blender: Any, tmp_path: Path) -> None:
    rig = make_rig(blender)
    body = blender.data.objects["Body"]
    for name in ("Red", "Green"):
        body.data.materials.append(blender.data.materials.new(name))
    for polygon in body.data.polygons:
        polygon.material_index = polygon.index % 2
    coat = body.copy()
    coat.name, coat.location = "Coat", (0, 0.2, 0)
    blender.context.collection.objects.link(coat)
    blender.ops.mesh.primitive_cube_add(size=0.3)
    weapon = blender.context.object
    weapon.name, weapon.parent, weapon.parent_type, weapon.parent_bone = "Weapon", rig, "BONE", "Hand.L"
    document = exported(blender, tmp_path)
    assert [entity.text for entity in document.entities[:4]] == ["Body", "Body_2", "Coat", "Coat_2"]
    assert worst(blender, document, (1, 12, 25)) < 1e-4
    expected = {frame: np.concatenate(list(shown(blender, frame).values())) for frame in (1, 12, 25)}
    blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert blender.ops.import_scene.bo3d(filepath=str(tmp_path / "out.bo3d")) == {"FINISHED"}
    assert sum(each.type == "ARMATURE" for each in blender.data.objects) == 1
    for frame, points in expected.items():
        assert nearest(points, np.concatenate(list(shown(blender, frame).values()))) < 2e-4 * size_of(points)
