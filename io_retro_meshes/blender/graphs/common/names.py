# SPDX-License-Identifier: GPL-3.0-or-later
"""What the nodes of the common graph are called, by which an export knows them again."""

from __future__ import annotations

import re

FULL_BRIGHT = "Full Bright"  # label of the filter of a surface that multiplies: light makes no difference to it
LACKS_COLORS = "Vertex Colors"  # an unlinked node: the mesh has no colours, but the format is told to use them
FLAT = "Flat"  # the node with the normals of faces
STIPPLE = "Stipple"
CUT = "Cut"
# Inputs of a Principled BSDF that textures go into, by what a texture is used for.
SOCKETS = {"ROUGHNESS": "Roughness", "METALLIC": "Metallic", "SPECULAR": "Specular IOR Level", "EMISSION": "Emission Color"}


def layer_name(index: int) -> str:
    """Of the image node of a texture layer."""
    return f"Layer {index}"


def layer_index(name: str) -> int | None:
    """The inverse; None for a node that another has named."""
    found = re.fullmatch(r"Layer (\d+)", name)
    return int(found[1]) if found else None
