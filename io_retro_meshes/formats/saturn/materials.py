# SPDX-License-Identifier: GPL-3.0-or-later
"""ATTR <-> what a surface looks like."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...scene import Image, Material, Scene, TextureLayer, floats
from . import textures
from .document import (
    DIR_KIND,
    DIR_TEXTURED,
    DOUBLE_SIDED,
    DRAW_MODE,
    HALF_LUMINANCE,
    SHADOW,
    STIPPLE,
    TRANSLUCENT,
    TRANSPARENT_PIXEL_OFF,
    Character,
)
from .options import ImportOptions

Array = npt.NDArray[Any]

POLYLINE = 5  # dir: this and above draw lines only

# Corners of a quad in a picture, v up: top left, top right, bottom right, bottom left.
CORNER_UVS = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32)


class Looks:
    """The pictures of a character, and a material for each way its polygons look."""

    def __init__(self, scene: Scene, character: Character, name: str, options: ImportOptions) -> None:
        self.scene = scene
        self.name = name
        pictures = textures.pictures(character.textures)
        self.holes = [bool((picture[..., 3] == 0).any()) for picture in pictures]
        self.titles = [f"{name} texture {index:02}" for index in range(len(pictures))]
        self.images = list(range(len(scene.images), len(scene.images) + len(pictures)))
        # (n, 4): left, bottom, width and height of each texture in its image's UV space
        self.places = np.tile(np.array([0, 0, 1, 1], np.float64), (len(pictures), 1))
        if options.images == "ATLAS" and pictures:
            pictures = [self._atlas(pictures)]
        for title, picture in zip(self.titles, pictures, strict=False):
            scene.images.append(Image(title, pixels=np.ascontiguousarray(picture[::-1]), alpha=True))
        self.known: dict[tuple[int, int, int, int], int] = {}

    def _atlas(self, pictures: list[textures.Pixels]) -> textures.Pixels:
        canvas, places = textures.atlas(pictures)
        height, width = canvas.shape[:2]
        left, top, wide, high = places.T
        self.places = np.stack([left / width, 1 - (top + high) / height, wide / width, high / height], 1)
        self.images = [self.images[0]] * len(pictures)
        self.titles = [f"{self.name} atlas"] * len(pictures)
        self.holes = [any(self.holes)] * len(pictures)
        return canvas

    def textured(self, attributes: Array) -> Array:
        """Which polygons show a picture that is there."""
        return (attributes["dir"] & DIR_KIND == DIR_TEXTURED) & (attributes["texno"] < len(self.images))

    def uvs(self, attributes: Array) -> Array:
        """(f, 4, 2): the corners of the pictures, mirrored as the polygons say; zero for those without."""
        textured = self.textured(attributes)
        place = self.places[attributes["texno"][textured]]
        flips = np.stack([attributes["dir"] >> 4 & 1, attributes["dir"] >> 5 & 1], 1)[textured].astype(np.float64)
        corners = np.abs(CORNER_UVS - flips[:, None])
        found = np.zeros((len(attributes), 4, 2), np.float32)
        found[textured] = place[:, None, :2] + corners * place[:, None, 2:]
        return found

    def materials(self, attributes: Array) -> tuple[Array, list[int]]:
        """The slot of each polygon, and the materials in the slots."""
        image = np.full(len(attributes), -1, np.int64)
        textured = self.textured(attributes)
        if textured.any():
            image[textured] = np.array(self.images, np.int64)[attributes["texno"][textured]]
        rows = np.stack([image, attributes["flag"], attributes["atrb"], attributes["dir"] & DIR_KIND], 1).astype(np.int64)
        distinct, first, slots = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        found = []
        for row, example in zip(distinct.tolist(), attributes[first], strict=True):
            key = (row[0], row[1], row[2], row[3])
            if key not in self.known:
                self.known[key] = len(self.scene.materials)
                self.scene.materials.append(self._material(key[0], example))
            found.append(self.known[key])
        return slots.reshape(-1).astype(np.int32), found

    def _material(self, image: int, attribute: np.void) -> Material:
        flag, atrb = int(attribute["flag"]), int(attribute["atrb"])
        mode = atrb & DRAW_MODE
        traits = [self.titles[int(attribute["texno"])] if image >= 0 else f"{self.name} flat"]
        made = Material("", roughness=1.0, double_sided=bool(flag & DOUBLE_SIDED), stipple=bool(atrb & STIPPLE))
        made.wireframe = int(attribute["dir"]) & DIR_KIND >= POLYLINE
        made.vertex_colors = image < 0
        if image >= 0:
            made.layers = [TextureLayer(image, nearest=True, clamp=(True, True))]
            if self.holes[int(attribute["texno"])] and not atrb & TRANSPARENT_PIXEL_OFF:
                made.blend = "MASK"
        if mode & 3 == TRANSLUCENT:
            made.blend, made.color = "ALPHA", floats(1, 1, 1, 0.5)
        elif mode == SHADOW:
            made.blend, made.color = "ALPHA", floats(0, 0, 0, 0.5)
        elif mode == HALF_LUMINANCE:
            made.color = floats(0.5, 0.5, 0.5, 1)
        words = {SHADOW: "shadow", HALF_LUMINANCE: "dark", TRANSLUCENT: "half", 7: "half"}
        traits += [word for word, there in (("double", made.double_sided), ("mesh", made.stipple)) if there]
        traits += [words[mode]] if mode in words else []
        made.name = " ".join(traits)
        made.settings = {"saturn": {"flag": flag, "sort": int(attribute["sort"]), "atrb": atrb}}
        return made
