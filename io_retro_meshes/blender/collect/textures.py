# SPDX-License-Identifier: GPL-3.0-or-later
"""What an exported file calls its textures, and the pictures that are copied along."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path, PurePath
from types import ModuleType

import bpy

from ... import scene as neutral
from ...textures import base_name
from .images import save_image


def place_textures(
    scene: neutral.Scene, pictures: list[bpy.types.Image], folder: Path, mode: str, module: ModuleType
) -> list[Callable[[], None]]:
    """Names the scene's images as the file will. Returns the copies to make once the file itself is written.

    A format that looks for pictures of one kind in one place says so: TEXTURE_FOLDER, TEXTURE_EXTENSION.
    """
    place = folder / getattr(module, "TEXTURE_FOLDER", "")
    extension = getattr(module, "TEXTURE_EXTENSION", "")
    copies: list[Callable[[], None]] = []
    taken: set[str] = set()
    homeless: list[str] = []
    lost: list[str] = []
    for image, picture in zip(scene.images, pictures, strict=True):
        name = base_name(image.name) or "texture.png"
        if extension or (mode == "COPY" and not image.path):
            name = PurePath(name).stem + (extension or ".png")
        if mode == "COPY":
            name = _unused(name, taken)
            copies.append(_copy(image, picture, place / name))
            if not image.path and not all(picture.size):
                lost.append(name)
        elif not image.path and image.pixels is None:
            homeless.append(name)
        elif mode == "RELATIVE" and image.path:
            name = _relative(image.path, folder) or name
        image.name = name
    if homeless:
        scene.warnings.append(
            f"These textures have no file on disk: {', '.join(homeless)}. Choose Textures: Copy to save them with the model"
        )
    if lost:
        scene.warnings.append(f"These textures could not be copied, since Blender cannot find them: {', '.join(lost)}")
    return copies


def _unused(name: str, taken: set[str]) -> str:
    path, number = PurePath(name), 1
    while name.lower() in taken:
        name, number = f"{path.stem}_{number}{path.suffix}", number + 1
    taken.add(name.lower())
    return name


def _relative(path: str, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return ""


def _copy(image: neutral.Image, picture: bpy.types.Image, target: Path) -> Callable[[], None]:
    def copy() -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not image.path or Path(image.path).suffix.lower() != target.suffix.lower():
            save_image(picture, target)
        elif not (target.exists() and os.path.samefile(image.path, target)):
            partial = target.with_name(f".{target.name}.partial")
            shutil.copyfile(image.path, partial)
            os.replace(partial, target)

    return copy
