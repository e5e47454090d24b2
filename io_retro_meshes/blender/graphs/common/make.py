# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials as node graphs that look as the engine draws them, in every Blender renderer.

The common cases take the very shape that Blender's glTF exporter understands: colour = factor * vertex colour * texture,
alpha = cut(factor * vertex alpha * texture), and the light path trick for unlit surfaces.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ....scene import Image, Material, TextureLayer
from ..blends import laid_over
from ..colors import linear
from ..images import Images, is_missing
from ..nodes import Tree, Value
from .names import CUT, FLAT, FULL_BRIGHT, LACKS_COLORS, SOCKETS, STIPPLE
from .textures import make_texture

# Layers that may lie on either side of what they are laid over.
PRODUCTS = {"MULTIPLY", "MULTIPLY_2X"}
# Cells of a stipple's checkerboard across the window. The real one is as fine as the screen, which nodes do not know.
STIPPLE_CELLS = 400.0


def make(
    tree: Tree,
    material: Material,
    pictures: Sequence[Image],
    images: Images,
    nodes: Sequence[bpy.types.Node | None] = (),
) -> None:
    """`nodes`: image nodes of layers that are in the tree already, and stay; None for those to make."""
    explicit = any(layer.uv for layer in material.layers)
    found = [images[layer.image] if 0 <= layer.image < len(images) else None for layer in material.layers]
    textures = [
        make_texture(tree, index, layer, found[index], explicit, nodes[index] if index < len(nodes) else None)
        for index, layer in enumerate(material.layers)
    ]
    stack = _shown(list(zip(material.layers, textures, strict=True)))
    has_alpha = [
        0 <= layer.image < len(pictures) and (pictures[layer.image].alpha or pictures[layer.image].mask_black)
        for layer, _ in stack
    ]
    color = _color(tree, material, stack)
    alpha = _alpha(tree, material, stack, has_alpha)
    if material.full_bright:
        surface = _unlit(tree, material, color)
    elif material.blend == "MULTIPLY":
        surface = tree.add("ShaderNodeBsdfTransparent", {"Color": color}).outputs[0]
    else:
        surface = _lit(tree, material, color, alpha, stack)
        alpha = None if material.blend != "ADD" else alpha
    if material.blend == "ADD":
        # Without a first shader, a mix is the second one times the factor.
        faded = surface if alpha is None else tree.add("ShaderNodeMixShader", {0: alpha, 2: surface}).outputs[0]
        clear = tree.add("ShaderNodeBsdfTransparent").outputs[0]
        surface = tree.add("ShaderNodeAddShader", {0: clear, 1: faded}).outputs[0]
    elif alpha is not None:
        clear = tree.add("ShaderNodeBsdfTransparent").outputs[0]
        surface = tree.add("ShaderNodeMixShader", {0: alpha, 1: clear, 2: surface}).outputs[0]
    tree.add("ShaderNodeOutputMaterial", {"Surface": surface})
    if material.flat and FLAT not in tree.tree.nodes:
        tree.add("ShaderNodeNewGeometry", name=FLAT, label=FLAT)  # nothing to see without light, but not forgotten
    if material.lacks_colors:
        tree.add("ShaderNodeVertexColor", name=LACKS_COLORS, label=LACKS_COLORS)
    # What the solid view shows, through the first UV map: not a light map.
    based = (node for layer, node in stack if layer.use == "COLOR" and layer.uv == 0 and layer.mapping == "UV")
    tree.tree.nodes.active = next(based, None)


def _shown(stack: list[tuple[TextureLayer, bpy.types.Node]]) -> list[tuple[TextureLayer, bpy.types.Node]]:
    """Engines skip a texture that is not there. Here a missing first one is seen, so that the user can find it."""
    main = next((node for layer, node in stack if layer.use == "COLOR" and layer.blend != "OFF"), None)
    return [(layer, node) for layer, node in stack if node == main or not is_missing(node.image)]


# ------------------------------------------------------------------------------------------------------ colour and alpha


def _color(tree: Tree, material: Material, stack: list[tuple[TextureLayer, bpy.types.Node]]) -> Value:
    """The material's colour times the mesh's, then texture by texture, each stage clamped: as engines do.

    A product with a texture is the same in any order, so plain products come first: there the glTF exporter looks for them.
    """
    layers = [(layer, node) for layer, node in stack if layer.use == "COLOR" and layer.blend != "OFF"]
    lead = _count(layers, {"MULTIPLY"})
    # Of several textures the glTF exporter takes the first it meets: not a light map, where there is another.
    early = layers[: _count(layers, PRODUCTS)]
    main = next((node for layer, node in early if layer.uv == 0 and layer.mapping == "UV"), None)
    color: Value | None = None
    for layer, node in layers[:lead]:
        color = node.outputs["Color"] if color is None else laid_over(tree, layer.blend, color, node, swap=node is main)
    if material.vertex_colors:
        vertex = tree.color_attribute().outputs["Color"]
        color = vertex if color is None else tree.mix("MULTIPLY", color, vertex)
    factor = linear(material.color)
    if color is None:
        color = factor
    elif factor[:3] != (1, 1, 1):
        color = tree.mix("MULTIPLY", color, factor)
    for layer, node in layers[lead:]:
        color = laid_over(tree, layer.blend, color, node, swap=node is main and node is not layers[0][1])
    return color


