# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials made with the "Uber" node group: every socket as it is."""

from __future__ import annotations

import bpy

from ...formats.bogle.document import TEXTURES
from ...formats.bogle.materials import USES, describe
from ...formats.bogle.sockets import SOCKETS
from ...scene import Material, TextureLayer
from ..build.uber import is_uber
from .images import ImageCollector
from .wires import Wire


def uber_node(output: bpy.types.Node) -> bpy.types.Node | None:
    """The group that an output shows, if it is one with all the engine's inputs."""
    socket = output.inputs["Surface"]
    while socket.is_linked and (node := socket.links[0].from_node).type == "REROUTE":
        socket = node.inputs[0]
    node = socket.links[0].from_node if socket.is_linked else None
    return node if node is not None and node.type == "GROUP" and is_uber(node.node_tree) else None


def collect_uber(made: Material, node: bpy.types.Node, images: ImageCollector) -> None:
    """Fills in a material. What a socket is linked to counts if it is a constant, or the texture of a texture socket."""
    made.graph = "bogle"
    values = made.settings.setdefault("bogle", {})
    for socket in SOCKETS:
        value = Wire(node.inputs[socket.name]).constant()
        if value is None:
            value = node.inputs[socket.name].default_value
        values[socket.name] = tuple(value)[:3] if socket.kind == "COLOR" else float(value)
    for name in TEXTURES:
        source = Wire(node.inputs[f"Texture {name}"]).source()
        if source is not None and source.kind == "TEX_IMAGE" and source.node.image is not None:
            layer = TextureLayer(images.index(source.node.image), use=USES[name], settings={"bogle": {"texture": name}})
            made.layers.append(layer)
    describe(made)
