# SPDX-License-Identifier: GPL-3.0-or-later
"""Small files and many keys: what a person waits for most often."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np

from io_retro_meshes.formats import b3d, saturn
from io_retro_meshes.formats.b3d import document as chunks
from io_retro_meshes.formats.saturn import axes, textures
from io_retro_meshes.formats.saturn import document as battle
from tests.builders.saturn import box, picture, swing
from tests.conftest import ROOT, corpus_files

from .timing import Report, best, empty

BONES, KEYS = 40, 600  # 24,000 keys of three channels each: 72,000
KEYS_LIMIT = 0.5  # seconds

# A small character with animation: that of the game Luanti, where there is a corpus.
CHARACTER_LIMITS = (0.008, 0.025)  # seconds to import and to export it

PARTS, TEXTURES, POSES = 19, 108, 60  # of a Saturn character, and the frames that each part has keys on
SATURN_LIMITS = (0.12, 0.2)


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


def battler() -> bytes:
    """A Saturn character of parts in a chain that all turn, with many textures."""
    meshes, bones, stream = [], [], [battle.Command(0xFD)]
    for part in range(PARTS):
        faces = [(0, 0xC7, (part * 6 + face) % TEXTURES, 0x4AC, 0, 0, 2) for face in range(6)]
        meshes.append(box((0, -part, 0), (0.4, 0.5, 0.4), faces))
        stream += [battle.Command(0xFD), battle.Command(0x00)]
        turns = {1 + 2 * pose: 20 * np.sin(pose / 3 + part) for pose in range(POSES)}
        bones.append(swing((0, -part, 0), (0, 0, 1), turns))
    stream += [battle.Command(0xFE)] * (PARTS + 1)
    bones.insert(0, swing((0, 0, 0), (0, 1, 0), {1: 0}))
    parts = [battle.Definition(1 + 20 * number, 20, 0x10 * number) for number in range(5)]
    animation = battle.Animation(axes.to_fixed(np.array([0, -9, 0, 10, 19, 1])), parts, bones)
    pictures = textures.pack([picture(16, 16) for _ in range(TEXTURES)])
    return saturn.write(battle.Document([battle.Character(pictures, battle.Model([meshes], stream), animation)]))


def measure(report: Report, folder: Path) -> None:
    model = folder / "animated.b3d"
    model.write_bytes(animated())
    seconds = best(lambda: bpy.ops.import_scene.b3d(filepath=str(model)), empty)
    report.line(f"import {3 * BONES * KEYS:,} keys", seconds, None, KEYS_LIMIT)
    (folder / "battler.bin").write_bytes(battler())
    characters = corpus_files("b3d", "character.b3d") or [ROOT / "examples" / "fox.b3d"]
    there_and_back(report, "b3d", characters[0], folder, CHARACTER_LIMITS)
    there_and_back(report, "saturn", folder / "battler.bin", folder, SATURN_LIMITS)


def there_and_back(report: Report, name: str, path: Path, folder: Path, limits: tuple[float, float]) -> None:
    arrive, leave = getattr(bpy.ops.import_scene, name), getattr(bpy.ops.export_scene, name)
    seconds = best(lambda: arrive(filepath=str(path)), empty)
    report.line(f"import {path.name}", seconds, None, limits[0])
    seconds = best(lambda: leave(filepath=str(folder / f"back{path.suffix}")))
    report.line(f"export {path.name}", seconds, None, limits[1])
