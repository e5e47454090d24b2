# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses a Blitz3D document as the engine does, in the engine's own axes, and shares nothing with the project but the document.

The measure for everything that goes through the scene and through Blender.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from io_retro_meshes.formats.b3d import document as b3d

Array = np.ndarray[Any, Any]


def rotation(q: Array) -> Array:
    """The engine's quaternion turns the other way than the usual one."""
    length = np.sqrt((q * q).sum())
    if length == 0:
        return np.eye(3)
    w, x, y, z = q / length * [1, -1, -1, -1]
    v = np.array([x, y, z])
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * cross


def slerp(a: Array, b: Array, t: float) -> Array:
    a, b = a / (np.linalg.norm(a) or 1), b / (np.linalg.norm(b) or 1)
    cosine = a @ b
    if cosine < 0:
        b, cosine = -b, -cosine
    angle = np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b)) * 2
    if angle < 1e-9:
        return a
    return (np.sin((1 - t) * angle) * a + np.sin(t * angle) * b) / np.sin(angle)


def channel(node: b3d.Node, name: str, frame: float) -> tuple[Array, bool]:
    """The value of one channel at a frame, and whether that lies between two keys."""
    keys: dict[int, Array] = {}
    for chunk in node.chunks:
        if isinstance(chunk, b3d.Keys) and name in (chunk.keys.dtype.names or ()):
            keys.update(zip(chunk.keys["frame"].tolist(), chunk.keys[name].astype(float), strict=True))
    if not keys:
        return getattr(node, name).astype(float), False
    before = max((key for key in keys if key <= frame), default=min(keys))
    after = min((key for key in keys if key >= frame), default=max(keys))
    if before == after:
        return keys[before], False
    t = (frame - before) / (after - before)
    if name == "rotation":
        return slerp(keys[before], keys[after], t), True
    return keys[before] * (1 - t) + keys[after] * t, True


def local(node: b3d.Node, frame: float | None) -> tuple[Array, bool]:
    if frame is None:
        position, scale, quaternion = (getattr(node, name).astype(float) for name in ("position", "scale", "rotation"))
        between = False
    else:
        (position, _), (scale, _), (quaternion, between) = (
            channel(node, name, frame) for name in ("position", "scale", "rotation")
        )
    matrix = np.eye(4)
    matrix[:3, :3] = rotation(quaternion) @ np.diag(scale)
    matrix[:3, 3] = position
    return matrix, between


def pose(document: b3d.Document, frame: float) -> tuple[list[Array], bool]:
    """Every mesh's vertices in the world, in Blender's axes; and whether a rotation passes between keys."""
    walked = list(document.walk())
    world: list[Array] = []
    bind: list[Array] = []
    owner: list[int] = []
    between = False
    for node, parent in walked:
        matrix, passes = local(node, frame)
        between |= passes
        world.append(matrix if parent < 0 else world[parent] @ matrix)
        at_rest = local(node, None)[0]
        bind.append(at_rest if parent < 0 else bind[parent] @ at_rest)
        above_is_mesh = parent >= 0 and any(isinstance(chunk, b3d.Mesh) for chunk in walked[parent][0].chunks)
        owner.append(-1 if parent < 0 else parent if above_is_mesh else owner[parent])
    found = []
    for index, (node, _) in enumerate(walked):
        for mesh in (chunk for chunk in node.chunks if isinstance(chunk, b3d.Mesh)):
            points = mesh.vertices.positions.astype(float) if mesh.vertices else np.zeros((0, 3))
            bones = [bone for bone in range(len(walked)) if owner[bone] == index]
            found.append(_skinned(points, index, bones, walked, world, bind)[:, [0, 2, 1]])
    return found, between


def _skinned(points: Array, mesh: int, bones: list[int], walked: Any, world: list[Array], bind: list[Array]) -> Array:
    rigid = points @ world[mesh][:3, :3].T + world[mesh][:3, 3]
    influences: list[list[tuple[float, int]]] = [[] for _ in points]
    for bone in bones:
        for chunk in walked[bone][0].chunks:
            if isinstance(chunk, b3d.Bone):
                for vertex, weight in chunk.weights.tolist():
                    if 0 <= vertex < len(points) and weight > 0:
                        influences[vertex].append((weight, bone))
    moves = {}
    for bone in bones:
        # From the mesh's space to the bone's at rest, then to where the bone is.
        moves[bone] = world[bone] @ np.linalg.inv(np.linalg.inv(bind[mesh]) @ bind[bone])
    posed = rigid.copy()
    for vertex, found in enumerate(influences):
        strongest = sorted(found, key=lambda pair: -pair[0])[:4]
        total = sum(weight for weight, _ in strongest)
        if total:
            matrix = sum(weight / total * moves[bone] for weight, bone in strongest)
            posed[vertex] = matrix[:3, :3] @ points[vertex] + matrix[:3, 3]
    return posed


def key_frames(document: b3d.Document) -> list[int]:
    return sorted(
        {
            int(frame)
            for node, _ in document.walk()
            for chunk in node.chunks
            if isinstance(chunk, b3d.Keys)
            for frame in chunk.keys["frame"]
        }
    )


def test_frames(document: b3d.Document) -> list[int]:
    """The first, the last and two middle frames."""
    keys = key_frames(document)
    if not keys:
        return [1]
    first, last = keys[0], keys[-1]
    return sorted({first, last, first + (last - first) // 3, first + (last - first) * 2 // 3})
