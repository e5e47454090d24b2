# SPDX-License-Identifier: GPL-3.0-or-later
"""The file's axes (right-handed, Y up, V down) and Blender's (right-handed, Z up, V up). A turn, so winding stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def vectors_from_file(v: Array) -> Array:
    return np.stack([v[..., 0], -v[..., 2], v[..., 1]], -1)


def vectors_to_file(v: Array) -> Array:
    return np.stack([v[..., 0], v[..., 2], -v[..., 1]], -1)


def rotations_from_file(q: Array) -> Array:
    return np.concatenate([q[..., :1], vectors_from_file(q[..., 1:])], -1)


def rotations_to_file(q: Array) -> Array:
    return np.concatenate([q[..., :1], vectors_to_file(q[..., 1:])], -1)


def swap_scale(s: Array) -> Array:
    return s[..., [0, 2, 1]]


def flip_v(uv: Array) -> Array:
    return np.stack([uv[..., 0], 1 - uv[..., 1]], -1)
