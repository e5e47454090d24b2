# SPDX-License-Identifier: GPL-3.0-or-later
"""Making node trees: a node with all its inputs in one call, and a tidy layout at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from ...scene import COLOR_NAME, uv_name

# A link, or a constant.
Value = bpy.types.NodeSocket | float | tuple[float, ...]

COLUMN, GAP = 300, 40
HEIGHTS = {"ShaderNodeTexImage": 290, "ShaderNodeBsdfPrincipled": 420, "ShaderNodeMapping": 360}


class Tree:
    """`uv_names` and `color_name` are those of the mesh that will wear the material; by default the project's own."""

    def __init__(self, tree: bpy.types.NodeTree, uv_names: Sequence[str] = (), color_name: str = COLOR_NAME) -> None:
        self.tree = tree
        self.uv_names = uv_names
        self.color_name = color_name
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

    def color_attribute(self) -> bpy.types.Node:
        if self._color is None:
            self._color = self.add("ShaderNodeVertexColor", layer_name=self.color_name)
        return self._color

    def uv_name(self, index: int) -> str:
        return self.uv_names[index] if index < len(self.uv_names) else uv_name(index)

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
