# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's images as the neutral scene has them, and on disk."""

from __future__ import annotations

import os
from pathlib import Path

import bpy
import numpy as np

from ... import maths, png, scene
from ...textures import base_name


class ImageCollector:
    """Every image once, in the order they are met."""

    def __init__(self, pixels: bool = False) -> None:
        self.images: list[scene.Image] = []
        self.sources: list[bpy.types.Image] = []
        self._pixels = pixels
        self._index: dict[str, int] = {}

    def index(self, image: bpy.types.Image) -> int:
        known = self._index.get(image.name_full)
        if known is None:
            known = self._index[image.name_full] = len(self.images)
            self.images.append(collect_image(image, self._pixels))
            self.sources.append(image)
        return known


def collect_image(image: bpy.types.Image, pixels: bool = False) -> scene.Image:
    """Its `path` is empty where there is no file: `save_image` makes one. Alpha means nothing until a material uses it."""
    path = image_path(image)
    return scene.Image(
        name=file_name(image),
        path=str(path) if path else "",
        pixels=image_pixels(image) if pixels else None,
        alpha=False,
        mask_black=image.retro_meshes.mask_black,
        mean_alpha=image.retro_meshes.mean_alpha,
    )


def image_path(image: bpy.types.Image) -> Path | None:
    """The image's file as it is shown: not one that is missing, or older than what Blender holds."""
    if image.source not in ("FILE", "TILED", "SEQUENCE", "MOVIE") or not image.filepath or image.is_dirty:
        return None
    path = Path(bpy.path.abspath(image.filepath, library=image.library))
    return path if path.is_file() else None


def file_name(image: bpy.types.Image) -> str:
    """What a model's file should call the image: as on import, unless it is another file by now."""
    given = image.retro_meshes.name
    path = bpy.path.abspath(image.filepath, library=image.library) if image.source == "FILE" else ""
    name = base_name(path) if path else image.name
    if given and (not path or Path(base_name(given)).stem.casefold() == Path(name).stem.casefold()):
        return given
    return name if Path(name).suffix else f"{name}.png"


def image_pixels(image: bpy.types.Image) -> np.ndarray | None:
    """RGBA bytes (height, width, 4), bottom row first; None where there is nothing to see."""
    width, height = image.size
    channels = image.channels
    if not width or not height or not channels:
        return None
    values = np.empty(width * height * channels, np.float32)
    image.pixels.foreach_get(values)
    values = values.reshape(height, width, channels)
    if image.is_float and image.colorspace_settings.name != "Non-Color":
        values[..., :3] = maths.linear_to_srgb(values[..., :3])
    rgba = np.ones((height, width, 4), np.float32)
    rgba[..., :channels] = values if channels != 1 else 1
    if channels < 3:
        rgba[..., :3] = values[..., :1]
    return (np.clip(rgba, 0, 1) * 255 + 0.5).astype(np.uint8)


def save_image(image: bpy.types.Image, target: Path) -> bool:
    """Writes the image as a PNG file, and changes nothing in Blender. False: there is nothing to write."""
    packed = bytes(image.packed_file.data) if image.packed_file and not image.is_dirty else b""
    if not packed.startswith(png.MAGIC):
        pixels = image_pixels(image)
        if pixels is None:
            return False
        packed = png.encode(pixels)
    partial = target.with_name(f".{target.name}.partial")
    try:
        partial.write_bytes(packed)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    return True
