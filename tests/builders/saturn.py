# SPDX-License-Identifier: GPL-3.0-or-later
"""Small battle characters, and the notes on real-like ones turned into arrays."""

from __future__ import annotations

import numpy as np

from io_retro_meshes.formats import saturn
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
    Segment,
)
from io_retro_meshes.scene import maths

QUADS = [(0, 1, 2, 3), (5, 4, 7, 6), (4, 0, 3, 7), (1, 5, 6, 2), (4, 5, 1, 0), (3, 2, 6, 7)]
TEXTURED, FLAT = (0, 0xC7, 0, 0x4AC, 0, 0, 2), (0, 0xC3, 0, 0x4C4, 0x83E0, 0, 4)


def box(centre: tuple[float, float, float], half: tuple[float, float, float], attributes: list[tuple[int, ...]]) -> Mesh:
    """Six quads; the last of `attributes` is for all that are left."""
    corners = np.array(
        [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)], float
    )
    polygons = np.zeros(6, POLYGON)
    polygons["vertices"] = QUADS
    points = corners[QUADS]
    polygons["normal"] = axes.to_fixed(points.mean(1))
    rows = np.array((attributes + attributes[-1:] * 6)[:6], ATTR)
    normals = np.rint(corners / np.sqrt(3) * NORMAL_ONE).astype(NORMAL)
    return Mesh(axes.to_fixed(corners * half + centre), polygons, rows, normals)


def swing(joint: tuple[float, float, float], axis: tuple[float, float, float], angles: dict[int, float]) -> BoneKeys:
    """Turns about a joint, degrees at each frame, as the files hold them: T = p - R·p."""
    half = np.radians(list(angles.values())) / 2
    turns = np.concatenate([np.sin(half)[:, None] * np.array(axis), np.cos(half)[:, None]], 1)
    words = axes.to_quaternion_words(turns)
    matrices = maths.quaternion_to_matrix(words[:, [3, 0, 1, 2]].astype(np.float64))
    times = np.array(list(angles), ">u2")
    moves = axes.to_fixed(np.array(joint) - matrices @ np.array(joint))
    return BoneKeys(Keys(times, moves), Keys(times, words), Keys(times[:1], axes.to_fixed(np.ones((1, 3)))))


def fixed(*numbers: float) -> tuple[int, ...]:
    return tuple(axes.to_fixed(np.array(numbers)).tolist())


def picture(width: int, height: int) -> np.ndarray:
    """Words that differ from pixel to pixel, the last ones transparent."""
    words = (np.arange(width * height, dtype=np.uint16) * 37 | 0x8000).reshape(height, width)
    words[-1, -2:] = 0
    return words


def puppet(segments: int = 0) -> Document:
    """A trunk, an arm that swings, and a stick in its hand. `segments` of its animations are in an x8an file."""
    trunk = box((0, -4, 0), (1, 2, 1), [TEXTURED, (1, 0xC7, 1, 0x4AC, 0, 0, 0x32), (0, 0xC7, 1, 0x5AB, 0, 0, 0x12), FLAT])
    arm = box((2, -5, 0), (1, 0.25, 0.25), [TEXTURED, FLAT])
    arm.polygons["vertices"][4] = (4, 5, 1, 1)
    stick = box((0, 0, -2), (0.125, 0.125, 2), [FLAT])
    stream = [
        *(Command(0xFD), Command(0xFD), Command(0x00), Command(0xFD), Command(0x80)),
        Command(0x30, fixed(3, -5, 0, 0, 0.5, 0, 0.8660, 1, 1, 1.5)),
        *(Command(0xFE), Command(0x09, fixed(0, -5, -1)), Command(0xFE), Command(0xFE), Command(0xFE)),
    ]
    bones = [
        swing((0, 0, 0), (0, 1, 0), {1: 0}),
        swing((0, -2, 0), (0, 0, 1), {1: 0, 6: 10, 11: 0, 21: 0}),
        swing((1, -5, 0), (0, 0.6, 0.8), {1: 0, 4: -30, 11: 0, 15: 90, 21: 0}),
    ]
    definitions = [
        Definition(1, 11, 0x00),
        Definition(11, 11, 0x70, 20, np.array([(13, 2), (15, 6), (15, 0xFF21)], EVENT)),
        *(Definition(0x1000 | 40 + 30 * index, 21, 0x80 + index) for index in range(segments)),
    ]
    pictures = textures.pack([picture(8, 4), picture(16, 3)])
    model = Model([[trunk, arm], [stick]], stream)
    animation = Animation(axes.to_fixed(np.array([0, -3, 0, 3, 3, 1])), definitions, bones)
    return Document([Character(pictures, model, animation)])


def more_animations(count: int) -> Document:
    """An x8an file for a puppet."""
    found = []
    for index in range(count):
        start = 40 + 30 * index
        turns = {start: 0.0, start + 10: 60.0, start + 20: 0.0}
        rest = swing((0, 0, 0), (0, 1, 0), {start: 0})
        found.append(Segment([rest, rest, swing((1, -5, 0), (1, 0, 0), turns)]))
    return Document(segments=found)


def tiles(count: int) -> np.ndarray:
    """Words like painted textures: runs of few colours with some noise, some tiles repeated."""
    random = np.random.default_rng(7)
    palette = random.integers(0x8000, 0x10000, 16, dtype=np.uint16)
    painted = [palette[np.repeat(random.integers(0, 16, 64), 4)] for _ in range(24)]
    for tile in painted:
        tile[random.random(256) < 0.08] = palette[3]
    fresh = [palette[random.integers(0, 16, 256) // 4] for _ in range(count)]
    return np.concatenate([painted[random.integers(24)] if random.random() < 0.3 else tile for tile in fresh])


def fuzz_seeds() -> list[bytes]:
    from tests.builders import saturn_packed

    return [saturn.write(each) for each in (puppet(2), more_animations(3), *saturn_packed.documents())]
