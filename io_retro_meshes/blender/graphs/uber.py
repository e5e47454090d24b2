# SPDX-License-Identifier: GPL-3.0-or-later
"""The graph of the "Uber" node group, made and read back: the material of the BOGLE engine as Blender's renderers can show it.

Its inputs are the engine's 35, under the names that the engine's own exporter looks for. There is one group in a .blend file,
which all materials share.
"""

from __future__ import annotations

import bpy

from ...scene import Material, TextureLayer
from ...scene.uber import GROUP, ID, ON, SOCKETS, USES, describe
from ..pixels import set_color_space
from .images import Images, ImageTable
from .links import Input
from .nodes import Tree, Value

# Textures that are numbers, not colours.
PLAIN = {"Normal", "Bump", "Opacity", "Specular Power"}
WIDEST = 1e6
# How far a white pixel of a bump map stands out at an intensity of 1, in Blender's units.
BUMP_DISTANCE = 0.02


def make(tree: Tree, material: Material, images: Images) -> None:
    values = material.settings.get(ID, {})
    node = tree.add("ShaderNodeGroup", node_tree=uber_group(), name=GROUP, label=GROUP, width=260)
    for socket in SOCKETS:
        value = values.get(socket.name, socket.default)
        node.inputs[socket.name].default_value = (*value[:3], 1) if isinstance(value, tuple) else value
    tree.tree.nodes.active = node
    for layer in material.layers:
        name = layer.settings.get(ID, {}).get("texture", "")
        image = images[layer.image] if 0 <= layer.image < len(images) else None
        if f"Texture {name}" not in node.inputs:
            continue
        picture = tree.add("ShaderNodeTexImage", image=image, name=f"Texture {name}", label=name)
        tree.put(node.inputs[f"Texture {name}"], picture.outputs["Color"])
        tree.put(node.inputs[f"Texture {name} Alpha"], picture.outputs["Alpha"])
        if image is not None and image.users == 1:
            set_color_space(image, "Non-Color" if name in PLAIN else "sRGB")
        if name == "Diffuse":
            tree.tree.nodes.active = picture  # what the solid view shows
    tree.add("ShaderNodeOutputMaterial", {"Surface": node.outputs[0]})


def read(made: Material, node: bpy.types.Node, images: ImageTable) -> None:
    """Fills in a material. What a socket is linked to counts if it is a constant, or the texture of a texture socket."""
    made.graph = ID
    values = made.settings.setdefault(ID, {})
    for socket in SOCKETS:
        value = Input(node.inputs[socket.name]).constant()
        if value is None:
            value = node.inputs[socket.name].default_value
        values[socket.name] = tuple(value)[:3] if socket.kind == "COLOR" else float(value)
    for name, use in USES.items():
        source = Input(node.inputs[f"Texture {name}"]).source()
        if source is not None and source.kind == "TEX_IMAGE" and source.node.image is not None:
            layer = TextureLayer(images.index(source.node.image), use=use, settings={ID: {"texture": name}})
            made.layers.append(layer)
    describe(made)


def uber_node(output: bpy.types.Node) -> bpy.types.Node | None:
    """The group that an output shows, if it is one with all the engine's inputs."""
    socket = output.inputs["Surface"]
    while socket.is_linked and (node := socket.links[0].from_node).type == "REROUTE":
        socket = node.inputs[0]
    node = socket.links[0].from_node if socket.is_linked else None
    return node if node is not None and node.type == "GROUP" and is_uber(node.node_tree) else None


def is_uber(tree: bpy.types.NodeTree | None) -> bool:
    """Has the group all the inputs that the engine's exporter asks for, whoever made it?"""
    if tree is None or tree.bl_idname != "ShaderNodeTree":
        return False
    names = {item.name for item in tree.interface.items_tree if item.item_type == "SOCKET" and item.in_out == "INPUT"}
    return all(socket.name in names for socket in SOCKETS)


# ------------------------------------------------------------------------------------------------------ the node group


def uber_group() -> bpy.types.NodeTree:
    """The group of this .blend file, made when it is first needed."""
    found: bpy.types.NodeTree | None = bpy.data.node_groups.get(GROUP)
    if is_uber(found):
        return found
    group = bpy.data.node_groups.new(GROUP, "ShaderNodeTree")
    group.interface.new_socket("Shader", in_out="OUTPUT", socket_type="NodeSocketShader")
    for socket in SOCKETS:
        kind = "NodeSocketColor" if socket.kind == "COLOR" else "NodeSocketFloat"
        made = group.interface.new_socket(socket.name, in_out="INPUT", socket_type=kind, description=socket.hint)
        if isinstance(socket.default, tuple):
            made.default_value = (*socket.default, 1)
            continue
        if socket.kind == "FACTOR":
            made.subtype = "FACTOR"
        made.min_value, made.max_value = (0, 1) if socket.kind == "FACTOR" else (-WIDEST, WIDEST)
        made.default_value = socket.default
    _fill(Tree(group))
    return group


