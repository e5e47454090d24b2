# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the pictures of a model are.

Names in old files are whatever the artist's machine had: absolute Windows paths, the wrong case, another extension. A name
is only ever looked up in listings of the folders that may be searched, part by part: what is not in a listing ("..", a drive,
a NUL) cannot be followed, and a link that leads out of those folders is not.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# What Blender loads, the likeliest stand-in first.
LOADABLE = (".png", ".tga", ".dds", ".bmp", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".jp2", ".psd", ".hdr", ".exr")
# What old files name besides, and Blender cannot load: taken only when there is nothing else.
UNLOADABLE = (".pcx", ".gif", ".iff", ".lbm", ".pcd", ".vtf", ".pic", ".tim")
PICTURES = (*LOADABLE, *UNLOADABLE, ".dib", ".jpe")
# Folders above the file's name that are tried: a name may be as long as the file says, the search may not.
DEPTH = 8


@dataclass
class Listing:
    """What is in a folder, by the names people and engines may call it."""

    files: dict[str, Path] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)
    stems: dict[str, list[Path]] = field(default_factory=dict)  # loadable pictures by name without extension, likeliest first

    @classmethod
    def of(cls, folder: Path) -> Listing:
        listing = cls()
        try:
            with os.scandir(folder) as entries:
                found = sorted((entry.name, *_kind(entry)) for entry in entries)
        except (OSError, ValueError):
            return listing
        for name, is_folder, is_file in found:
            kind = listing.folders if is_folder else listing.files
            if is_folder or is_file:  # not a pipe or a device
                kind.setdefault(_key(name), folder / name)
                kind[name] = folder / name  # the exact name wins over one that differs in case
            stem, extension = os.path.splitext(name)
            if is_file and extension.lower() in LOADABLE:
                listing.stems.setdefault(_key(stem), []).append(folder / name)
        for paths in listing.stems.values():
            paths.sort(key=lambda path: LOADABLE.index(path.suffix.lower()))
        return listing


class Finder:
    """The search for one import: every folder is listed once."""

    def __init__(self, model_folder: Path, extra_folders: Sequence[Path] = ()) -> None:
        self._listings: dict[Path, Listing] = {}
        model = Path(model_folder)
        given = [model, *map(Path, extra_folders)]
        nearby = [self._listing(folder).folders.get("textures") for folder in (given[0], model.absolute().parent, *given[1:])]
        candidates = [model, *nearby[:2], *(folder for pair in zip(given[1:], nearby[2:], strict=True) for folder in pair)]
        # A "textures" that is a link to elsewhere is not what the user allowed.
        inside = [folder.resolve() for folder in (model.absolute().parent / "textures", *given)]
        found = [folder for folder in candidates if folder is not None and folder.is_dir() and _within(folder, inside)]
        self.folders: list[Path] = list(dict.fromkeys(found))
        self._allowed = [folder.resolve() for folder in self.folders]

    def find(self, names: Sequence[str]) -> Path | None:
        """The first of the names, in the engine's order, that is in one of the folders; else one with another extension."""
        wanted = [parts for parts in map(name_parts, names) if parts]
        last_resort = None
        for stand_in in (False, True):
            for parts in wanted:
                for folder in self.folders:
                    for path in self._candidates(folder, parts, stand_in):
                        if not _within(path, self._allowed):
                            continue
                        if path.suffix.lower() not in UNLOADABLE:
                            return path
                        last_resort = last_resort or path
        return last_resort

    def _candidates(self, folder: Path, parts: list[str], stand_in: bool) -> Iterator[Path]:
        """The name below the folder as it is given, then with fewer and fewer of its folders, at last by itself."""
        for first in range(len(parts)):
            listing = self._listing(folder)
            for part in parts[first:-1]:
                below = _lookup(listing.folders, part)
                if below is None:
                    break
                listing = self._listing(below)
            else:
                if stand_in:
                    yield from listing.stems.get(_key(_stem(parts[-1])), ())
                elif (path := _lookup(listing.files, parts[-1])) is not None:
                    yield path

    def _listing(self, folder: Path) -> Listing:
        listing = self._listings.get(folder)
        if listing is None:
            listing = self._listings[folder] = Listing.of(folder)
        return listing


def find(names: Sequence[str], model_folder: Path, extra_folders: Sequence[Path] = ()) -> Path | None:
    """One search on its own; for many, keep a Finder."""
    return Finder(model_folder, extra_folders).find(names)


def missing_warning(names: Sequence[str], folders: Sequence[Path]) -> str:
    places = ", ".join(str(folder) for folder in folders) or "no folder that exists"
    return f"Images not found: {', '.join(dict.fromkeys(map(base_name, names)))}. Looked in: {places}"


def name_parts(name: str) -> list[str]:
    """The folders and the file of a name in any system's spelling; of "..", only what comes after it."""
    name = re.sub(r"^\s*[A-Za-z]:", "", name.split("\0", 1)[0])
    parts = [part.strip() for part in re.split(r"[\\/]+", name[-4096:])]
    parts = [part for part in parts if part not in ("", ".")]
    if ".." in parts:
        parts = parts[len(parts) - parts[::-1].index("..") :]
    return parts[-DEPTH:]


def base_name(name: str) -> str:
    """The file's own name, without folders; never empty."""
    parts = name_parts(name)
    return parts[-1] if parts else "unnamed"


def _kind(entry: os.DirEntry[str]) -> tuple[bool, bool]:
    """Is it a folder, is it a file?"""
    try:
        return entry.is_dir(), entry.is_file()
    except OSError:  # a loop of links
        return False, False


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _lookup(entries: dict[str, Path], name: str) -> Path | None:
    return entries.get(name) or entries.get(_key(name))


def _stem(name: str) -> str:
    """Without the extension, where that is a picture's: "wood.v2" is a name of its own."""
    stem, extension = os.path.splitext(name)
    return stem if extension.lower() in PICTURES else name


def _within(path: Path, folders: Sequence[Path]) -> bool:
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError):  # a loop of links
        return False
    return any(resolved.is_relative_to(folder) for folder in folders)
