# SPDX-License-Identifier: GPL-3.0-or-later
"""The only place where pictures are written, by exports from Blender and by conversions alike.

A name in a file is never a path to write to. Pictures get names that every system can hold, with the extension of what they
really are, in one folder; nothing that is there already is ever written over or followed, so that a picture that cannot have
its name gets another, which the model then refers to.
"""

from __future__ import annotations

import itertools
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ..atomic import create_atomically
from . import kinds, png
from .decode import PictureError, Pixels
from .names import key, safe_name, shortened


class Picture(Protocol):
    """A picture that can be written: its file as it is, or its pixels. Both may raise PictureError or OSError."""

    def encoded(self) -> bytes | None: ...

    def pixels(self) -> Pixels | None:
        """As the engine shows it, (height, width, 4) RGBA, bottom row first."""

    def altered(self) -> bool:
        """Are these pixels other than those of the file?"""


@dataclass
class Shelf:
    """The folder that the pictures of a model are put into, and the names in it."""

    model: Path
    subfolder: str = ""  # of the model's folder, where the engine looks for them
    folder: Path = field(init=False)
    _taken: dict[str, tuple[str, bytes]] = field(default_factory=dict, init=False)  # by key: the name, what it holds
    _waiting: dict[str, bytes] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.folder = self.model.parent / self.subfolder
        self._taken = {key(self.model.name): (self.model.name, b"")}
        self._there = _listing(self.folder)

    def place(self, name: str, data: bytes) -> str:
        """The name that a picture gets. It is written later."""
        wanted = safe_name(name, kinds.extensions(data[: kinds.HEAD]))
        stem, extension = os.path.splitext(wanted)
        for number in itertools.count():
            free = shortened(stem, extension, number)
            taken = self._taken.get(key(free))
            if taken is not None:
                if taken[1] == data:
                    return taken[0]
                continue
            there = self._there.get(key(free))
            if there is not None and not _holds(self.folder / there, data):
                continue
            if there is None:
                self._waiting[free] = data
            self._taken[key(free)] = (there or free, data)
            return there or free
        raise AssertionError("there are always more numbers")

    def write(self) -> list[str]:
        """Writes what has been placed, and says what could not be written."""
        if not self._waiting:
            return []
        warnings = []
        try:
            self.folder.mkdir(exist_ok=True)
            if self.subfolder and self.folder.is_symlink():
                raise OSError(f"{self.folder} is a link to another folder")
        except OSError as error:
            return [f"The textures were not copied: {error.strerror or error}"]
        for name, data in self._waiting.items():
            try:
                create_atomically(self.folder / name, data)
            except OSError as error:
                warnings.append(f"The texture {name} was not copied: {error.strerror or error}")
        self._waiting = {}
        return warnings


def bytes_of(picture: Picture, extension: str, bake: bool) -> bytes | None:
    """The file to write for a picture: the one it has, where that will do, else a new PNG. None: there is nothing to write.

    `extension`: of the only kind that will do. `bake`: the format cannot say which alpha the engine is to make of the colours.
    Raises PictureError or OSError.
    """
    if not (bake and picture.altered()):
        data = picture.encoded()
        found = kinds.extensions(data[: kinds.HEAD]) if data is not None else ()
        if data is not None and not found:
            raise PictureError("it is no picture")
        if data is not None and (not extension or extension in found):
            return data
    pixels = picture.pixels()
    return None if pixels is None else png.encode(pixels)


def _listing(folder: Path) -> dict[str, str]:
    """Everything in the folder, whatever it is, by key."""
    try:
        return {key(name): name for name in sorted(os.listdir(folder))}
    except OSError:
        return {}


def _holds(path: Path, data: bytes) -> bool:
    """Is this a file, not a link, with just these bytes?"""
    try:
        found = path.lstat()
        return stat.S_ISREG(found.st_mode) and found.st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False
