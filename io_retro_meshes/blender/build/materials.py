# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials as node graphs that look as the engine draws them, in every Blender renderer.

The common cases take the very shape that Blender's glTF exporter understands: colour = factor * vertex colour * texture,
alpha = cut(factor * vertex alpha * texture), and the light path trick for unlit surfaces.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ... import maths
from ...scene import Image, Material, Scene, TextureLayer, uv_name
from .. import compat, properties
from . import uber
from .nodes import Tree, Value

Images = Sequence[bpy.types.Image | None]
# Layers that commute with the colour: they may come before it, where the glTF exporter looks for them.
PRODUCTS = {"MULTIPLY", "MULTIPLY_2X"}
# More than any engine draws. Blender takes minutes over a graph of thousands.
MOST_LAYERS = 64
# On the filter of a surface that multiplies: light makes no difference to it.
FULL_BRIGHT = "Full Bright"
# Cells of a stipple's checkerboard across the window. The real one is as fine as the screen, which nodes do not know.
STIPPLE_CELLS = 400.0


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
    if material.graph == "bogle":
        uber.build_graph(tree, material, pictures, images)
    else:
        _build_graph(tree, material, pictures, images)
    tree.arrange()
    _viewport(made, material)
    properties.apply(made, material.settings)
    return made


def _build_graph(tree: Tree, material: Material, pictures: Sequence[Image], images: Images) -> None:
    explicit = any(layer.uv for layer in material.layers)
    textures = [
        _texture(tree, index, layer, images[layer.image] if 0 <= layer.image < len(images) else None, explicit)
        for index, layer in enumerate(material.layers)
    ]
    stack = list(zip(material.layers, textures, strict=True))
    has_alpha = [
        0 <= layer.image < len(pictures) and (pictures[layer.image].alpha or pictures[layer.image].mask_black)
        for layer in material.layers
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
    if material.flat and "Flat" not in tree.tree.nodes:
        tree.add("ShaderNodeNewGeometry", name="Flat", label="Flat")  # nothing to see without light, but not forgotten
    tree.tree.nodes.active = next((node for layer, node in stack if layer.use == "COLOR"), None)


# ------------------------------------------------------------------------------------------------------------ textures


def _texture(tree: Tree, index: int, layer: TextureLayer, image: bpy.types.Image | None, explicit: bool) -> bpy.types.Node:
    """The image node of a layer, with the coordinates it is looked up at."""
    coordinates = _coordinates(tree, layer, explicit)
    node = tree.add("ShaderNodeTexImage", {"Vector": coordinates}, name=f"Layer {index}", image=image)
    node.label = f"{layer.use} {layer.blend}".replace("_", " ").title()
    node.interpolation = "Closest" if layer.nearest else "Linear"
    node.extension = "EXTEND" if any(layer.clamp) else "REPEAT"
    node.retro_meshes.use = layer.use
    node.retro_meshes.blend = layer.blend
    properties.apply(node, layer.settings)
    return node


def _coordinates(tree: Tree, layer: TextureLayer, explicit: bool) -> bpy.types.NodeSocket | None:
    """None: those of the mesh's first UV map."""
    moved = layer.offset != (0, 0) or layer.scale != (1, 1) or layer.rotation != 0
    one_axis = layer.clamp[0] != layer.clamp[1]
    if layer.mapping == "UV" and not (moved or one_axis or explicit):
        return None
    if layer.mapping == "UV":
        vector = tree.add("ShaderNodeUVMap", uv_map=uv_name(layer.uv)).outputs[0]
    else:
        vector = _environment(tree, layer.mapping)
    if moved:
        vector = _moved(tree, layer, vector)
    if one_axis:
        # The picture's edges are drawn out; the other axis is wrapped by hand.
        axes = tree.add("ShaderNodeSeparateXYZ", {0: vector}).outputs
        x, y = (axes[axis] if layer.clamp[axis] else tree.math("WRAP", axes[axis], 0.0, 1.0) for axis in (0, 1))
        vector = tree.add("ShaderNodeCombineXYZ", {0: x, 1: y}).outputs[0]
    return vector


def _moved(tree: Tree, layer: TextureLayer, vector: bpy.types.NodeSocket) -> bpy.types.NodeSocket:
    """A mapping node scales and then turns; layers turn and then scale, which is the same only for an even scale."""
    offset, scale, turn = (*layer.offset, 0.0), (*layer.scale, 1.0), (0.0, 0.0, layer.rotation)
    if layer.rotation and layer.scale[0] != layer.scale[1]:
        vector = tree.add("ShaderNodeMapping", {"Vector": vector, "Rotation": turn}).outputs[0]
        turn = (0.0, 0.0, 0.0)
    return tree.add("ShaderNodeMapping", {"Vector": vector, "Location": offset, "Rotation": turn, "Scale": scale}).outputs[0]


def _environment(tree: Tree, mapping: str) -> bpy.types.NodeSocket:
    """Where a sphere map is looked up: by the normal as the camera sees it. A cube map: by the reflection."""
    if mapping == "CUBE":
        direction = tree.add("ShaderNodeTexCoord").outputs["Reflection"]
    else:
        normal = tree.add("ShaderNodeNewGeometry").outputs["Normal"]
        transform = tree.add("ShaderNodeVectorTransform", {0: normal}, vector_type="NORMAL")
        transform.convert_from, transform.convert_to = "WORLD", "CAMERA"
        direction = transform.outputs[0]
    return tree.vector("MULTIPLY_ADD", direction, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


# ------------------------------------------------------------------------------------------------------ colour and alpha


def _color(tree: Tree, material: Material, stack: list[tuple[TextureLayer, bpy.types.Node]]) -> Value:
    """The material's colour, the mesh's and the textures', one over the other."""
    layers = [(layer, node) for layer, node in stack if layer.use == "COLOR" and layer.blend != "OFF"]
    lead = next((index for index, (layer, _) in enumerate(layers) if layer.blend not in PRODUCTS), len(layers))
    # Of several textures the glTF exporter takes the first it meets: not a light map, where there is another.
    main = next((node for layer, node in layers[:lead] if layer.uv == 0 and layer.mapping == "UV"), None)
    color: Value | None = None
    for layer, node in layers[:lead]:
        if color is None:
            color = node.outputs["Color"] if layer.blend == "MULTIPLY" else tree.blend(layer.blend, (1, 1, 1, 1), node)
        else:
            color = tree.blend(layer.blend, color, node, swap=node is main)
    if material.vertex_colors:
        vertex = tree.color_attribute().outputs["Color"]
        color = vertex if color is None else tree.mix("MULTIPLY", color, vertex)
    factor = linear(material.color)
    if color is None:
        color = factor
    elif factor[:3] != (1, 1, 1):
        color = tree.mix("MULTIPLY", color, factor)
    for layer, node in layers[lead:]:
        color = tree.blend(layer.blend, color, node)
    return color


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
        board = {"Vector": window, "Color1": (1, 1, 1, 1), "Color2": (0, 0, 0, 1), "Scale": STIPPLE_CELLS}
        factors.append(tree.add("ShaderNodeTexChecker", board, label="Stipple").outputs["Fac"])
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
        alpha = tree.math("SUBTRACT", 1.0, tree.math("LESS_THAN", alpha, material.threshold, label="Cut"))
    return alpha


# ------------------------------------------------------------------------------------------------------------- surfaces


def _lit(
    tree: Tree, material: Material, color: Value, alpha: Value | None, stack: list[tuple[TextureLayer, bpy.types.Node]]
) -> bpy.types.NodeSocket:
    glow = linear(material.emission)
    inputs: dict[int | str, Value | None] = {
        "Base Color": color,
        "Alpha": alpha if material.blend != "ADD" else None,
        "Roughness": material.roughness,
        "Metallic": material.metallic,
        "Specular IOR Level": material.specular,
        "Emission Color": glow,
        "Emission Strength": 1.0 if any(glow[:3]) else 0.0,
    }
    if material.flat:
        inputs["Normal"] = tree.add("ShaderNodeNewGeometry", name="Flat").outputs["True Normal"]
    for layer, node in stack:
        socket = {"ROUGHNESS": "Roughness", "METALLIC": "Metallic", "SPECULAR": "Specular IOR Level"}.get(layer.use)
        if socket:
            inputs[socket] = node.outputs["Color"]
        elif layer.use == "EMISSION":
            factor = glow if any(glow[:3]) else (1.0, 1.0, 1.0, 1.0)
            inputs["Emission Color"] = (
                node.outputs["Color"] if factor[:3] == (1, 1, 1) else tree.mix("MULTIPLY", node.outputs["Color"], factor)
            )
            inputs["Emission Strength"] = 1.0
        elif layer.use == "NORMAL":
            bump = tree.add("ShaderNodeNormalMap", {"Color": node.outputs["Color"]})
            bump.uv_map = uv_name(layer.uv) if layer.uv else ""
            inputs["Normal"] = bump.outputs[0]
    return tree.add("ShaderNodeBsdfPrincipled", inputs).outputs[0]


def _unlit(tree: Tree, material: Material, color: Value) -> bpy.types.NodeSocket:
    """The colour as it is, for the camera alone: it lights nothing and throws no shadow."""
    if material.blend == "MULTIPLY":
        return tree.add("ShaderNodeBsdfTransparent", {"Color": color}, label=FULL_BRIGHT).outputs[0]
    glow = tree.add("ShaderNodeEmission", {"Color": color}).outputs[0]
    clear = None if material.blend == "ADD" else tree.add("ShaderNodeBsdfTransparent").outputs[0]
    camera = tree.add("ShaderNodeLightPath").outputs["Is Camera Ray"]
    return tree.add("ShaderNodeMixShader", {0: camera, 1: clear, 2: glow}).outputs[0]


def _viewport(made: bpy.types.Material, material: Material) -> None:
    """What the solid view and the rasterizer go by."""
    blended = material.blend in ("ALPHA", "ADD", "MULTIPLY")
    made.diffuse_color = (*linear(material.color)[:3], float(material.color[3]) if blended else 1.0)
    made.roughness, made.metallic = material.roughness, material.metallic
    made.specular_intensity = material.specular
    made.use_backface_culling = not material.double_sided
    compat.set_blended(made, blended)


def linear(color: np.ndarray) -> tuple[float, float, float, float]:
    """A file's sRGB colour for a socket; alpha is as it is."""
    red, green, blue = maths.srgb_to_linear(np.asarray(color[:3], np.float64)).tolist()
    return red, green, blue, float(color[3]) if len(color) > 3 else 1.0
