# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes lighthouse.bgl and its textures beside this file: a lighthouse on its rock at dusk, boats, and a gull that flies.

    python3 -m examples.make_lighthouse        (any Python 3.11 or newer with numpy, from the project's root)

A whole scene as the engine takes it: a tree of objects, two cameras, lights, boats that share one geometry but not the
material, Uber materials with colour and normal textures, glass, and a skeleton with an animation.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from io_retro_meshes.formats import bogle
from io_retro_meshes.scene import (
    Armature,
    Bone,
    Camera,
    Channel,
    Clip,
    Image,
    Layer,
    Light,
    Material,
    Mesh,
    Node,
    Scene,
    Skin,
    TextureLayer,
    Track,
    Transform,
    floats,
    uv_name,
)
from io_retro_meshes.scene.surfaces import smooth_normals

from .saving import save_model, save_picture

Array = npt.NDArray[np.float32]
TURN = 2 * np.pi
FLAP = 24  # frames of a beat of the wings


# --------------------------------------------------------------------------------------------------------------- shapes


def surface(name: str, points: Array, uvs: Array, material: int) -> Mesh:
    """A smooth mesh of a grid of points (rows, columns, 3), seen from the side where columns go counter-clockwise."""
    rows, columns = points.shape[:2]
    first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    quads = np.stack([first, first + 1, first + columns + 1, first, first + columns + 1, first + columns], 1)
    flat = points.reshape(-1, 3).astype(np.float32)
    corners = quads.reshape(-1, 3).astype(np.int32)
    sides = np.sort(np.linalg.norm(flat[corners] - flat[np.roll(corners, 1, 1)], axis=2), 1)
    mesh = Mesh(name, flat, corners[sides[:, 0] > 1e-6].reshape(-1), materials=[material])
    mesh.normals = Layer("normal", smooth_normals(flat, mesh.corners))
    mesh.uvs = [Layer(uv_name(0), uvs.reshape(-1, 2).astype(np.float32))]
    return mesh


def lathe(name: str, profile: list[tuple[float, float]], material: int, sides: int = 24) -> Mesh:
    """(radius, height) turned about Z, from below up."""
    angle = np.linspace(0, TURN, sides + 1)
    radius, height = np.array(profile).T
    points = np.stack(
        [radius[:, None] * np.cos(angle), radius[:, None] * np.sin(angle), np.repeat(height[:, None], sides + 1, 1)], -1
    )
    across, up = np.meshgrid(angle / TURN, (height - height[0]) / np.ptp(height))
    return surface(name, points.astype(np.float32), np.stack([across, up], -1), material)


def rock() -> Mesh:
    """A hill in rings, rougher towards the water."""
    chance = np.random.default_rng(4)
    rings, sides = 10, 32
    out = np.linspace(0, 1, rings)[::-1, None]
    angle = np.linspace(0, TURN, sides + 1)[None]
    rough = chance.uniform(-0.12, 0.12, (rings, sides + 1)) * (out > 0.25)
    rough[:, -1] = rough[:, 0]
    radius = 4.2 * out * (1 + 0.12 * np.sin(3 * angle) + rough)
    height = np.minimum(1.1, 1.7 * (1 - out**1.5)) - 0.45 + rough * 0.6
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), height + 0 * angle], -1)
    return surface("Rock", points.astype(np.float32), np.stack([points[..., 0], points[..., 1]], -1) / 3, 1)


def sea() -> Mesh:
    across = np.linspace(-40, 40, 25)
    x, y = np.meshgrid(across, across)
    z = 0.06 * np.sin(x * 1.3) * np.cos(y * 0.9)
    return surface("Sea", np.stack([x, y, z], -1).astype(np.float32), np.stack([x, y], -1) / 5, 2)


def boat() -> Mesh:
    """A hull that is drawn out to a bow, with a rim and a bottom inside it."""
    along = np.linspace(-1, 1, 13)
    width = 0.34 * np.clip(1 - np.maximum(along, 0) ** 2.5, 0.0, 1) * (1 - 0.25 * np.maximum(-along, 0))
    rows = []
    for side, depth in ((0.0, -0.22), (0.7, -0.12), (1.0, 0.16), (0.86, 0.15), (0.6, -0.02), (0.0, -0.05)):
        lift = 0.16 * np.maximum(along, 0) ** 2
        rows.append(np.stack([along, -side * width, np.full_like(along, depth) + lift], 1))
    half = np.array(rows)[:, ::-1]
    other = half[::-1] * (1, -1, 1)
    points = np.concatenate([half[::-1], other[::-1][1:]])[::-1]
    uvs = np.stack(np.meshgrid(np.linspace(0, 1, 13), np.linspace(0, 1, len(points))), -1)
    return surface("Boat", points.astype(np.float32), uvs, 3)