def _count(layers: list[tuple[TextureLayer, bpy.types.Node]], blends: set[str]) -> int:
    """How many of the first layers have these blends."""
    return next((index for index, (layer, _) in enumerate(layers) if layer.blend not in blends), len(layers))


def _alpha(
    tree: Tree, material: Material, stack: list[tuple[TextureLayer, bpy.types.Node]], has_alpha: list[bool]
) -> Value | None:
    """How much of the surface there is; None: all of it."""
    factors: list[Value] = []
    if material.blend in ("MASK", "ALPHA", "ADD"):
        for (layer, node), means_something in zip(stack, has_alpha, strict=True):
            if layer.use == "ALPHA":
                factors.append(node.outputs["Color"])
            elif layer.use == "COLOR" and layer.blend != "OFF" and means_something:
                factors.append(node.outputs["Alpha"])
    if material.stipple:
        window = tree.add("ShaderNodeTexCoord").outputs["Window"]
        board: dict[int | str, Value | None] = {
            "Vector": window,
            "Color1": (1, 1, 1, 1),
            "Color2": (0, 0, 0, 1),
            "Scale": STIPPLE_CELLS,
        }
        factors.append(tree.add("ShaderNodeTexChecker", board, label=STIPPLE).outputs["Fac"])
    if material.wireframe:
        factors.append(tree.add("ShaderNodeWireframe", {0: 1.0}, use_pixel_size=True).outputs[0])
    if material.blend in ("MASK", "ALPHA", "ADD"):
        if material.vertex_alpha:
            factors.append(tree.color_attribute().outputs["Alpha"])
        if material.color[3] != 1:
            factors.append(float(material.color[3]))
    if not factors:
        return None
    alpha = factors[0]
    for factor in factors[1:]:
        alpha = tree.math("MULTIPLY", alpha, factor)
    if material.blend == "MASK":
        alpha = tree.math("SUBTRACT", 1.0, tree.math("LESS_THAN", alpha, material.threshold, label=CUT))
    return alpha


# ------------------------------------------------------------------------------------------------------------- surfaces


def _lit(
    tree: Tree, material: Material, color: Value, alpha: Value | None, stack: list[tuple[TextureLayer, bpy.types.Node]]
) -> bpy.types.NodeSocket:
    glow = linear(material.emission)
    inputs: dict[int | str, Value | None] = {
        "Base Color": color,
        "Alpha": alpha if material.blend != "ADD" else None,
        SOCKETS["ROUGHNESS"]: material.roughness,
        SOCKETS["METALLIC"]: material.metallic,
        SOCKETS["SPECULAR"]: material.specular,
        SOCKETS["EMISSION"]: glow,
        "Emission Strength": 1.0 if any(glow[:3]) else 0.0,
    }
    if material.flat:
        inputs["Normal"] = tree.add("ShaderNodeNewGeometry", name=FLAT).outputs["True Normal"]
    for layer, node in stack:
        if layer.use == "EMISSION":
            factor = glow if any(glow[:3]) else (1.0, 1.0, 1.0, 1.0)
            inputs[SOCKETS["EMISSION"]] = (
                node.outputs["Color"] if factor[:3] == (1, 1, 1) else tree.mix("MULTIPLY", node.outputs["Color"], factor)
            )
            inputs["Emission Strength"] = 1.0
        elif layer.use == "NORMAL":
            bump = tree.add("ShaderNodeNormalMap", {"Color": node.outputs["Color"]})
            bump.uv_map = tree.uv_name(layer.uv) if layer.uv else ""
            inputs["Normal"] = bump.outputs[0]
        elif layer.use in SOCKETS:
            inputs[SOCKETS[layer.use]] = node.outputs["Color"]
    return tree.add("ShaderNodeBsdfPrincipled", inputs).outputs[0]


def _unlit(tree: Tree, material: Material, color: Value) -> bpy.types.NodeSocket:
    """The colour as it is, for the camera alone: it lights nothing and throws no shadow."""
    if material.blend == "MULTIPLY":
        return tree.add("ShaderNodeBsdfTransparent", {"Color": color}, label=FULL_BRIGHT).outputs[0]
    glow = tree.add("ShaderNodeEmission", {"Color": color}).outputs[0]
    clear = None if material.blend == "ADD" else tree.add("ShaderNodeBsdfTransparent").outputs[0]
    camera = tree.add("ShaderNodeLightPath").outputs["Is Camera Ray"]
    return tree.add("ShaderNodeMixShader", {0: camera, 1: clear, 2: glow}).outputs[0]
