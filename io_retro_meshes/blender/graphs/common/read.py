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
from ..colors import display, linear
from ..images import ImageTable
from ..links import Input, Source
from .names import FLAT, FULL_BRIGHT, LACKS_COLORS, SOCKETS, layer_index
from .textures import read_texture
from .values import as_product, mix_sockets, value_of

MIXES = {"MULTIPLY": "MULTIPLY", "ADD": "ADD", "MIX": "ALPHA", "OVERLAY": "MULTIPLY_2X", "SCREEN": "ADD", "LINEAR_LIGHT": "ADD"}
EXACT_MIXES = {"MULTIPLY", "ADD"}  # laid over at full strength
LAID = {"MULTIPLY": "Multiply", "ADD": "Add", "ALPHA": "Mix by its alpha", "MULTIPLY_2X": "Multiply, twice as bright"}
PASSES_ALPHA = {"SEPARATE_COLOR", "SEPRGB", "SEPXYZ", "RGBTOBW", "CLAMP"}
BAKE = "Bake its color into a picture to keep it"
PLAIN_SHADERS = {"BSDF_PRINCIPLED", "BSDF_DIFFUSE", "EMISSION", "BSDF_TRANSPARENT", "BACKGROUND"}


def read(
    made: Material, material: bpy.types.Material, output: bpy.types.Node, images: ImageTable, uv_names: Sequence[str]
) -> list[bpy.types.Node | None]:
    """Fills in what the graph behind an output says of a material. Returns the image node of each layer; None: in a group."""
    surface = Surface(made)
    surface.read(Input(output.inputs["Surface"]))
    moved: bpy.types.NodeSocket | None = output.inputs.get("Displacement")
    if moved is not None and Input(moved).source() is not None:
        surface.lost.append("its displacement was left out: a Displace modifier is exported")
    made.lost = list(dict.fromkeys(surface.lost))
    _settle_blend(made, material, surface)
    if made.blend in ("OPAQUE", "MULTIPLY"):
        made.color[3] = surface.unused_alpha
    nodes = _take_layers(made, material.node_tree, surface, images, uv_names)
    made.flat = made.flat or FLAT in material.node_tree.nodes
    left: bpy.types.Node | None = material.node_tree.nodes.get(LACKS_COLORS)
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
        layer = read_texture(texture.source, images.index(image), uv_names, made.lost)
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
    glow: np.ndarray = field(default_factory=lambda: np.zeros(3))  # of shaders added to the one that matters, linear
    turned: bool = False  # the alpha is what is left of 1
    lost: list[str] = field(default_factory=list)  # for people

    def read(self, output: Input) -> None:
        """From the output back through mixed and added shaders to the one that matters."""
        socket: Input | None = output
        if output.source() is None:
            self.lost.append("nothing is linked to its Surface: it is white")
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
        if self.glow.any():
            self.material.emission = display(np.clip(self.glow + linear(self.material.emission)[:3], 0, 1))

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
        chosen = (factor.constant() or 0) > 0.5
        if "BSDF_PRINCIPLED" in (one.kind, other.kind):
            chosen = one.kind != "BSDF_PRINCIPLED"
        kept, left = (other, one) if chosen else (one, other)
        if factor.constant() not in (0, 1):
            self.lost.append(f"it mixes two shaders, of which {_label(kept)} was exported and {_label(left)} was not")
        return second if chosen else first

    def _added(self, add: Source) -> Input | None:
        """Added to what is behind, or a glow added to another shader."""
        first, second = add.input(0), add.input(1)
        kinds = [source.kind if (source := socket.source()) else "" for socket in (first, second) if socket]
        if "BSDF_TRANSPARENT" in kinds:
            self.blend = "ADD"
            return second if kinds[0] == "BSDF_TRANSPARENT" else first
        onward, other = (second, first) if kinds[0] == "EMISSION" and kinds[1] else (first, second)
        added = other.source() if other else None
        if added is not None and added.kind == "EMISSION":
            self.glow = self.glow + self._glow_of(added)
        elif added is not None:
            self.lost.append(f"it adds shaders, of which {_label(added)} was not exported")
        return onward

    def _glow_of(self, emission: Source) -> np.ndarray:
        color, strength = value_of(emission.input("Color")), value_of(emission.input("Strength"))
        if color is None or strength is None:
            self.lost.append("the glow that is added to it is no plain color, and was left out")
            return np.zeros(3)
        return color[:3] * strength[0]

    def _shader(self, socket: Input, source: Source) -> None:
        material = self.material
        if source.kind == "BSDF_PRINCIPLED":
            self._principled(source)
            return
        if source.kind not in PLAIN_SHADERS and source.output.type == "SHADER":
            self.lost.append(f"the shader {_label(source)} was exported as a plain color")
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
        through = source.input("Transmission Weight")
        if through is not None and through.constant() != 0:
            self.lost.append("light that passes through it was left out: a lower Alpha is exported")
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
        factor, _ = self._factor(color, told=True)
        if power is None:
            self.lost.append("the strength of its glow is not one number: it was exported as 1")
        elif max(factor[:3]) * power > 1.001:
            self.lost.append("it glows more strongly than its color can say: it was exported as bright as that can be")
        self.material.emission = display(np.clip(np.array(factor[:3]) * (1.0 if power is None else power), 0, 1))
        if self.material.emission.min() == 1 and any(texture.use == "EMISSION" for texture in self.textures.values()):
            self.material.emission = floats(0, 0, 0)  # the texture alone

    # ---------------------------------------------------------------------------------------------- colour and alpha

    def color(self, start: Input) -> None:
        """A tree of mixed colours as a stack of textures, from the bottom up, times one colour."""
        factor, self.unused_alpha = self._factor(start, "COLOR", told=True)
        self.material.color[:3] = display(factor)

    def _factor(self, start: Input, use: str = "", told: bool = False) -> tuple[np.ndarray, float]:
        """The product of the constants below a colour socket; textures on the way are taken in for that use."""
        factor, alpha = np.ones(3), 1.0
        waiting = [(start, "MULTIPLY")]
        seen: set[tuple[str, ...]] = set()
        lost: list[str] = []
        while waiting:
            socket, blend = waiting.pop()
            multiplied = blend in ("MULTIPLY", "MULTIPLY_2X")
            value = value_of(socket)
            if value is not None:
                if multiplied:
                    factor, alpha = factor * value[:3], alpha * value[3]
                else:
                    lost.append(f"a plain color is laid over its texture, and was left out. {BAKE}")
                continue
            source = socket.source()
            if source is None or (key := _key(source)) in seen:
                continue
            seen.add(key)
            if source.kind == "TEX_IMAGE":
                if use:
                    self.textures.setdefault(key, Texture(source, use, blend))
            elif source.kind == "VERTEX_COLOR" or (source.kind == "ATTRIBUTE" and source.node.attribute_type == "GEOMETRY"):
                self._vertices(source, use)
            elif multiplied and (product := as_product(source)) is not None:
                factor = factor * product[1]
                waiting.append((product[0], blend))
            else:
                sides, trouble = _below(source, blend)
                waiting += sides
                lost += trouble
        self.lost += lost if told else []
        return factor, alpha

    def _vertices(self, source: Source, use: str) -> None:
        """The colours of the mesh; of several that a material shows, the first."""
        if use == "COLOR" and not self.material.vertex_colors:
            self.material.vertex_colors = True
            self.material.color_name = _attribute(source)
        elif use == "COLOR" and _attribute(source) != self.material.color_name:
            self.lost.append(f'of the colors of the mesh that it shows "{_attribute(source)}" was left out. {BAKE}')

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
                self.material.color_name = self.material.color_name or _attribute(source)
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
        sides = [socket for socket in source.inputs() if socket.source() is not None]
        if source.kind != "MATH":
            if source.kind not in PASSES_ALPHA:
                self.lost.append(f"the node {_label(source)} changes its alpha, and was passed over")
            return sides[:1]
        operation = source.node.operation
        limits = [value for socket in source.inputs() if isinstance(value := socket.constant(), float)]
        if operation in ("LESS_THAN", "GREATER_THAN") and limits:
            self.cut = limits[0]
            if operation == "LESS_THAN" and not self.turned:
                self.lost.append("its alpha is cut the other way round: what should be seen is not. Subtract it from 1")
        elif operation == "ROUND":
            self.cut = 0.5
        elif operation == "MULTIPLY":
            return source.inputs()[:2]
        elif operation == "SUBTRACT" and sides and _is_cut(sides[0].source()):
            self.turned = True
        else:
            self.lost.append(f"its alpha is worked out with {operation.replace('_', ' ').title()}, which was passed over")
        return sides[:1]


