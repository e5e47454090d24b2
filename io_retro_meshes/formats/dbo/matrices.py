# SPDX-License-Identifier: GPL-3.0-or-later
"""Which matrices are usable, and which can be split into location, rotation and scale; for both directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...scene import maths, sanitize

Array = npt.NDArray[Any]


def sanitize_matrices(values: Array) -> Array:
    """Matrices as the engine takes them: a last element of 0 is 1; one with NaN, infinite or huge elements is the identity."""
    found = values.astype(np.float32)
    found[..., 3, 3] = np.where(found[..., 3, 3] == 0, 1, found[..., 3, 3])
    good = sanitize.usable(found).all((-1, -2), keepdims=True)
    return np.where(good, found, np.eye(4, dtype=np.float32))


def decompose(values: Array) -> tuple[Array, Array, Array, Array]:
    """Location, rotation and scale of column matrices; and a mask of those that have a shear, which these cannot hold."""
    with np.errstate(over="ignore", invalid="ignore"):
        location, rotation, scale = maths.decompose(values)
    off = np.abs(maths.compose(location, rotation, scale) - values)[..., :3, :3].max((-1, -2))
    size = np.maximum(np.abs(values[..., :3, :3]).max((-1, -2)), 1e-12)
    return location, rotation, scale, off > 1e-4 * size
