# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures: found on disk, made from pixels, or a placeholder that the user can point at the right file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import bpy
import numpy as np

from ...scene import Image, Scene
from ...textures import UNLOADABLE, Finder, base_name
from .. import compat

# Uses whose values are not colours.
DATA_USES = {"NORMAL", "ROUGHNESS", "METALLIC", "OCCLUSION"}


def build_images(
    scene: Scene, model_folder: Path, extra_folders: Sequence[Path] = ()
) -> tuple[list[bpy.types.Image | None], list[str]]:
    """An image for each of the scene's, and a warning about those that were not found. Every file is loaded once."""
    finder = Finder(model_folder, extra_folders)
    before = set(bpy.data.images)
    made: list[bpy.types.Image | None] = []
    missing: list[str] = []
    unreadable: list[str] = []
    for picture in scene.images:
        if picture.pixels is not None:
            made.append(from_pixels(picture.name, picture.pixels))
            continue
        path = finder.find(picture.names or (picture.name,))
        if path is None:
            missing.append(base_name(picture.name))
            made.append(_placeholder(picture, finder.folders))
        else:
            unreadable += [path.name] if path.suffix.lower() in UNLOADABLE else []
            made.append(_load(path, picture.mask_black))
    fresh = {image for image in made if image is not None and image not in before}
    for picture, image in zip(scene.images, made, strict=True):
        if image in fresh and image is not None:
            image.retro_meshes.name = picture.name
    _mark_data(scene, made, fresh)
    return made, _warnings(missing, unreadable, finder.folders)


def from_pixels(name: str, pixels: np.ndarray) -> bpy.types.Image:
    """A packed image of RGBA bytes, bottom row first."""
    height, width = pixels.shape[:2]
    image = bpy.data.images.new(compat.short_name(base_name(name), "Image"), width, height, alpha=True)
    image.alpha_mode = "CHANNEL_PACKED"
    image.pixels.foreach_set((pixels.astype(np.float32) / np.float32(255)).reshape(-1))
    image.update()
    image.pack()
    return image


def _load(path: Path, mask_black: bool) -> bpy.types.Image:
    if mask_black:
        return _masked(path)
    known = set(bpy.data.images)
    image = bpy.data.images.load(str(path), check_existing=True)
    if image.retro_meshes.mask_black:  # the same file, but without its black
        image = bpy.data.images.load(str(path), check_existing=False)
    if image not in known:
        # Colour and alpha as they are in the file: engines that do not blend show the colours under the alpha.
        image.alpha_mode = "CHANNEL_PACKED"
    return image


def _masked(path: Path) -> bpy.types.Image:
    """The picture with its black pixels transparent, packed: a copy, so that every renderer and exporter sees the holes."""
    for image in bpy.data.images:
        if image.retro_meshes.mask_black and bpy.path.abspath(image.filepath) == str(path):
            return image
    image = bpy.data.images.load(str(path), check_existing=False)
    image.alpha_mode = "CHANNEL_PACKED"
    image.retro_meshes.mask_black = True
    width, height = image.size
    pixels = np.empty(width * height * image.channels, np.float32)
    if not len(pixels) or image.channels != 4:
        return image
    image.pixels.foreach_get(pixels)
    rows = pixels.reshape(-1, 4)
    rows[:, 3] = rows[:, :3].any(1)
    image.pixels.foreach_set(pixels)
    image.file_format = "PNG"
    image.update()
    image.pack()
    return image


def _placeholder(picture: Image, folders: Sequence[Path]) -> bpy.types.Image:
    """An image without a file yet: Blender shows it in magenta, and "Find Missing Files" can mend it."""
    name = base_name(picture.name)
    path = str(folders[0] / name) if folders else name
    for image in bpy.data.images:
        if image.source == "FILE" and image.filepath == path and not image.packed_file:
            return image
    image = bpy.data.images.new(compat.short_name(name, "Image"), 1, 1)
    image.source = "FILE"
    image.filepath = path
    image.alpha_mode = "CHANNEL_PACKED"
    return image


def _mark_data(scene: Scene, images: Sequence[bpy.types.Image | None], fresh: set[bpy.types.Image]) -> None:
    """Images that no material uses as a colour hold plain numbers."""
    uses: dict[int, set[str]] = {}
    for material in scene.materials:
        for layer in material.layers:
            uses.setdefault(layer.image, set()).add(layer.use)
    for index, found in uses.items():
        image = images[index] if 0 <= index < len(images) else None
        if image is not None and image in fresh and found <= DATA_USES:
            image.colorspace_settings.name = "Non-Color"


def _warnings(missing: list[str], unreadable: list[str], folders: Sequence[Path]) -> list[str]:
    warnings = []
    if missing:
        names = ", ".join(dict.fromkeys(missing))
        places = ", ".join(str(folder) for folder in folders) or "no folder that exists"
        warnings.append(f"Images not found: {names}. Looked in: {places}. They are shown in magenta until they are found")
    if unreadable:
        names = ", ".join(dict.fromkeys(unreadable))
        warnings.append(f"Blender cannot read these images: {names}. Save them as PNG beside the model and import it again")
    return warnings
