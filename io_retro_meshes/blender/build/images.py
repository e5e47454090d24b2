# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures: found on disk, made from pixels, or a placeholder that the user can point at the right file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import bpy
import numpy as np

from ...pictures import masks, sizes
from ...pictures.search import UNLOADABLE, Finder, base_name, missing_warning
from ...scene import Scene
from .. import compat
from ..pixels import image_pixels, set_color_space

# Uses whose values are not colours.
DATA_USES = {"NORMAL", "ROUGHNESS", "METALLIC", "OCCLUSION"}


def build_images(
    scene: Scene, model_folder: Path, extra_folders: Sequence[Path] = ()
) -> tuple[list[bpy.types.Image | None], list[str]]:
    """An image for each of the scene's, and a warning about those that were not found. Every file is loaded once."""
    if not scene.images:
        return [], []
    finder = Finder(model_folder, extra_folders)
    before = set(bpy.data.images)
    files = _files()
    made: list[bpy.types.Image | None] = []
    missing: list[str] = []
    unreadable: list[str] = []
    troubles: list[str] = []
    for picture in scene.images:
        if picture.pixels is not None:
            made.append(from_pixels(picture.name, picture.pixels))
            continue
        path = finder.find(picture.names or (picture.name,))
        key = (str(path or model_folder / base_name(picture.name)), picture.mask_black, picture.mean_alpha)
        if path is None:
            missing.append(base_name(picture.name))
        elif path.suffix.lower() in UNLOADABLE:
            unreadable.append(path.name)
        if key not in files:
            trouble = "" if path is None else sizes.trouble(path)
            if path is not None and trouble:
                troubles.append(f"The image {path.name} was not loaded: {trouble}")
            files[key] = _placeholder(*key, bool(trouble)) if path is None or trouble else _load(*key)
            if path is not None and not trouble and path.name not in unreadable and not all(files[key].size):
                unreadable.append(path.name)
        made.append(files[key])
    fresh = {image for image in made if image is not None and image not in before}
    for picture, image in zip(scene.images, made, strict=True):
        if image in fresh and image is not None:
            image.retro_meshes.name = picture.name
    _mark_data(scene, made, fresh)
    return made, [*_warnings(missing, unreadable, finder.folders), *troubles]


def from_pixels(name: str, pixels: np.ndarray) -> bpy.types.Image:
    """A packed image of RGBA bytes, bottom row first."""
    height, width = pixels.shape[:2]
    image = bpy.data.images.new(compat.short_name(base_name(name), "Image"), width, height, alpha=True)
    image.alpha_mode = "CHANNEL_PACKED"
    image.pixels.foreach_set((pixels.astype(np.float32) / np.float32(255)).reshape(-1))
    image.update()
    image.pack()
    return image


def _load(path: str, mask_black: bool, mean_alpha: bool) -> bpy.types.Image:
    image = bpy.data.images.load(path, check_existing=False)
    has_alpha = image.depth not in (8, 24)
    if all(image.size) and masks.alters(mask_black, mean_alpha, has_alpha, dds=path.lower().endswith(".dds")):
        image = _with_alpha(image, mask_black)
        image.retro_meshes.source = path
    # Colour and alpha as they are in the file: engines that do not blend show the colours under the alpha.
    image.alpha_mode = "CHANNEL_PACKED"
    settings = image.retro_meshes
    settings.mask_black, settings.mean_alpha = mask_black, mean_alpha
    return image


def _with_alpha(image: bpy.types.Image, mask_black: bool) -> bpy.types.Image:
    """A new image that holds the alpha which the engine makes of the colours, packed: it is the same wherever it goes.

    The user's file stays what it is; saved from here, a picture without alpha would be without it again.
    """
    pixels = image_pixels(image)
    name = image.name
    bpy.data.images.remove(image)
    masks.set_alpha(pixels, mask_black)
    return from_pixels(name, pixels)


def variant(image: bpy.types.Image, mask_black: bool, mean_alpha: bool) -> bpy.types.Image:
    """The same picture with its alpha made in another way: from its file, where that is still what Blender shows."""
    path = bpy.path.abspath(image.retro_meshes.source or (image.filepath if image.source == "FILE" else ""))
    if path and Path(path).is_file() and not image.is_dirty:
        key = (path, mask_black, mean_alpha)
        made = _files().get(key) or _load(*key)
    else:
        made = _altered(image, mask_black, mean_alpha)
    made.retro_meshes.name = made.retro_meshes.name or image.retro_meshes.name
    return made


def _altered(image: bpy.types.Image, mask_black: bool, mean_alpha: bool) -> bpy.types.Image:
    """A copy of what Blender shows, with its alpha made of its colours, or none."""
    pixels = image_pixels(image)
    if pixels is None or (image.retro_meshes.mask_black, image.retro_meshes.mean_alpha) == (mask_black, mean_alpha):
        return image
    if mask_black or mean_alpha:
        masks.set_alpha(pixels, mask_black)
    else:
        pixels[..., 3] = 255
    made = from_pixels(image.name, pixels)
    made.retro_meshes.mask_black, made.retro_meshes.mean_alpha = mask_black, mean_alpha
    return made


def _files() -> dict[tuple[str, bool, bool], bpy.types.Image]:
    """The images that are in Blender already, by file and how their alpha was made."""
    return {
        (bpy.path.abspath(image.retro_meshes.source or image.filepath), *_how(image)): image
        for image in reversed(bpy.data.images)
        if (image.source == "FILE" or image.retro_meshes.source) and image.library is None
    }


def _how(image: bpy.types.Image) -> tuple[bool, bool]:
    return image.retro_meshes.mask_black, image.retro_meshes.mean_alpha


def _placeholder(path: str, mask_black: bool, mean_alpha: bool, unloaded: bool = False) -> bpy.types.Image:
    """An image without a file yet: Blender shows it in magenta, and "Find Missing Files" can mend it.

    Where something is at its path that was not taken (a link to elsewhere, a pipe, a picture that is too large), it has no path
    either: Blender would follow it as soon as it draws the image.
    """
    image = bpy.data.images.new(compat.short_name(Path(path).name, "Image"), 1, 1)
    image.source = "FILE"
    image.filepath = "" if unloaded or os.path.lexists(path) else path
    image.retro_meshes.mask_black, image.retro_meshes.mean_alpha = mask_black, mean_alpha
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
            set_color_space(image, "Non-Color")


def _warnings(missing: list[str], unreadable: list[str], folders: Sequence[Path]) -> list[str]:
    warnings = []
    if missing:
        warnings.append(f"{missing_warning(missing, folders)}. They are shown in magenta until they are found")
    if unreadable:
        names = ", ".join(dict.fromkeys(unreadable))
        warnings.append(f"Blender cannot read these images: {names}. Save them as PNG beside the model and import it again")
    return warnings
