# SPDX-License-Identifier: GPL-3.0-or-later
"""Saturn to Blender: (x, y, z) -> (x, z, -y), a proper rotation, so that windings stay. Numbers <-> fixed point."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .document import FIXED, FIXED_ONE, QUATERNION_ONE

Array = npt.NDArray[Any]


def to_blender(vectors: Array) -> Array:
    return np.stack([vectors[..., 0], vectors[..., 2], -vectors[..., 1]], -1)


def from_blender(vectors: Array) -> Array:
    return np.stack([vectors[..., 0], -vectors[..., 2], vectors[..., 1]], -1)


def scale_to_blender(scales: Array) -> Array:
    return scales[..., [0, 2, 1]]


scale_from_blender = scale_to_blender


def rotation_to_blender(xyzw: Array) -> Array:
    """x y z w -> w x y z."""
    return np.concatenate([xyzw[..., 3:], to_blender(xyzw[..., :3])], -1)


def rotation_from_blender(wxyz: Array) -> Array:
    return np.concatenate([from_blender(wxyz[..., 1:]), wxyz[..., :1]], -1)


def from_fixed(numbers: Array) -> npt.NDArray[np.float64]:
    return numbers.astype(np.float64) / FIXED_ONE


def to_fixed(values: Array) -> Array:
    """16.16; what is beyond its 32768 units ends there."""
    return np.clip(np.rint(np.nan_to_num(np.asarray(values, np.float64)) * FIXED_ONE), -(2**31), 2**31 - 1).astype(FIXED)


def to_quaternion_words(xyzw: Array) -> Array:
    return np.clip(np.rint(np.asarray(xyzw, np.float64) * QUATERNION_ONE), -32768, 32767).astype(">i2")
