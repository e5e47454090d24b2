# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of formats. A new format is one new folder and one new line here.

Every format package has the same face:

    read(data: bytes) -> Document           raises FormatError and nothing else; Document.warnings says what was odd
    write(document) -> bytes                the very bytes that were read, for a document that was not changed
    sniff(data: bytes) -> bool              do these first bytes look like this format?
    to_scene(document, ImportOptions()) -> Scene
    from_scene(scene, ExportOptions()) -> Document
    summary(document) -> list[str]          what is in the file, a line each, for people
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from . import b3d, bo3d, bogle, dbo, saturn
from .binary import FormatError

__all__ = ["FORMATS", "Format", "FormatError", "b3d", "bo3d", "bogle", "dbo", "saturn", "sniff"]


@dataclass(frozen=True)
class Format:
    id: str  # also the name of the operators: import_scene.<id>
    label: str
    extensions: tuple[str, ...]
    module: ModuleType


FORMATS: dict[str, Format] = {
    entry.id: entry
    for entry in (
        Format("b3d", "Blitz3D", (".b3d",), b3d),
        Format("bo3d", "BO3D", (".bo3d",), bo3d),
        Format("bogle", "BOGLE", (".bgl",), bogle),
        Format("dbo", "Dark Basic Pro", (".dbo",), dbo),
        Format("saturn", "Saturn Battle Character", (".bin",), saturn),
    )
}


def sniff(data: bytes) -> Format | None:
    """The format whose file this is by its first bytes, whatever it is called."""
    return next((entry for entry in FORMATS.values() if entry.module.sniff(data)), None)
