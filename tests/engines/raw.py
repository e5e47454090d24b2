# SPDX-License-Identifier: GPL-3.0-or-later
"""What model files say of every corner of every face, taken from their bytes: nothing here is shared with the project.

A face is an array of one row a corner, with the columns below, in Blender's axes with V up. What a file does not say is NaN.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .dbo import Loader

Array = np.ndarray[Any, Any]

POSITION, NORMAL, UV, COLOR, SECOND_UV = slice(0, 3), slice(3, 6), slice(6, 8), slice(8, 12), slice(12, 14)
COLUMNS = 14


def table(positions: Array, normals: Array | None, uvs: list[Array], colors: Array | None) -> Array:
    """One row a vertex or corner."""
    rows = np.full((len(positions), COLUMNS), np.nan)
    rows[:, POSITION] = positions
    if normals is not None:
        rows[:, NORMAL] = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    for columns, values in zip((UV, SECOND_UV), uvs, strict=False):
        rows[:, columns] = values
    if colors is not None:
        rows[:, 8 : 8 + colors.shape[1]] = colors
    return rows


def flipped(uv: Array) -> Array:
    return np.stack([uv[:, 0], 1 - uv[:, 1]], 1)


# ----------------------------------------------------------------------------------------------------------------- b3d


def b3d(data: bytes) -> list[Array]:
    """Y up, left-handed: Y and Z change places, which turns the faces round. V goes down."""
    found: list[Array] = []
    waiting = [(12, len(data))]
    while waiting:
        for tag, start, end in _b3d_chunks(data, *waiting.pop()):
            if tag == b"NODE":
                waiting.append((data.index(b"\0", start) + 1 + 40, end))
            elif tag == b"MESH":
                found += _b3d_mesh(data, start + 4, end)
    return found


def _b3d_chunks(data: bytes, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    while at < end:
        tag, size = struct.unpack_from("<4si", data, at)
        yield tag, at + 8, at + 8 + size
        at += 8 + size


def _b3d_mesh(data: bytes, start: int, end: int) -> list[Array]:
    found: list[Array] = []
    for tag, at, stop in _b3d_chunks(data, start, end):
        if tag == b"VRTS":
            flags, sets, size = struct.unpack_from("<3i", data, at)
            width = 3 + 3 * (flags & 1) + 2 * (flags & 2) + sets * size
            values = np.frombuffer(data[at + 12 : stop], "<f4").reshape(-1, width)
            after = 3 + 3 * (flags & 1)
            uvs = [flipped(values[:, width - (sets - i) * size :][:, :2]) for i in range(sets)]
            colors = values[:, after : after + 4] if flags & 2 else None
            rows = table(values[:, [0, 2, 1]], values[:, [3, 5, 4]] if flags & 1 else None, uvs, colors)
        elif tag == b"TRIS":
            found += [rows[ids[[0, 2, 1]]] for ids in np.frombuffer(data[at + 4 : stop], "<i4").reshape(-1, 3)]
    return found


# ---------------------------------------------------------------------------------------------------------------- bo3d


def bo3d(data: bytes) -> list[Array]:
    """Y up, right-handed: a quarter turn. V goes down."""
    _, _, count, _, bits = struct.unpack_from("<4s4i", data)
    found: list[Array] = []
    at = 20
    for _ in range(count):
        size, keys, name, vertices = (struct.unpack_from("<i", data, at + place)[0] for place in (0, 52, 56, 60))
        if vertices:
            colors, triangles = struct.unpack_from("<2i", data, at + 64)
            start = _four(at + 64 + 28 + 44 * keys + name)
            floats = np.frombuffer(data, "<f2" if bits == 16 else "<f4", 8 * vertices, start).reshape(-1, 8).astype(float)
            start += vertices * bits
            paint = np.frombuffer(data, "u1", 3 * colors, start).reshape(-1, 3) / 255 if colors == vertices else None
            corners = np.frombuffer(data, "<u2", 3 * triangles, _four(start + 3 * colors)).reshape(-1, 3)
            axes, signs = [0, 2, 1], [1, -1, 1]
            uvs = [flipped(floats[:, :2])] if floats[:, :2].any() else []  # all zero: a mesh without a texture
            rows = table(floats[:, 5:][:, axes] * signs, floats[:, 2:5][:, axes] * signs, uvs, paint)
            found += list(rows[corners])
        at = _four(at + size)
    return found


def _four(offset: int) -> int:
    return -(-offset // 4) * 4


# --------------------------------------------------------------------------------------------------------------- bogle


def bogle(data: bytes, layout: str = "SEED") -> list[Array]:
    """Blender's own axes, V up."""
    cameras, geometries = struct.unpack_from("<2I", data, 6)
    at = 6 + (24 if layout == "ANIM" else 20) + 16
    width = 20 if layout == "ANIM" else 14
    for _ in range(cameras):
        at = _named(data, at + 1, layout) + 21
    found: list[Array] = []
    for _ in range(geometries):
        at = _named(data, at + 1, layout)
        vertices, indices = struct.unpack_from("<2I", data, at)
        values = np.frombuffer(data, "<f4", vertices * width, at + 8).reshape(-1, width)
        at += 8 + 4 * width * vertices
        corners = np.frombuffer(data, "<u4", indices, at).reshape(-1, 3)
        at += 4 * indices
        found += list(table(values[:, :3], values[:, 5:8], [values[:, 3:5]], None)[corners])
    return found


def _named(data: bytes, at: int, layout: str) -> int:
    """Past a name, where the layout has one."""
    return at if layout == "SEED" else at + 4 + struct.unpack_from("<I", data, at)[0]


