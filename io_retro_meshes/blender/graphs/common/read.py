# SPDX-License-Identifier: GPL-3.0-or-later
"""Any graph as an old engine may know its material: a colour, a stack of textures, a way of blending.

What make.py made comes back as it was. Of what others made, as much as such an engine can show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ....scene import Material, floats
from ... import compat
from ..blends import blend_of
from ..colors import display
from ..images import ImageTable
from ..links import Input, Source
from .names import FLAT, FULL_BRIGHT, LACKS_COLORS, SOCKETS, layer_index
from .textures import read_texture

MIXES = {"MULTIPLY": "MULTIPLY", "ADD": "ADD", "MIX": "ALPHA", "OVERLAY": "MULTIPLY_2X", "SCREEN": "ADD", "LINEAR_LIGHT": "ADD"}


def read(
    made: Material, material: bpy.types.Material, output: bpy.types.Node, images: ImageTable, uv_names: Sequence[str]
) -> list[bpy.types.Node | None]:
    """Fills in what the graph behind an output says of a material. Returns the image node of each layer; None: in a group."""
    surface = Surface(made)
    surface.read(Input(output.inputs["Surface"]))
    _settle_blend(made, material, surface)
    if made.blend in ("OPAQUE", "MULTIPLY"):
        made.color[3] = surface.unused_alpha
    nodes = _take_layers(made, material.node_tree, surface, images, uv_names)
    made.flat = made.flat or FLAT in material.node_tree.nodes
    left = material.node_tree.nodes.get(LACKS_COLORS)
    made.lacks_colors = left is not None and not any(output.is_linked for output in left.outputs)
    return nodes


def _settle_blend(made: Material, material: bpy.types.Material, surface: Surface) -> None:
    """How the surface is laid over what is behind it."""
    if surface.blend:
        made.blend = surface.blend  # type: ignore[assignment]
    elif surface.cut is not None:
        made.blend, made.threshold = "MASK", surface.cut
    elif surface.see_through and getattr(material, "blend_method", "") == "CLIP":
        made.blend, made.threshold = "MASK", material.alpha_threshold
    elif surface.see_through or compat.is_blended(material):
        made.blend = "ALPHA"


def _take_layers(
    made: Material,
    tree: bpy.types.NodeTree,
    surface: Surface,
    images: ImageTable,
    uv_names: Sequence[str],
) -> list[bpy.types.Node | None]:
    """The textures that were found, and those of an import that nothing shows: in the file's order where that is known."""
    found = list(surface.textures.values())
    names = {texture.source.node.name for texture in found if not texture.source.groups}
    for node in tree.nodes:
        if node.type == "TEX_IMAGE" and node.name not in names and node.retro_meshes.use:
            source = Source(node, node.outputs[0], ())
            found.append(Texture(source, node.retro_meshes.use, node.retro_meshes.blend or "MULTIPLY"))
    stored = [texture.source.node.retro_meshes.blend for texture in found]
    if sorted(stored) == sorted(texture.blend for texture in found):
        # Which side of a product is the upper one, only the import knows.
        found = [replace(texture, blend=blend) for texture, blend in zip(found, stored, strict=True)]
    numbers = [layer_index(texture.source.node.name) for texture in found]
    if None not in numbers:
        found = [found[index] for index in sorted(range(len(found)), key=numbers.__getitem__)]
    nodes: list[bpy.types.Node | None] = []
    for texture in found:
        image = texture.source.node.image
        if image is None:
            continue
        nodes.append(None if texture.source.groups else texture.source.node)
        layer = read_texture(texture.source, images.index(image), uv_names)
        layer.use, layer.blend = texture.use, texture.blend  # type: ignore[assignment]
        made.layers.append(layer)
        if texture.alpha:
            images.images[layer.image].alpha = True
    return nodes


@dataclass
class Texture:
    source: Source
    use: str = "COLOR"
    blend: str = "MULTIPLY"
    alpha: bool = False  # its alpha is used, too


