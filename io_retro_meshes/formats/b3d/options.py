# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may choose about .b3d files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ImportOptions:
    encoding: str = "AUTO"  # the code page of names; AUTO: UTF-8 where it is that, else Windows-1252


@dataclass(frozen=True)
class ExportOptions:
    normals: bool = True
    colors: bool = True
    uv_sets: int = 8  # at most so many
    materials: bool = True  # brushes; without them every surface is white
    join_on_bones: bool = False  # meshes that hang on bones become part of the rig's mesh: Blitz3D cannot do with them
