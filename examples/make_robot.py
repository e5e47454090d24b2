# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes robot.bo3d beside this file: a clockwork robot with a balloon, painted with vertex colours.

    python3 -m examples.make_robot        (any Python 3.11 or newer with numpy, from the project's root)

Every part of a robot follows one bone, which is just what the bOGL engine can do. It walks on frames 1 to 25 and waves on
frames 25 to 49.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from io_retro_meshes.formats import bo3d
from io_retro_meshes.scene import (
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
)

from .saving import save_model

Array = npt.NDArray[np.float32]
Color = tuple[int, int, int]
Place = tuple[float, float, float]

TIN, DARK, RED, BRASS, GLOW = (150, 186, 196), (62, 74, 86), (206, 70, 56), (222, 178, 84), (255, 244, 170)
LAST = 49

# name: (parent, where it is). Z is up, and the robot looks along -Y.
BONES: dict[str, tuple[str, Place]] = {
    "body": ("", (0, 0, 0.62)),
    "head": ("body", (0, 0, 1.12)),
    "key": ("body", (0, 0.24, 0.84)),
    "arm.L": ("body", (0.36, 0, 1.0)),
    "hand.L": ("arm.L", (0.40, 0, 0.72)),
    "arm.R": ("body", (-0.36, 0, 1.0)),
    "hand.R": ("arm.R", (-0.40, 0, 0.72)),
    "leg.L": ("body", (0.15, 0, 0.56)),
    "foot.L": ("leg.L", (0.15, 0, 0.12)),
    "leg.R": ("body", (-0.15, 0, 0.56)),
    "foot.R": ("leg.R", (-0.15, 0, 0.12)),
}
NAMES = list(BONES)


# --------------------------------------------------------------------------------------------------------------- shape


class Parts:
    """Faces collected into one mesh, each with corners of its own, so that edges stay sharp."""

    def __init__(self) -> None:
        self.positions: list[Array] = []
        self.normals: list[Array] = []
        self.colors: list[Array] = []
        self.bones: list[Array] = []

    def face(self, bone: str, color: Color, points: Array, centre: Array, smooth: bool = False) -> None:
        """A convex polygon, turned so that it looks away from the centre."""
        normal = np.cross(points[1] - points[0], points[2] - points[0])
        if normal @ (points.mean(0) - centre) < 0:
            points, normal = points[::-1], -normal
        fan = np.concatenate([points[[0, i, i + 1]] for i in range(1, len(points) - 1)])
        normals = fan - centre if smooth else np.repeat(normal[None], len(fan), 0)
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        shade = 0.86 + 0.14 * normals[:, 2:] / length  # a little darker below
        self.positions.append(fan)
        self.normals.append(normals / length)
        self.colors.append(np.concatenate([np.array(color) / 255 * shade, np.ones((len(fan), 1))], 1))
        self.bones.append(np.full(len(fan), NAMES.index(bone) if bone else -1, np.float32))

    def box(self, bone: str, color: Color, at: Place, size: Place, bevel: float = 0.03) -> None:
        """A box without sharp corners."""
        centre, half = np.array(at), np.array(size) / 2
        bevel = min(bevel, float(half.min()) * 0.8)

        def point(signs: tuple[int, ...], axis: int) -> Array:
            return centre + np.array(signs) * np.where(np.arange(3) == axis, half, half - bevel)

        for axis, sign in itertools.product(range(3), (-1, 1)):
            ring = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
            corners = [tuple(np.insert(np.array(pair), axis, sign)) for pair in ring]
            self.face(bone, color, np.array([point(corner, axis) for corner in corners]), centre)
            first, second = (axis + 1) % 3, (axis + 2) % 3
            for other in (-1, 1):
                low, high = np.zeros(3, int), np.zeros(3, int)
                low[[axis, first, second]], high[[axis, first, second]] = (sign, other, -1), (sign, other, 1)
                edge = [point(tuple(low), axis), point(tuple(high), axis), point(tuple(high), first), point(tuple(low), first)]
                self.face(bone, color, np.array(edge), centre)
        for signs in itertools.product((-1, 1), repeat=3):
            self.face(bone, color, np.array([point(signs, axis) for axis in range(3)]), centre)

    def ball(self, bone: str, color: Color, at: Place, size: Place, rings: int = 8) -> None:
        centre, half = np.array(at), np.array(size) / 2
        up, round_ = np.meshgrid(np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, 2 * rings + 1), indexing="ij")
        grid = centre + half * np.stack([np.sin(up) * np.cos(round_), np.sin(up) * np.sin(round_), np.cos(up)], -1)
        for row, column in itertools.product(range(rings), range(2 * rings)):
            quad = grid[[row, row, row + 1, row + 1], [column, column + 1, column + 1, column]]
            keep = [0, 2, 3] if row == 0 else [0, 1, 2] if row == rings - 1 else [0, 1, 2, 3]
            self.face(bone, color, quad[keep], centre, smooth=True)

    def mesh(self, name: str, colored: bool) -> Mesh:
        columns = [self.positions, self.normals, self.colors, [rows[:, None] for rows in self.bones]]
        table = np.concatenate([np.concatenate(rows) for rows in columns], 1).astype(np.float32).round(5)
        table, corners = np.unique(table, axis=0, return_inverse=True)
        positions, normals, colors, bones = np.ascontiguousarray(table[:, :3]), table[:, 3:6], table[:, 6:10], table[:, 10]
        mesh = Mesh(name, positions, corners.reshape(-1).astype(np.int32), normals=Layer("normals", normals))
        if colored:
            mesh.colors = [Layer("Color", colors)]
        held = np.flatnonzero(bones >= 0).astype(np.int32)
        if len(held):
            mesh.skin = Skin(0, held, bones[held].astype(np.int32), np.ones(len(held), np.float32))
        return mesh


