# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes fox.b3d and fox.png beside this file: a small fox with a skin, three animations and a painted texture.

    python3 -m examples.make_character        (any Python 3.11 or newer with numpy, from the project's root)

It is also an example of the library: the fox is a `Scene` in Blender's axes (Z up, looking along -Y), made of tubes round
bones, and any format's `from_scene` turns it into a file.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from io_retro_meshes.formats import b3d
from io_retro_meshes.scene import (
    Armature,
    Bone,
    Channel,
    Clip,
    Image,
    Layer,
    Material,
    Mesh,
    Node,
    Scene,
    Skin,
    TextureLayer,
    Track,
    Transform,
    surfaces,
)

from .saving import save_model, save_picture

Array = npt.NDArray[np.float32]
TURN = 2 * np.pi
SIDES = 10  # of every tube
FPS = 24.0

# -------------------------------------------------------------------------------------------------------------- bones

# name: (parent, where it is)
BONES: dict[str, tuple[str, tuple[float, float, float]]] = {
    "hips": ("", (0, 0.30, 0.58)),
    "chest": ("hips", (0, -0.10, 0.58)),
    "head": ("chest", (0, -0.42, 0.72)),
    "ear.L": ("head", (0.11, -0.50, 0.98)),
    "ear.R": ("head", (-0.11, -0.50, 0.98)),
    "tail.1": ("hips", (0, 0.42, 0.62)),
    "tail.2": ("tail.1", (0, 0.68, 0.66)),
    "tail.3": ("tail.2", (0, 0.92, 0.76)),
}
for end, parent, y in (("front", "chest", -0.24), ("hind", "hips", 0.30)):
    for side, x in ((".L", 0.12), (".R", -0.12)):
        BONES[f"{end}.1{side}"] = (parent, (x, y, 0.46))
        BONES[f"{end}.2{side}"] = (f"{end}.1{side}", (x, y + (0.01 if end == "front" else 0.03), 0.22))
NAMES = list(BONES)


def armature() -> Armature:
    bones = []
    for parent, place in BONES.values():
        bind = np.eye(4, dtype=np.float32)
        bind[:3, 3] = place
        local = bind[:3, 3] - (np.array(BONES[parent][1], np.float32) if parent else 0)
        bones.append(Bone(NAMES[len(bones)], NAMES.index(parent) if parent else -1, bind, Transform(location=local)))
    return Armature("fox_armature", bones)


# --------------------------------------------------------------------------------------------------------------- shape


class Shape:
    """Tubes collected into one mesh; each has a rectangle of the texture of its own."""

    def __init__(self) -> None:
        self.positions: list[Array] = []
        self.uvs: list[Array] = []
        self.triangles: list[npt.NDArray[np.int32]] = []
        self.weights: list[Array] = []
        self.count = 0

    def tube(self, path: list[tuple[float, ...]], region: str, bones: list[tuple[str, float]], up: bool = False) -> None:
        """A tube through rings of (x, y, z, half width, half height).

        It lies along Y, or with `up` along Z. `bones` says where along the tube (0 to 1) each bone holds it fully.
        """
        rings = np.array(path, np.float32)
        angle = np.linspace(0, TURN, SIDES + 1, dtype=np.float32)  # from below, round and back to below
        across, high = np.sin(angle) * rings[:, 3:4], -np.cos(angle) * rings[:, 4:5]
        points = np.repeat(rings[:, None, :3], SIDES + 1, 1)
        points[..., 0] += across
        points[..., 1 if up else 2] += high
        along = np.linspace(0, 1, len(rings), dtype=np.float32)
        left, top, width, height = REGIONS[region]
        u = left + 0.5 + (width - 1) * angle / TURN
        v = top + 0.5 + (height - 1) * along
        uv = np.stack(np.broadcast_arrays(u[None], SIZE - v[:, None]), -1) / SIZE
        held = np.zeros((len(rings), len(NAMES)), np.float32)
        stops = [stop for _, stop in bones]
        for number, (name, _) in enumerate(bones):
            held[:, NAMES.index(name)] += np.interp(along, stops, np.eye(len(bones))[number])
        self.add(points, uv, np.repeat(held[:, None], SIDES + 1, 1))

    def add(self, points: Array, uv: Array, held: Array) -> None:
        rows, columns = points.shape[:2]
        at = self.count + np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
        a, b, c, d = at[:-1, :-1], at[:-1, 1:], at[1:, 1:], at[1:, :-1]
        quads = np.stack([a, d, c, a, c, b], -1).reshape(-1, 3)
        places = points.reshape(-1, 3)[quads - self.count]
        if np.linalg.det(places - points.mean((0, 1))).sum() < 0:  # which way out is depends on where the tube goes
            quads = quads[:, ::-1]
        self.positions.append(points.reshape(-1, 3))
        self.uvs.append(uv.reshape(-1, 2).astype(np.float32))
        self.weights.append(held.reshape(rows * columns, -1))
        self.triangles.append(quads)
        self.count += rows * columns

    def mesh(self) -> Mesh:
        positions = np.concatenate(self.positions).astype(np.float32)
        triangles = np.concatenate(self.triangles)
        points = positions[triangles]
        area = np.linalg.norm(np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]), axis=1)
        corners = triangles[area > 1e-9].reshape(-1)  # a ring of no width closes a tube, and leaves slivers
        used, corners = np.unique(corners, return_inverse=True)
        corners = corners.reshape(-1).astype(np.int32)
        positions = positions[used]
        weights = np.concatenate(self.weights)[used]
        vertices, bones = np.nonzero(weights)
        return Mesh(
            "fox",
            positions,
            corners,
            materials=[0],
            normals=Layer("normals", surfaces.smooth_normals(positions, corners)[corners], "CORNER"),
            uvs=[Layer("UVMap", np.concatenate(self.uvs)[used][corners], "CORNER")],
            skin=Skin(0, vertices.astype(np.int32), bones.astype(np.int32), weights[vertices, bones]),
        )


