# SPDX-License-Identifier: GPL-3.0-or-later
"""What results are called.

A name follows from the source's path and the files that lie beside it, never from what else is in the call: a run can be
repeated with more files, with fewer, or in parts, and each result is found where it was.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path, PurePath, PurePosixPath

from . import remote
from .kinds import SNIFFED, by_bytes, by_name, extension


def stable_hash(text: str) -> int:
    """The same on every machine and in every run."""
    return int.from_bytes(hashlib.blake2b(os.fsencode(text), digest_size=8).digest(), "big")


def _tag(text: str) -> str:
    return f"{stable_hash(text):016x}"[:8]


class KeptFolders:
    """For several inputs: the path below the working folder or below OUT, whichever is nearer, else below the folder OUT is in.

    From elsewhere it is the path below what was given, in a folder of that name with a hash of where it is; so it is where
    the working folder, or OUT, has a file whose result would have the name.
    """

    def __init__(self, output: str, names: ResultNames) -> None:
        self._names = names
        self._here = os.getcwd()
        self._out = "" if remote.is_remote(output) else os.path.abspath(output)
        self._near = os.path.dirname(self._out)
        self._listed = lru_cache(maxsize=256)(_names)

    def inside(self, source: str, base: str) -> PurePosixPath:
        """`base`: the folder that was given, or that the file or the pattern is in."""
        if remote.is_remote(source):
            return PurePosixPath(source.partition("://")[2].lstrip("/"))
        path = Path(os.path.abspath(source))
        is_here = path.is_relative_to(self._here)
        if self._out and path.is_relative_to(self._out) and not (is_here and Path(self._here).is_relative_to(self._out)):
            found = path.relative_to(self._out)
            if not self._is_taken(found, self._here):
                return PurePosixPath(found.as_posix())
        if is_here:
            return PurePosixPath(path.relative_to(self._here).as_posix())
        if self._near and path.is_relative_to(self._near):
            found = path.relative_to(self._near)
            if not self._is_taken(found, self._here) and not self._is_taken(found, self._out):
                return PurePosixPath(found.as_posix())
        top = Path(os.path.abspath(base))
        return PurePosixPath(f"{top.name or 'root'}-{_tag(top.as_posix())}") / path.relative_to(top).as_posix()

    def _is_taken(self, found: Path, root: str) -> bool:
        """Has this folder a file whose result may have the same name? Results themselves, from an earlier run, are none."""
        folder = os.path.join(root, found.parent)
        for name in self._listed(folder):
            if name == found.name and root != self._out:
                return True
            if _stems(name) & _stems(found.name) and self._names.is_wanted(os.path.join(folder, name), name):
                return True
        return False


class ResultNames:
    """The name of a result. Of files that differ in their extension only, the likeliest one gets the plain name."""

    def __init__(self, to: str) -> None:
        self._to = to
        self._extension = extension(to)
        self._rivals: Callable[[str], dict[str, str]] = lru_cache(maxsize=256)(self._find_rivals)

    def result(self, source: str, inside: PurePosixPath) -> PurePosixPath:
        path = PurePath(source)
        if self._winner(source) == path.name:
            return inside.with_name(path.stem + self._extension)
        stem = path.name.replace(".", "_")  # hero_dbo, beside hero
        if any(PurePath(name).stem.casefold() == stem.casefold() for name in _names(_folder(source))):
            stem = f"{stem}-{_tag(path.name)}"
        return inside.with_name(stem + self._extension)

    def is_wanted(self, source: str, name: str) -> bool:
        """Is a file that was met in a folder one to convert? One that cannot be read is: the failure is to be told."""
        wanted = by_name(name, self._to)
        if wanted is not None:
            return wanted
        try:
            return by_bytes(_start(source), PurePath(name).suffix, self._to)
        except OSError:
            return True

    def _winner(self, source: str) -> str:
        path = PurePath(source)
        key = path.stem.casefold()
        if by_name(path.name, self._to) is not False:
            return self._rivals(_folder(source)).get(key, path.name)
        # a file with a strange extension, that somebody asked for by its name: it comes after the usual ones
        names = [name for name in _names(_folder(source)) if PurePath(name).stem.casefold() == key]
        return self._first(_folder(source), [*names, path.name])

    def _find_rivals(self, folder: str) -> dict[str, str]:
        """Stems that several convertible files of a folder have, each with the file that gets the plain name."""
        stems: dict[str, list[str]] = {}
        for name in _names(folder):
            if by_name(name, self._to) is not False:
                stems.setdefault(PurePath(name).stem.casefold(), []).append(name)
        return {stem: self._first(folder, names) for stem, names in stems.items() if len(names) > 1}

    def _first(self, folder: str, names: Iterable[str]) -> str:
        return min(names, key=lambda name: (not self.is_wanted(_join(folder, name), name), name))


def _stems(name: str) -> set[str]:
    """What the result of a file may be called."""
    return {PurePath(name).stem.casefold(), name.replace(".", "_").casefold()}


# ------------------------------------------------------------------------------------------------------ either storage


def _folder(source: str) -> str:
    return remote.parent(source) if remote.is_remote(source) else os.path.dirname(os.path.abspath(source))


def _join(folder: str, name: str) -> str:
    return remote.join(folder, name) if remote.is_remote(folder) else os.path.join(folder, name)


def _names(folder: str) -> list[str]:
    """What lies in a folder; nothing, where it cannot be listed."""
    try:
        if remote.is_remote(folder):
            system, path = remote.filesystem(folder)
            return [PurePosixPath(name).name for name in system.ls(path, detail=False)]
        return os.listdir(folder)
    except OSError:
        return []


def _start(source: str) -> bytes:
    if remote.is_remote(source):
        return remote.read_start(source, SNIFFED)
    with open(source, "rb") as file:
        return file.read(SNIFFED)
