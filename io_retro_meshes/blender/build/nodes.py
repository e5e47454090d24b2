# SPDX-License-Identifier: GPL-3.0-or-later
"""Making node trees: a node with all its inputs in one call, and a tidy layout at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import bpy

from ...scene import COLOR_NAME

# A link, or a constant.
Value = bpy.types.NodeSocket | float | tuple[float, ...]

# What the old engines do to colours they do in display space. Products are the same in linear space; for the others these
# groups go there and back.
BLEND_GROUPS = {"ALPHA": "Retro Alpha", "ADD": "Retro Add", "MULTIPLY_2X": "Retro Multiply 2x", "DOT3": "Retro Dot3"}
GAMMA = 2.2

COLUMN, GAP = 300, 40
HEIGHTS = {"ShaderNodeTexImage": 290, "ShaderNodeBsdfPrincipled": 420, "ShaderNodeMapping": 360}


class Tree:
    def __init__(self, tree: bpy.types.NodeTree) -> None:
        self.tree = tree
        self._color: bpy.types.Node | None = None

    def add(self, kind: str, inputs: Mapping[int | str, Value | None] | None = None, **attributes: Any) -> bpy.types.Node:
        """A node of that kind; inputs by name or number are linked or set, None leaves one alone."""
        node = self.tree.nodes.new(kind)
        for name, value in attributes.items():
            setattr(node, name, value)
        for socket, value in (inputs or {}).items():
            if value is not None:
                self.put(node.inputs[socket], value)
        return node

    def put(self, socket: bpy.types.NodeSocket, value: Value) -> None:
        if isinstance(value, bpy.types.NodeSocket):
            self.tree.links.new(value, socket)
        elif socket.type == "RGBA" and not isinstance(value, tuple):
            socket.default_value = (value, value, value, 1)
        else:
            socket.default_value = value

    def mix(self, blend: str, below: Value, above: Value, factor: Value = 1.0, **attributes: Any) -> bpy.types.NodeSocket:
        """Two colours mixed."""
        node = self.add("ShaderNodeMix", data_type="RGBA", blend_type=blend, **attributes)
        sockets = {socket.identifier: socket for socket in node.inputs}
        self.put(sockets["Factor_Float"], factor)
        self.put(sockets["A_Color"], below)
        self.put(sockets["B_Color"], above)
        return next(socket for socket in node.outputs if socket.identifier == "Result_Color")

    def math(self, operation: str, *values: Value, **attributes: Any) -> bpy.types.NodeSocket:
        return self.add("ShaderNodeMath", dict(enumerate(values)), operation=operation, **attributes).outputs[0]

    def vector(self, operation: str, *values: Value, output: str = "Vector") -> bpy.types.NodeSocket:
        return self.add("ShaderNodeVectorMath", dict(enumerate(values)), operation=operation).outputs[output]

    def blend(self, blend: str, below: Value, texture: bpy.types.Node, swap: bool = False) -> bpy.types.NodeSocket:
        """A texture laid over what is below it, as the engine does. Products may be swapped."""
        above: Value = texture.outputs["Color"]
        below, above = (above, below) if swap else (below, above)
        if blend not in BLEND_GROUPS:
            return self.mix("MULTIPLY", below, above)
        node = self.add("ShaderNodeGroup", node_tree=blend_group(blend), label=BLEND_GROUPS[blend])
        self.put(node.inputs["Below"], below)
        self.put(node.inputs["Above"], above)
        if blend == "ALPHA":
            self.put(node.inputs["Alpha"], texture.outputs["Alpha"])
        return node.outputs[0]

    def color_attribute(self) -> bpy.types.Node:
        if self._color is None:
            self._color = self.add("ShaderNodeVertexColor", layer_name=COLOR_NAME)
        return self._color

    def arrange(self) -> None:
        """Columns from right to left by how far a node is from the end; nodes that are linked to nothing below."""
        nodes = list(self.tree.nodes)
        links = [(link.from_node.name, link.to_node.name) for link in self.tree.links]
        sources: dict[str, list[str]] = {node.name: [] for node in nodes}
        for source, target in links:
            sources[target].append(source)
        column = dict.fromkeys(sources, 0)
        waiting = Counter(source for source, _ in links)
        ready = [name for name in sources if not waiting[name]]
        for name in ready:  # grows as the nodes to the right of others are placed
            for source in sources[name]:
                column[source] = max(column[source], column[name] + 1)
                waiting[source] -= 1
                if not waiting[source]:
                    ready.append(source)
        last = max(column.values(), default=0)
        linked = {name for link in links for name in link}
        height: dict[int, float] = {}
        for node in sorted(nodes, key=lambda node: node.name not in linked):
            place = column[node.name] if node.name in linked else last
            top = height.get(place, 0)
            node.location = (-COLUMN * place, -top)
            height[place] = top + HEIGHTS.get(node.bl_idname, 190) + GAP


def blend_group(blend: str) -> bpy.types.NodeTree:
    """The node group for a way of blending, made when it is first needed."""
    name = BLEND_GROUPS[blend]
    found = bpy.data.node_groups.get(name)
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
    below, above = (
        tree.add("ShaderNodeGamma", {"Color": given[side], "Gamma": 1 / GAMMA}).outputs[0] for side in ("Below", "Above")
    )
    if blend == "ALPHA":
        # Not a mix: its factor comes first, and with it the texture that the glTF exporter would take for the colour.
        rest = tree.math("SUBTRACT", 1.0, given["Alpha"])
        result = tree.vector("ADD", tree.vector("MULTIPLY", below, rest), tree.vector("MULTIPLY", above, given["Alpha"]))
    elif blend == "ADD":
        result = tree.mix("ADD", below, above, clamp_result=True)
    elif blend == "MULTIPLY_2X":
        result = tree.mix("MULTIPLY", tree.mix("MULTIPLY", below, above), 2.0, clamp_result=True)
    else:
        signed = [tree.vector("MULTIPLY_ADD", side, (2, 2, 2), (-1, -1, -1)) for side in (below, above)]
        result = tree.math("MAXIMUM", tree.vector("DOT_PRODUCT", *signed, output="Value"), 0.0, use_clamp=True)
    back = tree.add("ShaderNodeGamma", {"Color": result, "Gamma": GAMMA}).outputs[0]
    tree.add("NodeGroupOutput", {"Color": back})
    tree.arrange()
    return group
