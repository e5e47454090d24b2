# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices of any layout: numpy dtypes made from flexible vertex formats (FVF) and from vertex declarations."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...scene.sanitize import usable
from .document import Mesh

Array = npt.NDArray[Any]

# Flexible vertex formats, as Direct3D has them.
XYZ, XYZRHW, XYZW = 0x002, 0x004, 0x4002
POSITION_MASK = 0x400E
NORMAL, POINT_SIZE, DIFFUSE, SPECULAR = 0x010, 0x020, 0x040, 0x080
TEXTURE_SHIFT = 8
UV_FLOATS = (2, 3, 4, 1)  # by the two bits at 16 + 2 i

# Types of the elements of a declaration: floats, colours, bytes, shorts, halves.
ELEMENT_TYPES: dict[int, tuple[str, int]] = {
    0: ("<f4", 1),
    1: ("<f4", 2),
    2: ("<f4", 3),
    3: ("<f4", 4),
    4: ("u1", 4),
    5: ("u1", 4),
    6: ("<i2", 2),
    7: ("<i2", 4),
    8: ("u1", 4),
    9: ("<i2", 2),
    10: ("<i2", 4),
    11: ("<u2", 2),
    12: ("<u2", 4),
    15: ("<f2", 2),
    16: ("<f2", 4),
}
USAGES = {0: "position", 1: "weights", 2: "indices", 3: "normal", 5: "uv", 6: "tangent", 7: "binormal", 9: "position"}
USAGE_COLOR = 10

Columns = list[tuple[str, Any, int]]  # name, dtype, offset


def fvf_columns(fvf: int) -> Columns:
    """The columns of an FVF, in Direct3D's order."""
    columns: Columns = []
    offset = 0

    def add(name: str, dtype: str, count: int) -> None:
        nonlocal offset
        columns.append((name, np.dtype((dtype, (count,))), offset))
        offset += np.dtype(dtype).itemsize * count

    position = fvf & POSITION_MASK
    if position:
        add("position", "<f4", 3)
    if position in (XYZRHW, XYZW):
        add("w", "<f4", 1)
    elif XYZRHW < position < 0x4000:
        add("weights", "<f4", (position - XYZRHW) // 2)
    if fvf & NORMAL:
        add("normal", "<f4", 3)
    if fvf & POINT_SIZE:
        add("point_size", "<f4", 1)
    if fvf & DIFFUSE:
        add("diffuse", "u1", 4)
    if fvf & SPECULAR:
        add("specular", "u1", 4)
    for index in range(min(fvf >> TEXTURE_SHIFT & 15, 8)):
        add(f"uv{index}", "<f4", UV_FLOATS[fvf >> (16 + 2 * index) & 3])
    return columns


def declared_columns(elements: Array) -> Columns:
    """The columns of a vertex declaration.

    Layouts of 64 and 88 bytes call weights and bone numbers texture coordinates too, with four floats each: beside coordinates
    of two floats they are not taken. Of those that share a number, the first is.
    """
    ends = np.flatnonzero(elements["stream"] == 0xFF)
    columns: Columns = []
    seen: set[str] = set()
    rows = elements[: ends[0] if len(ends) else len(elements)]
    flat = {int(row["index"]) for row in rows if row["usage"] == 5 and row["type"] == 1}
    four = 3  # the type of four floats
    for row in rows:
        usage, kind = int(row["usage"]), int(row["type"])
        if kind not in ELEMENT_TYPES or row["stream"] != 0:
            continue
        if usage == USAGE_COLOR:
            name = "diffuse" if row["index"] == 0 else "specular"
        else:
            name = USAGES.get(usage, f"usage{usage}_")
        if name == "uv":
            if (int(row["index"]) in flat and kind != 1) or (flat and kind == four):
                continue
            name = f"uv{int(row['index'])}"
        if name not in seen:
            seen.add(name)
            dtype, count = ELEMENT_TYPES[kind]
            columns.append((name, np.dtype((dtype, (count,))), int(row["offset"])))
    return columns


def vertices(mesh: Mesh, warnings: list[str]) -> Array:
    """The vertices of a mesh as a structured array; columns that its stride has no room for are left out."""
    stride = int(mesh.stride)
    columns = fvf_columns(mesh.fvf) if mesh.fvf else declared_columns(mesh.declaration)
    if not columns:
        if mesh.vertices:
            warnings.append("A mesh says nothing of its vertices: their first three floats were taken as positions.")
        columns = fvf_columns(XYZ)
    if not 0 < stride <= len(mesh.vertices):
        stride = max(offset + dtype.itemsize for _, dtype, offset in columns)
    fitting = [column for column in columns if column[2] + column[1].itemsize <= stride]
    if len(fitting) < len(columns):
        warnings.append(f"A vertex of {stride} bytes has no room for all that its format names; the rest was left out.")
    dtype = np.dtype(
        {
            "names": [name for name, _, _ in fitting],
            "formats": [kind for _, kind, _ in fitting],
            "offsets": [offset for _, _, offset in fitting],
            "itemsize": stride,
        }
    )
    found = np.frombuffer(mesh.vertices, dtype, len(mesh.vertices) // stride)
    if len(found) != mesh.vertex_count:
        warnings.append(f"A mesh counts {mesh.vertex_count} vertices and has {len(found)}.")
    return found


def finite(values: Array, warnings: list[str], what: str) -> Array:
    """float32, with zeros for what is not a number, or none to reckon with."""
    values = values.astype(np.float32)
    good = usable(values)
    if good.all():
        return values
    warnings.append(f"Some {what} are no usable numbers; they were made zero.")
    return np.where(good, values, np.float32(0))


def make(fvf: int, count: int) -> Array:
    """An empty array of vertices of an FVF, to be filled column by column."""
    columns = fvf_columns(fvf)
    return np.zeros(count, np.dtype([(name, dtype) for name, dtype, _ in columns]))


# -------------------------------------------------------------------------------------------------------------- indices


def triangles(indices: Array, kind: int) -> Array:
    """The corners of triangles (k,) from a list, a strip or a fan, all wound alike; strips' degenerate joints are dropped."""
    count = len(indices)
    if kind == 5 and count >= 3:
        number = np.arange(count - 2)
        odd = number & 1
        faces = np.stack([indices[number], indices[number + 1 + odd], indices[number + 2 - odd]], 1)
    elif kind == 6 and count >= 3:
        number = np.arange(count - 2)
        faces = np.stack([np.repeat(indices[:1], count - 2), indices[number + 1], indices[number + 2]], 1)
    else:
        return indices[: count // 3 * 3]
    a, b, c = faces.T
    return faces[(a != b) & (b != c) & (a != c)].reshape(-1)


def lines(indices: Array, kind: int) -> Array:
    """(e, 2) from a list or a strip of lines."""
    if kind == 3:
        return np.stack([indices[:-1], indices[1:]], 1) if len(indices) > 1 else np.zeros((0, 2), indices.dtype)
    return indices[: len(indices) // 2 * 2].reshape(-1, 2)
