# SPDX-License-Identifier: GPL-3.0-or-later
"""What the reader of a scene, and its writer, can be told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ImportOptions:
    fps: float = 30.0  # files count frames, and do not say how many make a second


@dataclass(frozen=True)
class ExportOptions:
    colors: bool = True  # write the first colour attribute
    uv_sets: int = 8  # write at most so many UV maps
    materials: bool = True  # write colours, textures and render states
    effect: str = ""  # the shader of materials that name none
    influences: int = 4  # bones a vertex may follow
