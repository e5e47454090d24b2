# SPDX-License-Identifier: GPL-3.0-or-later
"""Many bones, nodes, materials and animations: four sizes of each, to see that the time grows no faster than the number."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np

from io_retro_meshes.formats import b3d
from io_retro_meshes.formats.b3d import document as chunks

from .timing import Report, empty

SIZES = (8, 4, 2, 1)  # parts of the full number
FASTER_THAN_LINEAR = 1.8  # of the time of the smallest size, multiplied, that the largest may take
CHILDREN = 10  # of each node
Tree = Callable[[int], list[chunks.Node]]


def _mesh(surfaces: int = 1, brushes: bool = False) -> chunks.Mesh:
    corners = np.random.default_rng(3).random((3 * surfaces, 3)).astype("<f4")
    faces = np.arange(3 * surfaces, dtype="<i4").reshape(-1, 1, 3)
    parts = [chunks.Triangles(number if brushes else -1, face) for number, face in enumerate(faces)]
    return chunks.Mesh(-1, [chunks.Vertices(0, 0, 0, corners), *parts])


def _tree(root: chunks.Node, count: int, content: Callable[[], list[chunks.Unknown]]) -> chunks.Document:
    """Nodes below the root, each with some children: wide and not deep, as real ones are."""
    made = [root]
    for number in range(count):
        node = chunks.Node(f"n{number}".encode(), chunks=list(content()))
        made[number // CHILDREN].chunks.append(node)
        made.append(node)
    return chunks.Document(chunks=[root])


def bones(count: int) -> chunks.Document:
    root = chunks.Node(b"root", chunks=[_mesh(), chunks.Anim(0, 2, 30.0)])
    keys = np.zeros(2, chunks.key_dtype(chunks.POSITION))
    keys["frame"], keys["position"] = [1, 2], [[0, 1, 0], [0, 0, 1]]
    weights = np.array([(0, 1.0 / count)], chunks.WEIGHT)
    return _tree(root, count, lambda: [chunks.Bone(weights), chunks.Keys(chunks.POSITION, keys)])


def nodes(count: int) -> chunks.Document:
    return _tree(chunks.Node(b"root", chunks=[_mesh()]), count, list)


def materials(count: int) -> chunks.Document:
    brushes = [chunks.Brush(f"m{number}".encode()) for number in range(count)]
    return chunks.Document(chunks=[chunks.Brushes(0, brushes), chunks.Node(b"root", chunks=[_mesh(count, True)])])


def actions(count: int) -> chunks.Document:
    flags = chunks.POSITION
    keys = np.zeros(4 * count, chunks.key_dtype(flags))
    keys["frame"] = np.arange(1, 4 * count + 1)
    keys["position"] = np.random.default_rng(4).random((4 * count, 3))
    parts = [chunks.Sequence(f"a{number}".encode(), 4 * number + 1, 4 * number + 4) for number in range(count)]
    root = chunks.Node(b"root", chunks=[_mesh(), chunks.Keys(flags, keys), chunks.Anim(0, 4 * count, 30.0), *parts])
    return chunks.Document(chunks=[root])


SCALES = {bones: 10_000, nodes: 50_000, materials: 10_000, actions: 1_000}


def measure(report: Report, folder: Path) -> None:
    for make, full in SCALES.items():
        times: dict[str, list[float]] = {"import": [], "export": []}
        for part in SIZES:
            for way, seconds in _times(make(full // part), folder).items():
                times[way].append(seconds)
        for way, found in times.items():
            words = ", ".join(f"{full // part:,}: {seconds:.2f} s" for part, seconds in zip(SIZES, found, strict=True))
            print(f"{way} {make.__name__}: {words}")
            report.line(
                f"{way} {full:,} {make.__name__}", found[-1], found[-1] / found[0] / SIZES[0], FASTER_THAN_LINEAR, "x linear"
            )


def _times(document: chunks.Document, folder: Path) -> dict[str, float]:
    (folder / "many.b3d").write_bytes(b3d.write(document))
    empty()
    moments = [time.perf_counter()]
    bpy.ops.import_scene.b3d(filepath=str(folder / "many.b3d"))
    moments.append(time.perf_counter())
    bpy.ops.export_scene.b3d(filepath=str(folder / "back.b3d"))
    moments.append(time.perf_counter())
    return {"import": moments[1] - moments[0], "export": moments[2] - moments[1]}
