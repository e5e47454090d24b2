# SPDX-License-Identifier: GPL-3.0-or-later
"""Levels of detail: blocks 500 to 505 of a mesh, counts and lists of indices of coarser meshes over the same vertices.

They travel through a scene as one text in the settings of the mesh, "vertices|code:bytes|…", and are written again while the
mesh has the vertices they are about.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .document import Mesh

Array = npt.NDArray[Any]

CODES = range(500, 506)


def blocks(mesh: Mesh) -> dict[int, bytes]:
    return {code: data for code in CODES if (data := getattr(mesh, f"lod_{code}"))}


def lists(found: dict[int, bytes]) -> dict[int, Array]:
    """The lists of indices, by code: blocks of as many WORDs as some block of four bytes says."""
    counts = {int.from_bytes(data, "little") for data in found.values() if len(data) == 4}
    return {
        code: np.frombuffer(data, "<u2").astype(np.int32)
        for code, data in found.items()
        if len(data) != 4 and len(data) % 2 == 0 and len(data) // 2 in counts
    }


def pack(mesh: Mesh) -> str:
    found = blocks(mesh)
    return "|".join([str(int(mesh.vertex_count)), *(f"{code}:{data.hex()}" for code, data in found.items())]) if found else ""


def unpack(text: str) -> tuple[int, dict[int, bytes]]:
    """The number of vertices and the blocks; none where the text is not of this kind."""
    count, *parts = text.split("|")
    try:
        found = {int(code): bytes.fromhex(data) for code, _, data in (part.partition(":") for part in parts)}
        return int(count), {code: data for code, data in found.items() if code in CODES}
    except ValueError:
        return 0, {}


def write(mesh: Mesh, text: str, count: int, source: Array) -> bool:
    """Puts the blocks into a mesh that is made of `count` vertices, of which row i of the file is `source[i]`. Do they fit?"""
    known, found = unpack(text)
    if not found or known != count:
        return not found
    row = np.full(count, -1, np.int64)
    row[source[::-1]] = np.arange(len(source))[::-1]  # the first of equal ones
    same = len(source) == count and np.array_equal(source, np.arange(count))
    indices = lists(found)
    moved = {code: row[np.minimum(values, count - 1)] for code, values in indices.items() if (values < count).all()}
    if not same and (len(moved) < len(indices) or not indices or any((values < 0).any() for values in moved.values())):
        return False
    for code, data in found.items():
        setattr(mesh, f"lod_{code}", data if same or code not in moved else moved[code].astype("<u2").tobytes())
    return True
