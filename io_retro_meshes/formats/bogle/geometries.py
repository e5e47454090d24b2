# SPDX-License-Identifier: GPL-3.0-or-later
"""The files beside a scene of layout GEOMETRIES: geometries/<file name>.bgg, one a geometry.

Numbers of vertices and indices, the vertices, the indices, and nothing after. The engine looks in the folder `geometries` of
the folder it runs in.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

from ..binary import Reader, Writer, decode, encode
from .document import SKINNED_VERTEX, Document, Geometry

FOLDER = "geometries"
EXTENSION = ".bgg"
# What a name in a file may look like to be looked for: it must not lead out of the folder.
PLAIN = re.compile(r"[^/\\:\0]+")


def path_of(folder: Path, file: bytes) -> Path | None:
    """Where a geometry's file is below a folder; None for a name that is no plain one."""
    name = decode(file)
    if not PLAIN.fullmatch(name) or name.strip(". ") == "":
        return None
    return folder / FOLDER / (name + EXTENSION)


def companions(path: Path, document: Document) -> list[Path]:
    """The files of the geometries that are there: beside the scene, or where scenes have a folder of their own, beside that."""
    found = []
    for file in dict.fromkeys(geometry.file for geometry in document.geometries):
        places = [path_of(folder, file) for folder in (path.parent, path.parent.parent)]
        found += [place for place in places if place is not None and place.is_file()][:1]
    return found


def read(path: Path, data: bytes) -> Document:
    """A document with nothing but the one geometry."""
    reader = Reader(data)
    vertices, indices = reader.u32("number of vertices"), reader.u32("number of indices")
    made = Geometry(reader.array(SKINNED_VERTEX, vertices, "vertices"), reader.array("<u4", indices, "indices"))
    made.file = encode(path.name[: -len(EXTENSION)])
    if reader.remaining:
        raise reader.error(f"{reader.remaining} bytes follow the indices", "end")
    return Document("GEOMETRIES", geometries=[made])


def write(geometry: Geometry) -> bytes:
    out = Writer()
    out.u32(len(geometry.vertices))
    out.u32(len(geometry.indices))
    out.array(geometry.vertices)
    out.array(geometry.indices)
    return bytes(out.data)


def joined(document: Document, beside: list[Document]) -> Document:
    """The document with the vertices of its geometries, and a warning about those that are nowhere."""
    known = {geometry.file: geometry for each in beside for geometry in each.geometries}
    made, missing = [], []
    for geometry in document.geometries:
        found = known.get(geometry.file)
        if found is None and not len(geometry.vertices):
            missing.append(decode(geometry.file) + EXTENSION)
        made.append(geometry if found is None else replace(geometry, vertices=found.vertices, indices=found.indices))
    warnings = list(document.warnings)
    if missing:
        warnings.append(f"Geometries not found: {', '.join(missing[:5])}. They belong in the folder {FOLDER} beside the scene.")
    return replace(document, geometries=made, warnings=warnings)


def file_name(geometry: Geometry) -> bytes:
    """A name that no other contents have: scenes share the folder, and one must not take the place of another's geometry."""
    plain = re.sub(r"[^A-Za-z0-9 ._-]", "_", decode(geometry.name)).strip(". ") or "geometry"
    return f"{plain[:40]}-{hashlib.sha256(write(geometry)).hexdigest()[:8]}".encode()


def companion_files(path: Path, document: Document) -> list[tuple[Path, bytes]]:
    found = {}
    for geometry in document.geometries:
        target = path_of(path.parent, geometry.file)
        if target is not None and len(geometry.vertices):
            found[target] = write(geometry)
    return list(found.items())
