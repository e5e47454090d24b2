# SPDX-License-Identifier: GPL-3.0-or-later
"""A material of the scene to the surface of an entity's mesh: one colour, one texture, and flags."""

from __future__ import annotations

import copy
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ....scene import Floats, Image, Material, Scene, TextureLayer
from ...binary import encode
from ..document import FX_NO_FOG
from ..shading import settle

Colors = Literal["", "OWN", "MATERIAL"]  # none; those of the mesh; the material's, for every vertex


class Materials:
    def __init__(self, source: Scene) -> None:
        self.scene = source
        self.several_textures: set[str] = set()  # names of materials
        self.colored_twice: set[str] = set()  # names of materials
        self.white: set[str] = set()
        self.blended: set[str] = set()
        self.masked: set[str] = set()

    def warnings(self) -> list[str]:
        found = []
        for names, message in (
            (self.several_textures, "only the first texture was written, the file has room for one."),
            (self.colored_twice, "the engine shows the vertex colours instead of the material's colour; both were written."),
            (self.white, "the engine shows white instead of the material's colour. Material Colors writes it for vertices."),
            (self.blended, "the engine blends a whole mesh by one number; the alpha of the texture is lost."),
            (self.masked, "the engine cuts nothing out; where the texture is transparent it will be seen."),
        ):
            found += [f'"{name}": {message}' for name in sorted(names)]
        return found

    def texture(self, material: Material) -> TextureLayer | None:
        layers = [layer for layer in material.layers if layer.use == "COLOR"]
        if len(layers) > 1:
            self.several_textures.add(material.name)
        return layers[0] if layers else None

    def surface(self, material: Material, texture: TextureLayer | None, vertex_colors: Colors) -> dict[str, Any]:
        """The fields of `document.Mesh` that say how its triangles are drawn.

        The engine's loader makes every entity white: only vertices, and textures, have colours in it.
        """
        red, green, blue = (int(value) for value in np.rint(np.clip(material.color[:3], 0, 1) * 255))
        if (red, green, blue) != (255, 255, 255):
            if vertex_colors == "OWN":
                self.colored_twice.add(material.name)
            elif not vertex_colors:
                self.white.add(material.name)
        if material.blend == "ALPHA" and texture is not None:
            self.blended.add(material.name)
        if material.blend == "MASK":
            self.masked.add(material.name)
        return {
            "texture": b"" if texture is None else encode(self.scene.images[texture.image].name),
            "color": (blue, green, red, 255),
            "alpha": 1.0 if material.blend == "OPAQUE" else float(np.clip(material.color[3], 0, 1)),
            "fx": _fx(material, self.scene.images),
        }


def _fx(material: Material, images: list[Image]) -> int:
    """What the material shows, and of its settings what nothing shows."""
    settled = copy.deepcopy(material)
    settle(settled, images)
    fx = int(settled.settings["bo3d"]["fx"])
    return fx if "fx" in material.settings.get("bo3d", {}) else fx | FX_NO_FOG * _without_fog(material)


def _without_fog(material: Material) -> bool:
    """As the engine's own converter has it: no fog is 8 in a B3D brush, and 4 here."""
    brush = int(material.settings.get("b3d", {}).get("fx", 0))
    return bool(brush & 8) or not material.settings.get("dbo", {}).get("fog", True)


def transformed_uv(uv: npt.NDArray[Any], texture: TextureLayer | None) -> Floats:
    """The file has no texture matrices: they go into the coordinates."""
    if texture is None:
        return uv
    cosine, sine = np.cos(texture.rotation), np.sin(texture.rotation)
    turned = np.stack([uv[:, 0] * cosine - uv[:, 1] * sine, uv[:, 0] * sine + uv[:, 1] * cosine], -1)
    return (turned * texture.scale + texture.offset).astype(np.float32)
