# SPDX-License-Identifier: GPL-3.0-or-later
"""Small .b3d files that the project's own writer makes."""

from __future__ import annotations

import numpy as np

from io_retro_meshes.formats import b3d
from io_retro_meshes.formats.b3d.document import (
    COLORS,
    NORMALS,
    POSITION,
    ROTATION,
    SCALE,
    WEIGHT,
    Anim,
    Bone,
    Brush,
    Brushes,
    Document,
    Keys,
    Mesh,
    Node,
    Sequence,
    Texture,
    Textures,
    Triangles,
    Unknown,
    Vertices,
    floats,
    key_dtype,
)


def vertices(positions: object, flags: int = 0, sets: int = 0, size: int = 2) -> Vertices:
    """Vertices at these places, with other values that tell them apart."""
    points = np.asarray(positions, "<f4")
    chunk = Vertices(flags, sets, size, np.zeros((0, 0), "<f4"))
    width = chunk.row_size
    chunk.rows = np.tile(np.linspace(0, 1, width, dtype="<f4"), (len(points), 1))
    chunk.rows += np.arange(len(points), dtype="<f4")[:, None] / 16
    chunk.rows[:, :3] = points
    if chunk.normals is not None:
        chunk.normals[:] = (0, 0, -1)
    return chunk


def triangles(ids: object, brush: int = -1) -> Triangles:
    return Triangles(brush, np.asarray(ids, "<i4").reshape(-1, 3))


def weights(*pairs: tuple[int, float]) -> Bone:
    return Bone(np.array(list(pairs), WEIGHT))


def keys(flags: int, *rows: tuple[object, ...]) -> Keys:
    return Keys(flags, np.array(list(rows), key_dtype(flags)))


QUAD = [(0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0)]


def everything() -> Document:
    """Every chunk there is: a skinned flag, a pivot between its bones, a lamp on the upper bone, odd chunks about."""
    turn = (np.cos(0.4), np.sin(0.4), 0, 0)
    lamp = Node(
        b"lamp",
        floats(0, 0.5, 0),
        floats(1, 1, -1),
        chunks=[Mesh(1, [vertices(QUAD), triangles([[0, 1, 2], [0, 2, 3]])])],
    )
    upper = Node(b"upper", floats(0, 1, 0), rotation=floats(*turn), chunks=[weights((2, 1.0), (3, 0.25), (9, 1.0))])
    upper.chunks += [
        keys(ROTATION, (1, turn), (11, (1, 0, 0, 0))),
        keys(POSITION | SCALE, (1, (0, 1, 0), (1, 1, 1)), (21, (0, 2, 0), (2, 2, 2))),
        keys(ROTATION, (11, (0, 0, 1, 0)), (21, (-1, 0, 0, 0))),
        lamp,
    ]
    between = Node(b"between", floats(0.5, 0, 0), floats(2, 2, 2), chunks=[upper, Unknown(b"PIVO", b"")])
    lower = Node(b"lower", chunks=[weights((0, 1.0), (1, 0.0), (3, 0.75)), between])
    flag = Mesh(
        0, [vertices(QUAD, NORMALS | COLORS, 2), triangles([[0, 1, 2]], 1), triangles([]), Unknown(b"?\xff?!", b"in a mesh")]
    )
    flag.chunks.append(triangles([[0, 2, 3], [0, 2, 4], [1, 1, 2]], -1))
    root = Node("Flagge \N{LATIN SMALL LETTER U WITH DIAERESIS}".encode("cp1252"), floats(1, 2, 3))
    root.chunks = [flag, Anim(0, 20, 0.0), Sequence(b"wave", 1, 11), Sequence(b"grow", 11, 21), lower]
    textures = [
        Texture(b"C:\\Maps\\cloth.PNG", 1 | 2 | 16, 2, floats(0.25, 0.5), floats(2, 3), 0.5),
        Texture(b"light.png", 65536 | 1, 5),
    ]
    first = Brush(b"cloth", floats(0.5, 1, 1, 0.5), 0.25, 1, 16, np.array([0], "<i4"))
    second = Brush(b"lit", floats(1, 0.5, 1, 1), 0.5, 0, 2, np.array([-1, 1, 7], "<i4"))
    chunks: list[Textures | Brushes | Node | Unknown] = [
        Textures(textures),
        Unknown(b"XXXX", b"hidden"),
        Brushes(1, [first]),
        Brushes(3, [second]),
        root,
        Node(b"second root"),
    ]
    return Document(chunks=chunks)


def chain(depth: int, bones: bool) -> Document:
    """Nodes in nodes in nodes."""
    root = Node(b"root", chunks=[Mesh(-1, [vertices(QUAD), triangles([[0, 1, 2]])])])
    last = root
    for number in range(depth):
        node = Node(b"n%d" % number, chunks=[weights((number % 4, 1.0))] if bones else [])
        last.chunks.append(node)
        last = node
    return Document(chunks=[root])


def grid(side: int) -> Document:
    """A plane of side x side squares with normals and UVs."""
    x, y = np.meshgrid(np.arange(side + 1), np.arange(side + 1))
    points = np.stack([x, y, np.zeros_like(x)], -1).reshape(-1, 3)
    corner = np.arange((side + 1) ** 2).reshape(side + 1, side + 1)
    a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]
    ids = np.stack([a, b, c, a, c, d], -1)
    return Document(chunks=[Node(b"grid", chunks=[Mesh(-1, [vertices(points, NORMALS, 1), triangles(ids)])])])


def fuzz_seeds() -> list[bytes]:
    return [b3d.write(each) for each in (everything(), chain(5, True))]
