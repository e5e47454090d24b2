# SPDX-License-Identifier: GPL-3.0-or-later
"""Several textures in one, for formats that have one for the colour (glTF).

Textures over the same coordinates, or over whole multiples of them, are one picture, computed as the engine does. Those over
others, as light maps, cannot be without a picture for all of the surface; they are looked up at the vertices.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..scene import Image, Material, TextureLayer
from . import stages
from .decode import FilePicture

Array = npt.NDArray[Any]
Pixels = npt.NDArray[np.uint8]
Decoded = dict[int, Pixels | None]  # by the number of the image

NO_PIXELS = np.zeros((0, 0, 4), np.uint8)
LARGEST = 2048  # pixels a side of a picture that is made
# Where a corner's light is looked up: in its own part of the triangle. At the corner itself there is the edge of a chart.
AROUND_CORNER = np.array([[0.9, 0.05, 0.05], [0.7, 0.15, 0.15], [0.6, 0.3, 0.1], [0.6, 0.1, 0.3], [0.5, 0.25, 0.25]])


@dataclass
class Baked:
    """What becomes of a material's colour."""

    layer: TextureLayer | None  # whose coordinates the picture has; None for a colour without one
    pixels: Pixels
    inside: list[TextureLayer] = field(default_factory=list)
    alpha: bool = False  # the picture's counts, and the material's is in it
    light: list[tuple[TextureLayer, Pixels]] = field(default_factory=list)  # to be looked up at the vertices
    source: int = -1  # the number of the picture in the file

    def factor(self, material: Material) -> Array:
        """The colour, as displayed, that the picture is to be multiplied with."""
        if self.layer is None:
            return self.pixels[0, 0] / 255
        if not self.inside:
            return material.color
        return np.array([1, 1, 1, 1 if self.alpha else material.color[3]])


def bake(material: Material, images: list[Image], main: TextureLayer | None, decoded: Decoded) -> Baked | None:
    """None where the main texture, multiplied with the colour, is all there is. Raises PictureError, or OSError."""
    laid_over = material.blend if material.blend in ("ADD", "MULTIPLY") else ""
    if main is None or not _is_color(main, images):
        return _one_color(material, laid_over) if laid_over else None
    layers = [each for each in material.layers if _is_color(each, images)]
    if len(layers) == 1 and main.blend == "MULTIPLY" and not laid_over:
        return None
    found = {id(each): pixels_of(each.image, images, decoded) for each in layers}
    pixels = {key: each for key, each in found.items() if each is not None}  # the engine skips what is not there
    if id(main) not in pixels:
        return None
    layers = [each for each in layers if id(each) in pixels]
    inside = _tiled(layers, main, pixels)
    outside = [each for each in layers if not is_one_of(each, inside)]
    made = Baked(_coarsest(inside), NO_PIXELS)
    made.light = [(each, pixels[id(each)]) for each in outside if each.blend.startswith("MULTIPLY")]
    if len(inside) > 1 or main.blend != "MULTIPLY" or laid_over:
        made.inside = inside
        made.pixels, made.alpha = _picture(inside, material, images, pixels, laid_over)
    return made if made.inside or made.light else None


def main_layer(material: Material) -> TextureLayer | None:
    """The texture that is the colour: of several not a light map, where there is another."""
    layers = [each for each in material.layers if each.use == "COLOR" and each.blend != "OFF" and each.mapping == "UV"]
    return next((each for each in layers if each.uv == 0 and each.blend.startswith("MULTIPLY")), layers[0] if layers else None)


def compromises(material: Material, made: Baked | None) -> list[str]:
    """What is only near to the engine's, for people."""
    late = material.vertex_colors and made is not None and any(layer.blend != "MULTIPLY" for layer in made.inside)
    reasons = {
        "adds its color to what is behind it; it is blended by its brightness": material.blend == "ADD",
        "multiplies what is behind it; it is blended by its darkness": material.blend == "MULTIPLY",
        "has stages after the vertices' colors; they are multiplied last": late,
        "is drawn as lines; its faces are filled": material.wireframe,
        "has every other pixel missing; all of them are drawn": material.stipple,
    }
    return [f'The material "{material.name}" {why}: glTF has nothing like it.' for why, is_so in reasons.items() if is_so]


def without_place(material: Material, layer: TextureLayer, images: list[Image], light: bool) -> str:
    """The same for a texture that is not in the picture."""
    what = "is shown at the vertices only: glTF has no place for it." if light else "has no place in glTF and was left out."
    return (
        f'The material "{material.name}": the texture "{images[layer.image].name}" '
        f"({layer.use.lower()}, {layer.blend.lower().replace('_', ' ')}) {what}"
    )


def is_one_of(layer: TextureLayer, layers: list[TextureLayer]) -> bool:
    """The very one: a material may have two that are equal."""
    return any(layer is each for each in layers)


def pixels_of(index: int, images: list[Image], decoded: Decoded) -> Pixels | None:
    """Decoded here where nobody has done it: a picture that is taken as it is has no pixels. None where there is none."""
    if index not in decoded:
        image = images[index]
        decoded[index] = FilePicture(image, Path(image.path) if image.path else None).pixels()
    return decoded[index]


