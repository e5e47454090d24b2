# SPDX-License-Identifier: GPL-3.0-or-later
"""Blitz3D's axes (left-handed, Y up, V down) and the scene's (right-handed, Z up, V up).

Y and Z change places, which mirrors: triangles are reversed. A quaternion of the engine is the conjugate of the usual one,
and the mirror conjugates it once more, so that only its components change places. Lengths are the same in both.
"""

from __future__ import annotations

from math import cos, sin
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_SWAP_YZ = [0, 2, 1]
_SWAP_YZ_QUATERNION = [0, 1, 3, 2]


def vectors_to_scene(v: Array) -> Array:
    return v[..., _SWAP_YZ]


def vectors_to_file(v: Array) -> Array:
    return v[..., _SWAP_YZ]


def rotations_to_scene(q: Array) -> Array:
    return q[..., _SWAP_YZ_QUATERNION]


def rotations_to_file(q: Array) -> Array:
    return q[..., _SWAP_YZ_QUATERNION]


def scales_to_scene(s: Array) -> Array:
    return s[..., _SWAP_YZ]


def scales_to_file(s: Array) -> Array:
    return s[..., _SWAP_YZ]


def winding(triangles: Array, mirrored: bool = False) -> Array:
    """(n, 3) vertex numbers of triangles, from either side to the other.

    Blender reverses the faces of mirrored objects when it draws them and the engine does not: theirs stay as they are.
    """
    return triangles if mirrored else triangles[:, [0, 2, 1]]


def flip_v(uv: Array) -> Array:
    return np.stack([uv[..., 0], 1 - uv[..., 1]], -1)


# The engine maps u' = sx(cu + sv) + tx, v' = sy(-su + cv) + ty, with c and s of the angle; V = 1 - v on both sides.


def texture_offset_to_scene(position: tuple[float, float], scale: tuple[float, float], angle: float) -> tuple[float, float]:
    """The offset of a texture layer, from the position of a texture of the file with this scale and rotation."""
    return position[0] + scale[0] * sin(angle), 1 - scale[1] * cos(angle) - position[1]


def texture_offset_to_file(offset: tuple[float, float], scale: tuple[float, float], angle: float) -> tuple[float, float]:
    return offset[0] - scale[0] * sin(angle), 1 - scale[1] * cos(angle) - offset[1]
