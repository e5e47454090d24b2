# SPDX-License-Identifier: GPL-3.0-or-later
"""The colour of the world: the background that its nodes make, or where it has none its viewport colour."""

from __future__ import annotations

import bpy

from ..scene import Floats, floats
from . import compat


def _background(world: bpy.types.World) -> bpy.types.Node | None:
    if not compat.has_nodes(world):
        return None
    return next((node for node in world.node_tree.nodes if node.type == "BACKGROUND"), None)


def world_color(world: bpy.types.World) -> Floats:
    node = _background(world)
    if node is None or node.inputs["Color"].is_linked:
        return floats(*world.color)
    return floats(*(value * node.inputs["Strength"].default_value for value in node.inputs["Color"].default_value[:3]))


def set_world_color(world: bpy.types.World, color: Floats) -> None:
    """Both, so that every renderer and view shows it."""
    red, green, blue = (float(value) for value in color[:3])
    world.color = (red, green, blue)
    tree = compat.node_tree(world)
    node = _background(world)
    if node is None:
        tree.nodes.clear()
        node = tree.nodes.new("ShaderNodeBackground")
        output = tree.nodes.new("ShaderNodeOutputWorld")
        output.location = (300, 0)
        tree.links.new(node.outputs[0], output.inputs["Surface"])
    for link in list(node.inputs["Color"].links):
        tree.links.remove(link)
    node.inputs["Color"].default_value = (red, green, blue, 1)
    node.inputs["Strength"].default_value = 1
