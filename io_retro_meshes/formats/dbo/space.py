# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine's space and Blender's: left-handed with Y up and row vectors, against right-handed with Z up and columns.

Exchanging Y and Z leads from one to the other, and back again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ... import maths

Array = npt.NDArray[Any]

HUGE = 1e18  # beyond this, squares are infinite

_SWAP = [0, 2, 1]
_SWAP4 = [0, 2, 1, 3]


def points(values: Array) -> Array:
    return np.ascontiguousarray(values[..., _SWAP], np.float32)


def matrices(values: Array) -> Array:
    """(…, 4, 4), rows to columns or columns to rows."""
    swapped = np.swapaxes(values, -1, -2)[..., _SWAP4, :][..., _SWAP4]
    return np.ascontiguousarray(swapped, np.float32)


def rotations(xyzw: Array) -> Array:
    """The engine's quaternions in Blender's order and space: a mirror turns the axis round."""
    return np.ascontiguousarray(xyzw[..., [3, 0, 2, 1]] * np.array([1, -1, -1, -1]), np.float32)


def engine_rotations(wxyz: Array) -> Array:
    return np.ascontiguousarray(wxyz[..., [1, 3, 2, 0]] * np.array([-1, -1, -1, 1]), np.float32)


def sound(values: Array) -> Array:
    """Row matrices as the engine takes them: a last element of 0 is 1; those with anything but numbers are the identity."""
    found = values.astype(np.float32)
    found[..., 3, 3] = np.where(found[..., 3, 3] == 0, 1, found[..., 3, 3])
    good = (np.abs(found) < HUGE).all((-1, -2), keepdims=True)
    return np.where(good, found, np.eye(4, dtype=np.float32))


def user_matrices(offset: Array, rotation: Array, scale: Array) -> Array:
    """What the user adds to a frame: scale, turns about X, Y and Z in degrees, and offset, in this order; row vectors."""
    x, y, z = np.moveaxis(np.radians(rotation.astype(np.float64)), -1, 0)
    turn = _turn(x, 1, 2) @ _turn(y, 2, 0) @ _turn(z, 0, 1)
    found = np.zeros((*x.shape, 4, 4))
    found[..., :3, :3] = scale[..., :, None] * turn
    found[..., 3, :3] = offset
    found[..., 3, 3] = 1
    return found.astype(np.float32)


def _turn(angle: Array, a: int, b: int) -> Array:
    """Row matrices that turn axis a towards axis b."""
    found = np.zeros((*angle.shape, 3, 3))
    found[..., range(3), range(3)] = 1
    found[..., a, a] = found[..., b, b] = np.cos(angle)
    found[..., a, b] = np.sin(angle)
    found[..., b, a] = -np.sin(angle)
    return found


def split(values: Array) -> tuple[Array, Array, Array, Array]:
    """Location, rotation and scale of column matrices; and which of them those cannot hold (a shear)."""
    with np.errstate(over="ignore", invalid="ignore"):
        location, rotation, scale = maths.decompose(values)
    off = np.abs(maths.compose(location, rotation, scale) - values)[..., :3, :3].max((-1, -2))
    size = np.maximum(np.abs(values[..., :3, :3]).max((-1, -2)), 1e-12)
    return location, rotation, scale, off > 1e-4 * size
