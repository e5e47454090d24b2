# SPDX-License-Identifier: GPL-3.0-or-later
"""The node groups for the ways in which textures are laid over each other: used, made, and recognised."""

from __future__ import annotations

import bpy

from .nodes import Tree, Value

# What the old engines do to colours they do in display space (sRGB): these groups go there and back.
BLEND_GROUPS = {
    "ALPHA": "Retro Alpha",
    "ADD": "Retro Add",
    "MULTIPLY": "Retro Multiply",
    "MULTIPLY_2X": "Retro Multiply 2x",
    "DOT3": "Retro Dot3",
}
# sRGB is a line up to here, in linear and in display space, and a power from there on.
DARK_LINEAR, DARK_DISPLAY, SLOPE = 0.0031308, 0.04045, 12.92


def laid_over(tree: Tree, blend: str, below: Value, texture: bpy.types.Node, swap: bool = False) -> bpy.types.NodeSocket:
    """A texture laid over what is below it, as the engine does. Products may be swapped."""
    above: Value = texture.outputs["Color"]
    below, above = (above, below) if swap else (below, above)
    node = tree.add("ShaderNodeGroup", node_tree=blend_group(blend), label=BLEND_GROUPS[blend])
    tree.put(node.inputs["Below"], below)
    tree.put(node.inputs["Above"], above)
    if blend == "ALPHA":
        tree.put(node.inputs["Alpha"], texture.outputs["Alpha"])
    return node.outputs[0]


def blend_group(blend: str) -> bpy.types.NodeTree:
    """The node group for a way of blending, made when it is first needed."""
    name = BLEND_GROUPS[blend]
    found: bpy.types.NodeTree | None = bpy.data.node_groups.get(name)
    if found is not None and found.bl_idname == "ShaderNodeTree":
        return found
    group = bpy.data.node_groups.new(name, "ShaderNodeTree")
    inputs = [("Below", "NodeSocketColor"), ("Above", "NodeSocketColor")]
    if blend == "ALPHA":
        inputs.append(("Alpha", "NodeSocketFloat"))
    for label, kind in inputs:
        group.interface.new_socket(label, in_out="INPUT", socket_type=kind)
    group.interface.new_socket("Color", in_out="OUTPUT", socket_type="NodeSocketColor")
    tree = Tree(group)
    given = tree.add("NodeGroupInput").outputs
    below, above = (_to_display(tree, given[side]) for side in ("Below", "Above"))
    if blend == "ALPHA":
        # Not a mix: its factor comes first, and with it the texture that the glTF exporter would take for the colour.
        rest = tree.math("SUBTRACT", 1.0, given["Alpha"])
        result = tree.vector("ADD", tree.vector("MULTIPLY", below, rest), tree.vector("MULTIPLY", above, given["Alpha"]))
    elif blend == "ADD":
        result = tree.mix("ADD", below, above, clamp_result=True)
    elif blend == "MULTIPLY":
        result = tree.vector("MULTIPLY", below, above)
    elif blend == "MULTIPLY_2X":
        result = tree.mix("MULTIPLY", tree.mix("MULTIPLY", below, above), 2.0, clamp_result=True)
    else:
        signed = [tree.vector("MULTIPLY_ADD", side, (2, 2, 2), (-1, -1, -1)) for side in (below, above)]
        result = tree.math("MAXIMUM", tree.vector("DOT_PRODUCT", *signed, output="Value"), 0.0, use_clamp=True)
    tree.add("NodeGroupOutput", {"Color": _to_linear(tree, result)})
    tree.arrange()
    return group


def _to_display(tree: Tree, color: Value) -> bpy.types.NodeSocket:
    """The line for the dark part, plus the power for the bright one: no node chooses for each channel."""
    line = tree.vector("MULTIPLY", tree.vector("MINIMUM", color, _all(DARK_LINEAR)), _all(SLOPE))
    bright = tree.vector("MAXIMUM", color, _all(DARK_LINEAR))
    power = tree.add("ShaderNodeGamma", {"Color": bright, "Gamma": 1 / 2.4}).outputs[0]
    return tree.vector("ADD", line, tree.vector("MULTIPLY_ADD", power, _all(1.055), _all(-0.055 - DARK_LINEAR * SLOPE)))


def _to_linear(tree: Tree, color: Value) -> bpy.types.NodeSocket:
    line = tree.vector("MULTIPLY", tree.vector("MINIMUM", color, _all(DARK_DISPLAY)), _all(1 / SLOPE))
    bright = tree.vector("MAXIMUM", color, _all(DARK_DISPLAY))
    base = tree.vector("MULTIPLY_ADD", bright, _all(1 / 1.055), _all(0.055 / 1.055))
    power = tree.add("ShaderNodeGamma", {"Color": base, "Gamma": 2.4}).outputs[0]
    return tree.vector("ADD", line, tree.vector("SUBTRACT", power, _all(DARK_DISPLAY / SLOPE)))


def _all(value: float) -> tuple[float, float, float]:
    return (value, value, value)


def blend_of(node: bpy.types.Node) -> str | None:
    """The way of blending that one of the project's groups stands for."""
    if node.type != "GROUP" or node.node_tree is None:
        return None
    name = node.node_tree.name.split(".")[0]
    return next((blend for blend, group in BLEND_GROUPS.items() if group == name), None)
