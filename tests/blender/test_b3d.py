# SPDX-License-Identifier: GPL-3.0-or-later
"""Blitz3D through the operators: what Blender shows is what the engine would draw, there and back."""

from __future__ import annotations

import math
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import b3d
from io_retro_meshes.formats.b3d import document as doc
from tests.builders import b3d as made
from tests.builders.posing import shown
from tests.conftest import corpus_files
from tests.engines import b3d as engine
from tests.engines.gltf import Gltf

FILES = corpus_files("b3d", "*.b3d")


def start_over(bpy: Any) -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def all_points(bpy: Any, frame: float) -> np.ndarray:
    return np.concatenate([np.zeros((0, 3)), *shown(bpy, frame).values()])


def apart(points: np.ndarray, others: np.ndarray) -> float:
    """The farthest any point of either is from all of the other, in sizes of the model."""
    from mathutils.kdtree import KDTree

    def one_way(a: np.ndarray, b: np.ndarray) -> float:
        tree = KDTree(len(b))
        for index, point in enumerate(b):
            tree.insert(point, index)
        tree.balance()
        return max(tree.find(point)[2] for point in a)

    size = float(np.linalg.norm(np.ptp(others, 0))) or 1.0
    return max(one_way(points, others), one_way(others, points)) / size


def assert_posed(bpy: Any, document: doc.Document, frames: list[float]) -> None:
    for frame in frames:
        meshes, between = engine.pose(document, frame)
        assert apart(all_points(bpy, frame), np.concatenate(meshes)) < (2e-3 if between else 1e-4), frame


def facts(bpy: Any) -> dict[str, Any]:
    """What must be the same after an export and another import."""
    meshes = [o for o in bpy.data.objects if o.type == "MESH"]
    sequences = [a for a in bpy.data.actions if a.retro_meshes.role == "SEQUENCE"]
    return {
        "faces": sorted(len(o.data.polygons) for o in meshes),
        "uvs": sorted(len(o.data.uv_layers) for o in meshes),
        "colors": sorted(len(o.data.color_attributes) for o in meshes),
        "materials": sorted((m.retro_b3d.brush, m.retro_b3d.fx, m.retro_b3d.blend) for m in bpy.data.materials if m.users),
        "bones": sorted(sorted(bone.retro_meshes.name or bone.name for bone in a.bones) for a in bpy.data.armatures),
        "sequences": {(a.name, *a.frame_range) for a in sequences},
        "range": (bpy.context.scene.frame_start, bpy.context.scene.frame_end),
        "fps": bpy.context.scene.render.fps / bpy.context.scene.render.fps_base,
    }


