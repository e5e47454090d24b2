# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user may choose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ImportOptions:
    encoding: str = "AUTO"  # the code page of names; AUTO: UTF-8 where it is that, else Windows-1252


@dataclass(frozen=True)
class ExportOptions:
    half_floats: bool = False  # 16-bit vertex floats: half the size, three digits
    colors: bool = True
    key_tolerance: float = 2e-5  # of keys that are left out: a part of the model's size, or radians
