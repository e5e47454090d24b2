# SPDX-License-Identifier: GPL-3.0-or-later
"""Files beside a .gltf: buffers to read and write, pictures to write. A name in a file never leads out of its folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

from ...pictures import kinds
from ...pictures.write import Shelf
from .document import Document


def local_path(uri: str) -> str:
    """The path, relative to the document, that a URI means; empty if it means anything else."""
    if ":" in uri or "\0" in unquote(uri):
        return ""
    path = PurePosixPath(unquote(uri).replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in str(path):
        return ""
    return "" if str(path) == "." else str(path)


def companions(path: Path, document: Document) -> list[Path]:
    """The files that hold the document's buffers, as far as they are there and inside its folder."""
    folder = path.parent.resolve()
    found = []
    for buffer in document.root.parts("buffers"):
        inside = local_path(buffer.text("uri"))
        if not inside:
            continue
        try:
            target = (folder / inside).resolve()
            if target.is_relative_to(folder) and target.is_file():
                found.append(target)
        except (OSError, ValueError):  # a name that no file can have
            continue
    return list(dict.fromkeys(found))


def find(uri: str, documents: list[Document]) -> bytes | None:
    """The bytes of a file beside the document, among those that were read."""
    inside = local_path(uri)
    for document in documents if inside else []:
        for name, data in document.files.items():
            if name == inside or name.endswith("/" + inside):
                return data
    return None


def companion_files(path: Path, document: Document) -> list[tuple[Path, bytes]]:
    """What to write beside the document. A file that is there already and is not this document's gets out of nobody's way:
    the new one has another name, and the document says so."""
    old = _read(Path(os.path.realpath(path)))
    shelf = Shelf(path)
    renamed: dict[str, str] = {}
    found = []
    for uri, data in document.files.items():
        name = unquote(uri)
        if kinds.extensions(data[: kinds.HEAD]) and PurePosixPath(name).suffix != ".bin":
            name = shelf.place(name, data)
        target, number = path.parent / name, 0
        while _is_other(target, data, old):
            number += 1
            target = path.parent / f"{PurePosixPath(name).stem}_{number}{PurePosixPath(name).suffix}"
        renamed[uri] = quote(target.name)
        found.append((target, data))
    for entry in [*document.json.get("buffers", []), *document.json.get("images", [])]:
        if entry.get("uri") in renamed:
            entry["uri"] = renamed[entry["uri"]]
    document.files = {renamed[uri]: data for uri, data in document.files.items()}
    return found


def _is_other(target: Path, data: bytes, old: bytes | None) -> bool:
    """Is there a file that is neither the same nor a buffer of the document that is about to be replaced?"""
    there = _read(target)
    if there is None:
        return os.path.lexists(target)
    own = target.suffix == ".bin" and old is not None and quote(target.name).encode() in old
    return there != data and not own


def _read(path: Path) -> bytes | None:
    """The bytes of a file; None where there is none, or a link, a pipe or a folder."""
    try:
        return path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else None
    except OSError:
        return None
