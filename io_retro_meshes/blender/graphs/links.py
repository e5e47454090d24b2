# SPDX-License-Identifier: GPL-3.0-or-later
"""Following links backwards through a node tree, in and out of groups, past reroutes and muted nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy

from .blends import blend_of

# Links followed from one socket to the node that makes its value: more is a mistake in the tree.
FAR = 1000


@dataclass(frozen=True)
class Source:
    """What a socket is linked to."""

    node: bpy.types.Node
    output: bpy.types.NodeSocket
    groups: tuple[bpy.types.Node, ...]

    @property
    def kind(self) -> str:
        return self.node.type

    def input(self, name: str | int) -> Input | None:
        """An input of the node, by name, number or identifier."""
        sockets = self.node.inputs
        if isinstance(name, int):
            found = sockets[name] if name < len(sockets) else None
        else:
            found = sockets.get(name) or next((socket for socket in sockets if socket.identifier == name), None)
        return None if found is None else Input(found, self.groups)

    def inputs(self) -> list[Input]:
        return [Input(socket, self.groups) for socket in self.node.inputs if socket.enabled]


@dataclass(frozen=True)
class Input:
    """An input socket, and the group nodes around its tree from the outermost in."""

    socket: bpy.types.NodeSocket
    groups: tuple[bpy.types.Node, ...] = ()

    @property
    def type(self) -> str:
        return self.socket.type

    def source(self) -> Source | None:
        """The node that makes the value; None for a socket that just has one."""
        return self._end()[1]

    def constant(self) -> Any:
        """The value, where it does not come from a texture or the mesh; else None."""
        end, source = self._end()
        if source is None:
            value = getattr(end.socket, "default_value", None)
        elif source.kind in ("RGB", "VALUE"):
            value = source.output.default_value
        else:
            return None
        return value if isinstance(value, int | float) or value is None else tuple(value)

    def _end(self) -> tuple[Input, Source | None]:
        current = self
        for _ in range(FAR):
            link = next((link for link in current.socket.links if link.is_valid and not link.is_muted), None)
            if link is None:
                return current, None
            onward = _through(link.from_node, link.from_socket, current.groups)
            if onward is None:
                return current, Source(link.from_node, link.from_socket, current.groups)
            current = onward
        return current, None


def _through(node: bpy.types.Node, output: bpy.types.NodeSocket, groups: tuple[bpy.types.Node, ...]) -> Input | None:
    """The input that an output just passes on."""
    if node.type == "REROUTE":
        return Input(node.inputs[0], groups)
    if node.mute:
        inside = next((link for link in node.internal_links if link.to_socket == output), None)
        return None if inside is None else Input(inside.from_socket, groups)
    if node.type == "GROUP" and node.node_tree is not None and blend_of(node) is None:
        ends = [end for end in node.node_tree.nodes if end.type == "GROUP_OUTPUT" and end.is_active_output]
        inner = next((socket for end in ends for socket in end.inputs if socket.identifier == output.identifier), None)
        return None if inner is None or node in groups else Input(inner, (*groups, node))
    if node.type == "GROUP_INPUT" and groups:
        outer = next((socket for socket in groups[-1].inputs if socket.identifier == output.identifier), None)
        return None if outer is None else Input(outer, groups[:-1])
    return None


def active_output(tree: bpy.types.NodeTree) -> bpy.types.Node | None:
    """The output the renderers take."""
    outputs = [node for node in tree.nodes if node.type == "OUTPUT_MATERIAL" and not node.mute]
    return next((node for node in outputs if node.is_active_output), outputs[0] if outputs else None)
