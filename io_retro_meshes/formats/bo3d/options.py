# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user may choose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ImportOptions:
    animation: bool = True


@dataclass(frozen=True)
class ExportOptions:
    half_floats: bool = False  # 16-bit vertex floats: half the size, three digits
    colors: bool = True
    textures: bool = True
    animation: bool = True
    tolerance: float = 4e-6  # of what leaves out keys: parts of the model's size, and twice that in radians
