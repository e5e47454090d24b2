# SPDX-License-Identifier: GPL-3.0-or-later
"""Any material as an old engine may know it: read from its node graph, or from what the viewport shows where it has none."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...scene import Material
from .. import compat, properties
from ..graphs import common, uber
from ..graphs.colors import display
from ..graphs.images import ImageTable
from ..graphs.links import active_output


def collect_material(material: bpy.types.Material, images: ImageTable, uv_names: Sequence[str] = ()) -> Material:
    return read_material(material, images, uv_names)[0]


def read_material(
    material: bpy.types.Material, images: ImageTable, uv_names: Sequence[str] = ()
) -> tuple[Material, list[bpy.types.Node | None]]:
    """The material, and the image node of each of its layers where that is one of its own."""
    made = Material(material.name, settings=properties.collect(material))
    made.double_sided = not material.use_backface_culling
    made.roughness, made.metallic, made.specular = material.roughness, material.metallic, material.specular_intensity
    output = active_output(material.node_tree) if compat.has_nodes(material) else None
    if output is None:
        made.color = display(material.diffuse_color[:])
        made.blend = "ALPHA" if compat.is_blended(material) or made.color[3] < 1 else "OPAQUE"
        return made, []
    if (node := uber.uber_node(output)) is not None:
        uber.read(made, node, images)
        return made, [None] * len(made.layers)
    return made, common.read(made, material, output, images, uv_names)
