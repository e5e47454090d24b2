# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's images as the neutral scene has them, and on disk."""

from __future__ import annotations

import os
from pathlib import Path

import bpy
import numpy as np

from ... import scene
from ...pictures import kinds
from ...pictures.search import base_name
from ..pixels import image_pixels


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
    """Its `path` is empty where there is no file. Alpha means nothing until a material uses it."""
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
    """The image's file as it is shown: not one that is missing, or older than what Blender holds.

    Of an image whose alpha was made on import it is the file that it was made from.
    """
    if image.retro_meshes.source and not image.is_dirty:
        path = Path(bpy.path.abspath(image.retro_meshes.source, library=image.library))
        return path if os.path.isfile(path) else None
    if image.source not in ("FILE", "TILED", "SEQUENCE", "MOVIE") or not image.filepath or image.is_dirty:
        return None
    path = Path(bpy.path.abspath(image.filepath, library=image.library))
    return path if os.path.isfile(path) else None  # no error where the name is too long for any file


def file_name(image: bpy.types.Image) -> str:
    """What a model's file should call the image: as on import, unless it is another file by now."""
    given = image.retro_meshes.name
    shown = image.retro_meshes.source or (image.filepath if image.source == "FILE" else "")
    path = bpy.path.abspath(shown, library=image.library) if shown else ""
    name = base_name(path) if path else image.name
    if given and (not path or Path(base_name(given)).stem.casefold() == Path(name).stem.casefold()):
        return given
    return name if Path(name).suffix else f"{name}.png"


class BlenderPicture:
    """An image of Blender's as something that can be written. Nothing changes in Blender."""

    def __init__(self, image: bpy.types.Image) -> None:
        self.image = image

    def encoded(self) -> bytes | None:
        """Its file on disk, or the one that is packed, while that is what Blender shows; None where there is no such file."""
        path = image_path(self.image)
        if path is not None:
            return path.read_bytes()
        data = bytes(self.image.packed_file.data) if self.image.packed_file and not self.image.is_dirty else b""
        return data if kinds.extensions(data[: kinds.HEAD]) else None

    def pixels(self) -> np.ndarray | None:
        return image_pixels(self.image)

    def altered(self) -> bool:
        """Was its alpha made of its colours on import?"""
        return bool(self.image.retro_meshes.source)
