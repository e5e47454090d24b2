# SPDX-License-Identifier: GPL-3.0-or-later
"""Brushes and textures to materials: what Blitz3D draws with them, in the neutral scene's words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, isfinite, sin
from typing import Any, Final

import numpy as np

from ...scene import Floats, Image, Material, Scene, TextureLayer
from .document import (
    FX_DOUBLE_SIDED,
    FX_FLAT,
    FX_FORCE_ALPHA,
    FX_FULL_BRIGHT,
    FX_VERTEX_COLORS,
    TEXTURE_ALPHA,
    TEXTURE_CLAMP_U,
    TEXTURE_CLAMP_V,
    TEXTURE_CUBE,
    TEXTURE_MASKED,
    TEXTURE_SECOND_UV,
    TEXTURE_SPHERE,
    Brush,
    Document,
    Texture,
)

TEXTURE_BLENDS: Final = ("OFF", "ALPHA", "MULTIPLY", "ADD", "DOT3", "MULTIPLY_2X")


@dataclass
class Surface:
    """The state that a mesh's brush and a surface's brush give together."""

    name: str
    color: Floats
    shininess: float
    blend: int
    fx: int
    textures: dict[int, int]  # slot -> number of the texture


class Materials:
    """Makes a material of the scene for each pair of brushes that is used."""

    def __init__(self, document: Document, scene: Scene, decode: Callable[[bytes], str]) -> None:
        self.brushes = document.brushes
        self.textures = document.textures
        self.scene = scene
        self.decode = decode
        self.found: dict[tuple[int, int], int] = {}
        self.images: dict[tuple[bytes, int], int] = {}
        self.dangling: set[int] = set()
        self.missing: set[int] = set()

    def get(self, mesh_brush: int, brush: int) -> int:
        """The number of the material, or -1 where neither brush is one."""
        pair = (self.known(mesh_brush), self.known(brush))
        if pair == (-1, -1):
            return -1
        if pair not in self.found:
            self.found[pair] = len(self.scene.materials)
            self.scene.materials.append(self.material(self.surface(*pair)))
        return self.found[pair]

    def known(self, brush: int) -> int:
        if 0 <= brush < len(self.brushes):
            return brush
        if brush != -1:
            self.missing.add(brush)
        return -1

    def surface(self, mesh_brush: int, brush: int) -> Surface:
        """Colour and alpha multiply, shininess adds, fx join; the mesh's blend and textures win where it has them."""
        surface = Surface("", np.ones(4, np.float32), 0.0, 0, 0, {})
        for each in (self.brushes[number] for number in (brush, mesh_brush) if number >= 0):
            surface.name = surface.name or self.decode(each.name)
            surface.color = surface.color * np.nan_to_num(each.color)
            surface.shininess += each.shininess if isfinite(each.shininess) else 0
            surface.fx |= each.fx
            surface.blend = each.blend or surface.blend
            surface.textures |= self.slots(each)
        return surface

    def slots(self, brush: Brush) -> dict[int, int]:
        slots = {slot: int(number) for slot, number in enumerate(brush.texture_ids) if number != -1}
        self.dangling |= {number for number in slots.values() if not 0 <= number < len(self.textures)}
        return {slot: number for slot, number in slots.items() if 0 <= number < len(self.textures)}

    def material(self, surface: Surface) -> Material:
        textures = {slot: self.textures[number] for slot, number in sorted(surface.textures.items())}
        shown = {slot: texture for slot, texture in textures.items() if texture.file}
        fx = surface.fx
        material = Material(surface.name, np.clip(surface.color, 0, 1).astype(np.float32))
        material.layers = [self.layer(slot, texture) for slot, texture in shown.items()]
        material.specular = min(max(surface.shininess, 0.0), 1.0)
        # The width of a highlight of the engine's exponent, 128 at full shininess.
        material.roughness = (2 / (128 * material.specular + 2)) ** 0.25
        material.full_bright = bool(fx & FX_FULL_BRIGHT)
        material.vertex_colors = bool(fx & FX_VERTEX_COLORS)
        material.flat = bool(fx & FX_FLAT)
        material.double_sided = bool(fx & FX_DOUBLE_SIDED)
        _set_blend(material, surface, shown)
        material.vertex_alpha = material.vertex_colors and material.blend != "OPAQUE"
        values: dict[str, Any] = {"brush": surface.name, "blend": surface.blend, "fx": fx, "shininess": surface.shininess}
        if material.vertex_colors:  # the engine takes them instead of the brush's colour, not with it
            values["color"] = tuple(material.color[:3].tolist())
            material.color[:3] = 1
        material.settings = {"b3d": values}
        return material

    def layer(self, slot: int, texture: Texture) -> TextureLayer:
        flags = texture.flags
        layer = TextureLayer(self.image(texture))
        layer.uv = 1 if flags & TEXTURE_SECOND_UV else 0
        layer.blend = TEXTURE_BLENDS[texture.blend] if 0 <= texture.blend < len(TEXTURE_BLENDS) else "MULTIPLY"
        layer.mapping = "CUBE" if flags & TEXTURE_CUBE else "SPHERE" if flags & TEXTURE_SPHERE else "UV"
        layer.clamp = (bool(flags & TEXTURE_CLAMP_U), bool(flags & TEXTURE_CLAMP_V))
        # u' = sx(cu + sv) + tx, v' = sy(-su + cv) + ty, with v = 1 - V on both sides.
        (tx, ty), (sx, sy) = np.nan_to_num(texture.position).tolist(), np.nan_to_num(texture.scale).tolist()
        angle = texture.rotation if isfinite(texture.rotation) else 0.0
        layer.rotation = angle
        layer.scale = (sx, sy)
        layer.offset = (tx + sx * sin(angle), 1 - sy * cos(angle) - ty)
        layer.settings = {"b3d": {"flags": flags, "blend": texture.blend, "slot": slot}}
        return layer

    def image(self, texture: Texture) -> int:
        kind = texture.flags & (TEXTURE_ALPHA | TEXTURE_MASKED)
        key = (texture.file, kind)
        if key not in self.images:
            self.images[key] = len(self.scene.images)
            name = self.decode(texture.file)
            path = name.replace("\\", "/")
            names = tuple(dict.fromkeys((path, path.rpartition("/")[2])))
            masked, see_through = bool(kind & TEXTURE_MASKED), kind == TEXTURE_ALPHA
            self.scene.images.append(Image(name, names, alpha=see_through, mask_black=masked, mean_alpha=see_through))
        return self.images[key]

    def warnings(self) -> list[str]:
        found = []
        if self.missing:
            found.append(f"{len(self.missing)} brushes that meshes ask for are not in the file; white was used.")
        if self.dangling:
            found.append(f"{len(self.dangling)} textures that brushes ask for are not in the file; they were left out.")
        return found


def _set_blend(material: Material, surface: Surface, textures: dict[int, Texture]) -> None:
    """Alpha blending takes a reason: a texture with alpha and no mask, a brush that is not opaque, or fx that says so.

    Without a blend of its own a brush looks at a single texture only; a mask counts in the first place only.
    """
    kinds = {slot: texture.flags & (TEXTURE_ALPHA | TEXTURE_MASKED) for slot, texture in textures.items()}
    looked_at = kinds.values() if surface.blend == 1 else [kinds[0]] if set(kinds) == {0} else []
    if surface.blend == 3:
        material.blend = "ADD"
    elif surface.blend == 2:
        material.blend = "MULTIPLY"
    elif TEXTURE_ALPHA in looked_at or surface.fx & FX_FORCE_ALPHA or material.color[3] < 1:
        material.blend = "ALPHA"
    elif kinds.get(0, 0) & TEXTURE_MASKED:
        material.blend = "MASK"
