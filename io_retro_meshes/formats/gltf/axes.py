# SPDX-License-Identifier: GPL-3.0-or-later
"""The file's axes (right-handed, Y up, V down) and Blender's (right-handed, Z up, V up). A turn, so winding stays.

Every node and joint is turned in its parent's space and in its own: M of the file is Y · M of the scene · Y⁻¹. With it a bone
that came from a .b3d as P·M·P, where P exchanges y and z, is F·M·F here, F = Y·P = diag(1, 1, -1), as Luanti wants it.
Cameras and lights look along -Z on both sides: theirs is turned on the left alone, which is one more turn on the right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...scene import maths

Array = npt.NDArray[Any]

HALF = np.float32(np.sqrt(0.5))
TURN = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]], np.float64)  # Y: Blender's axes to the file's
LOOK_TO_FILE = np.array([HALF, -HALF, 0, 0], np.float32)  # Y as a rotation
LOOK_TO_SCENE = np.array([HALF, HALF, 0, 0], np.float32)


def vectors_to_file(v: Array) -> Array:
    return np.stack([v[..., 0], v[..., 2], -v[..., 1]], -1)


def vectors_to_scene(v: Array) -> Array:
    return np.stack([v[..., 0], -v[..., 2], v[..., 1]], -1)


def rotations_to_file(q: Array) -> Array:
    """w, x, y, z to the file's order x, y, z, w."""
    return np.stack([q[..., 1], q[..., 3], -q[..., 2], q[..., 0]], -1)


def rotations_to_scene(q: Array) -> Array:
    return np.stack([q[..., 3], q[..., 0], -q[..., 2], q[..., 1]], -1)


def swap_scale(s: Array) -> Array:
    return s[..., [0, 2, 1]]


def matrices_to_file(m: Array) -> Array:
    return TURN @ m @ TURN.T


def matrices_to_scene(m: Array) -> Array:
    return TURN.T @ m @ TURN


def look(rotation: Array, turn: Array) -> Array:
    """A rotation of the scene with the one more turn of a camera."""
    return maths.quaternion_multiply(rotation, turn.astype(rotation.dtype))


def flip_v(uv: Array) -> Array:
    return np.stack([uv[..., 0], 1 - uv[..., 1]], -1)