def robot() -> Mesh:
    parts = Parts()
    parts.box("body", TIN, (0, 0, 0.86), (0.58, 0.40, 0.52), 0.06)
    parts.box("body", DARK, (0, -0.2, 0.9), (0.36, 0.04, 0.26), 0.02)
    for x, color in ((-0.1, RED), (0.0, BRASS), (0.1, (104, 176, 110))):
        parts.ball("body", color, (x, -0.225, 0.94), (0.07, 0.04, 0.07), 4)
    parts.box("body", BRASS, (0, -0.22, 0.84), (0.26, 0.03, 0.05), 0.01)
    parts.box("body", DARK, (0, 0, 0.58), (0.44, 0.30, 0.08), 0.02)
    parts.box("head", DARK, (0, 0, 1.14), (0.14, 0.14, 0.08), 0.01)
    parts.box("head", TIN, (0, -0.01, 1.34), (0.46, 0.38, 0.34), 0.06)
    parts.box("head", DARK, (0, -0.2, 1.25), (0.22, 0.03, 0.05), 0.01)
    for x in (-0.11, 0.11):
        parts.ball("head", DARK, (x, -0.19, 1.38), (0.15, 0.06, 0.15), 5)
        parts.ball("head", GLOW, (x, -0.215, 1.38), (0.10, 0.05, 0.10), 5)
        parts.box("head", BRASS, (x * 2.25, -0.01, 1.36), (0.07, 0.12, 0.12), 0.02)
    parts.box("head", DARK, (0, 0, 1.57), (0.02, 0.02, 0.14), 0.005)
    parts.ball("head", RED, (0, 0, 1.66), (0.09, 0.09, 0.09), 5)
    parts.box("key", BRASS, (0, 0.28, 0.84), (0.05, 0.16, 0.05), 0.01)
    for x in (-0.09, 0.09):
        parts.ball("key", BRASS, (x, 0.37, 0.84), (0.17, 0.035, 0.15), 5)
    for side, x in ((".L", 1), (".R", -1)):
        parts.ball(f"arm{side}", BRASS, (x * 0.34, 0, 1.0), (0.16, 0.16, 0.16), 5)
        parts.box(f"arm{side}", TIN, (x * 0.40, 0, 0.86), (0.13, 0.15, 0.28), 0.03)
        parts.box(f"hand{side}", DARK, (x * 0.40, 0, 0.68), (0.11, 0.12, 0.08), 0.02)
        for y in (-0.05, 0.05):
            parts.box(f"hand{side}", RED, (x * 0.42, y, 0.59), (0.16, 0.04, 0.14), 0.015)
        parts.box(f"leg{side}", DARK, (x * 0.15, 0, 0.34), (0.12, 0.14, 0.44), 0.03)
        parts.box(f"leg{side}", TIN, (x * 0.15, 0, 0.26), (0.17, 0.19, 0.22), 0.03)
        parts.box(f"foot{side}", RED, (x * 0.15, -0.06, 0.06), (0.22, 0.36, 0.12), 0.04)
    return parts.mesh("robot", colored=True)


