# SPDX-License-Identifier: GPL-3.0-or-later
"""What an exported file calls its textures, and the pictures that go along with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import Protocol

from ..scene import Image, Scene
from .decode import NEEDS_PILLOW, PictureError
from .search import base_name
from .write import Picture, Shelf, bytes_of


class PictureRules(Protocol):
    """What a format says of its pictures: see formats/format.py."""

    @property
    def embeds(self) -> bool: ...
    @property
    def masks(self) -> bool: ...
    @property
    def texture_folder(self) -> str: ...
    @property
    def texture_extension(self) -> str: ...


def place_textures(
    scene: Scene, pictures: Sequence[Picture], path: Path, mode: str, format: PictureRules
) -> Callable[[], list[str]]:
    """Names the scene's images as the file at `path` will. Returns what copies them, once that file itself is written.

    A format that looks for pictures of one kind in one place says so: `texture_folder`, `texture_extension`.
    """
    if format.embeds:
        return list
    shelf = Shelf(path, format.texture_folder)
    homeless: list[str] = []
    troubles: dict[str, list[str]] = {}
    for image, picture in zip(scene.images, pictures, strict=True):
        beside = _beside(image, path, format) if mode == "AUTO" else ""
        if beside:
            image.name = beside
        elif mode in ("AUTO", "COPY"):
            image.name = _copied(image, picture, shelf, format, troubles)
        else:
            name = base_name(image.name)
            homeless += [] if image.path or image.pixels is not None else [name]
            named = _relative(image.path, path.parent) if mode == "RELATIVE" and image.path else ""
            image.moved = bool(named)
            image.name = _with_extension(named or name, format)
    if homeless:
        scene.warnings.append(
            f"These textures have no file on disk: {', '.join(homeless)}. Choose Textures: Copy to save them with the model"
        )
    scene.warnings += [f"These textures {trouble}: {', '.join(names)}" for trouble, names in troubles.items()]
    return shelf.write


def _beside(image: Image, path: Path, format: PictureRules) -> str:
    """The name of a picture that the engine finds where it is; nothing for one that has to be copied.

    A name that an imported file had stays as it was spelled, while it leads to the picture or to its stand-in of another kind.
    """
    baked = (image.mask_black or image.mean_alpha) and not format.masks
    if not image.path or baked or format.texture_folder or format.texture_extension:
        return ""
    try:
        found = Path(image.path).resolve().relative_to(path.parent.resolve()).as_posix()
    except (OSError, RuntimeError, ValueError):  # elsewhere, or a loop of links
        return ""
    if image.name.replace("\\", "/").casefold() == found.casefold():
        return image.name
    own, given = PurePath(found), base_name(image.name)
    return (own.parent / given).as_posix() if PurePath(given).stem.casefold() == own.stem.casefold() else found


def _copied(image: Image, picture: Picture, shelf: Shelf, format: PictureRules, troubles: dict[str, list[str]]) -> str:
    """The name of the copy; of a picture that cannot be copied, the one it has, and what went wrong in `troubles`."""
    bake = (image.mask_black or image.mean_alpha) and not format.masks
    trouble = ""
    try:
        data = bytes_of(picture, format.texture_extension, bake)
        trouble = "" if data is not None else "could not be copied, since they cannot be found"
    except PictureError as error:
        data, trouble = None, f"could not be copied ({error})"
        if bake and not format.texture_extension and str(error) == NEEDS_PILLOW:
            data = picture.encoded()
            trouble = f"were copied without the alpha that their engine makes of the colors ({NEEDS_PILLOW})"
    except OSError as error:
        data, trouble = None, f"could not be copied ({error.strerror or error})"
    name = base_name(image.name)
    if trouble:
        troubles.setdefault(trouble, []).append(name)
    image.moved = data is not None
    return _with_extension(name, format) if data is None else shelf.place(image.name, data)


def _with_extension(name: str, format: PictureRules) -> str:
    return PurePath(name).stem + format.texture_extension if format.texture_extension else name


def _relative(path: str, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return ""
