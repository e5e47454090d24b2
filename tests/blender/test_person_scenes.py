# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes as people make them, exported to every format with default options, and drawn as the format's engine does."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes import formats
from io_retro_meshes.formats import FORMATS
from tests.engines import b3d, bo3d, bogle, dbo, saturn
from tests.formats.test_convert import distance

TOLERANCES = {"saturn": 2e-3, "bogle": 5e-4}
REFUSED = {("many_vertices", "saturn"): "69471 polygons .* memory for 16384"}  # what a format cannot hold at all, and says
PLACELESS = {("moved_rig", "saturn")}  # a character has no place in its file: the game puts it somewhere


# ----------------------------------------------------------------------------------------------------------- their parts


def cube(bpy: Any, name: str, location: Any = (0, 0, 0), size: float = 1.0, material: Any = None) -> Any:
    bpy.ops.mesh.primitive_cube_add(location=location, size=size)
    made = bpy.context.object
    made.name = made.data.name = name
    made.data.materials.append(material or bpy.data.materials.new(f"{name} paint"))
    return made


def rig(bpy: Any, names: list[str], parents: list[int] | None = None) -> Any:
    """A chain of bones, one unit each, or a tree of them."""
    data = bpy.data.armatures.new("Bones")
    owner = bpy.data.objects.new("Rig", data)
    bpy.context.collection.objects.link(owner)
    bpy.context.view_layer.objects.active = owner
    bpy.ops.object.mode_set(mode="EDIT")
    for number, name in enumerate(names):
        bone = data.edit_bones.new(name)
        above = parents[number] if parents else number - 1
        bone.head = (0, 0, number) if not parents else (number % 9, number // 9, 0)
        bone.tail = (bone.head[0], 0.3 if not parents else bone.head[1], bone.head[2] + 1)
        if above >= 0:
            bone.parent = data.edit_bones[names[above]]
    bpy.ops.object.mode_set(mode="OBJECT")
    return owner


def body(bpy: Any, owner: Any) -> Any:
    """A cube around each bone that follows it alone, all one mesh."""
    positions, faces, groups = [], [], []
    for bone in owner.data.bones:
        middle = (np.array(bone.head_local) + np.array(bone.tail_local)) / 2
        corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.3
        first = len(positions)
        positions += (corners + middle).tolist()
        quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        faces += [[first + corner for corner in quad] for quad in quads]
        groups.append(list(range(first, first + 8)))
    data = bpy.data.meshes.new("Body")
    data.from_pydata(positions, [], faces)
    data.uv_layers.new()
    data.materials.append(bpy.data.materials.new("Skin"))
    made = bpy.data.objects.new("Body", data)
    bpy.context.collection.objects.link(made)
    made.parent = owner
    made.modifiers.new("Armature", "ARMATURE").object = owner
    for bone, vertices in zip(owner.data.bones, groups, strict=True):
        made.vertex_groups.new(name=bone.name).add(vertices, 1.0, "REPLACE")
    return made


def wave(owner: Any, name: str, angle: float, bones: list[str] | None = None) -> Any:
    """An action in which bones turn, each a little more than the one before."""
    owner.animation_data_create()
    import bpy

    owner.animation_data.action = bpy.data.actions.new(name)
    owner.animation_data.action.use_fake_user = True
    for number, bone in enumerate(owner.pose.bones):
        if bones is not None and bone.name not in bones:
            continue
        bone.rotation_mode = "QUATERNION"
        for frame, part in ((1, 0.0), (6, 1.0), (11, -0.5)):
            half = angle * part * (1 + 0.1 * number) / 2
            bone.rotation_quaternion = (math.cos(half), math.sin(half), 0, 0)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    return owner.animation_data.action


# ------------------------------------------------------------------------------------------------------------ the scenes


def still(bpy: Any) -> None:
    cube(bpy, "Crate", (1, 2, 3))


def two_materials(bpy: Any) -> None:
    made = cube(bpy, "Crate")
    made.data.materials.append(bpy.data.materials.new("Lid"))
    for number, polygon in enumerate(made.data.polygons):
        polygon.material_index = number % 2


def polygons(bpy: Any) -> None:
    """A cylinder whose ends have eleven corners."""
    bpy.ops.mesh.primitive_cylinder_add(vertices=11, end_fill_type="NGON")
    bpy.context.object.data.materials.append(bpy.data.materials.new("Tin"))


def mirrored(bpy: Any) -> None:
    parent = cube(bpy, "Torso")
    child = cube(bpy, "Arm", (2, 0, 1))
    child.parent, child.scale = parent, (-1, 0.5, 2)


def many_vertices(bpy: Any) -> None:
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=279, y_subdivisions=249)
    made = bpy.context.object
    made.data.materials.append(bpy.data.materials.new("Earth"))
    assert len(made.data.vertices) == 70_000


