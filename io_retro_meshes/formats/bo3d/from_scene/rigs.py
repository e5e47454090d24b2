# SPDX-License-Identifier: GPL-3.0-or-later
"""Matrices of nodes and bones as the engine can take them: rigid, with the scale apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Bone, Scene, maths
from .animation import Matrices

Array = npt.NDArray[Any]

FLAT = 1e-4  # a scale that is less than this part of the largest one would flatten vertices
CONSTANT_SCALE = 1e-4  # a scale that changes by less than this is constant


@dataclass
class RigidMotion:
    """World matrices split into a rigid part and the rest, at rest and on each frame."""

    world: Matrices  # without scale
    scale: Matrices | None  # (1 + frames, 3) relative to what is baked, where it changes
    baked: Array  # (4, 4) what of the matrix at rest (or where its scale is not 0) is to be baked into vertices
    sheared: bool = False  # over time, so that the parts do not give the whole


def rigid_motion(matrices: Matrices) -> RigidMotion:
    linear = matrices[:, :3, :3]
    rigid = matrices.copy()
    gram = np.swapaxes(linear, 1, 2) @ linear
    if np.abs(gram - np.eye(3)).max() < 1e-5 and np.linalg.det(linear).min() > 0:
        return RigidMotion(rigid, None, np.eye(4))
    _, rotation, scale = maths.decompose(matrices)
    rigid[:, :3, :3] = maths.quaternion_to_matrix(rotation)
    baked = np.eye(4)
    full = _whole(scale)
    baked[:3, :3] = rigid[full, :3, :3].T @ linear[full]
    some = np.abs(scale[full]) > 1e-12
    ratio = np.where(some, scale / np.where(some, scale[full], 1), 1)
    expected = rigid[:, :3, :3] * ratio[:, None, :] @ baked[:3, :3]
    sheared = bool(np.abs(expected - linear).max() > 1e-3 * np.abs(linear).max())
    return RigidMotion(rigid, ratio if np.abs(ratio - 1).max() > CONSTANT_SCALE else None, baked, sheared)


def _whole(scale: Matrices) -> int:
    """Where to take the scale of vertices from: from rest, unless it is next to nothing there and more elsewhere."""
    least = np.abs(scale).min(1)
    return 0 if least[0] > FLAT * least.max() else int(np.argmax(least))


def bone_motion(bone: Bone, pose: Matrices, armature: RigidMotion) -> RigidMotion:
    """Where the bone is in the world: at its head, turned by as much as it is turned from where the skin was bound.

    `pose`: the bone's matrices in the world.
    """
    baked = armature.baked
    moved = pose @ np.linalg.pinv(bone.bind.astype(np.float64)) @ np.linalg.pinv(baked)  # a scale may be 0
    head = (baked @ [*(bone.bind[:3, 3] if bone.head is None else bone.head), 1])[:3]
    motion = rigid_motion(moved)
    motion.world[0] = armature.world[0]
    motion.world[:, :3, 3] = moved[:, :3, :3] @ head + moved[:, :3, 3]
    return motion


def skinned_meshes(scene: Scene) -> dict[int, list[int]]:
    """The nodes of the meshes of each armature."""
    found: dict[int, list[int]] = {}
    for index, node in enumerate(scene.nodes):
        skin = scene.meshes[node.mesh].skin if node.mesh >= 0 else None
        if skin is not None and scene.nodes[skin.node].armature is not None:
            found.setdefault(skin.node, []).append(index)
    return found
