# SPDX-License-Identifier: GPL-3.0-or-later
"""BOGLE files made for tests, by the project's own writer."""

from __future__ import annotations

import numpy as np

from io_retro_meshes import scene as neutral
from io_retro_meshes.formats import bogle
from io_retro_meshes.formats.bogle import drafts
from io_retro_meshes.scene import Channel, Floats, Layer, Track, Transform, floats


def matrix(location: tuple[float, float, float] = (0, 0, 0), turn: float = 0.0) -> Floats:
    """A place, and a turn about Z."""
    made = np.eye(4, dtype=np.float32)
    made[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    made[:3, 3] = location
    return made


def square(name: str = "Square", size: float = 1.0) -> neutral.Mesh:
    positions = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32) * size
    mesh = neutral.Mesh(name, positions, np.array([0, 1, 2, 0, 2, 3], np.int32))
    mesh.normals = Layer("normal", np.tile(floats(0, 0, 1), (4, 1)))
    mesh.uvs = [Layer("UVMap", positions[:, :2] * 2.5 - 0.5)]
    return mesh


def still_scene() -> neutral.Scene:
    """A camera, two squares that share a mesh but not a material, and a light that hangs on one of them."""
    scene = neutral.Scene(meshes=[square()], world_color=floats(0.1, 0.2, 0.3))
    enamel = neutral.Material("Enamel", graph="bogle")
    enamel.settings["bogle"] = {"Base Diffuse": (0.5, 0.25, 0.125), "Opacity": 0.75, "Alpha Blending Mode": 1.0}
    enamel.layers = [neutral.TextureLayer(0, settings={"bogle": {"texture": "Diffuse"}})]
    scene.images = [neutral.Image("enamel.png")]
    scene.materials = [enamel, neutral.Material("Plain", floats(0.5, 0.5, 0.5, 1))]
    scene.meshes[0].materials = [0]
    scene.cameras = [neutral.Camera("Eye", 0.75, 0.25, 50, main=True, resolution=(640, 480))]
    scene.lights = [neutral.Light("Lamp", "SPOT", floats(1, 0.5, 0.25), 60.0, 0.9, 5.0)]
    scene.nodes = [
        neutral.Node("Eye", transform=Transform.from_matrix(matrix((0, 0, 5))), camera=0),
        neutral.Node("First", transform=Transform.from_matrix(matrix((1, 2, 3), 0.5)), mesh=0),
        neutral.Node("Second", 1, transform=Transform.from_matrix(matrix((0, 0, 1))), mesh=0, materials=[1]),
        neutral.Node("Lamp", 2, transform=Transform.from_matrix(matrix((0, 1, 0))), light=0),
    ]
    return scene


def rigged_scene() -> neutral.Scene:
    """Two bones that move a square; the upper one turns about the lower one's place, as the engine has it."""
    scene = still_scene()
    turn = np.array([[1, 0, 0, 0], [np.cos(0.4), 0, 0, np.sin(0.4)]], np.float32)
    upper = matrix((0, 1, 0))
    bones = [
        neutral.Bone("Lower", -1, np.eye(4, dtype=np.float32), Transform()),
        neutral.Bone("Upper", 0, upper, Transform.from_matrix(upper)),
    ]
    rig = len(scene.nodes)
    scene.nodes.append(neutral.Node("Rig", 1, armature=neutral.Armature("Bones", bones)))
    skin = neutral.Skin(rig, np.arange(4, dtype=np.int32), np.array([0, 0, 1, 1], np.int32), np.ones(4, np.float32))
    scene.meshes.append(square("Flag"))
    scene.meshes[-1].skin, scene.meshes[-1].materials = skin, [1]
    scene.nodes.append(neutral.Node("Flag", rig, mesh=1))
    frames = floats(0, 12)
    about = np.array([[0, 1, 0], [-np.sin(0.8), np.cos(0.8), 0]], np.float32)
    tracks = {(rig, 0): Track(location=Channel(frames, np.array([[0, 0, 0], [1, 0, 0]], np.float32)))}
    tracks[rig, 1] = Track(Channel(frames, about), Channel(frames, turn))
    scene.clips = [neutral.Clip("Wave", 0, 12, tracks)]
    scene.fps = 24.0
    return scene


def file(scene: neutral.Scene, **options: object) -> bytes:
    return bogle.write(bogle.from_scene(scene, bogle.ExportOptions(**options)))  # type: ignore[arg-type]


def draft(layout: drafts.Kind) -> drafts.Draft:
    """A square and, in draft D, an empty above it, a camera and a light."""
    vertices = np.zeros(4, drafts.NORMAL_VERTEX if layout in "CD" else drafts.POINT_VERTEX)
    vertices["position"] = square().positions
    vertices["uv"] = square().uvs[0].data
    if layout in "CD":
        vertices["normal"] = (0, 0, 1)
    transform = np.zeros(1 if layout != "A" else 0, drafts.TRANSFORM)
    transform["translation"], transform["axis"], transform["angle"], transform["scale"] = (1, 2, 3), (0, 0, 1), 0.5, (1, 1, 2)
    name = b"Square" + (b"\0".ljust(26) if layout == "D" else b"")
    objects = [drafts.Object(name, vertices, np.array([0, 1, 2, 0, 2, 3], "<u4"), transform)]
    made = drafts.Draft(layout, objects)
    if layout == "D":
        nothing = drafts.Object(b"Empty\0".ljust(32), vertices[:0], np.zeros(0, "<u4"), transform)
        made.objects.append(nothing)
        made.tree = b"1{0{}}"
        made.cameras, made.lights = np.zeros(1, drafts.CAMERA), np.zeros(1, drafts.LIGHT)
        made.cameras["position"], made.lights["diffuse"], made.lights["diffuse_power"] = (0, 0, 9), (1, 0.5, 0.25, 1), 50
    return made


def fuzz_seeds() -> list[bytes]:
    return [file(still_scene()), file(rigged_scene())]
