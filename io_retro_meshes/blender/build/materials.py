# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials: their node graph, what the viewport shows, and their settings."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...scene import Image, Material, Scene
from ...scene.uber import ID as UBER
from .. import compat, properties
from ..graphs import common, uber
from ..graphs.colors import linear
from ..graphs.images import Images
from ..graphs.nodes import Tree

# More than any engine draws. Blender takes minutes over a graph of thousands.
MOST_LAYERS = 64


def build_materials(scene: Scene, images: Images) -> list[bpy.types.Material]:
    for material in scene.materials:
        if len(material.layers) > MOST_LAYERS:
            scene.warnings.append(f'"{material.name}" has {len(material.layers)} textures; the first {MOST_LAYERS} are kept')
            material.layers = material.layers[:MOST_LAYERS]
    return [build_material(material, scene.images, images) for material in scene.materials]


def build_material(material: Material, pictures: Sequence[Image], images: Images) -> bpy.types.Material:
    made = bpy.data.materials.new(compat.short_name(material.name, "Material"))
    tree = Tree(compat.node_tree(made))
    tree.tree.nodes.clear()
    fill(made, tree, material, pictures, images)
    properties.apply(made, material.settings)
    return made


def fill(
    made: bpy.types.Material,
    tree: Tree,
    material: Material,
    pictures: Sequence[Image],
    images: Images,
    nodes: Sequence[bpy.types.Node | None] = (),
) -> None:
    """Makes the node graph in a tree that has no more than the image nodes which stay, and sets what the viewport shows."""
    if material.graph == UBER:
        uber.make(tree, material, images)
    else:
        common.make(tree, material, pictures, images, nodes)
    tree.arrange()
    set_viewport(made, material)
    _set_alpha_modes(material, pictures, images)


def set_viewport(made: bpy.types.Material, material: Material) -> None:
    """What the solid view and the rasterizer go by."""
    blended = material.blend in ("ALPHA", "ADD", "MULTIPLY")
    made.diffuse_color = (*linear(material.color)[:3], float(material.color[3]) if blended else 1.0)
    made.roughness, made.metallic = material.roughness, material.metallic
    made.specular_intensity = material.specular
    made.use_backface_culling = not material.double_sided
    compat.set_blended(made, blended)


def fresh_material(name: str, graph: str) -> bpy.types.Material:
    """A material with the node graph of that name and its default values."""
    return build_material(Material(name, graph=graph), [], [])


def _set_alpha_modes(material: Material, pictures: Sequence[Image], images: Images) -> None:
    """The solid view cuts a picture out where its alpha is straight; but then the colours under the alpha are lost, so that
    no material that shows those may use it. Images start as what no material has used yet."""
    for layer in material.layers:
        image = images[layer.image] if 0 <= layer.image < len(images) else None
        if image is None or layer.use != "COLOR":
            continue
        picture = pictures[layer.image]
        counts = picture.alpha or picture.mask_black or material.graph == UBER  # which always has an alpha
        cut = material.blend in ("MASK", "ALPHA", "ADD") and counts and layer.blend != "OFF"
        if not cut:
            image.alpha_mode = "CHANNEL_PACKED"
        elif image.users <= 1:
            image.alpha_mode = "STRAIGHT"
