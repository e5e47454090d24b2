# SPDX-License-Identifier: GPL-3.0-or-later
"""Colours between a Scene, which has them as files do (sRGB), and the sockets of nodes (linear)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...scene import Floats, maths


def linear(color: np.ndarray) -> tuple[float, float, float, float]:
    """A file's sRGB colour for a socket; alpha is as it is."""
    return *maths.linear_color(color), float(color[3]) if len(color) > 3 else 1.0


def display(color: Sequence[float] | np.ndarray) -> Floats:
    """Linear to sRGB, rounded to the byte or the six digits that a file most likely had."""
    values = np.array(color, np.float64)
    values[:3] = maths.linear_to_srgb(values[:3])
    near = np.round(values * 255) / 255
    return np.where(np.abs(values - near) < 2e-6, near, np.round(values, 6)).astype(np.float32)
