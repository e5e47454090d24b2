# SPDX-License-Identifier: GPL-3.0-or-later
"""Bone keys -> joints: where the heads of the bones go.

The files hold no joints: a bone's transform is a movement of the model as it stands. But a turn about a joint p moves by
T = p - R·S·p, so that the keys of a bone that turns enough tell where p is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ....scene import maths
from .. import axes
from ..document import BoneKeys
from . import animation

Points = npt.NDArray[np.float64]

# A direction in which the keys move things less than this (times the distance) says nothing about the joint.
LEAST_TURN = 0.01
# Movements that a joint explains only up to this part of the model's size are free ones: the bone has no joint.
LARGEST_ERROR = 0.05
# A joint may be outside the box of the model by this part of its size.
FARTHEST = 0.1


def fit(parents: Sequence[int], animations: Sequence[Sequence[BoneKeys]], centroids: Points, box: Points) -> Points:
    """The head of every bone, in the file's axes. `centroids` are those of what each bone carries, NaN for nothing.

    `box`: the lowest and the highest coordinates of the model.
    """
    size = float(np.linalg.norm(box[1] - box[0])) or 1.0
    heads = np.zeros((len(parents), 3))
    for bone, parent in enumerate(parents):
        fallback = centroids[bone]
        if np.isnan(fallback).any():
            fallback = heads[parent] if parent >= 0 else np.zeros(3)
        joint = _joint([bones[bone] for bones in animations if bone < len(bones)], fallback, size)
        near = (joint >= box[0] - FARTHEST * size).all() and (joint <= box[1] + FARTHEST * size).all()
        heads[bone] = joint if near else fallback
    return heads


def _joint(movements: Sequence[BoneKeys], fallback: Points, size: float) -> Points:
    """The joint nearest to `fallback`: where the keys leave a line or a plane of choices, its nearest point."""
    pairs = [_equations(bone) for bone in movements]
    left = np.concatenate([pair[0] for pair in pairs]) if pairs else np.zeros((0, 3, 3))
    right = np.concatenate([pair[1] for pair in pairs]) if pairs else np.zeros((0, 3))
    if not len(left):
        return fallback
    u, strength, vt = np.linalg.svd(left.reshape(-1, 3), full_matrices=False)
    strength, vt = strength[: len(vt)], vt
    known = strength > LEAST_TURN * np.sqrt(len(left))
    missing = right.reshape(-1) - left.reshape(-1, 3) @ fallback
    step = (u.T @ missing) / np.where(known, strength, 1) * known
    joint = fallback + vt.T @ step
    error = np.sqrt(np.mean(np.sum((left @ joint - right) ** 2, -1)))
    return joint if known.any() and error <= LARGEST_ERROR * size and np.isfinite(joint).all() else fallback


def _equations(bone: BoneKeys) -> tuple[Points, Points]:
    """(I - R·S) · p = T, at the frames where both T and R have keys: in between neither is the file's own."""
    frames, moves = animation.vectors(bone.translation)
    turn_frames, turns = animation.quaternions(bone.rotation)
    scale_frames, scales = animation.vectors(bone.scale)
    if not len(frames) or not len(turn_frames):
        return np.zeros((0, 3, 3)), np.zeros((0, 3))
    common = np.intersect1d(frames, turn_frames)
    at = common if len(common) > 1 else turn_frames
    matrices = maths.quaternion_to_matrix(maths.sample(turn_frames, axes.w_first(turns), at, "NLERP"))
    if len(scale_frames):
        matrices = matrices * maths.sample(scale_frames, scales, at)[:, None, :]
    return np.eye(3) - matrices, maths.sample(frames, moves, at)
