# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings and node graphs of materials agree, whichever of the two is changed.

What a graph can say is read from it, each time a setting is asked for (`Format.settle`); only the rest is stored. Setting one
makes a look (`Format.restyle`), and what differs from the look before is changed in the graph, so that a graph keeps
what the format knows nothing of.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import bpy
import numpy as np

from ..formats import FORMATS, AnyFormat
from ..scene import COLOR_NAME, Image, Material, TextureLayer
from . import compat, properties
from .build.images import variant
from .build.materials import fill
from .collect.images import ImageCollector
from .collect.materials import read_material
from .collect.meshes import uv_maps
from .graphs.common.names import FLAT, LACKS_COLORS
from .graphs.links import active_output
from .graphs.nodes import Tree

# Of a material, and of its layers: what a format's settings may change in a graph.
NOT_LOOKS = {"layers", "settings", "graph", "lacks_colors", "lost"}
LAYER_LOOKS = ("uv", "blend", "mapping", "clamp", "nearest")
ALPHA = ("alpha", "mask_black", "mean_alpha")
# What the graph of a material that light does nothing to cannot say.
LIT = {"specular", "roughness", "emission"}
# Changes that need no other graph.
OUTSIDE = {"double_sided", "name"}


@dataclass
class Shown:
    """A material as its graph has it now."""

    material: Material
    nodes: list[bpy.types.Node | None]  # the image node of each layer
    images: ImageCollector
    meshes: list[bpy.types.Mesh]  # that wear it


def settings_of(group: Any) -> dict[str, Any]:
    """The settings of the material or image node that a property group is of."""
    format = FORMATS[group.format_id]
    material, node = _owners(group)
    if material is None:
        return properties.stored(group)
    shown = _read(material)
    format.settle(shown.material, shown.images.images)
    return _place(shown.material, shown.nodes, node).get(format.id, properties.stored(group))


def change(group: Any, name: str, value: Any) -> None:
    """Changes one setting of a material or an image node, and the graph with it."""
    format = FORMATS[group.format_id]
    material, node = _owners(group)
    shown = None if material is None else _read(material, format.pixels)
    if material is None or shown is None or (node is not None and node not in shown.nodes):
        properties.store(group, {**properties.stored(group), name: value})  # nothing shows it
        return
    before = copy.deepcopy(shown.material)
    format.settle(before, shown.images.images)
    after = copy.deepcopy(before)
    _place(after, shown.nodes, node)[format.id][name] = value
    target, pictures, changed = _changed(shown, before, after, format)
    _store(material, shown.nodes, target, format.id)
    if changed <= OUTSIDE:
        material.use_backface_culling = not target.double_sided
    else:
        _remake(material, shown, target, pictures)
    if "name" in changed:
        material.name = compat.short_name(target.name, "Material")


# -------------------------------------------------------------------------------------------------------- what is shown


def _owners(group: Any) -> tuple[bpy.types.Material | None, bpy.types.Node | None]:
    """The material that a group is about, and the image node if it is the group of one."""
    if group.owner_type == "Material":
        return group.id_data, None
    attribute = f"retro_{group.format_id}"
    tree = group.id_data
    images = (node for node in tree.nodes if node.bl_idname == "ShaderNodeTexImage")
    node = next((node for node in images if getattr(node, attribute) == group), None)
    material = next((each for each in bpy.data.materials if each.node_tree == tree), None)
    return (material, node) if node is not None else (None, None)


def _read(material: bpy.types.Material, pixels: bool = False) -> Shown:
    meshes = [mesh for mesh in bpy.data.meshes if mesh.materials.find(material.name) >= 0]
    images = ImageCollector(pixels)
    made, nodes = read_material(material, images, _uv_names(meshes))
    return Shown(made, nodes, images, meshes)


def _uv_names(meshes: list[bpy.types.Mesh]) -> list[str]:
    return max(([layer.name for layer in uv_maps(mesh)] for mesh in meshes), key=len, default=[])


def _place(
    material: Material, nodes: Sequence[bpy.types.Node | None], node: bpy.types.Node | None
) -> dict[str, dict[str, Any]]:
    """Where the settings of the material, or of the layer of a node, are."""
    if node is None:
        return material.settings
    return material.layers[nodes.index(node)].settings if node in nodes else {}


# ---------------------------------------------------------------------------------------------------- what has changed