def _fill(tree: Tree) -> None:
    given = tree.add("NodeGroupInput").outputs
    normal = _normal(tree, given)
    power = tree.math("MULTIPLY", given["Specular Power"], given["Texture Specular Power"])
    # The width of a highlight of this exponent: roughness^4 = 2 / (power + 2).
    roughness = tree.math("POWER", tree.math("DIVIDE", 2.0, tree.math("ADD", tree.math("MAXIMUM", power, 0.0), 2.0)), 0.25)
    inputs: dict[int | str, Value | None] = {
        "Base Color": tree.mix("MULTIPLY", given["Base Diffuse"], given["Texture Diffuse"]),
        "Roughness": roughness,
        "Specular IOR Level": 1.0,
        "Specular Tint": tree.mix("ADD", given["Base Specular"], given["Texture Specular"]),
        "Emission Color": tree.mix("ADD", given["Base Emissive"], given["Texture Emissive"]),
        "Emission Strength": 1.0,
        "Normal": normal,
    }
    surface = tree.add("ShaderNodeBsdfPrincipled", inputs).outputs[0]
    mirror = tree.add("ShaderNodeBsdfGlossy", {"Roughness": roughness, "Normal": normal}).outputs[0]
    surface = tree.add("ShaderNodeMixShader", {0: given["Reflectance"], 1: surface, 2: mirror}).outputs[0]
    # The engine's index is outside divided by inside, Blender's the other way round.
    index = tree.math("DIVIDE", 1.0, tree.math("MAXIMUM", given["Index of Refraction"], 0.01))
    glass = tree.add("ShaderNodeBsdfRefraction", {"Roughness": 0.0, "IOR": index, "Normal": normal}).outputs[0]
    surface = tree.add("ShaderNodeMixShader", {0: given["Refraction"], 1: surface, 2: glass}).outputs[0]
    clear = tree.add("ShaderNodeBsdfTransparent").outputs[0]
    surface = tree.add("ShaderNodeMixShader", {0: _alpha(tree, given), 1: clear, 2: surface}).outputs[0]
    tree.add("NodeGroupOutput", {0: surface})
    tree.arrange()


def _alpha(tree: Tree, given: bpy.types.NodeOutputs) -> bpy.types.NodeSocket:
    """Nothing below the threshold; above it all of the surface, or with blending on so much as alpha says."""
    alpha = tree.math("MULTIPLY", given["Opacity"], given["Texture Opacity"])
    for name in ("Texture Opacity Alpha", "Base Diffuse Alpha", "Texture Diffuse Alpha"):
        alpha = tree.math("MULTIPLY", alpha, given[name])
    blended = tree.math("GREATER_THAN", given["Alpha Blending Mode"], ON)
    shown = tree.math("SUBTRACT", 1.0, tree.math("MULTIPLY", blended, tree.math("SUBTRACT", 1.0, alpha)))
    kept = tree.math("SUBTRACT", 1.0, tree.math("LESS_THAN", alpha, given["Alpha Threshold"]))
    return tree.math("MULTIPLY", shown, kept, use_clamp=True)


def _normal(tree: Tree, given: bpy.types.NodeOutputs) -> bpy.types.NodeSocket:
    """The normal map's, the bump map's, or the mesh's own."""
    plain = tree.add("ShaderNodeNewGeometry").outputs["Normal"]
    mapped = tree.add("ShaderNodeNormalMap", {"Color": given["Texture Normal"]}).outputs[0]
    height = tree.math("MULTIPLY", given["Bump Intensity"], BUMP_DISTANCE)
    bumped = tree.add("ShaderNodeBump", {"Distance": height, "Height": given["Texture Bump"]}).outputs["Normal"]
    chosen = _either(tree, given["Use BumpMap Normals"], mapped, bumped)
    return _either(tree, given["Use Geometry Normals"], chosen, plain)


def _either(tree: Tree, factor: Value, first: Value, second: Value) -> bpy.types.NodeSocket:
    node = tree.add("ShaderNodeMix", data_type="VECTOR")
    sockets = {socket.identifier: socket for socket in node.inputs}
    for name, value in (("Factor_Float", factor), ("A_Vector", first), ("B_Vector", second)):
        tree.put(sockets[name], value)
    return next(socket for socket in node.outputs if socket.identifier == "Result_Vector")