# ----------------------------------------------------------------------------------------------------------------- dbo


def dbo(data: bytes) -> list[Array]:
    """Y up, left-handed: Y and Z change places, which turns the faces round. V goes down, colours are blue, green, red."""
    found: list[Array] = []
    waiting = [Loader(data).root[1]]
    while waiting:
        frame = waiting.pop()
        waiting += [frame[code] for code in (104, 105) if frame.get(code)]
        if frame.get(103):
            found += _dbo_mesh(frame[103])
    return found


def _dbo_mesh(mesh: dict[int, Any]) -> list[Array]:
    fvf, stride = mesh[111], mesh[112]
    assert fvf & ~0xF50 == 2, "a plain format: position, normal, perhaps a colour, pairs of coordinates"
    values = np.frombuffer(mesh[115], "u1").reshape(-1, stride)
    floats = values.copy().view("<f4")
    at = 6 + bool(fvf & 0x40)
    uvs = [flipped(floats[:, at + 2 * i : at + 2 * i + 2]) for i in range(fvf >> 8 & 15)]
    colors = values[:, [26, 25, 24, 27]] / 255 if fvf & 0x40 else None
    rows = table(floats[:, [0, 2, 1]], floats[:, [3, 5, 4]], uvs, colors)
    return [rows[ids[[0, 2, 1]]] for ids in mesh[116].reshape(-1, 3)]


# -------------------------------------------------------------------------------------------------------------- saturn


def saturn(data: bytes) -> list[Array]:
    """Y down, right-handed: a quarter turn. Faces of four points only: they show a whole picture each, or a colour."""
    (start,) = struct.unpack_from(">I", data, 32)
    model = data[start:]
    found: list[Array] = []
    for offset in _until_end(model, struct.unpack_from(">I", model)[0], 1):
        for row in _until_end(model, int(offset), 6) if offset else ():
            found += _saturn_mesh(model, *row.tolist())
    return found


def _until_end(model: bytes, at: int, width: int) -> Array:
    """Big-endian words from here to the one with all bits set; rows of them."""
    words = np.frombuffer(model[at : len(model) // 4 * 4 + at % 4], ">u4")
    firsts = words[::width]
    count = int(np.argmax(firsts == 0xFFFFFFFF))
    rows = words[: count * width].reshape(count, width)
    return rows[:, 0] if width == 1 else rows


def _saturn_mesh(
    model: bytes, points: int, count: int, polygons: int, faces: int, attributes: int, normals: int
) -> list[Array]:
    places = np.frombuffer(model, ">i4", 3 * count, points).reshape(-1, 3) / 65536
    ways = np.frombuffer(model, ">i2", 3 * count, normals).reshape(-1, 3) / 4096
    rows = table(places[:, [0, 2, 1]] * [1, 1, -1], ways[:, [0, 2, 1]] * [1, 1, -1], [], None)
    found = []
    for number in range(faces):
        quad = np.frombuffer(model, ">u2", 4, polygons + 20 * number + 12)
        color, _, way = np.frombuffer(model, ">u2", 3, attributes + 12 * number + 6).astype(int)
        if len(set(quad.tolist())) < 4:
            continue
        corners = rows[quad]
        if way & 15 == 2:
            corners[:, UV] = [(0, 1), (1, 1), (1, 0), (0, 0)]  # top left, top right, bottom right, bottom left
            corners[:, UV] = np.abs(corners[:, UV] - [way >> 4 & 1, way >> 5 & 1])
        else:
            corners[:, COLOR] = [(color & 31) / 31, (color >> 5 & 31) / 31, (color >> 10 & 31) / 31, 1]
        found.append(corners)
    return found


# ------------------------------------------------------------------------------------------------------------- compare


def ordered(faces: Iterable[Array]) -> list[Array]:
    """Each face from its lowest corner on, and the faces by where they are: whatever order they came in."""
    turned = []
    for face in faces:
        places = [tuple(place) for place in (np.round(face[:, POSITION], 3) + 0.0).tolist()]
        first = places.index(min(places))
        turned.append((places[first:] + places[:first], np.roll(face, -first, 0)))
    return [face for _, face in sorted(turned, key=lambda pair: pair[0])]


def differences(found: Iterable[Array], expected: Iterable[Array]) -> dict[str, float]:
    """The greatest difference in each kind of column, normals in degrees. What is not expected is not compared."""
    ours, theirs = ordered(found), ordered(expected)
    assert [len(face) for face in ours] == [len(face) for face in theirs]
    rows, known = np.concatenate(ours), np.concatenate(theirs)
    cosine = np.sum(rows[:, NORMAL] * known[:, NORMAL], 1)
    worst = {"normal": np.degrees(np.arccos(np.clip(cosine, -1, 1)))}
    for name, columns in {"position": POSITION, "uv": UV, "color": COLOR, "second_uv": SECOND_UV}.items():
        worst[name] = np.abs(rows[:, columns] - known[:, columns])
    wanted = {"normal": NORMAL, "position": POSITION, "uv": UV, "color": COLOR, "second_uv": SECOND_UV}
    return {name: _greatest(values, known[:, wanted[name]]) for name, values in worst.items()}


def _greatest(values: Array, known: Array) -> float:
    """The greatest where something is known; infinite where something is and nothing was found."""
    there = ~np.isnan(known)
    values = values[there.all(1)] if values.ndim == 1 else values[there]
    return float(np.nan_to_num(values, nan=np.inf).max(initial=0))
