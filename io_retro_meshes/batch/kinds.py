# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files can be converted into what, by which way, and which of those met in a folder are meant."""

from __future__ import annotations

from pathlib import Path, PurePath

from .. import formats
from ..atomic import read_regular
from ..formats import FORMATS, AnyFormat

# What Blender reads and writes itself; blender/convert.py knows how.
FOREIGN_INPUTS = (".blend", ".obj", ".fbx", ".ply", ".stl", ".usd", ".usdc", ".usdz")
FOREIGN_OUTPUTS = ("glb", "gltf", "obj", "fbx", "ply", "stl", "usd", "blend")
GLTF = ("glb", "gltf")  # read and written without Blender, too
SNIFFED = 1 << 16  # bytes of a file that are looked at to tell its format


def outputs() -> list[str]:
    """The names of all formats that can be written."""
    return list(dict.fromkeys([*FOREIGN_OUTPUTS, *FORMATS]))


def extension(to: str) -> str:
    return f".{to}" if to in FOREIGN_OUTPUTS else FORMATS[to].extensions[0]


def output_of(suffix: str) -> str | None:
    """The format that a file to be written with this extension is meant to have."""
    return next((to for to in outputs() if extension(to) == suffix.lower()), None)


def writer_of(to: str, through_blender: bool) -> AnyFormat | None:
    """The format of ours that writes the results; None where Blender does."""
    if through_blender and to in FOREIGN_OUTPUTS:
        return None
    return FORMATS.get("gltf" if to in GLTF else to)


def format_of(path: Path) -> AnyFormat | None:
    """The format of a file: by its first bytes, else by its extension, unless that is everybody's."""
    return format_of_bytes(read_regular(path, SNIFFED), path.suffix)


def format_of_bytes(data: bytes, suffix: str) -> AnyFormat | None:
    return formats.sniff(data) or formats.by_extension(suffix)


def is_foreign(source: str) -> bool:
    """Does only Blender read it?"""
    return PurePath(source).suffix.lower() in FOREIGN_INPUTS


def by_name(name: str, to: str) -> bool | None:
    """Whether a file met in a folder is one to convert, as far as its name tells; None where only its bytes do.

    It is one of ours, or one that Blender can read, too, and that becomes one of ours.
    """
    suffix = PurePath(name).suffix.lower()
    if is_foreign(name):
        return to not in FOREIGN_OUTPUTS
    if suffix not in {known for entry in FORMATS.values() for known in entry.extensions}:
        return False
    found = formats.by_extension(suffix)
    return None if found is None or found is writer_of(to, False) else True


def by_bytes(data: bytes, suffix: str, to: str) -> bool:
    """The same for a file whose name does not tell."""
    found = format_of_bytes(data, suffix)
    return found is not None and found is not writer_of(to, False)


def needs_blender(source: str, to: str) -> bool:
    """Whether a conversion must go through Blender: one of the sides is none of our formats."""
    return is_foreign(source) or writer_of(to, False) is None
