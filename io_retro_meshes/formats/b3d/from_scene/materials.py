# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials to brushes and textures, by their settings once those agree with the look (shading.py)."""

from __future__ import annotations

import copy

import numpy as np

from ....scene import Material, Scene, TextureLayer
from ...binary import encode
from .. import axes
from ..document import Brush, Brushes, Texture, Textures, floats
from ..engine import MAX_TEXTURES
from ..shading import settle, textures_of


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
        material = copy.deepcopy(material)
        material.layers = [layer for layer in textures_of(material) if layer.image < len(self.scene.images)]
        settle(material, self.scene.images)
        values = material.settings["b3d"]
        alpha = 1.0 if material.blend in ("OPAQUE", "MASK") else float(np.clip(material.color[3], 0, 1))
        name = encode(values["brush"]).replace(b"\0", b"")
        brush = Brush(name, floats(*values["color"], alpha), values["shininess"], values["blend"], values["fx"])
        slots: dict[int, int] = {}
        for layer in material.layers:
            slot = layer.settings["b3d"]["slot"]
            if slot < MAX_TEXTURES:
                slots[slot] = self.texture(layer)
        if len(slots) < len(material.layers):
            self.scene.warnings.append(f'"{material.name}" has more textures than a brush can hold; the last were left out.')
        return brush, slots

    def texture(self, layer: TextureLayer) -> int:
        name = encode(self.scene.images[layer.image].name).replace(b"\0", b"")
        flags, blend = layer.settings["b3d"]["flags"], layer.settings["b3d"]["blend"]
        position = floats(*axes.texture_offset_to_file(layer.offset, layer.scale, layer.rotation))
        # An offset that is only rounding of the way there and back.
        position[np.abs(position) < 1e-6] = 0
        texture = Texture(name, flags, blend, position, floats(*layer.scale), layer.rotation)
        key = b"\0".join([name, position.tobytes(), texture.scale.tobytes(), repr((flags, blend, texture.rotation)).encode()])
        if key not in self.known:
            self.known[key] = len(self.textures)
            self.textures.append(texture)
        return self.known[key]