def fox() -> Mesh:
    shape = Shape()
    body = [(0, 0.50, 0.60, 0, 0), (0, 0.47, 0.60, 0.11, 0.11), (0, 0.36, 0.58, 0.17, 0.17), (0, 0.15, 0.57, 0.165, 0.16)]
    body += [(0, -0.08, 0.56, 0.175, 0.18), (0, -0.28, 0.59, 0.175, 0.20), (0, -0.40, 0.66, 0.14, 0.17), (0, -0.50, 0.74, 0, 0)]
    shape.tube(body, "body", [("hips", 0.3), ("chest", 0.7)])
    head = [(0, -0.34, 0.78, 0, 0), (0, -0.37, 0.79, 0.15, 0.13), (0, -0.46, 0.83, 0.22, 0.18), (0, -0.56, 0.83, 0.225, 0.175)]
    head += [
        (0, -0.66, 0.79, 0.16, 0.125),
        (0, -0.74, 0.755, 0.085, 0.07),
        (0, -0.86, 0.74, 0.05, 0.045),
        (0, -0.90, 0.74, 0, 0),
    ]
    shape.tube(head, "head", [("chest", 0.0), ("head", 0.2)])
    tail = [(0, 0.40, 0.60, 0, 0), (0, 0.46, 0.62, 0.05, 0.05), (0, 0.60, 0.64, 0.09, 0.09), (0, 0.78, 0.68, 0.14, 0.14)]
    tail += [(0, 0.94, 0.76, 0.145, 0.145), (0, 1.08, 0.85, 0.10, 0.10), (0, 1.17, 0.93, 0.045, 0.045), (0, 1.22, 0.98, 0, 0)]
    shape.tube(tail, "tail", [("hips", 0.0), ("tail.1", 0.2), ("tail.2", 0.5), ("tail.3", 0.85)])
    shape.tube(ball(0, -0.905, 0.755, 0.032, 0.026), "nose", [("head", 0)])
    for side, s in ((".L", 1), (".R", -1)):
        shape.tube(ball(s * 0.125, -0.655, 0.85, 0.03, 0.04), "eye", [("head", 0)])
        ear = [(s * 0.11, -0.49, 0.94, 0, 0), (s * 0.115, -0.49, 0.95, 0.08, 0.05), (s * 0.13, -0.48, 1.03, 0.065, 0.035)]
        ear += [(s * 0.145, -0.47, 1.11, 0.03, 0.02), (s * 0.15, -0.465, 1.16, 0, 0)]
        shape.tube(ear, "ear", [("head", 0), (f"ear{side}", 0.4)], up=True)
        for end, y, thick in (("front", -0.24, 0.075), ("hind", 0.30, 0.095)):
            bend = 0.01 if end == "front" else 0.04
            leg = [(s * 0.10, y, 0.58, 0, 0), (s * 0.11, y, 0.55, thick, thick * 1.4), (s * 0.12, y, 0.42, thick, thick * 1.25)]
            leg += [(s * 0.12, y + bend * 0.5, 0.32, 0.06, 0.065), (s * 0.12, y + bend, 0.22, 0.05, 0.05)]
            leg += [(s * 0.12, y + bend * 0.5, 0.08, 0.045, 0.045), (s * 0.12, y - 0.02, 0.045, 0.055, 0.07)]
            leg += [(s * 0.12, y - 0.025, 0.0, 0.055, 0.075), (s * 0.12, y - 0.025, 0.0, 0, 0)]
            upper, lower, body_bone = f"{end}.1{side}", f"{end}.2{side}", "chest" if end == "front" else "hips"
            shape.tube(leg, "leg", [(body_bone, 0), (upper, 0.25), (upper, 0.4), (lower, 0.6)], up=True)
    return shape.mesh()


