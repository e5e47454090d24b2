# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials to brushes and textures, the way back of materials.py.

What Blender can say comes from the material as it is now; the rest (fog, mipmaps, a blend that looks the same) from the
settings of the file it was imported from.
"""

from __future__ import annotations

import re
from math import cos, sin

import numpy as np

from ...scene import Material, Scene, TextureLayer
from ..binary import encode
from .document import (
    FX_DOUBLE_SIDED,
    FX_FLAT,
    FX_FORCE_ALPHA,
    FX_FULL_BRIGHT,
    FX_VERTEX_COLORS,
    TEXTURE_ALPHA,
    TEXTURE_CLAMP_U,
    TEXTURE_CLAMP_V,
    TEXTURE_COLOR,
    TEXTURE_CUBE,
    TEXTURE_MASKED,
    TEXTURE_MIPMAP,
    TEXTURE_SECOND_UV,
    TEXTURE_SPHERE,
    Brush,
    Brushes,
    Texture,
    Textures,
    floats,
)
from .materials import TEXTURE_BLENDS

MAX_TEXTURES = 8  # of a brush, in the engine
BRUSH_BLENDS = {"ADD": 3, "MULTIPLY": 2}  # the others are 1


class BrushTable:
    """Collects the brushes that surfaces ask for, each once."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.numbers: dict[int, int] = {}
        self.brushes: list[tuple[Brush, dict[int, int]]] = []  # with the texture of each slot
        self.textures: list[Texture] = []
        self.known: dict[bytes, int] = {}

    def number(self, material: int) -> int:
        """The number of a material's brush; -1 for none."""
        if not 0 <= material < len(self.scene.materials):
            return -1
        if material not in self.numbers:
            self.numbers[material] = len(self.brushes)
            self.brushes.append(self.brush(self.scene.materials[material]))
        return self.numbers[material]

    def chunks(self) -> list[Textures | Brushes]:
        found: list[Textures | Brushes] = []
        if self.textures:
            found.append(Textures(self.textures))
        if self.brushes:
            width = max([1, *(slot + 1 for _, slots in self.brushes for slot in slots)])
            for brush, slots in self.brushes:
                brush.texture_ids = np.array([slots.get(slot, -1) for slot in range(width)], "<i4")
            found.append(Brushes(width, [brush for brush, _ in self.brushes]))
        return found

    def brush(self, material: Material) -> tuple[Brush, dict[int, int]]:
        settings = material.settings.get("b3d", {})
        layers = [layer for layer in material.layers if layer.use == "COLOR" and 0 <= layer.image < len(self.scene.images)]
        flags = [self.texture_flags(material, layer) for layer in layers]
        color = np.clip(material.color, 0, 1).astype("<f4")
        if material.vertex_colors and (color[:3] == 1).all():
            color[:3] = settings.get("color", (1, 1, 1))
        if material.blend in ("OPAQUE", "MASK"):
            color[3] = 1
        shininess = float(settings.get("shininess", material.specular))
        name = _name(material.name, settings.get("brush", ""))
        brush = Brush(name, color, shininess, _blend(material, settings), _fx(material, settings, flags))
        slots: dict[int, int] = {}
        for layer, flag in zip(layers, flags, strict=True):
            wanted = int(layer.settings.get("b3d", {}).get("slot", len(slots)))
            slot = max([wanted, *(used + 1 for used in slots)])
            if slot < MAX_TEXTURES:
                slots[slot] = self.texture(layer, flag)
        if len(slots) < len(layers):
            self.scene.warnings.append(f'"{material.name}" has more textures than a brush can hold; the last were left out.')
        return brush, slots

    def texture_flags(self, material: Material, layer: TextureLayer) -> int:
        image = self.scene.images[layer.image]
        default = TEXTURE_COLOR | (0 if layer.nearest else TEXTURE_MIPMAP)
        flags = int(layer.settings.get("b3d", {}).get("flags", default))
        masked = image.mask_black and material.blend == "MASK"
        wanted = {
            TEXTURE_ALPHA: not masked and image.alpha and material.blend != "OPAQUE",
            TEXTURE_MASKED: image.mask_black,
            TEXTURE_CLAMP_U: layer.clamp[0],
            TEXTURE_CLAMP_V: layer.clamp[1],
            TEXTURE_SPHERE: layer.mapping == "SPHERE",
            TEXTURE_CUBE: layer.mapping == "CUBE",
            TEXTURE_SECOND_UV: layer.uv == 1,
        }
        if masked and flags & TEXTURE_ALPHA:
            wanted.pop(TEXTURE_ALPHA)  # says nothing beside a mask: as the file had it
        return _with_bits(flags, wanted)

    def texture(self, layer: TextureLayer, flags: int) -> int:
        name = encode(self.scene.images[layer.image].name).replace(b"\0", b"")
        blend = int(layer.settings.get("b3d", {}).get("blend", -1))
        if not 0 <= blend < len(TEXTURE_BLENDS) or TEXTURE_BLENDS[blend] != layer.blend:
            blend = TEXTURE_BLENDS.index(layer.blend)
        (sx, sy), (x, y), angle = layer.scale, layer.offset, layer.rotation
        position = floats(x - sx * sin(angle), 1 - sy * cos(angle) - y)
        # An offset that is only rounding of the way there and back.
        position[np.abs(position) < 1e-6] = 0
        texture = Texture(name, flags, blend, position, floats(sx, sy), angle)
        key = b"\0".join([name, position.tobytes(), texture.scale.tobytes(), repr((flags, blend, angle)).encode()])
        if key not in self.known:
            self.known[key] = len(self.textures)
            self.textures.append(texture)
        return self.known[key]


def _name(name: str, brush: str) -> bytes:
    """The brush's own name, as long as the material has kept it but for a number that Blender added."""
    if brush and re.fullmatch(re.escape(brush[:50]) + r".*", name, re.DOTALL):
        name = brush
    return encode(name).replace(b"\0", b"")


def _blend(material: Material, settings: dict[str, int]) -> int:
    wanted = BRUSH_BLENDS.get(material.blend, 1)
    given = int(settings.get("blend", wanted))
    if wanted == 1 and given == 0 and not (material.blend == "ALPHA" and len(material.layers) > 1):
        return 0
    return wanted


def _fx(material: Material, settings: dict[str, int], flags: list[int]) -> int:
    see_through = any(flag & TEXTURE_ALPHA and not flag & TEXTURE_MASKED for flag in flags) or material.color[3] < 1
    wanted = {
        FX_FULL_BRIGHT: material.full_bright,
        FX_VERTEX_COLORS: material.vertex_colors,
        FX_FLAT: material.flat,
        FX_DOUBLE_SIDED: material.double_sided,
        # Nothing else would make it transparent: its vertices' alpha has to.
        FX_FORCE_ALPHA: material.blend == "ALPHA" and not see_through,
    }
    fx = int(settings.get("fx", 0))
    if material.blend == "ALPHA" and fx & FX_FORCE_ALPHA:
        wanted.pop(FX_FORCE_ALPHA)
    return _with_bits(fx, wanted)


def _with_bits(value: int, wanted: dict[int, bool]) -> int:
    for bit, on in wanted.items():
        value = value | bit if on else value & ~bit
    return value
