# SPDX-License-Identifier: GPL-3.0-or-later
"""Brushes and textures to materials: what Blitz3D draws with them, in the neutral scene's words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....scene import Floats, Image, Material, Scene, TextureLayer
from ....scene.sanitize import finite, number
from .. import axes
from ..document import FX_VERTEX_COLORS, TEXTURE_ALPHA, TEXTURE_MASKED, Brush, Document, Texture
from ..engine import MAX_TEXTURES
from ..shading import restyle


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
        self.found: dict[tuple[int, int, bool], int] = {}
        self.surfaces: dict[tuple[int, int], Surface] = {}
        self.images: dict[tuple[bytes, int], int] = {}
        self.dangling: set[int] = set()
        self.missing: set[int] = set()
        self.beyond = False  # have brushes more textures than the engine takes?

    def get(self, mesh_brush: int, brush: int, colors: bool) -> int:
        """The number of the material, or -1 where neither brush is one. `colors`: the mesh has vertex colours."""
        pair = (self.known(mesh_brush), self.known(brush))
        if pair == (-1, -1):
            return -1
        if pair not in self.surfaces:
            self.surfaces[pair] = self.surface(*pair)
        surface = self.surfaces[pair]
        key = (*pair, colors or not surface.fx & FX_VERTEX_COLORS)
        if key not in self.found:
            self.found[key] = len(self.scene.materials)
            self.scene.materials.append(self.material(surface, colors))
        return self.found[key]

    def known(self, brush: int) -> int:
        if 0 <= brush < len(self.brushes):
            return brush
        if brush != -1:
            self.missing.add(brush)
        return -1

    def surface(self, mesh_brush: int, brush: int) -> Surface:
        """Colour and alpha multiply, shininess adds, fx join; the mesh's blend and textures win where it has them."""
        surface = Surface("", np.ones(4, np.float32), 0.0, 0, 0, {})
        for each in (self.brushes[index] for index in (brush, mesh_brush) if index >= 0):
            surface.name = surface.name or self.decode(each.name)
            surface.color = surface.color * finite(each.color)
            surface.shininess += number(each.shininess)
            surface.fx |= each.fx
            surface.blend = each.blend or surface.blend
            surface.textures |= self.slots(each)
        return surface

    def slots(self, brush: Brush) -> dict[int, int]:
        slots = {slot: int(number) for slot, number in enumerate(brush.texture_ids[:MAX_TEXTURES]) if number != -1}
        self.beyond |= bool((brush.texture_ids[MAX_TEXTURES:] != -1).any())
        self.dangling |= {number for number in slots.values() if not 0 <= number < len(self.textures)}
        return {slot: number for slot, number in slots.items() if 0 <= number < len(self.textures)}

    def material(self, surface: Surface, colors: bool) -> Material:
        textures = {slot: self.textures[number] for slot, number in sorted(surface.textures.items())}
        shown = {slot: texture for slot, texture in textures.items() if texture.file}
        material = Material(surface.name, np.clip(surface.color, 0, 1).astype(np.float32))
        material.layers = [self.layer(slot, texture) for slot, texture in shown.items()]
        values: dict[str, Any] = {"brush": surface.name, "blend": surface.blend, "fx": surface.fx}
        values |= {"shininess": surface.shininess, "color": tuple(material.color[:3].tolist())}
        material.settings = {"b3d": values}
        restyle(material, self.scene.images)
        if material.vertex_colors and not colors:
            material.vertex_colors, material.vertex_alpha, material.lacks_colors = False, False, True
        return material

    def layer(self, slot: int, texture: Texture) -> TextureLayer:
        layer = TextureLayer(self.image(texture))
        position, scale = finite(texture.position).tolist(), finite(texture.scale).tolist()
        angle = number(texture.rotation)
        layer.rotation = angle
        layer.scale = (scale[0], scale[1])
        layer.offset = axes.texture_offset_to_scene(position, scale, angle)
        layer.settings = {"b3d": {"flags": texture.flags, "blend": texture.blend, "slot": slot}}
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
        if self.beyond:
            found.append(f"Brushes have more than {MAX_TEXTURES} textures, which the engine does not show; they were left out.")
        return found
