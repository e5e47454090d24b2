# SPDX-License-Identifier: GPL-3.0-or-later
"""ATTR and textures of polygons -> materials, images and UVs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Image, Material, Scene, TextureLayer, floats
from .. import axes, textures
from ..document import (
    DIR_KIND,
    DIR_TEXTURED,
    DOUBLE_SIDED,
    END_CODE_OFF,
    HALF_LUMINANCE,
    SHADOW,
    STIPPLE,
    TRANSLUCENT,
    TRANSPARENT_PIXEL_OFF,
    Character,
)
from ..options import ImportOptions
from ..shading import mixed

Array = npt.NDArray[Any]

POLYLINE = 5  # dir: this and above draw lines only

# The corners of a polygon in its picture: top left, top right, bottom right, bottom left.
CORNER_UVS = axes.flip_v(np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32))


class Materials:
    """Adds the images of a character to the scene, and a material for each distinct combination of image and look."""

    def __init__(self, scene: Scene, character: Character, name: str, options: ImportOptions) -> None:
        self.scene = scene
        self.name = name
        words = textures.cut(character.textures)
        self.count = len(words)
        pictures = [textures.rgba(piece) for piece in words]
        digits = max(2, len(str(self.count - 1)))
        self.titles = [f"{name} texture {index:0{digits}}" for index in range(self.count)]
        self.variants = self._end_coded(character, words, pictures)
        self.holes = [bool((picture[..., 3] == 0).any()) for picture in pictures]
        self.images = list(range(len(scene.images), len(scene.images) + len(pictures)))
        # (n, 4): left, bottom, width and height of each picture in its image's UV space
        self.places = np.tile(np.array([0, 0, 1, 1], np.float64), (len(pictures), 1))
        if options.images == "ATLAS" and pictures:
            pictures = [self._atlas(pictures)]
        for title, picture in zip(self.titles, pictures, strict=False):
            scene.images.append(Image(title, pixels=np.ascontiguousarray(axes.flip_rows(picture)), alpha=True))
        self.known: dict[tuple[int, ...], int] = {}

    def _end_coded(self, character: Character, words: list[Array], pictures: list[textures.Pixels]) -> Array:
        """Adds pictures for textures of which end codes hide a part, and returns their numbers: (textures, 2) by whether
        polygons draw transparent pixels. Where there is none, that of the texture itself."""
        numbers = np.repeat(np.arange(self.count)[:, None], 2, 1)
        coded = np.array([bool((piece == textures.END_CODE).any()) for piece in words], bool)
        lists = [mesh.attributes for listed in character.model.lists for mesh in listed]
        if not coded.any() or not lists:
            return numbers
        attributes = np.concatenate(lists)
        heeding = attributes[(attributes["dir"] & DIR_KIND == DIR_TEXTURED) & (attributes["atrb"] & END_CODE_OFF == 0)]
        heeding = heeding[heeding["texno"] < self.count]
        heeding = heeding[coded[heeding["texno"]]]
        opaque = (heeding["atrb"] & TRANSPARENT_PIXEL_OFF != 0).astype(np.int64)
        for number, drawn in np.unique(np.stack([heeding["texno"].astype(np.int64), opaque], 1), axis=0).tolist():
            numbers[number, drawn] = len(pictures)
            pictures.append(textures.end_coded(words[number], bool(drawn)))
            self.titles.append(f"{self.titles[number]} {'end opaque' if drawn else 'end'}")
        return numbers

    def _atlas(self, pictures: list[textures.Pixels]) -> textures.Pixels:
        canvas, places = textures.atlas(pictures)
        height, width = canvas.shape[:2]
        left, top, wide, high = places.T
        corners = axes.flip_v(np.stack([left / width, (top + high) / height], 1))
        self.places = np.concatenate([corners, np.stack([wide / width, high / height], 1)], 1)
        self.images = [self.images[0]] * len(pictures)
        self.titles = [f"{self.name} atlas"] * len(pictures)
        self.holes = [any(self.holes)] * len(pictures)
        return canvas

    def textured(self, attributes: Array) -> Array:
        """Which polygons show a picture that is there."""
        return (attributes["dir"] & DIR_KIND == DIR_TEXTURED) & (attributes["texno"] < self.count)

    def _pictures(self, attributes: Array) -> Array:
        """The picture of each polygon; all of them show one."""
        opaque = (attributes["atrb"] & TRANSPARENT_PIXEL_OFF != 0).astype(np.int64)
        heeds = attributes["atrb"] & END_CODE_OFF == 0
        return np.where(heeds, self.variants[attributes["texno"], opaque], attributes["texno"])

    def uvs(self, attributes: Array) -> Array:
        """(f, 4, 2): the corners of the pictures, mirrored as the polygons say; zero for those without."""
        textured = self.textured(attributes)
        place = self.places[self._pictures(attributes[textured])]
        flips = np.stack([attributes["dir"] >> 4 & 1, attributes["dir"] >> 5 & 1], 1)[textured].astype(np.float64)
        corners = np.abs(CORNER_UVS - flips[:, None])
        found = np.zeros((len(attributes), 4, 2), np.float32)
        found[textured] = place[:, None, :2] + corners * place[:, None, 2:]
        return found

    def of_polygons(self, attributes: Array) -> tuple[Array, list[int]]:
        """The slot of each polygon, and the materials in the slots."""
        rows = self._looks(attributes)
        distinct, first, slots = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        found = []
        for row, example in zip(distinct.tolist(), attributes[first], strict=True):
            key = tuple(row)
            if key not in self.known:
                self.known[key] = len(self.scene.materials)
                self.scene.materials.append(self._material(key, example))
            found.append(self.known[key])
        return slots.reshape(-1).astype(np.int32), found

    def _looks(self, attributes: Array) -> Array:
        """(f, 6): picture's image or -1, double sided, mesh, how it is mixed, cut out, lines only. Equal rows look the same."""
        picture = np.full(len(attributes), -1, np.int64)
        textured = self.textured(attributes)
        image, cut_out = picture.copy(), np.zeros(len(attributes), bool)
        if textured.any():
            picture[textured] = self._pictures(attributes[textured])
            image[textured] = np.array(self.images, np.int64)[picture[textured]]
            ignored = (attributes["atrb"] & TRANSPARENT_PIXEL_OFF != 0) & (picture < self.count)
            cut_out = textured & ~ignored & np.array(self.holes)[picture]
        lines = attributes["dir"] & DIR_KIND >= POLYLINE
        double, mesh = attributes["flag"] & DOUBLE_SIDED, attributes["atrb"] & STIPPLE != 0
        return np.stack([image, double, mesh, mixed(attributes["atrb"]), cut_out, lines], 1).astype(np.int64)

    def _material(self, look: tuple[int, ...], attribute: np.void) -> Material:
        image, double, mesh, mix, cut_out, lines = look
        title = f"{self.name} flat" if image < 0 else self.titles[self.images.index(image)]
        made = Material("", roughness=1.0, double_sided=bool(double), stipple=bool(mesh), wireframe=bool(lines))
        made.vertex_colors = image < 0
        if image >= 0:
            made.layers = [TextureLayer(image, nearest=True, clamp=(True, True))]
            made.blend = "MASK" if cut_out else "OPAQUE"
        if mix == TRANSLUCENT:
            made.blend, made.color = "ALPHA", floats(1, 1, 1, 0.5)
        elif mix == SHADOW:
            made.blend, made.color = "ALPHA", floats(0, 0, 0, 0.5)
        elif mix == HALF_LUMINANCE:
            made.color = floats(0.5, 0.5, 0.5, 1)
        words = {SHADOW: "shadow", HALF_LUMINANCE: "dark", TRANSLUCENT: "half"}
        traits = [title, *(word for word, there in (("double", double), ("mesh", mesh), ("lines", lines)) if there)]
        traits += [words[mix]] if mix in words else []
        holes = image >= 0 and self.holes[self.images.index(image)]
        traits += ["opaque"] if holes and not cut_out else []
        made.name = " ".join(traits)
        values = {name: int(attribute[name]) for name in ("flag", "sort", "atrb")}
        shown = {"textured": image >= 0, "cut_out": bool(cut_out), "holes": bool(holes)}
        made.settings = {"saturn": {**values, "imported": list(values.values()), **shown}}
        return made