def gull() -> Mesh:
    """Wings, and between them a body, in one sheet."""
    across = np.linspace(-1, 1, 17)
    chord = 0.16 * (1 - np.abs(across) ** 1.5) + 0.02
    middle = np.exp(-((across / 0.09) ** 2))
    front, back = chord * 0.6 + middle * 0.22, -chord - middle * 0.3
    share = np.linspace(0, 1, 7)[:, None]
    y = back + (front - back) * share
    z = 0.05 * np.abs(across) + 0.06 * middle * np.sin(share * np.pi)
    points = np.stack([across + 0 * share, y - 0.12 * np.abs(across), z], -1)
    return surface("Gull", points.astype(np.float32), np.stack([(points[..., 0] + 1) / 2, share + 0 * y], -1), 5)


# ------------------------------------------------------------------------------------------------------------- textures


def pictures() -> dict[str, npt.NDArray[np.uint8]]:
    """Red and white bands, rough stone, and the normals of ripples."""
    chance = np.random.default_rng(7)
    y, x = np.mgrid[0:64, 0:64] / 64
    stripes = (
        np.where((np.floor(y * 6) % 2 == 0)[..., None], (196, 46, 38), (238, 232, 218))
        * (0.94 + 0.06 * (x * 16 % 1 > 0.1))[..., None]
    )
    stone = np.array((118, 110, 102)) * (0.75 + 0.25 * chance.random((64, 64, 1)))
    slope_x = np.cos(TURN * (x * 2 + np.sin(TURN * y) * 0.3)) * 0.35
    slope_y = np.cos(TURN * (y * 3 + np.sin(TURN * x) * 0.2)) * 0.25
    normals = np.stack([slope_x, slope_y, np.ones_like(x)], -1)
    ripples = (normals / np.linalg.norm(normals, axis=-1, keepdims=True) * 0.5 + 0.5) * 255
    opaque = {"lighthouse_bands": stripes, "lighthouse_stone": stone, "lighthouse_ripples": ripples}
    return {
        name: np.concatenate([np.clip(rgb, 0, 255), np.full((64, 64, 1), 255)], -1).astype(np.uint8)
        for name, rgb in opaque.items()
    }


def uber(name: str, textures: dict[str, int], **sockets: float | tuple[float, float, float]) -> Material:
    material = Material(name, graph="bogle")
    values = {key.replace("_", " "): value for key, value in sockets.items()}
    material.settings["bogle"] = {"Use Geometry Normals": float("Normal" not in textures), **values}
    material.layers = [TextureLayer(image, settings={"bogle": {"texture": socket}}) for socket, image in textures.items()]
    return material


def materials() -> list[Material]:
    red, white = (0.6, 0.06, 0.04), (0.85, 0.85, 0.8)
    return [
        uber("Tower", {"Diffuse": 0}, Base_Diffuse=(1, 1, 1), Base_Ambient=(0.4, 0.4, 0.4), Specular_Power=20.0),
        uber("Stone", {"Diffuse": 1}, Base_Diffuse=(1, 1, 1), Base_Ambient=(0.4, 0.4, 0.4), Base_Specular=(0.0, 0.0, 0.0)),
        uber(
            "Water",
            {"Normal": 2},
            Base_Diffuse=(0.02, 0.1, 0.16),
            Base_Specular=(0.8, 0.8, 0.8),
            Specular_Power=300.0,
            Reflectance=0.25,
        ),
        uber("Red Boat", {}, Base_Diffuse=red, Base_Specular=(0.4, 0.4, 0.4)),
        uber("White Boat", {}, Base_Diffuse=white, Base_Specular=(0.4, 0.4, 0.4)),
        uber("Feathers", {}, Base_Diffuse=(0.9, 0.9, 0.92), Base_Emissive=(0.03, 0.03, 0.04)),
        uber(
            "Lantern Glass", {}, Base_Diffuse=(1, 0.9, 0.6), Base_Emissive=(1, 0.72, 0.3), Opacity=0.75, Alpha_Blending_Mode=1.0
        ),
        uber("Roof", {}, Base_Diffuse=(0.08, 0.09, 0.1), Base_Specular=(0.5, 0.5, 0.5), Specular_Power=80.0),
    ]


# ---------------------------------------------------------------------------------------------------------------- scene


def place(x: float, y: float, z: float, turn: float = 0.0, pitch: float = 0.0) -> Transform:
    """A place, pitched about X and then turned about Z."""
    a, b = turn / 2, pitch / 2
    rotation = floats(np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a) * np.sin(b), np.sin(a) * np.cos(b))
    return Transform(floats(x, y, z), rotation)