@pytest.mark.parametrize("path", FILES)
def test_real_file(blender: Any, path: Path, tmp_path: Path) -> None:
    """Posed vertices at the first, the last, two middle frames and between two; again after export and import."""
    document = b3d.read(path.read_bytes())
    frames = engine.test_frames(document)
    frames = [*frames, frames[len(frames) // 2] + 0.5]
    assert blender.ops.import_scene.b3d(filepath=str(path)) == {"FINISHED"}
    assert_posed(blender, document, frames)
    before = facts(blender)
    out = tmp_path / path.name
    assert blender.ops.export_scene.b3d(filepath=str(out)) == {"FINISHED"}
    start_over(blender)
    assert blender.ops.import_scene.b3d(filepath=str(out)) == {"FINISHED"}
    assert_posed(blender, document, frames)
    after = facts(blender)
    if len(engine.key_frames(document)) < 2:  # an animation in which nothing moves is not exported
        after |= {name: before[name] for name in ("sequences", "range", "fps")}
    assert after == before


def test_everything(blender: Any, tmp_path: Path) -> None:
    """Pivots between bones, a moved and animated skinned mesh, a mirrored mesh on a bone, several roots."""
    document = made.everything()
    path = tmp_path / "everything.b3d"
    path.write_bytes(b3d.write(document))
    frames = [0, 1, 6, 11, 15.5, 21, 30]
    blender.ops.import_scene.b3d(filepath=str(path))
    assert_posed(blender, document, frames)
    blender.ops.export_scene.b3d(filepath=str(path))
    start_over(blender)
    blender.ops.import_scene.b3d(filepath=str(path))
    assert_posed(blender, document, frames)
    assert {(a.name, *a.frame_range) for a in blender.data.actions if a.retro_meshes.role == "SEQUENCE"} == {
        ("wave", 1, 11),
        ("grow", 11, 21),
    }


# --------------------------------------------------------------------------------------------------- a scene from Blender


def person(bpy: Any) -> Any:
    """A rig of two bones with a pentagon and quads on it, a mirrored child on the upper bone, and three actions."""
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    lower, upper = data.edit_bones.new("lower"), data.edit_bones.new("upper")
    lower.head, lower.tail = (0, 0, 0), (0, 0, 1)
    upper.head, upper.tail, upper.parent = (0, 0, 1), (0, 1, 2), lower
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.location, rig.rotation_euler, rig.scale = (1, 2, 0), (0, 0, 0.5), (2, 2, 2)
    ring = [(math.cos(i * 2 * math.pi / 5), math.sin(i * 2 * math.pi / 5)) for i in range(5)]
    mesh = bpy.data.meshes.new("Body")
    sides = [(i, (i + 1) % 5, (i + 1) % 5 + 5, i + 5) for i in range(5)]
    mesh.from_pydata([(x / 2, y / 2, z) for z in (0, 2) for x, y in ring], [], [*sides, (5, 6, 7, 8, 9), (4, 3, 2, 1, 0)])
    mesh.uv_layers.new(name="UVMap")
    mesh.materials.append(bpy.data.materials.new("red"))
    mesh.materials.append(bpy.data.materials.new("blue"))
    mesh.polygons[5].material_index = 1
    body = bpy.data.objects.new("Body", mesh)
    bpy.context.scene.collection.objects.link(body)
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
    for name, vertices in (("lower", range(5)), ("upper", range(5, 10))):
        body.vertex_groups.new(name=name).add(list(vertices), 1.0, "REPLACE")
    hand = bpy.data.objects.new("Hand", bpy.data.meshes.new("Hand"))
    hand.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    bpy.context.scene.collection.objects.link(hand)
    hand.parent, hand.parent_type, hand.parent_bone = rig, "BONE", "upper"
    hand.scale = (-1, 1, 1)
    rig.animation_data_create()
    bone = rig.pose.bones["upper"]
    bone.rotation_mode = "XYZ"
    for name, angle in (("walk", 1.0), ("wave", -0.7), ("rest", 0.2)):
        rig.animation_data.action = None
        for frame, value in ((1, 0.0), (5, angle), (9, 0.0)):
            bone.rotation_euler = (value, 0, value / 2)
            bone.keyframe_insert("rotation_euler", frame=frame)
        rig.animation_data.action.name = name
    return rig


def played(bpy: Any, rig: Any) -> dict[tuple[str, int], np.ndarray]:
    found = {}
    for action in list(bpy.data.actions):
        rig.animation_data.action = action
        if hasattr(action, "slots"):
            rig.animation_data.action_slot = action.slots[0]
        for frame in (1, 3, 5, 9):
            found[action.name, frame] = all_points(bpy, frame)
    return found


def test_rig_with_three_actions_a_mirrored_child_and_a_polygon(blender: Any, tmp_path: Path) -> None:
    expected = played(blender, person(blender))
    path = tmp_path / "person.b3d"
    assert blender.ops.export_scene.b3d(filepath=str(path)) == {"FINISHED"}
    document = b3d.read(path.read_bytes())
    ranges = {each.name.decode(): each.first for node, _ in document.walk() for each in doc.of_kind(node.chunks, doc.Sequence)}
    assert set(ranges) == {"walk", "wave", "rest"}
    start_over(blender)
    blender.ops.import_scene.b3d(filepath=str(path))
    other = assimp(path) if shutil.which("assimp") else None
    fps = document_fps(document)
    for (name, frame), points in expected.items():
        at = ranges[name] + frame - 1
        assert apart(np.concatenate(engine.pose(document, at)[0]), points) < 1e-4
        assert apart(all_points(blender, at), points) < 1e-4
        if other is not None and frame != 3:
            assert apart(np.concatenate(other.pose(at / fps)), points) < 1e-4
    faces = [mesh for node, _ in document.walk() for mesh in doc.of_kind(node.chunks, doc.Mesh)]
    assert [[len(surface.vertex_ids) for surface in mesh.triangles] for mesh in faces] == [[13, 3], [1]]


def document_fps(document: doc.Document) -> float:
    return next(anim.fps for node, _ in document.walk() for anim in doc.of_kind(node.chunks, doc.Anim))


def assimp(path: Path) -> Gltf:
    subprocess.run(["assimp", "export", str(path), str(path.with_suffix(".gltf"))], check=True, capture_output=True, timeout=60)
    return Gltf(path.with_suffix(".gltf"))


class AnyScene:
    """Meshes, empties, cameras and rigs, below one another and on bones, uneven, mirrored, animated: as chance has it."""

    def __init__(self, bpy: Any, seed: int) -> None:
        self.bpy, self.random = bpy, random.Random(seed)
        self.sheared, self.mirrored = seed % 4 == 0, seed % 2 == 0
        self.objects: list[Any] = []
        for number in range(self.random.randint(2, 6)):
            self.add(number)

    def add(self, number: int) -> None:
        kinds = {"mesh": self.mesh, "empty": lambda _: None, "camera": self.bpy.data.cameras.new, "rig": self.rig}
        kind = self.random.choices(list(kinds), (5, 2, 1, 3))[0]
        made = kinds[kind](f"{kind}{number}")
        if kind != "rig":
            made = self.linked(f"{kind}{number}", made)
        made.location, made.rotation_euler, made.scale = self.vector(2), self.vector(3), self.scale(0.5, 2)
        if self.mirrored and self.random.random() < 0.4:
            made.scale[self.random.randrange(3)] *= -1
        if self.objects and self.random.random() < 0.6:
            made.parent = self.random.choice(self.objects)
            if made.parent.type == "ARMATURE" and self.random.random() < 0.6:
                made.parent_type, made.parent_bone = "BONE", "b1"
        if not self.sheared and self.random.random() < 0.4:
            for frame in (1, 8, 12):
                made.location, made.rotation_euler = self.vector(2), self.vector(1)
                made.keyframe_insert("location", frame=frame)
                made.keyframe_insert("rotation_euler", frame=frame)
        self.objects.append(made)

    def vector(self, size: float) -> list[float]:
        return [self.random.uniform(-size, size) for _ in range(3)]

    def scale(self, low: float, high: float) -> list[float]:
        return [self.random.uniform(low, high) for _ in range(3)] if self.sheared else [self.random.uniform(low, high)] * 3

    def linked(self, name: str, data: Any) -> Any:
        made = self.bpy.data.objects.new(name, data)
        self.bpy.context.scene.collection.objects.link(made)
        return made

    def mesh(self, name: str) -> Any:
        mesh = self.bpy.data.meshes.new(name)
        points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 1)]
        mesh.from_pydata(points, [], [(0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)])
        return mesh

    def rig(self, name: str) -> Any:
        data = self.bpy.data.armatures.new(name)
        made = self.linked(name, data)
        self.bpy.context.view_layer.objects.active = made
        self.bpy.ops.object.mode_set(mode="EDIT")
        for number in range(3):
            bone = data.edit_bones.new(f"b{number}")
            bone.head, bone.tail, bone.roll = (0, 0, number * 0.7), (*self.vector(0.3)[:2], number * 0.7 + 0.7), number
            bone.parent = data.edit_bones.get(f"b{number - 1}") if self.random.random() < 0.8 else None
        self.bpy.ops.object.mode_set(mode="OBJECT")
        for number in range(self.random.randint(0, 2)):
            skin = self.linked(f"{name} skin{number}", self.mesh(f"{name} skin{number}"))
            skin.parent, skin.location = made, self.vector(1)
            skin.modifiers.new("Armature", "ARMATURE").object = made
            for bone in data.bones:
                chosen = [vertex for vertex in range(5) if self.random.random() < 0.6]
                skin.vertex_groups.new(name=bone.name).add(chosen, self.random.uniform(0.1, 1), "REPLACE")
        for bone in made.pose.bones:
            bone.rotation_mode = self.random.choice(["XYZ", "ZYX"])
            for frame in (1, 6, 12):
                bone.rotation_euler, bone.location, bone.scale = self.vector(1), self.vector(0.3), self.scale(0.7, 1.4)
                for channel in ("rotation_euler", "location", "scale"):
                    bone.keyframe_insert(channel, frame=frame)
        return made


@pytest.mark.parametrize("seed", range(16))
def test_any_scene(blender: Any, tmp_path: Path, seed: int) -> None:
    AnyScene(blender, seed)
    expected = {frame: all_points(blender, frame) for frame in (1, 4, 6, 9, 12)}
    path = tmp_path / "any.b3d"
    blender.context.scene.frame_set(1)
    assert blender.ops.export_scene.b3d(filepath=str(path), animation="ACTIVE") == {"FINISHED"}
    document = b3d.read(path.read_bytes())
    start_over(blender)
    blender.ops.import_scene.b3d(filepath=str(path))
    for frame, points in expected.items():
        if len(points):
            assert apart(np.concatenate(engine.pose(document, frame)[0]), points) < 1e-4, frame
            assert apart(all_points(blender, frame), points) < 1e-4, frame


def test_errors_are_the_formats_own(blender: Any, tmp_path: Path) -> None:
    path = tmp_path / "empty.b3d"
    path.write_bytes(b"")
    with pytest.raises(RuntimeError, match="empty"):
        blender.ops.import_scene.b3d(filepath=str(path))