@dataclass
class Surface:
    """What reading a material's nodes brings to light."""

    material: Material
    textures: dict[tuple[str, ...], Texture] = field(default_factory=dict)
    blend: str = ""  # where the shaders say so
    cut: float | None = None
    see_through: bool = False
    factors: list[Input] = field(default_factory=list)  # alpha by mixed shaders: read last, when the colours are known
    unused_alpha: float = 1.0  # of the constant colour: no renderer looks at it, but it is what the file had

    def read(self, output: Input) -> None:
        """From the output back through mixed and added shaders to the one that matters."""
        socket: Input | None = output
        while socket is not None and (source := socket.source()) is not None:
            if source.kind == "MIX_SHADER":
                socket = self._mixed(source)
            elif source.kind == "ADD_SHADER":
                socket = self._added(source)
            else:
                self._shader(socket, source)
                socket = None
        for factor in self.factors:
            self.alpha(factor)

    def _mixed(self, mix: Source) -> Input | None:
        """Which of two shaders to follow: a transparent one, or none, makes the factor the alpha of the other."""
        factor, first, second = (mix.input(index) for index in range(3))
        if factor is None or first is None or second is None:
            return None
        if (path := factor.source()) is not None and path.kind == "LIGHT_PATH":
            return second if second.source() else first
        one, other = first.source(), second.source()
        if one is None or one.kind == "BSDF_TRANSPARENT":
            self.factors.append(factor)
            return second
        if other is None or other.kind == "BSDF_TRANSPARENT":
            value = factor.constant()
            if value is None:
                self.factors.append(factor)
            else:
                self._fade(1 - value)
            return first
        if "BSDF_PRINCIPLED" in (one.kind, other.kind):
            return first if one.kind == "BSDF_PRINCIPLED" else second
        return second if (factor.constant() or 0) > 0.5 else first

    def _added(self, add: Source) -> Input | None:
        """Added to what is behind, or a glow added to another shader."""
        first, second = add.input(0), add.input(1)
        kinds = [source.kind if (source := socket.source()) else "" for socket in (first, second) if socket]
        if "BSDF_TRANSPARENT" in kinds:
            self.blend = "ADD"
            return second if kinds[0] == "BSDF_TRANSPARENT" else first
        if kinds[0] == "EMISSION" and kinds[1]:
            return second
        return first

    def _shader(self, socket: Input, source: Source) -> None:
        material = self.material
        if source.kind == "BSDF_PRINCIPLED":
            self._principled(source)
            return
        color = source.input("Color") or source.input("Base Color")
        if source.kind == "EMISSION" or source.output.type != "SHADER":
            material.full_bright = True
            color = color if source.kind == "EMISSION" else socket
        elif source.kind == "BSDF_TRANSPARENT":
            self.blend = "MULTIPLY"
            material.full_bright = source.node.label == FULL_BRIGHT
        if color is not None:
            self.color(color)
        roughness = source.input("Roughness")
        value = roughness.constant() if roughness else None
        material.roughness = value if isinstance(value, float) else 1.0
        material.metallic, material.specular = 0.0, 0.0

    def _principled(self, source: Source) -> None:
        material = self.material
        if (base := source.input("Base Color")) is not None:
            self.color(base)
        if (alpha := source.input("Alpha")) is not None:
            self.alpha(alpha)
        for use, name in SOCKETS.items():
            socket = source.input(name)
            if socket is None:
                continue
            value = socket.constant()
            if isinstance(value, float):
                setattr(material, use.lower(), value)
            elif value is None:
                self._factor(socket, use)
        self._emission(source)
        normal = source.input("Normal")
        at = normal.source() if normal else None
        if at is not None and at.kind == "NEW_GEOMETRY":
            material.flat = at.output.name == "True Normal"
        elif at is not None and normal is not None:
            self._factor(normal, "NORMAL" if at.kind == "NORMAL_MAP" else "OTHER")

    def _emission(self, source: Source) -> None:
        color, strength = source.input(SOCKETS["EMISSION"]), source.input("Emission Strength")
        power = strength.constant() if strength else 1.0
        if color is None or power == 0:
            self.textures = {key: texture for key, texture in self.textures.items() if texture.use != "EMISSION"}
            return
        factor, _ = self._factor(color)
        self.material.emission = display(np.clip(np.array(factor[:3]) * (1.0 if power is None else power), 0, 1))
        if self.material.emission.min() == 1 and any(texture.use == "EMISSION" for texture in self.textures.values()):
            self.material.emission = floats(0, 0, 0)  # the texture alone

    # ---------------------------------------------------------------------------------------------- colour and alpha

    def color(self, start: Input) -> None:
        """A tree of mixed colours as a stack of textures, from the bottom up, times one colour."""
        factor, self.unused_alpha = self._factor(start, "COLOR")
        self.material.color[:3] = display(factor)

    def _factor(self, start: Input, use: str = "") -> tuple[np.ndarray, float]:
        """The product of the constants below a colour socket; textures on the way are taken in for that use."""
        factor, alpha = np.ones(3), 1.0
        waiting = [(start, "MULTIPLY")]
        seen: set[tuple[str, ...]] = set()
        while waiting:
            socket, blend = waiting.pop()
            value = socket.constant()
            if value is not None:
                if blend in ("MULTIPLY", "MULTIPLY_2X"):
                    factor = factor * (value[:3] if isinstance(value, tuple) else value)
                    alpha *= value[3] if isinstance(value, tuple) and len(value) > 3 else 1
                continue
            source = socket.source()
            if source is None or (key := _key(source)) in seen:
                continue
            seen.add(key)
            if source.kind == "TEX_IMAGE":
                if use:
                    self.textures.setdefault(key, Texture(source, use, blend))
            elif source.kind == "VERTEX_COLOR" or (source.kind == "ATTRIBUTE" and source.node.attribute_type == "GEOMETRY"):
                self.material.vertex_colors |= use == "COLOR"
            else:
                waiting += _below(source, blend)
        return factor, alpha

    def alpha(self, start: Input) -> None:
        """A tree of multiplied numbers, perhaps cut at a threshold."""
        waiting = [start]
        seen: set[tuple[str, ...]] = set()
        while waiting:
            socket = waiting.pop()
            value = socket.constant()
            if value is not None:
                self._fade(value if isinstance(value, float) else float(np.mean(value[:3])))
                continue
            source = socket.source()
            if source is None or (key := _key(source)) in seen:
                continue
            seen.add(key)
            self.see_through |= source.kind not in ("MATH", "TEX_CHECKER", "WIREFRAME")
            if source.kind == "TEX_IMAGE":
                texture = self.textures.setdefault(key, Texture(source, "ALPHA"))
                texture.alpha = texture.alpha or source.output.name == "Alpha"
            elif source.kind in ("VERTEX_COLOR", "ATTRIBUTE"):
                self.material.vertex_alpha = True
            elif source.kind == "TEX_CHECKER":
                self.material.stipple = True
            elif source.kind == "WIREFRAME":
                self.material.wireframe = True
            else:
                waiting += self._cut(source)

    def _fade(self, value: float) -> None:
        self.see_through |= value < 1
        self.material.color[3] *= value

    def _cut(self, source: Source) -> list[Input]:
        """What a node in the alpha's way leaves to follow."""
        if source.kind != "MATH":
            return [socket for socket in source.inputs() if socket.source() is not None][:1]
        operation = source.node.operation
        sides = [socket for socket in source.inputs() if socket.source() is not None]
        limits = [value for socket in source.inputs() if isinstance(value := socket.constant(), float)]
        if operation in ("LESS_THAN", "GREATER_THAN") and limits:
            self.cut = limits[0]
        elif operation == "ROUND":
            self.cut = 0.5
        elif operation == "MULTIPLY":
            return source.inputs()[:2]
        return sides[:1]


def _below(source: Source, blend: str) -> list[tuple[Input, str]]:
    """The colours a node is made of, the topmost first: each with how it lies over what is below it."""
    group = blend_of(source.node)
    if group is not None:
        sides = [(source.input("Above"), group), (source.input("Below"), blend)]
    elif source.kind in ("MIX", "MIX_RGB"):
        names = ("Factor_Float", "A_Color", "B_Color") if source.kind == "MIX" else ("Fac", "Color1", "Color2")
        factor, below, above = map(source.input, names)
        amount = factor.constant() if factor else 1.0
        mix = MIXES.get(source.node.blend_type, "MULTIPLY")
        if amount == 0:
            sides = [(below, blend)]
        elif amount == 1 and source.node.blend_type == "MIX":
            sides = [(above, blend)]
        else:
            sides = [(above, mix), (below, blend)]
    else:
        linked = [socket for socket in source.inputs() if socket.source() is not None]
        colors = [socket for socket in linked if socket.type == "RGBA"]
        sides = [(socket, blend) for socket in (colors or linked)[:1]]
    return [(socket, how) for socket, how in sides if socket is not None]


def _key(source: Source) -> tuple[str, ...]:
    return (*(group.name for group in source.groups), source.node.name)