def wings(node: int, mesh: Mesh) -> tuple[Armature, Skin, Clip]:
    """A body and two wings; a wing turns about the body's place, as bones of the engine do."""
    at = Transform()
    bones = [Bone("Body", -1, at.matrix, at), Bone("Left", 0, at.matrix, Transform()), Bone("Right", 0, at.matrix, Transform())]
    x = mesh.positions[:, 0]
    share = np.clip((np.abs(x) - 0.04) / 0.2, 0, 1).astype(np.float32)
    vertices = np.arange(len(x), dtype=np.int32)
    side = np.where(x > 0, 1, 2).astype(np.int32)
    skin = Skin(node, np.tile(vertices, 2), np.concatenate([np.zeros_like(side), side]), np.concatenate([1 - share, share]))
    frames = np.linspace(0, FLAP, 9).astype(np.float32)
    angle = 0.45 * np.sin(TURN * frames / FLAP)
    beat = [np.stack([np.cos(a / 2), 0 * a, np.sin(a / 2), 0 * a], 1).astype(np.float32) for a in (-angle, angle)]
    sway = np.stack([0 * angle, 0 * angle, -angle * 0.12], 1).astype(np.float32)
    tracks = {(node, 0): Track(location=Channel(frames, sway))}
    tracks |= {(node, 1 + n): Track(rotation=Channel(frames, keys)) for n, keys in enumerate(beat)}
    return Armature("Wings", bones), skin, Clip("Fly", 0, FLAP, tracks)


def scene() -> Scene:
    made = Scene(fps=24.0, world_color=floats(0.10, 0.13, 0.24), materials=materials())
    made.images = [Image(f"{name}.png") for name in pictures()]
    tower = [
        (0.95, 0.0),
        (0.9, 0.15),
        (0.78, 1.2),
        (0.66, 2.6),
        (0.58, 4.0),
        (0.56, 4.3),
        (0.82, 4.36),
        (0.84, 4.5),
        (0.0, 4.52),
    ]
    roof = [(0.62, 0.0), (0.6, 0.05), (0.34, 0.42), (0.09, 0.62), (0.09, 0.78), (0.0, 0.84)]
    made.meshes = [
        sea(),
        rock(),
        lathe("Tower", tower, 0),
        lathe("Lantern", [(0.42, 0.0), (0.42, 0.7)], 6, 24),
        lathe("Roof", roof, 7, 24),
        boat(),
        gull(),
    ]
    made.cameras = [
        Camera("Shore", 0.62, 0.1, 200, main=True, resolution=(1200, 600)),
        Camera("Gallery", 0.9, 0.1, 200, resolution=(1200, 600)),
    ]
    made.lights = [
        Light("Dusk", "SUN", floats(1.0, 0.62, 0.4), 1.6, cutoff_distance=40),
        Light("Beam", "SPOT", floats(1.0, 0.86, 0.55), 900, 0.5, 40),
        Light("Glow", "POINT", floats(1.0, 0.75, 0.4), 60, cutoff_distance=12),
    ]
    made.nodes = [
        Node("Sea", mesh=0),
        Node("Rock", mesh=1),
        Node("Tower", 1, transform=place(0, 0, 0.6), mesh=2),
        Node("Lantern", 2, transform=place(0, 0, 4.5), mesh=3),
        Node("Roof", 3, transform=place(0, 0, 0.7), mesh=4),
        Node("Glow", 3, transform=place(0, 0, 0.35), light=2),
        Node("Beam", 3, transform=place(0, 0, 0.35, 2.2, 1.45), light=1),
        Node("Red Boat", transform=place(4.6, -3.4, 0.12, 0.7), mesh=5),
        Node("White Boat", transform=place(-4.9, -2.6, 0.12, 2.4), mesh=5, materials=[4]),
        Node("Far Boat", transform=place(7.5, 5.5, 0.12, -0.5), mesh=5, materials=[4]),
        Node("Dusk", transform=place(0, 0, 12, -0.9, 1.15), light=0),
        Node("Shore", transform=place(2.4, -15.5, 2.6, 0.12, 1.55), camera=0),
        Node("Gallery", 2, transform=place(0, -0.7, 4.9, 0.0, 1.35), camera=1),
        Node("Gull Path", transform=place(2.9, -4.5, 4.2, 0.9)),
    ]
    rig = len(made.nodes)
    armature, made.meshes[6].skin, clip = wings(rig, made.meshes[6])
    made.nodes += [Node("Gull Rig", 13, armature=armature), Node("Gull", rig, mesh=6)]
    made.clips = [clip]
    return made


if __name__ == "__main__":
    save_model("lighthouse.bgl", bogle, scene(), file_layout="ANIM")
    for name, pixels in pictures().items():
        save_picture(f"{bogle.texture_folder}/{name}{bogle.texture_extension}", pixels)