def balloon() -> Mesh:
    """In the space of the bone it hangs on."""
    parts = Parts()
    parts.ball("", (255, 255, 255), (0.1, -0.06, 1.1), (0.46, 0.46, 0.54), 10)
    parts.box("", (255, 255, 255), (0.1, -0.06, 0.82), (0.05, 0.05, 0.05), 0.01)
    parts.box("", (255, 255, 255), (0.1, -0.06, 0.34), (0.012, 0.012, 0.94), 0.002)
    return parts.mesh("balloon", colored=False)


# ------------------------------------------------------------------------------------------------------------ movement


def quaternions(x: Array, y: Array, z: Array) -> Array:
    """From degrees about X, then Y, then Z."""
    a, b, c = (np.radians(angle) / 2 for angle in np.broadcast_arrays(x, y, z))
    ca, sa, cb, sb, cc, sc = np.cos(a), np.sin(a), np.cos(b), np.sin(b), np.cos(c), np.sin(c)
    parts = [ca * cb * cc + sa * sb * sc, sa * cb * cc - ca * sb * sc, ca * sb * cc + sa * cb * sc, ca * cb * sc - sa * sb * cc]
    return np.stack(parts, -1).astype(np.float32)


def tracks() -> dict[tuple[int, int], Track]:
    frames = np.arange(1, LAST + 1, dtype=np.float32)
    t = (frames - 1) / 24
    walking, waving = t <= 1, t > 1
    step = np.where(walking, np.sin(2 * np.pi * t), 0)
    ease = np.where(waving, np.sqrt(np.abs(np.sin(np.pi * t))), 0)
    shake = np.where(waving, np.sin(6 * np.pi * t), 0)
    zero = np.zeros_like(t)
    turns = {
        "body": (zero, 4 * step, 6 * step),
        "head": (-6 * ease, 5 * shake * ease, -6 * step),
        "key": (zero, 180 * t, zero),
        "arm.L": (24 * step, zero, zero),
        "hand.L": (zero, 10 * step, zero),
        "arm.R": (-24 * step, 150 * ease, zero),
        "hand.R": (zero, 26 * shake * ease, zero),
        "leg.L": (-28 * step, zero, zero),
        "foot.L": (20 * np.clip(step, 0, 1), zero, zero),
        "leg.R": (28 * step, zero, zero),
        "foot.R": (20 * np.clip(-step, 0, 1), zero, zero),
    }
    found = {(0, NAMES.index(name)): Track(rotation=Channel(frames, quaternions(*angles))) for name, angles in turns.items()}
    heights = np.stack([zero, zero, BONES["body"][1][2] - 0.03 * np.abs(step)], -1).astype(np.float32)
    found[0, 0].location = Channel(frames, heights)
    return found


def scene() -> Scene:
    bones = []
    for name, (parent, place) in BONES.items():
        bind = np.eye(4, dtype=np.float32)
        bind[:3, 3] = place
        local = bind[:3, 3] - (np.array(BONES[parent][1], np.float32) if parent else 0)
        bones.append(Bone(name, NAMES.index(parent) if parent else -1, bind, Transform(location=local)))
    paint = Material("paint", vertex_colors=True)
    rubber = Material("rubber", np.array([0.86, 0.16, 0.20, 0.75], np.float32), blend="ALPHA")
    meshes = [robot(), balloon()]
    meshes[0].materials, meshes[1].materials = [0], [1]
    nodes = [
        Node("robot_armature", armature=Armature("robot", bones)),
        Node("robot", parent=0, mesh=0),
        Node("balloon", parent=0, parent_bone=NAMES.index("hand.L"), mesh=1),
    ]
    return Scene(nodes, meshes, [paint, rubber], timeline=Clip("Animation", 1, LAST, tracks()), fps=24.0)


if __name__ == "__main__":
    save_model("robot.bo3d", bo3d, scene(), half_floats=True)
