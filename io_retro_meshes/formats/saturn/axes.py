# SPDX-License-Identifier: GPL-3.0-or-later
"""The console's space and numbers and the scene's, in both directions; no other file of the format converts between them.

(x, y, z) of the console is (x, z, -y) of the scene: a proper rotation, so that windings stay. The console's quaternions are
x, y, z, w, the scene's w, x, y, z. Pictures have their top row first, images of the scene their bottom row. One unit of the
file is one unit of the scene.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .document import FIXED, FIXED_ONE, NORMAL, NORMAL_ONE, QUATERNION_ONE

Array = npt.NDArray[Any]


# ---------------------------------------------------------------------------------------------------------------- axes


def vectors_to_scene(vectors: Array) -> Array:
    return np.stack([vectors[..., 0], vectors[..., 2], -vectors[..., 1]], -1)


def vectors_to_file(vectors: Array) -> Array:
    return np.stack([vectors[..., 0], -vectors[..., 2], vectors[..., 1]], -1)


def scales_to_scene(scales: Array) -> Array:
    return scales[..., [0, 2, 1]]


scales_to_file = scales_to_scene


def rotations_to_scene(xyzw: Array) -> Array:
    return np.concatenate([xyzw[..., 3:], vectors_to_scene(xyzw[..., :3])], -1)


def rotations_to_file(wxyz: Array) -> Array:
    return np.concatenate([vectors_to_file(wxyz[..., 1:]), wxyz[..., :1]], -1)


def w_first(xyzw: Array) -> Array:
    """Quaternions in the scene's order, but still in the console's axes."""
    return xyzw[..., [3, 0, 1, 2]]


def flip_v(uvs: Array) -> Array:
    """(…, 2), either way: places in a picture as parts of its size, counted from the top or from the bottom."""
    flipped = uvs.copy()
    flipped[..., 1] = 1 - flipped[..., 1]
    return flipped


def flip_rows(pixels: Array) -> Array:
    """(height, width, …), either way: top row first or bottom row first."""
    return pixels[::-1]


# --------------------------------------------------------------------------------------------------------- fixed point


def from_fixed(numbers: Array) -> npt.NDArray[np.float64]:
    """16.16."""
    return numbers.astype(np.float64) / FIXED_ONE


def to_fixed(values: Array) -> Array:
    """16.16; what is beyond its 32768 units is clipped."""
    return np.clip(np.rint(np.nan_to_num(np.asarray(values, np.float64)) * FIXED_ONE), -(2**31), 2**31 - 1).astype(FIXED)


def from_quaternion_words(words: Array) -> npt.NDArray[np.float64]:
    """2.14."""
    return words.astype(np.float64) / QUATERNION_ONE


def to_quaternion_words(xyzw: Array) -> Array:
    return np.clip(np.rint(np.asarray(xyzw, np.float64) * QUATERNION_ONE), -32768, 32767).astype(">i2")


def from_normal_words(words: Array) -> npt.NDArray[np.float32]:
    """4.12."""
    return words.astype(np.float32) / np.float32(NORMAL_ONE)


def to_normal_words(normals: Array) -> Array:
    return np.rint(np.clip(normals, -7.9, 7.9) * NORMAL_ONE).astype(NORMAL)
