# SPDX-License-Identifier: GPL-3.0-or-later
"""The file's axes (right-handed, Y up, V down) and the scene's (right-handed, Z up, V up).

One is the other rotated, so winding stays. Quaternions are w, x, y, z in both, and lengths are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def vectors_to_scene(v: Array) -> Array:
    return np.stack([v[..., 0], -v[..., 2], v[..., 1]], -1)


def vectors_to_file(v: Array) -> Array:
    return np.stack([v[..., 0], v[..., 2], -v[..., 1]], -1)


def rotations_to_scene(q: Array) -> Array:
    return np.concatenate([q[..., :1], vectors_to_scene(q[..., 1:])], -1)


def rotations_to_file(q: Array) -> Array:
    return np.concatenate([q[..., :1], vectors_to_file(q[..., 1:])], -1)


def scales_to_scene(s: Array) -> Array:
    return s[..., [0, 2, 1]]


def scales_to_file(s: Array) -> Array:
    return s[..., [0, 2, 1]]


def winding(triangles: Array, mirrored: bool = False) -> Array:
    """(n, 3) vertex numbers of triangles, from either side to the other; reversed where the vertices were mirrored."""
    return triangles[:, ::-1] if mirrored else triangles


def flip_v(uv: Array) -> Array:
    return np.stack([uv[..., 0], 1 - uv[..., 1]], -1)
