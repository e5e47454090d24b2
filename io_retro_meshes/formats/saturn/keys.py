# SPDX-License-Identifier: GPL-3.0-or-later
"""Bone keys as numbers that can be interpolated: times ascending, quaternions of length one with agreeing signs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ... import maths
from ...scene import Channel, Track
from . import axes
from .document import QUATERNION_ONE, BoneKeys, Keys

Array = npt.NDArray[Any]


def vectors(keys: Keys) -> tuple[Array, Array]:
    """Frames and values of a translation or scale channel, in the file's axes."""
    frames, first = np.unique(keys.frames, return_index=True)
    return frames.astype(np.float64), axes.from_fixed(keys.values[first])


def quaternions(keys: Keys) -> tuple[Array, Array]:
    """Frames and x y z w of a rotation channel. The file's are not quite of length one, and their signs jump."""
    frames, first = np.unique(keys.frames, return_index=True)
    values = maths.normalized(keys.values[first].astype(np.float64) / QUATERNION_ONE, (0, 0, 0, 1))
    return frames.astype(np.float64), maths.continuous(values)


def track(bone: BoneKeys) -> Track:
    """The keys of a bone in Blender's axes."""

    def channel(frames: Array, values: Array) -> Channel | None:
        return Channel(frames.astype(np.float32), values.astype(np.float32)) if len(frames) else None

    frames, values = vectors(bone.translation)
    scale_frames, scales = vectors(bone.scale)
    turn_frames, turns = quaternions(bone.rotation)
    return Track(
        channel(frames, axes.to_blender(values)),
        channel(turn_frames, axes.rotation_to_blender(turns)),
        channel(scale_frames, axes.scale_to_blender(scales)),
    )
