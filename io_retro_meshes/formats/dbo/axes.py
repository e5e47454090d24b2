# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine's space and the scene's, in both directions; no other file of the format converts between them.

The engine is left-handed with Y up, multiplies row vectors, has quaternions x, y, z, w and UVs with V down; it winds
triangles clockwise. The scene is right-handed with Z up, with column vectors, quaternions w, x, y, z and V up. Exchanging Y and
Z leads from one space to the other and back: most functions are their own inverse, and have two names to say what is meant.
One unit of the file is one unit of the scene.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_SWAP = [0, 2, 1]
_SWAP4 = [0, 2, 1, 3]


def vectors_to_scene(values: Array) -> Array:
    """Positions and normals (…, 3)."""
    return np.ascontiguousarray(values[..., _SWAP], np.float32)


def matrices_to_scene(values: Array) -> Array:
    """(…, 4, 4): a row matrix of the engine as a column matrix."""
    swapped = np.swapaxes(values, -1, -2)[..., _SWAP4, :][..., _SWAP4]
    return np.ascontiguousarray(swapped, np.float32)


vectors_to_file = vectors_to_scene
matrices_to_file = matrices_to_scene
scales_to_scene = scales_to_file = vectors_to_scene


def rotations_to_scene(xyzw: Array) -> Array:
    """x, y, z, w to w, x, y, z. Exchanging two axes is a mirror, which reverses every rotation."""
    return np.ascontiguousarray(xyzw[..., [3, 0, 2, 1]] * np.array([1, -1, -1, -1]), np.float32)


def rotations_to_file(wxyz: Array) -> Array:
    return np.ascontiguousarray(wxyz[..., [1, 3, 2, 0]] * np.array([-1, -1, -1, 1]), np.float32)


def flip_v(uvs: Array) -> Array:
    """(…, 2), either way."""
    flipped = uvs.copy()
    flipped[..., 1] = 1 - flipped[..., 1]
    return flipped


def winding(triangles: Array) -> Array:
    """(f, 3) with the corners in the other order, either way."""
    return np.ascontiguousarray(triangles[:, [0, 2, 1]])


def user_matrices(offset: Array, rotation: Array, scale: Array) -> Array:
    """The transform that the user adds to a frame, as row matrices of the engine.

    Scale, rotations about X, Y and Z in degrees, and offset, in this order.
    """
    x, y, z = np.moveaxis(np.radians(rotation.astype(np.float64)), -1, 0)
    turn = _axis_rotations(x, 1, 2) @ _axis_rotations(y, 2, 0) @ _axis_rotations(z, 0, 1)
    found = np.zeros((*x.shape, 4, 4))
    found[..., :3, :3] = scale[..., :, None] * turn
    found[..., 3, :3] = offset
    found[..., 3, 3] = 1
    return found.astype(np.float32)


def _axis_rotations(angle: Array, a: int, b: int) -> Array:
    """Row matrices (…, 3, 3) that turn axis a towards axis b."""
    found = np.zeros((*angle.shape, 3, 3))
    found[..., range(3), range(3)] = 1
    found[..., a, a] = found[..., b, b] = np.cos(angle)
    found[..., a, b] = np.sin(angle)
    found[..., b, a] = -np.sin(angle)
    return found