def ball(x: float, y: float, z: float, width: float, height: float) -> list[tuple[float, ...]]:
    turn = np.linspace(0, np.pi, 6)
    return [(x, y + width * np.cos(a), z, width * np.sin(a), height * np.sin(a)) for a in turn]


# ------------------------------------------------------------------------------------------------------------- texture

SIZE = 128
# left, top, width, height in the picture; a tube's way round goes across, its length down
REGIONS = {
    "body": (0, 0, 64, 64),
    "head": (64, 0, 64, 64),
    "tail": (0, 64, 48, 64),
    "leg": (48, 64, 32, 64),
    "ear": (80, 64, 32, 32),
    "nose": (112, 64, 16, 16),
    "eye": (112, 80, 16, 16),
}
ORANGE, DEEP, CREAM, DARK, WHITE = (226, 116, 42), (178, 74, 26), (250, 232, 206), (58, 38, 36), (255, 250, 242)


def paint() -> npt.NDArray[np.uint8]:
    """(height, width, 3), the top row first."""
    picture = np.zeros((SIZE, SIZE, 3), np.float32)
    for region, (left, top, width, height) in REGIONS.items():
        along, round_ = np.meshgrid(np.linspace(0, 1, height), np.linspace(-1, 1, width), indexing="ij")
        picture[top : top + height, left : left + width] = coat(region, along, 1 - np.abs(round_))
    grain = np.random.default_rng(3).integers(-1, 2, (SIZE, SIZE // 2, 1)).repeat(2, 1)
    return np.clip(picture + 4 * grain, 0, 255).astype(np.uint8)


def coat(region: str, along: Array, up: Array) -> Array:
    """Colours by the place along a tube and the height round it: 0 below, 1 on top."""
    fur = blend(blend(np.full((*up.shape, 3), ORANGE, np.float32), DEEP, up, 0.75, 1.0), CREAM, 1 - up, 0.62, 0.72)
    if region == "head":
        cheeks = 1 - up + 0.35 * np.exp(-(((along - 0.55) / 0.2) ** 2))
        fur = blend(np.full((*up.shape, 3), ORANGE, np.float32), CREAM, cheeks, 0.66, 0.74)
        return blend(fur, DEEP, up * (along > 0.5), 0.8, 1.1)
    if region == "tail":
        return blend(blend(fur, DARK, along, 0.50, 0.66), WHITE, along + 0.03 * np.sin(40 * up), 0.68, 0.74)
    if region == "leg":
        plain = np.full((*up.shape, 3), ORANGE, np.float32)
        return blend(plain, DARK, along + 0.03 * np.sin(30 * up), 0.50, 0.60)
    if region == "ear":
        inner = blend(np.full((*up.shape, 3), DEEP, np.float32), CREAM, 1 - up, 0.55, 0.75)
        return blend(inner, DARK, along, 0.55, 0.75)
    if region == "eye":
        black = np.full((*up.shape, 3), (24, 16, 18), np.float32)
        return blend(black, WHITE, np.minimum(up, along), 0.72, 0.76)
    return np.full((*up.shape, 3), (36, 26, 28), np.float32) if region == "nose" else fur


def blend(colors: Array, other: tuple[int, int, int], value: Array, low: float, high: float) -> Array:
    part = np.clip((value - low) / (high - low), 0, 1)[..., None]
    return (colors * (1 - part) + np.array(other, np.float32) * part).astype(np.float32)


# ------------------------------------------------------------------------------------------------------------ movement

CLIPS = {"idle": (1, 49), "walk": (50, 74), "wave": (75, 123)}  # each ends as it begins


def pose(clip: str, t: Array) -> dict[str, Array]:
    """Rotations about X, Y and Z in degrees by bone at the times t (0 to 1), and where the hips are."""
    wave, twice = np.sin(TURN * t), np.sin(2 * TURN * t)
    none = np.zeros_like(t)
    turns: dict[str, Array] = {}

    def turn(bone: str, x: Array = none, y: Array = none, z: Array = none) -> None:
        turns[bone] = np.stack([x, y, z], -1)

    for number in (1, 2, 3):
        turn(f"tail.{number}", x=3 * np.cos(TURN * t), z=(14 if clip == "walk" else 10) * np.sin(TURN * (t - 0.12 * number)))
    turn("head", x=2 * wave, z=none)
    turn("hips_place", z=0.004 * twice)
    if clip == "idle":
        turn("chest", x=1.5 * twice)
        turn("head", x=3 * wave, z=14 * np.sin(TURN * t) ** 3)
        flick = np.exp(-(((t - 0.6) / 0.04) ** 2))
        turn("ear.L", y=25 * flick)
        turn("ear.R", y=-12 * np.exp(-(((t - 0.7) / 0.04) ** 2)))
    elif clip == "walk":
        turn("hips_place", z=0.018 * np.cos(2 * TURN * t))
        turn("hips", y=2 * wave, z=3 * wave)
        turn("chest", z=-5 * wave)
        turn("head", x=2 * twice, z=2 * wave)
        for leg, phase in (("front{}.L", 0.0), ("front{}.R", 0.5), ("hind{}.L", 0.25), ("hind{}.R", 0.75)):
            swing = TURN * (t + phase)
            knee = np.clip(np.cos(swing), 0, None) * (1 if leg.startswith("hind") else -1)
            turn(leg.format(".1"), x=26 * np.sin(swing))
            turn(leg.format(".2"), x=-40 * knee)
    else:
        lift = np.clip(np.sin(np.pi * t) * 2.2, 0, 1)
        lift = lift * lift * (3 - 2 * lift)
        turn("front.1.L", x=-105 * lift, y=(8 + 18 * np.sin(6 * TURN * t)) * lift)
        turn("front.2.L", x=25 * lift, y=12 * np.sin(6 * TURN * t - 1) * lift)
        turn("head", x=-4 * lift, y=12 * lift, z=6 * lift)
        turn("chest", x=-4 * lift, y=3 * lift)
        turn("front.1.R", y=-3 * lift, x=4 * lift)
    return turns


def quaternions(degrees: Array) -> Array:
    """X, then Y, then Z."""
    half = np.radians(degrees) / 2
    (cx, cy, cz), (sx, sy, sz) = np.cos(half).T, np.sin(half).T
    w, x = cx * cy * cz + sx * sy * sz, sx * cy * cz - cx * sy * sz
    y, z = cx * sy * cz + sx * cy * sz, cx * cy * sz - sx * sy * cz
    return np.stack([w, x, y, z], -1).astype(np.float32)


def timeline() -> Clip:
    frames: list[Array] = []
    turns: dict[str, list[Array]] = {name: [] for name in (*NAMES, "hips_place")}
    for name, (first, last) in CLIPS.items():
        frames.append(np.arange(first, last + 1, 2, dtype=np.float32))
        posed = pose(name, (frames[-1] - first) / (last - first))
        for bone, values in turns.items():
            values.append(posed.get(bone, np.zeros((len(frames[-1]), 3), np.float32)))
    at = np.concatenate(frames)
    tracks = {}
    for number, name in enumerate(NAMES):
        tracks[0, number] = Track(rotation=Channel(at, quaternions(np.concatenate(turns[name]))))
    place = np.array(BONES["hips"][1]) + np.concatenate(turns["hips_place"])
    tracks[0, 0].location = Channel(at, place.astype(np.float32))
    return Clip("fox", float(at[0]), float(at[-1]), tracks)


def scene() -> Scene:
    return Scene(
        nodes=[Node("fox_armature", armature=armature()), Node("fox", parent=0, mesh=0)],
        meshes=[fox()],
        materials=[Material("fox", layers=[TextureLayer(0)])],
        images=[Image("fox.png")],
        timeline=timeline(),
        clips=[Clip(name, float(first), float(last)) for name, (first, last) in CLIPS.items()],
        fps=FPS,
    )


if __name__ == "__main__":
    save_picture("fox.png", paint()[::-1])
    save_model("fox.b3d", b3d, scene())