def rigged(bpy: Any) -> None:
    owner = rig(bpy, ["Root", "Spine", "Chest", "Head"])
    body(bpy, owner)
    wave(owner, "Walk", 0.8)


def several_actions(bpy: Any) -> None:
    owner = rig(bpy, ["Root", "Spine", "Chest", "Head"])
    body(bpy, owner)
    wave(owner, "Idle", 0.8)
    wave(owner, "Attack", -1.1)


def sword(bpy: Any) -> None:
    owner = rig(bpy, ["Root", "Arm", "Hand"])
    body(bpy, owner)
    blade = cube(bpy, "Sword", (0.5, 0, 0.2), 0.4)
    blade.parent, blade.parent_type, blade.parent_bone = owner, "BONE", "Hand"
    wave(owner, "Strike", 1.2)


def eighty_bones(bpy: Any) -> None:
    names = [f"Bone {number:02}" for number in range(80)]
    owner = rig(bpy, names, [(number - 1) // 2 if number else -1 for number in range(80)])
    body(bpy, owner)
    wave(owner, "Stir", 0.3)


def posed_bone(bpy: Any) -> None:
    """One bone is bent by hand and has no keys."""
    owner = rig(bpy, ["Root", "Spine", "Chest", "Head"])
    body(bpy, owner)
    wave(owner, "Walk", 0.8, ["Root", "Head"])
    bone = owner.pose.bones["Spine"]
    bone.rotation_mode, bone.rotation_quaternion = "QUATERNION", (math.cos(0.35), math.sin(0.35), 0, 0)


def children_first(bpy: Any) -> None:
    """Sorted by name, children come before their parents."""
    owner = rig(bpy, ["Hips", "Spine", "Chest", "Arm", "Hand"])
    body(bpy, owner)
    wave(owner, "Climb", 0.7)


def moved_rig(bpy: Any) -> None:
    """An armature that is placed, turned and larger than it was drawn, below an empty."""
    empty = bpy.data.objects.new("Place", None)
    bpy.context.collection.objects.link(empty)
    empty.location = (3, -1, 2)
    owner = rig(bpy, ["Root", "Tip"])
    body(bpy, owner)
    owner.parent, owner.rotation_euler, owner.scale = empty, (0.2, 0.3, 0.4), (2, 2, 2)
    wave(owner, "Nod", 0.9)


SCENES: list[Callable[[Any], None]] = [
    still,
    two_materials,
    polygons,
    mirrored,
    many_vertices,
    rigged,
    several_actions,
    sword,
    eighty_bones,
    posed_bone,
    children_first,
    moved_rig,
]


# -------------------------------------------------------------------------------------------------------------- judging


def shown(bpy: Any, frame: int) -> np.ndarray:
    """The vertices of all meshes in the world, as the depsgraph has them."""
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
    return np.concatenate(found)


def drawn(path: Path, to: str, frame: int, clip: str, fps: float) -> np.ndarray:
    """The same, as the engine has them on a frame of an action that begins on frame 1."""
    data = path.read_bytes()
    document = FORMATS[to].read(data)
    scene = FORMATS[to].to_scene(document)
    first = next(
        (each.first for each in scene.clips if each.name == clip), 1.0 if scene.timeline is None else scene.timeline.first
    )
    at = first + frame - 1 if scene.clips else frame
    if to == "bogle":
        assert bogle.refuses(document) == []
        names = [each.name.decode() for rig in document.collections[:1] for each in rig.animations]
        found = bogle.pose(document, (frame - 1) / fps, names.index(clip) if names else 0)
    else:
        pose: dict[str, Callable[[], list[np.ndarray]]] = {
            "b3d": lambda: b3d.pose(document, at)[0],
            "bo3d": lambda: [bo3d.points(document, at)],
            "dbo": lambda: dbo.pose(data, at),
            "saturn": lambda: saturn.pose(document, at),
        }
        found = pose[to]()
    return np.concatenate([points[:, :3] for points in found])


@pytest.mark.parametrize("to", ["b3d", "bo3d", "bogle", "dbo", "saturn"])
@pytest.mark.parametrize("make", SCENES, ids=lambda make: make.__name__)
def test_the_engine_draws_what_the_person_made(blender: Any, tmp_path: Path, make: Callable[[Any], None], to: str) -> None:
    make(blender)
    blender.context.view_layer.update()
    path = tmp_path / f"made{FORMATS[to].extensions[0]}"
    export = getattr(blender.ops.export_scene, to)
    if (make.__name__, to) in REFUSED:
        with pytest.raises(RuntimeError, match=REFUSED[make.__name__, to]):
            export(filepath=str(path))
        return
    assert export(filepath=str(path)) == {"FINISHED"}
    owner = blender.data.objects.get("Rig")
    action = owner.animation_data.action.name if owner is not None else ""
    fps = blender.context.scene.render.fps / blender.context.scene.render.fps_base
    place = np.zeros(3)
    for frame in (1, 4, 6, 11) if owner is not None else (1,):
        expected, found = shown(blender, frame), drawn(path, to, frame, action, fps)
        size = float(np.linalg.norm(np.ptp(expected, 0)))
        if (make.__name__, to) in PLACELESS:
            place = expected.min(0) - found.min(0) if frame == 1 else place
            found = found + place
        assert distance(expected, found, size) < TOLERANCES.get(to, 1e-4), frame
    assert formats.sniff(path.read_bytes()) is FORMATS[to]


def sides(path: Path, to: str) -> list[float]:
    """The volume of each mesh as the engine draws it, by the order of its triangles' corners: negative when inside out.

    Blitz3D and Dark Basic Pro show the side from which corners go round clockwise, in left-handed worlds; the others the
    opposite, in right-handed ones. Scales of less than nothing turn nothing round in any of them.
    """
    data = path.read_bytes()
    document = FORMATS[to].read(data)
    if to == "b3d":
        points = b3d.pose(document, 1)[0]
        meshes = [mesh for node, _ in document.walk() for mesh in node.chunks if hasattr(mesh, "triangles")]
        rows = [np.concatenate([part.vertex_ids for part in mesh.triangles]) for mesh in meshes]
    elif to == "bo3d":
        points = [place for place, _ in bo3d.drawn(document, None).values()]
        rows = [entity.mesh.triangles for entity in document.entities if entity.mesh is not None]
    elif to == "bogle":
        points = bogle.pose(document, None)
        used = [int(each.values["geometry"][0]) - 1 for each in document.instances if each.values["geometry"][0]]
        rows = [document.geometries[number].indices for number in used]
    else:
        points, rows = dbo.pose(data, None), dbo.indices(data)
    found = []
    for place, row in zip(points, rows, strict=True):
        a, b, c = (place[:, :3] - place[:, :3].mean(0))[np.asarray(row).reshape(-1, 3).astype(int)].transpose(1, 0, 2)
        found.append(float(np.einsum("ni,ni->", a, np.cross(b, c))) / 6 * (-1 if to in ("b3d", "dbo") else 1))
    return found


@pytest.mark.parametrize("to", ["b3d", "bo3d", "bogle", "dbo"])
def test_a_mirrored_child_is_drawn_right_side_out(blender: Any, tmp_path: Path, to: str) -> None:
    mirrored(blender)
    for material in blender.data.materials:
        material.use_backface_culling = True
    path = tmp_path / f"made{FORMATS[to].extensions[0]}"
    assert getattr(blender.ops.export_scene, to)(filepath=str(path)) == {"FINISHED"}
    if to == "bogle":  # as the engine's own exporter has it; release builds of the engine show it so, which is told
        assert sides(path, to) == pytest.approx([1, -1], abs=1e-4)
        told = blender.data.texts["Retro Meshes Log"].as_string()
        assert "1 objects are mirrored by a scale below 0 (Arm)" in told
    else:
        assert sides(path, to) == pytest.approx([1, 1], abs=1e-4)
