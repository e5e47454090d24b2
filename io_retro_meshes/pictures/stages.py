# SPDX-License-Identifier: GPL-3.0-or-later
"""Textures looked up and laid over each other in pixels, as old engines do: in colours as they are displayed, 0 to 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..scene import TextureLayer, maths

Array = npt.NDArray[Any]


def lay_over(blend: str, below: Array, above: Array) -> Array:
    """One stage: the RGBA of a texture over the RGB of those before it. Each stage is clamped."""
    colors, alpha = above[..., :3], above[..., 3:]
    if blend == "ALPHA":
        return below * (1 - alpha) + colors * alpha
    if blend == "ADD":
        return np.minimum(below + colors, 1)
    if blend == "DOT3":
        dot = ((2 * below - 1) * (2 * colors - 1)).sum(-1, keepdims=True)
        return np.broadcast_to(np.clip(dot, 0, 1), below.shape)
    return np.minimum(below * colors * (2 if blend == "MULTIPLY_2X" else 1), 1)


def layer_uvs(layer: TextureLayer, uvs: Array) -> Array:
    """Coordinates as a texture layer turns and moves them."""
    cosine, sine = np.cos(layer.rotation), np.sin(layer.rotation)
    around = uvs @ np.array([[cosine, sine], [-sine, cosine]])
    return around * np.array(layer.scale) + np.array(layer.offset)


def look_up(pixels: npt.NDArray[np.uint8], uvs: Array, layer: TextureLayer) -> Array:
    """The RGBA at coordinates (…, 2) that the layer has turned and moved already."""
    height, width = pixels.shape[:2]
    place = np.nan_to_num(uvs) * (width, height) - (0 if layer.nearest else 0.5)
    low = np.floor(place)
    part = (place - low).astype(np.float32)
    found = np.zeros((*uvs.shape[:-1], 4), np.float32)
    for x, y in [(0, 0)] if layer.nearest else [(0, 0), (1, 0), (0, 1), (1, 1)]:
        column, row = (
            np.clip(at, 0, size - 1) if clamped else at % size
            for at, size, clamped in ((low[..., 0] + x, width, layer.clamp[0]), (low[..., 1] + y, height, layer.clamp[1]))
        )
        shares = [1.0 if layer.nearest else part[..., axis] if side else 1 - part[..., axis] for axis, side in ((0, x), (1, y))]
        found += pixels[row.astype(np.intp), column.astype(np.intp)] * np.asarray(shares[0] * shares[1])[..., None]
    return found / 255


def blended(kind: str, colors: Array, alpha: Array) -> tuple[Array, Array]:
    """Colours and alphas that laid over what is behind are nearest to what adding (ADD) or multiplying (MULTIPLY) does to it.

    Viewers lay over in linear light: out = alpha x colour + (1 - alpha) x behind. What is added is right over black. For what
    is multiplied this is the least square of the error over all greys behind: none where the colour is grey itself.
    """
    linear = maths.srgb_to_linear(colors)
    if kind == "ADD":
        linear = linear * alpha
        clear = 1 - linear.max(-1, keepdims=True)
        rest = linear
    else:
        clear = linear.mean(-1, keepdims=True)
        rest = np.maximum(linear - clear, 0) / 2
    return np.clip(maths.linear_to_srgb(rest / np.maximum(1 - clear, 1e-6)), 0, 1), 1 - clear
