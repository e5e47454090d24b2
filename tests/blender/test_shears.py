# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that turn below a bone with an uneven scale: a shear, which a pose bone cannot hold and helper bones can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import b3d, bo3d, dbo
from io_retro_meshes.formats.b3d.document import POSITION, ROTATION, SCALE, Anim, Document, Mesh, Node, floats
from io_retro_meshes.formats.dbo.document import AnimationSet
from tests.builders import b3d as made
from tests.builders import bo3d as bo3d_made
from tests.builders import dbo as dbo_made
from tests.builders.posing import shown
from tests.engines import b3d as b3d_engine
from tests.engines import bo3d as bo3d_engine
from tests.engines import dbo as dbo_engine

UNEVEN = (1.0065, 0.873, 0.9369)  # of a chest's lowest bone


def turn(angle: float, *axis: float) -> tuple[float, ...]:
    return (np.cos(angle / 2), *(np.sin(angle / 2) * np.array(axis) / np.linalg.norm(axis)))


def chest(uneven: tuple[float, float, float] = UNEVEN) -> Document:
    """A box on two bones; the lid turns, and so does a lock on it with an uneven scale of its own, which moves and grows."""
    corners = np.array([(x, y, z) for x in (-5, 5) for y in (0, 6, 9) for z in (-4, 4)], float)
    faces = [[0, 1, 3], [0, 3, 2], [2, 3, 5], [2, 5, 4], [6, 9, 7], [6, 8, 9], [8, 11, 9], [8, 10, 11], [4, 5, 11], [4, 11, 10]]
    lock = Node(b"lock", floats(0, 1, 4), floats(1, 2, 0.5), floats(*turn(0.4, 1, 1, 0)), [made.weights((10, 0.5), (11, 1.0))])
    lock.chunks.append(made.keys(ROTATION, (1, turn(0.4, 1, 1, 0)), (11, turn(1.2, 1, 0, 1)), (21, turn(-0.6, 0, 1, 1))))
    lock.chunks.append(made.keys(POSITION | SCALE, (1, (0, 1, 4), (1, 2, 0.5)), (21, (1, 1, 4), (1.5, 2, 1))))
    jewel = Node(b"jewel", floats(1, 0, 0), chunks=[Mesh(-1, [made.vertices(made.QUAD), made.triangles([[0, 1, 2]])])])
    lid = Node(b"lid", floats(0, 6, -4), rotation=floats(*turn(0.2, 0, 1, 0.3)), chunks=[])
    lid.chunks = [made.weights((4, 1.0), (5, 1.0), (10, 0.5), (8, 0.3)), lock, jewel]
    lid.chunks.append(made.keys(ROTATION, (1, turn(0.2, 0, 1, 0.3)), (11, turn(-1.4, 1, 0.2, 0)), (21, turn(-0.3, 1, 0, 0.4))))
    base = Node(b"base", floats(0, 0.5, 0), floats(*uneven), floats(*turn(0.3, 0.2, 1, 0)), [])
    base.chunks = [made.weights(*((number, 1.0) for number in (0, 1, 2, 3, 6, 7)), (8, 0.7), (9, 1.0)), lid]
    mesh = Mesh(-1, [made.vertices(corners, 0, 1), made.triangles(faces)])
    return Document(chunks=[Node(b"chest", chunks=[mesh, Anim(0, 21, 24.0), base])])


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """The farthest any point of either is from all of the other."""
    far = np.linalg.norm(one[:, None] - other[None], axis=-1)
    return float(max(far.min(0).max(), far.min(1).max()))


def points(bpy: Any, frame: float) -> np.ndarray:
    return np.concatenate(list(shown(bpy, frame).values()))


def assert_posed(bpy: Any, document: Document, frames: tuple[float, ...] = (1, 6, 11, 14.5, 21)) -> None:
    for frame in frames:
        expected = np.concatenate(b3d_engine.pose(document, frame)[0])
        assert apart(expected, points(bpy, frame)) < 2e-4 * (1 if frame == int(frame) else 50), frame


