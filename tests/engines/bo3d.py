# SPDX-License-Identifier: GPL-3.0-or-later
"""What the bOGL engine draws of a BO3D document on a frame, one entity, one key and one vertex range after the other.

Written from the format's documents and shares nothing with the add-on but the document's fields. Blender's axes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def matrix(position: Any, scale: Any, rotation: Any) -> np.ndarray:
    w, x, y, z = np.asarray(rotation, float) / (np.linalg.norm(np.asarray(rotation, float)) or 1)
    turn = np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )
    found = np.eye(4)
    found[:3, :3] = turn @ np.diag(np.asarray(scale, float))
    found[:3, 3] = position
    return found


def pose(entity: Any, frame: float | None) -> np.ndarray:
    """The entity's own matrix; at rest where the frame is None."""
    if frame is None or not len(entity.keys):
        return matrix(entity.position, entity.scale, entity.rotation)
    keys = [(-1, entity.position, entity.scale, entity.rotation)]
    keys += [(int(key["frame"]), key["position"], key["scale"], key["rotation"]) for key in entity.keys]
    source = target = None
    for key in reversed(keys):
        if key[0] <= math.floor(frame):
            source = key
            break
    for key in keys:
        if key[0] >= math.ceil(frame):
            target = key
            break
    source = source or keys[0]
    target = target or source
    span = abs(target[0] - source[0])
    part = min(abs(frame - source[0]) / span, 1) if span else 0
    return matrix(
        *(np.asarray(a, float) * (1 - part) + np.asarray(b, float) * part for a, b in zip(source[1:], target[1:], strict=True))
    )


def world(document: Any, frame: float | None) -> list[np.ndarray]:
    found: list[np.ndarray] = []
    for index, entity in enumerate(document.entities):
        parent = entity.parent if 0 <= entity.parent < index else (0 if index else -1)
        own = pose(entity, frame)
        found.append(found[parent] @ own if parent >= 0 else own)
    return found


def blender(vectors: np.ndarray) -> np.ndarray:
    return np.stack([vectors[:, 0], -vectors[:, 2], vectors[:, 1]], 1)


def drawn(document: Any, frame: float | None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Points and unit normals of every mesh, in the world. Normals go through a bone as the engine takes them: unbound."""
    now, rest = world(document, frame), world(document, None)
    found = {}
    for index, entity in enumerate(document.entities):
        if entity.mesh is None:
            continue
        points = entity.mesh.vertices["position"].astype(float)
        normals = entity.mesh.vertices["normal"].astype(float)
        matrices = [now[index]] * len(points)
        turns = [now[index][:3, :3]] * len(points)
        for bone, first, last in entity.mesh.bones.tolist():
            if 0 <= bone < len(document.entities):
                moved = now[bone] @ np.linalg.inv(rest[bone]) @ rest[index]
                for vertex in range(max(first, 0), min(last, len(points) - 1) + 1):
                    matrices[vertex], turns[vertex] = moved, now[bone][:3, :3]
        placed = np.array([m[:3, :3] @ p + m[:3, 3] for m, p in zip(matrices, points, strict=True)])
        turned = np.array([turn @ normal for turn, normal in zip(turns, normals, strict=True)])
        length = np.linalg.norm(turned, axis=1, keepdims=True)
        found[entity.name.decode("latin-1")] = blender(placed), blender(turned / np.where(length > 0, length, 1))
    return found


def points(document: Any, frame: float | None) -> np.ndarray:
    return np.concatenate([points for points, _ in drawn(document, frame).values()])