def _is_color(layer: TextureLayer, images: list[Image]) -> bool:
    known = 0 <= layer.image < len(images)
    return known and layer.use == "COLOR" and layer.blend != "OFF" and layer.mapping == "UV"


# ------------------------------------------------------------------------------------------------------------- pictures


def _tiled(layers: list[TextureLayer], main: TextureLayer, pixels: dict[int, Pixels]) -> list[TextureLayer]:
    """Those that fit into a picture with the main one, in their order: it repeats where the coarsest of them does."""
    found: list[TextureLayer] = [main]
    for layer in layers:
        if layer is main:
            continue
        together = [*found, layer]
        if all(_repeats(each, _coarsest(together)) for each in together) and max(_size(together, pixels)) <= LARGEST:
            found.append(layer)
    return [layer for layer in layers if is_one_of(layer, found)]


def _coarsest(layers: list[TextureLayer]) -> TextureLayer:
    return min(layers, key=lambda layer: (abs(layer.scale[0]), abs(layer.scale[1])))


def _times(layer: TextureLayer, coarse: TextureLayer) -> tuple[float, float]:
    """How often a layer is repeated within another, by axis."""
    x, y = (1.0 if one == other else one / (other or np.nan) for one, other in zip(layer.scale, coarse.scale, strict=True))
    return x, y


def _repeats(layer: TextureLayer, coarse: TextureLayer) -> bool:
    """Is it repeated a whole number of times within the other?"""
    if layer.uv != coarse.uv or not isclose(layer.rotation, coarse.rotation, abs_tol=1e-6):
        return False
    times = _times(layer, coarse)
    alike = times == (1, 1) and np.allclose(layer.offset, coarse.offset) and layer.clamp == coarse.clamp
    free = not any((*layer.clamp, *coarse.clamp))
    whole = bool(np.isfinite(times).all()) and all(round(each) and isclose(each, round(each), abs_tol=1e-4) for each in times)
    return bool(alike or (free and whole))


def _size(layers: list[TextureLayer], pixels: dict[int, Pixels]) -> tuple[int, int]:
    """Width and height: no texture loses a pixel."""
    coarse = _coarsest(layers)
    sizes = [
        [abs(round(times)) * size for times, size in zip(_times(each, coarse), pixels[id(each)].shape[1::-1], strict=True)]
        for each in layers
    ]
    return max(width for width, _ in sizes), max(height for _, height in sizes)


def _picture(
    inside: list[TextureLayer], material: Material, images: list[Image], pixels: dict[int, Pixels], laid_over: str
) -> tuple[Pixels, bool]:
    """The stages one after the other, the material's colour first, and whether the alpha counts."""
    coarse = _coarsest(inside)
    width, height = _size(inside, pixels)
    across, down = (np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height
    grid = np.stack(np.meshgrid(across, down), -1)
    color = np.broadcast_to(np.clip(material.color[:3], 0, 1), (height, width, 3)).astype(np.float32)
    alpha = np.ones((height, width, 1), np.float32)
    for layer in inside:
        there = (grid - coarse.offset) * _times(layer, coarse) + layer.offset
        texture = stages.look_up(pixels[id(layer)], there, layer)
        color = stages.lay_over(layer.blend, color, texture)
        image = images[layer.image]
        if image.alpha or image.mask_black:
            alpha = alpha * texture[..., 3:]
    if laid_over:
        color, alpha = stages.blended(laid_over, color, alpha * np.clip(material.color[3], 0, 1))
    elif material.blend == "OPAQUE":
        alpha = np.ones_like(alpha)
    return np.rint(np.concatenate([color, alpha], -1) * 255).astype(np.uint8), bool(laid_over)


def _one_color(material: Material, laid_over: str) -> Baked:
    color, alpha = stages.blended(laid_over, np.clip(material.color[:3], 0, 1), np.clip(material.color[3:], 0, 1))
    return Baked(None, np.rint(np.concatenate([color, alpha]) * 255).astype(np.uint8).reshape(1, 1, 4), alpha=True)


# ---------------------------------------------------------------------------------------------------------------- light


def light_of(made: Baked, uvs: list[Array], indices: Array) -> Array:
    """The light at each vertex, as displayed: the mean of what the triangles have near it."""
    count = len(uvs[0])
    triangles = indices.reshape(-1, 3)
    found = np.ones((count, 3))
    for layer, pixels in made.light:
        known = uvs[layer.uv] if layer.uv < len(uvs) else np.zeros_like(uvs[0])
        corners = stages.layer_uvs(layer, known)[triangles]
        turned = np.stack([np.roll(corners, -corner, 1) for corner in range(3)], 1)
        texture = stages.look_up(pixels, np.einsum("sk,fckx->fcsx", AROUND_CORNER, turned), layer)[..., :3].mean(2)
        sums = np.stack([np.bincount(indices, texture.reshape(-1, 3)[:, channel], count) for channel in range(3)], 1)
        light = sums / np.maximum(np.bincount(indices, minlength=count), 1)[:, None]
        found = np.minimum(found * light * (2 if layer.blend == "MULTIPLY_2X" else 1), 1)
    return found
