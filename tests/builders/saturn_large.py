# SPDX-License-Identifier: GPL-3.0-or-later
"""A battle character as large as those of the games, for what depends on size."""

from __future__ import annotations

import numpy as np

from io_retro_meshes.formats.saturn import axes, textures
from io_retro_meshes.formats.saturn.document import (
    ATTR,
    EVENT,
    NORMAL,
    NORMAL_ONE,
    POLYGON,
    Animation,
    BoneKeys,
    Character,
    Command,
    Definition,
    Document,
    Keys,
    Mesh,
    Model,
    PackedSegment,
)
from io_retro_meshes.scene import maths
from tests.builders import saturn as made

PARTS, BONES, TEXTURES, FRAMES = 19, 22, 108, 240
# How many of the bones are popped before each one is pushed: limbs of a trunk.
POPS = [0, 0, 0, 0, 3, 0, 0, 3, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 1, 1, 0, 2]
TYPES = [0x00, 0x10, 0x20, 0x30, 0x40, 0x70]


def champion(packed: int = 4) -> Document:
    """19 parts on 22 bones, 494 polygons, 108 textures, six animations of 40 frames and some packed ones."""
    random = np.random.default_rng(11)
    words = made.tiles(TEXTURES)[: TEXTURES * 256].reshape(TEXTURES, 16, 16)
    joints = np.cumsum(random.normal(0, 1, (BONES, 3)), 0)
    body = [_barrel(joints[part + 3], random, part) for part in range(PARTS)]
    definitions = [Definition(1 + 40 * n, 40, kind, 10 * n) for n, kind in enumerate(TYPES)]
    definitions[3].events = np.array([(130, 2), (135, 6), (140, 3)], EVENT)
    animation = Animation(axes.to_fixed(np.array([0, -8, 0, 6, 9, 4])), definitions, _keys(joints, random, 1, FRAMES))
    character = Character(
        textures.pack(list(words)), Model([body, [made.box((0, 0, -2), (0.2, 0.2, 3), [made.FLAT])]], _stream())
    )
    character.animation = animation
    for number in range(packed):
        first = 300 + 50 * number
        definitions.append(Definition(0x1000 | first, 45, 0x80 + 0x10 * number))
        character.extra.append(PackedSegment(_keys(joints, random, first, 45)))
    return Document([character])


def _stream() -> list[Command]:
    stream, depth, parts = [], 0, 0
    for bone, pops in enumerate(POPS):
        stream += [Command(0xFE)] * pops + [Command(0xFD)]
        depth += 1 - pops
        if bone >= BONES - PARTS:
            stream.append(Command(0x80 if parts % 2 else 0x00))
            parts += 1
        if bone == 11:
            stream.append(Command(0x30, made.fixed(3, -5, 0, 0, 0.5, 0, 0.866, 1, 1, 1)))
    return stream + [Command(0xFE)] * (depth + 1)


def _barrel(centre: np.ndarray, random: np.random.Generator, part: int) -> Mesh:
    """26 quads: five rings of five, and one more; looks of five kinds."""
    turn = np.arange(5) * 2 * np.pi / 5
    around = np.stack([np.cos(turn), np.zeros(5), np.sin(turn)], 1)
    points = np.concatenate([around * (1 + 0.2 * ring % 3) + (0, ring - 2.5, 0) for ring in range(6)])
    ring, side = np.divmod(np.arange(25), 5)
    after = (side + 1) % 5
    quads = np.stack([5 * ring + side, 5 * ring + after, 5 * ring + 5 + after, 5 * ring + 5 + side], 1)
    quads = np.concatenate([quads, [(0, 1, 2, 3)]])
    corners = points[quads]
    polygons = np.zeros(26, POLYGON)
    polygons["vertices"] = quads
    polygons["normal"] = axes.to_fixed(maths.normalized(np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])))
    rows = np.array([made.TEXTURED] * 26, ATTR)
    rows["texno"] = (part * 26 + np.arange(26)) % TEXTURES
    rows["dir"] |= random.integers(0, 4, 26).astype(np.uint16) << 4
    rows[3], rows[25] = made.FLAT, (1, 0xC7, part, 0x5AB, 0, 0, 2)
    rows["flag"][7], rows["atrb"][9] = 1, 0x4AB
    normals = np.rint(maths.normalized(points) * NORMAL_ONE).astype(NORMAL)
    return Mesh(axes.to_fixed(points + centre), polygons, rows, normals)


def _keys(joints: np.ndarray, random: np.random.Generator, first: int, count: int) -> list[BoneKeys]:
    """Turns about the joints, a key every five frames or so."""
    found = []
    for joint in joints:
        times = np.union1d([0, count - 1], random.choice(count, count // 5, replace=False))
        half = np.cumsum(random.normal(0, 0.1, (len(times), 3)), 0)
        turns = np.concatenate([half, np.ones((len(times), 1))], 1)
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        words = axes.to_quaternion_words(turns)
        matrices = maths.quaternion_to_matrix(words[:, [3, 0, 1, 2]].astype(np.float64))
        frames = (times + first).astype(">u2")
        moves = axes.to_fixed(joint - matrices @ joint)
        found.append(BoneKeys(Keys(frames, moves), Keys(frames, words), Keys(frames[:1], axes.to_fixed(np.ones((1, 3))))))
    return found
