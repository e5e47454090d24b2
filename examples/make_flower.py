# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes flower.dbo beside this file: a flower in a pot that sways in the wind, and opens and closes.

    python3 -m examples.make_flower        (any Python 3.11 or newer with numpy, from the project's root)

The flower is one mesh with vertex colours on a rig of eighteen bones; the pot is one mesh with two materials; the two
animations are clips of one timeline. No pictures are needed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from io_retro_meshes.formats import dbo
from io_retro_meshes.scene import (
    COLOR_NAME,
    Armature,
    Bone,
    Channel,
    Clip,
    Layer,
    Material,
    Mesh,
    Node,
    Scene,
    Skin,
    Track,
    Transform,
    floats,
)

from .saving import save_model

Array = npt.NDArray[np.float32]
TURN = 2 * np.pi
STEM, PETALS, LEAVES = 5, 9, 3  # bones each
SOIL, TOP = 0.42, 1.62  # heights of the stem's ends
SWAY, BLOOM = 48, 36  # frames of the animations
GREEN, DARK, PINK, WHITE, GOLD = ((0.35, 0.6, 0.2), (0.2, 0.42, 0.16), (0.86, 0.3, 0.5), (1, 0.93, 0.9), (0.95, 0.7, 0.15))


# --------------------------------------------------------------------------------------------------------------- shapes


def grid(rows: int, columns: int) -> npt.NDArray[np.int32]:
    """The triangles between the points of a grid."""
    first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    quads = np.stack([first, first + 1, first + columns + 1, first, first + columns + 1, first + columns], 1)
    return quads.reshape(-1).astype(np.int32)


def lathe(profile: list[tuple[float, float]], sides: int = 20) -> tuple[Array, npt.NDArray[np.int32]]:
    """(radius, height) turned about Z."""
    angle = np.linspace(0, TURN, sides + 1)
    points = [np.stack([r * np.cos(angle), r * np.sin(angle), np.full_like(angle, z)], 1) for r, z in profile]
    return np.concatenate(points).round(6).astype(np.float32), grid(len(profile), sides + 1)  # seams meet in every bit


def blade(length: float, width: float, rise: float, steps: int = 6) -> Array:
    """A petal or a leaf along X: five points across, pointed at the end and a little hollow."""
    along, across = np.meshgrid(np.linspace(0, 1, steps), np.linspace(-1, 1, 5), indexing="ij")
    half = width * np.sin(np.pi * np.clip(along * 0.92 + 0.06, 0, 1)) ** 0.7
    points = [along * length, across * half, rise * along**2 + 0.25 * half * across**2]
    return np.stack(points, -1).reshape(-1, 3).astype(np.float32)


def turned(points: Array, angle: float, place: tuple[float, float, float]) -> Array:
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    return (points @ turn.T + place).astype(np.float32)


class Shape:
    """Pieces joined to one mesh: points, colours, and two bones with weights for each point."""

    def __init__(self) -> None:
        self.points: list[Array] = []
        self.colors: list[Array] = []
        self.bones: list[Array] = []
        self.weights: list[Array] = []
        self.corners: list[npt.NDArray[np.int32]] = []

    def add(self, points: Array, corners: npt.NDArray[np.int32], colors: Array, bones: Array, weight: Array) -> None:
        """`weight` is that of the second bone."""
        self.corners.append(corners + sum(map(len, self.points)))
        self.points.append(points)
        self.colors.append(np.c_[colors, np.ones(len(points))].astype(np.float32))
        self.bones.append(bones)
        self.weights.append(np.stack([1 - weight, weight], 1).astype(np.float32))

    def mesh(self, name: str) -> Mesh:
        mesh = Mesh(name, np.concatenate(self.points), np.concatenate(self.corners), materials=[0])
        mesh.colors = [Layer(COLOR_NAME, np.concatenate(self.colors))]
        bones, weights = np.concatenate(self.bones), np.concatenate(self.weights)
        vertices = np.repeat(np.arange(len(bones), dtype=np.int32), 2)
        used = weights.reshape(-1) > 0
        mesh.skin = Skin(0, vertices[used], bones.reshape(-1)[used].astype(np.int32), weights.reshape(-1)[used])
        return mesh


def mix(a: tuple[float, ...], b: tuple[float, ...], t: Array) -> Array:
    return np.asarray(a) + (np.asarray(b) - np.asarray(a)) * t[:, None]


# ------------------------------------------------------------------------------------------------------------ the flower


def armature() -> Armature:
    """The stem, bone upon bone; petals on its end, leaves on its first bones. Petals and leaves lie along their own X."""
    bones: list[Bone] = []

    def add(name: str, parent: int, place: tuple[float, float, float], angle: float = 0.0) -> None:
        rotation = floats(np.cos(angle / 2), 0, 0, np.sin(angle / 2))
        bind = Transform(floats(*place), rotation)
        above = bones[parent].bind if parent >= 0 else np.eye(4, dtype=np.float32)
        bones.append(Bone(name, parent, bind.matrix, Transform.from_matrix(np.linalg.inv(above) @ bind.matrix)))

    heights = np.linspace(SOIL, TOP, STEM + 1)
    for number, height in enumerate(heights):
        add(f"stem.{number + 1}" if number < STEM else "heart", number - 1, (0, 0, float(height)))
    for number in range(PETALS):
        add(f"petal.{number + 1}", STEM, (0, 0, TOP), TURN * number / PETALS)
    for number in range(LEAVES):
        add(f"leaf.{number + 1}", number, (0, 0, float(heights[number])), TURN * (number * 0.4 + 0.1))
    return Armature("flower", bones)


def flower() -> Mesh:
    shape = Shape()
    profile = [(0.035 * (1 - 0.4 * t), SOIL + (TOP - SOIL) * t) for t in np.linspace(0, 1, 4 * STEM + 1)]
    points, corners = lathe(profile, 8)
    at = np.clip((points[:, 2] - SOIL) / (TOP - SOIL) * STEM, 0, STEM - 1e-4)
    low = at.astype(int)
    shape.add(points, corners, mix(DARK, GREEN, at / STEM), np.stack([low, low + 1], 1), (at - low).astype(np.float32))
    points, corners = lathe([(0.1 * np.cos(a), TOP + 0.02 + 0.08 * np.sin(a)) for a in np.linspace(0, np.pi / 2, 6)], 16)
    shape.add(
        points, corners, mix(GOLD, (0.7, 0.4, 0.1), points[:, 2] - TOP), np.full((len(points), 2), STEM), np.zeros(len(points))
    )
    for number in range(PETALS + LEAVES):
        leaf = number >= PETALS
        points = blade(0.55, 0.1, 0.24) if leaf else blade(0.48, 0.13, 0.06)
        t = points[:, 0] / points[:, 0].max()
        colors = mix(DARK, GREEN, t) if leaf else mix(PINK, WHITE, t)
        turn = TURN * ((number - PETALS) * 0.4 + 0.1 if leaf else number / PETALS)
        height = float(np.linspace(SOIL, TOP, STEM + 1)[number - PETALS]) if leaf else TOP
        bone = np.full((len(points), 2), STEM + 1 + number)
        shape.add(turned(points, turn, (0, 0, height)), grid(6, 5), colors, bone, np.zeros(len(points)))
    return shape.mesh("flower")


def pot() -> Mesh:
    points, corners = lathe([(0, 0), (0.26, 0), (0.26, 0.01), (0.36, 0.4), (0.42, 0.4), (0.42, 0.5), (0.36, 0.5), (0.35, SOIL)])
    soil, inner = lathe([(0.36, SOIL), (0.2, SOIL + 0.02), (0, SOIL + 0.03)])
    mesh = Mesh("pot", np.concatenate([points, soil]), np.concatenate([corners, inner + len(points)]), materials=[1, 2])
    mesh.face_materials = np.repeat([0, 1], [len(corners) // 3, len(inner) // 3]).astype(np.int32)
    return mesh


# ------------------------------------------------------------------------------------------------------------ animation


def turns(frames: Array, axis: tuple[float, float, float], angles: Array, rest: Array) -> Track:
    """Turns about an axis of the bone, after its rest."""
    from io_retro_meshes.scene import maths

    q = np.c_[np.cos(angles / 2), np.sin(angles / 2)[:, None] * np.array(axis)].astype(np.float32)
    return Track(rotation=Channel(frames, maths.continuous(maths.quaternion_multiply(rest[None], q))))


def timeline(skeleton: Armature) -> Clip:
    frames = np.arange(0, SWAY + BLOOM + 1, 2, dtype=np.float32)
    wind = np.where(frames <= SWAY, np.sin(TURN * frames / SWAY), 0)
    late = np.where(frames <= SWAY, np.sin(TURN * (frames / SWAY - 0.15)) + np.sin(TURN * 0.15) * (1 - frames / SWAY), 0)
    close = np.where(frames >= SWAY, np.sin(np.pi * (frames - SWAY) / BLOOM) ** 2, 0)
    tracks = {}
    for number, bone in enumerate(skeleton.bones):
        rest = bone.transform.rotation
        if number <= STEM:
            tracks[(0, number)] = turns(frames, (0.3, 0.954, 0), 0.09 * wind, rest)
        elif number <= STEM + PETALS:
            tracks[(0, number)] = turns(frames, (0, -1, 0), 1.25 * close + 0.06 * late - 0.05, rest)
        else:
            tracks[(0, number)] = turns(frames, (0, -1, 0), 0.12 * late + 0.15 * close, rest)
    return Clip("timeline", 0, SWAY + BLOOM, tracks)


def scene() -> Scene:
    skeleton = armature()
    materials = [
        Material("flower", vertex_colors=True, double_sided=True),
        Material("clay", color=floats(0.72, 0.36, 0.24, 1)),
        Material("soil", color=floats(0.2, 0.13, 0.09, 1)),
    ]
    nodes = [Node("flower_armature", armature=skeleton), Node("flower", 0, mesh=0), Node("pot", mesh=1)]
    made = Scene(nodes, [flower(), pot()], materials, timeline=timeline(skeleton), fps=24.0)
    made.clips = [Clip("sway", 0, SWAY), Clip("bloom", SWAY, SWAY + BLOOM)]
    return made


if __name__ == "__main__":
    save_model("flower.dbo", dbo, scene())
