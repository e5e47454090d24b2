# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may choose about .bo3d files."""

from __future__ import annotations

from .. import options
from ..options import choices, encoding_option, option


@choices
class ImportOptions(options.ImportOptions):
    encoding: str = encoding_option()


@choices
class ExportOptions(options.ExportOptions):
    colors: bool = option(
        True,
        "Vertex Colors",
        "Write the first color attribute. The engine shows it instead of the material's color",
    )
    material_colors: bool = option(
        True,
        "Material Colors",
        "Write the color of a material without texture for the vertices of its meshes, too: the engine makes meshes white",
    )
    half_floats: bool = option(
        False, "16-Bit Vertices", "Half the size, three digits: the report says how far the worst vertex is off"
    )
