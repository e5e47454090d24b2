# SPDX-License-Identifier: GPL-3.0-or-later
"""The file has Blender's axes, units, winding and UVs, and nothing is turned: but for drafts in OpenGL's axes, and the order of
a quaternion's components."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...scene import Floats, maths
from ...scene.sanitize import finite
from .document import Array

# (x, y, z) -> (-x, z, y): a half turn, its own inverse.
OPENGL = np.array([[-1, 0, 0], [0, 0, 1], [0, 1, 0]], np.float32)


def draft_turn(axes: Literal["BLENDER", "OPENGL"]) -> Floats:
    """What to multiply a draft's row vectors by to have them in Blender's axes."""
    return OPENGL if axes == "OPENGL" else np.eye(3, dtype=np.float32)


def turned(vectors: Floats, turn: Floats) -> Floats:
    """Turned vectors; all the components of one that has a NaN become NaN."""
    with np.errstate(invalid="ignore", over="ignore"):
        return vectors @ turn


def turned_scale(scale: Floats, turn: Floats) -> Floats:
    """Sizes change places with the axes, but not their signs."""
    return scale @ np.abs(turn)


def wxyz(rotations: Array) -> Floats:
    """The file's x, y, z, w as unit quaternions w, x, y, z."""
    rolled = np.roll(finite(rotations.astype(np.float32)), 1, -1)
    return maths.normalized(rolled, (1, 0, 0, 0))


def xyzw(rotations: Floats) -> Floats:
    """Quaternions w, x, y, z in the file's order."""
    return np.roll(rotations, -1, -1)
