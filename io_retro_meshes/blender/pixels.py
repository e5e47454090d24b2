# SPDX-License-Identifier: GPL-3.0-or-later
"""What an image shows, as bytes."""

from __future__ import annotations

import bpy
import numpy as np

from ..scene import maths


def image_pixels(image: bpy.types.Image) -> np.ndarray | None:
    """RGBA bytes (height, width, 4), bottom row first; None where there is nothing to see."""
    width, height = image.size
    channels = image.channels
    if not width or not height or not channels:
        return None
    flat = np.empty(width * height * channels, np.float32)
    image.pixels.foreach_get(flat)
    values = flat.reshape(height, width, channels)
    if image.is_float and str(image.colorspace_settings.name) != "Non-Color":
        values[..., :3] = maths.linear_to_srgb(values[..., :3])
    rgba = np.ones((height, width, 4), np.float32)
    rgba[..., :channels] = values if channels != 1 else 1
    if channels < 3:
        rgba[..., :3] = values[..., :1]
    return (np.clip(rgba, 0, 1) * 255 + 0.5).astype(np.uint8)


def set_color_space(image: bpy.types.Image, name: str) -> None:
    image.colorspace_settings.name = name  # type: ignore[assignment]  # "NONE" is all that the types know