def _is_cut(source: Source | None) -> bool:
    return source is not None and source.kind == "MATH" and source.node.operation == "LESS_THAN"


def _below(source: Source, blend: str) -> tuple[list[tuple[Input, str]], list[str]]:
    """The colours a node is made of, the topmost first, each with how it lies over what is below it; and what that loses."""
    group = blend_of(source.node)
    sides: list[tuple[Input | None, str]]
    lost = []
    if group is not None:
        sides = [(source.input("Above"), group), (source.input("Below"), blend)]
    elif source.kind in ("MIX", "MIX_RGB"):
        factor, below, above = mix_sockets(source)
        amount = value_of(factor)
        way = source.node.blend_type
        mix = MIXES.get(way, "MULTIPLY")
        if amount is not None and amount[0] == 0:
            sides = [(below, blend)]
        elif amount is not None and amount[0] == 1 and way == "MIX":
            sides = [(above, blend)]
        else:
            sides = [(above, mix), (below, blend)]
            full = amount is not None and amount[0] == 1
            if not (full and way in EXACT_MIXES) and not (way == "MIX" and _own_alpha(factor, above)):
                words = way.replace("_", " ").title()
                lost.append(f"it mixes colors ({words}) in a way that was exported as another ({LAID[mix]}). {BAKE}")
    else:
        linked = [socket for socket in source.inputs() if socket.source() is not None]
        colors = [socket for socket in linked if socket.type == "RGBA"]
        sides = [(socket, blend) for socket in (colors or linked)[:1]]
        if sides:
            lost.append(f"the node {_label(source)} changes its color, and was passed over. {BAKE}")
        else:
            lost.append(f"its color comes from the node {_label(source)}, which is no picture: it is white. {BAKE}")
    return [(socket, how) for socket, how in sides if socket is not None], lost


def _own_alpha(factor: Input | None, above: Input | None) -> bool:
    """Is a texture laid over others by its own alpha?"""
    one, other = factor.source() if factor else None, above.source() if above else None
    return one is not None and other is not None and one.output.name == "Alpha" and _key(one) == _key(other)


def _attribute(source: Source) -> str:
    return str(source.node.layer_name if source.kind == "VERTEX_COLOR" else source.node.attribute_name)


def _label(source: Source) -> str:
    """As the node's title in the editor."""
    return str(source.node.label or source.node.bl_label)


def _key(source: Source) -> tuple[str, ...]:
    return (*(group.name for group in source.groups), source.node.name)