def _changed(shown: Shown, before: Material, after: Material, format: AnyFormat) -> tuple[Material, list[Image], set[str]]:
    """The material with what is another look after a change, its images, and the names of what that is."""
    pictures, old_pictures, new_pictures = (list(shown.images.images) for _ in range(3))
    old = copy.deepcopy(before)
    format.restyle(old, old_pictures)
    format.restyle(after, new_pictures)
    target = copy.deepcopy(shown.material)
    changed = {
        field.name
        for field in fields(Material)
        if field.name not in NOT_LOOKS and not np.array_equal(getattr(old, field.name), getattr(after, field.name))
    }
    if _is_unlit(old) and not _is_unlit(after):
        changed |= LIT
    for name in changed:
        setattr(target, name, getattr(after, name))
    target.settings[format.id] = after.settings[format.id]
    for layer, one, other in zip(target.layers, old.layers, after.layers, strict=True):
        layer.settings = other.settings
        changed |= _change_layer(layer, one, other)
        changed |= _change_alpha(layer, pictures, old_pictures[one.image], new_pictures[other.image], "blend" in changed)
    if "vertex_colors" in changed:
        target.lacks_colors = False
        if target.vertex_colors and shown.meshes and not any(mesh.color_attributes for mesh in shown.meshes):
            target.vertex_colors, target.vertex_alpha, target.lacks_colors = False, False, True
    return target, pictures, changed


def _is_unlit(material: Material) -> bool:
    return material.full_bright or material.blend == "MULTIPLY"


def _change_layer(layer: TextureLayer, old: TextureLayer, new: TextureLayer) -> set[str]:
    found = [name for name in LAYER_LOOKS if getattr(old, name) != getattr(new, name)]
    for name in found:
        setattr(layer, name, getattr(new, name))
    return {f"layer {name}" for name in found}


def _change_alpha(layer: TextureLayer, pictures: list[Image], old: Image, new: Image, blended: bool) -> set[str]:
    """Another way of blending uses the alpha as the format has it, whatever the graph did before."""
    wanted = {name: getattr(new, name) for name in ALPHA if getattr(old, name) != getattr(new, name)}
    if blended:
        wanted["alpha"] = new.alpha
    if not wanted:
        return set()
    pictures.append(replace(pictures[layer.image], **wanted))
    layer.image = len(pictures) - 1
    return {"layer image"}


def _store(material: bpy.types.Material, nodes: list[bpy.types.Node | None], target: Material, format_id: str) -> None:
    properties.apply(material, {format_id: target.settings[format_id]})
    for node, layer in zip(nodes, target.layers, strict=True):
        if node is not None and format_id in layer.settings:
            properties.apply(node, {format_id: layer.settings[format_id]})


# ------------------------------------------------------------------------------------------------------- another graph


def _remake(material: bpy.types.Material, shown: Shown, target: Material, pictures: list[Image]) -> None:
    """The graph anew. Image nodes stay, and so does what is not linked to the output."""
    tree = compat.node_tree(material)
    kept = [node for node in shown.nodes if node is not None]
    for node in _upstream(tree):
        if node not in kept:
            tree.nodes.remove(node)
    for node in kept:
        node.name = "Kept"  # until each has the name of its layer
    target.graph = ""
    names = [mesh.color_attributes[0].name for mesh in shown.meshes if mesh.color_attributes]
    made = Tree(tree, _uv_names(shown.meshes), COLOR_NAME if not names or COLOR_NAME in names else names[0])
    fill(material, made, target, pictures, _images(shown, pictures), shown.nodes)


def _upstream(tree: bpy.types.NodeTree) -> list[bpy.types.Node]:
    """All nodes that the active output depends on, and those of the project that are linked to nothing."""
    output = active_output(tree)
    waiting = [node for node in (output, tree.nodes.get(FLAT), tree.nodes.get(LACKS_COLORS)) if node is not None]
    found: list[bpy.types.Node] = []
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.append(node)
            waiting += [link.from_node for socket in node.inputs for link in socket.links]
    return found


def _images(shown: Shown, pictures: list[Image]) -> list[bpy.types.Image]:
    """Blender's image for each picture: those that were added want another alpha than the one they were made from."""
    made = list(shown.images.sources)
    for picture in pictures[len(made) :]:
        source = next(
            image
            for image, old in zip(shown.images.sources, pictures, strict=False)
            if (old.name, old.path) == (picture.name, picture.path)
        )
        flags = source.retro_meshes
        same = (flags.mask_black, flags.mean_alpha) == (picture.mask_black, picture.mean_alpha)
        made.append(source if same else variant(source, picture.mask_black, picture.mean_alpha))
    return made