@pytest.mark.parametrize("uneven", [UNEVEN, (2, 0.3, 1), (-1, 0.8, 1.3)])
def test_a_chest_is_exact_through_helpers_that_no_file_has(
    blender: Any, tmp_path: Path, uneven: tuple[float, float, float]
) -> None:
    document = chest(uneven)
    (tmp_path / "chest.b3d").write_bytes(b3d.write(document))
    assert blender.ops.import_scene.b3d(filepath=str(tmp_path / "chest.b3d")) == {"FINISHED"}
    assert_posed(blender, document)
    (armature,) = blender.data.armatures
    helpers = [bone for bone in armature.bones if bone.retro_meshes.helper]
    assert helpers and not any(collection.is_visible for bone in helpers for collection in bone.collections)
    assert {bone.name for bone in armature.bones} - {bone.name for bone in helpers} == {"base", "lid", "lock"}
    assert blender.ops.export_scene.b3d(filepath=str(tmp_path / "again.b3d")) == {"FINISHED"}
    again = b3d.read((tmp_path / "again.b3d").read_bytes())
    assert {node.name for node, _ in again.walk()} == {b"chest", b"base", b"lid", b"lock", b"jewel"}
    for frame in (1, 6, 11, 21):
        there, back = (np.concatenate(b3d_engine.pose(each, frame)[0]) for each in (document, again))
        assert apart(there, back) < 2e-4, frame
    blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert blender.ops.import_scene.b3d(filepath=str(tmp_path / "again.b3d")) == {"FINISHED"}
    assert_posed(blender, document)


def uneven_arm(sheared: bool) -> bytes:
    """An arm whose lower frame has an uneven scale; the upper one turns, or is sheared where the skin was not bound so."""
    document = dbo_made.arm()
    lower = document.root.frame.child
    upper, plain = lower.child, lower.child.matrix
    lower.matrix = (np.diag([1.4, 0.7, 1.1, 1]) @ dbo_made.frame("", turn=0.6).matrix).astype(np.float32)
    if sheared:
        upper.matrix = np.array([[1, 0.3, 0, 0], [0, 1, 0, 0], [0, 0.2, 1, 0], [0, 2, 0, 1]], np.float32)
        document.root.animation_set = None
    else:
        document.root.animation_set = AnimationSet(name="swing", length=10, animation=dbo_made.keys("upper", 2.0))
    for bone, world in zip(lower.sibling.mesh.bones, (lower.matrix, plain @ lower.matrix), strict=True):
        bone.matrix = np.linalg.inv(world).astype(np.float32)
    return dbo.write(document)


@pytest.mark.parametrize("sheared", [False, True])
def test_frames_of_an_uneven_scale_are_exact(blender: Any, tmp_path: Path, sheared: bool) -> None:
    data = uneven_arm(sheared)
    (tmp_path / "arm.dbo").write_bytes(data)
    assert blender.ops.import_scene.dbo(filepath=str(tmp_path / "arm.dbo")) == {"FINISHED"}
    assert any(bone.retro_meshes.helper for armature in blender.data.armatures for bone in armature.bones)
    assert blender.ops.export_scene.dbo(filepath=str(tmp_path / "again.dbo")) == {"FINISHED"}
    again = (tmp_path / "again.dbo").read_bytes()
    for frame in (0, 3, 4, 7, 10):
        expected = np.concatenate(dbo_engine.pose(data, frame))[:, :3]
        assert apart(expected, points(blender, frame)) < 1e-4, frame
        assert apart(expected, np.concatenate(dbo_engine.pose(again, frame))[:, :3]) < 1e-4, frame


def test_entities_of_an_uneven_scale_are_exact(blender: Any, tmp_path: Path) -> None:
    document = bo3d_made.two_arms()
    document.entities[1].scale = floats(1.3, 0.6, 1)
    document.entities[1].keys["scale"] = (1.3, 0.6, 1)
    data = bo3d.write(document)
    (tmp_path / "arms.bo3d").write_bytes(data)
    assert blender.ops.import_scene.bo3d(filepath=str(tmp_path / "arms.bo3d")) == {"FINISHED"}
    assert any(bone.retro_meshes.helper for armature in blender.data.armatures for bone in armature.bones)
    for frame in (1, 7, 11, 20):
        assert apart(bo3d_engine.points(bo3d.read(data), frame), points(blender, frame)) < 1e-4, frame
