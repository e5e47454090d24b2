# SPDX-License-Identifier: GPL-3.0-or-later
"""Small files and many keys: what a person waits for most often."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np

from io_retro_meshes.formats import b3d
from io_retro_meshes.formats.b3d import document as chunks

from .timing import Report, best, empty

BONES, KEYS = 40, 600  # 24,000 keys of three channels each: 72,000
KEYS_LIMIT = 0.5  # seconds


def animated() -> bytes:
    """A .b3d of a chain of bones, each with keys for place, turn and size on every frame."""
    triangle = chunks.Vertices(0, 0, 0, np.eye(3, dtype="<f4"))
    root = chunks.Node(b"root", chunks=[chunks.Mesh(-1, [triangle, chunks.Triangles(-1, np.array([[0, 1, 2]], "<i4"))])])
    root.chunks.append(chunks.Anim(0, KEYS, 30.0))
    weights = np.array([(0, 1.0 / BONES)], chunks.WEIGHT)
    flags = chunks.POSITION | chunks.SCALE | chunks.ROTATION
    keys = np.zeros(KEYS, chunks.key_dtype(flags))
    keys["frame"] = np.arange(1, KEYS + 1)
    keys["position"] = np.random.default_rng(1).random((KEYS, 3))
    keys["scale"] = 1
    keys["rotation"] = np.random.default_rng(2).normal((4, 1, 1, 1), 0.3, (KEYS, 4))
    parent = root
    for number in range(BONES):
        bone = chunks.Node(f"bone {number}".encode(), chunks=[chunks.Bone(weights), chunks.Keys(flags, keys)])
        parent.chunks.append(bone)
        parent = bone
    return b3d.write(chunks.Document(chunks=[root]))


def measure(report: Report, folder: Path) -> None:
    model = folder / "animated.b3d"
    model.write_bytes(animated())
    seconds = best(lambda: bpy.ops.import_scene.b3d(filepath=str(model)), empty)
    report.line(f"import {3 * BONES * KEYS:,} keys", seconds, None, KEYS_LIMIT)
