# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface of an entity's mesh to a material of the scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....pictures.search import base_name
from ....scene import Image, Material, Scene, TextureLayer, floats
from ....scene.sanitize import number
from .. import document
from ..shading import restyle


class Materials:
    """Entities whose surfaces are the same share a material."""

    def __init__(self, scene: Scene, decode: Callable[[bytes], str]) -> None:
        self.scene = scene
        self.decode = decode
        self.numbers: dict[tuple[Any, ...], int] = {}
        self.images: dict[str, int] = {}

    def number(self, source: document.Mesh, name: str) -> int:
        """The number of the mesh's material; `name`: that of the entity, for a material without texture."""
        key = (source.texture, source.color[:3], float(source.alpha), source.fx, source.has_own_colors)
        if key not in self.numbers:
            self.numbers[key] = len(self.scene.materials)
            self.scene.materials.append(self.material(source, name))
        return self.numbers[key]

    def material(self, source: document.Mesh, name: str) -> Material:
        texture = self.decode(source.texture)
        blue, green, red, _ = source.color
        alpha = float(np.clip(number(source.alpha, 1.0), 0, 1))
        material = Material(base_name(texture).rsplit(".", 1)[0] or name if texture else name)
        material.color = floats(red / 255, green / 255, blue / 255, alpha)
        material.vertex_colors = source.has_own_colors
        material.settings = {"bo3d": {"fx": source.fx}}
        restyle(material, self.scene.images)
        if texture:
            material.layers.append(TextureLayer(self.image(texture)))
        return material

    def image(self, texture: str) -> int:
        if texture not in self.images:
            self.images[texture] = len(self.scene.images)
            self.scene.images.append(Image(texture))
        return self.images[texture]
