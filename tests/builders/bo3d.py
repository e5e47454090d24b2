# SPDX-License-Identifier: GPL-3.0-or-later
"""BO3D documents made for tests."""

from __future__ import annotations

import numpy as np

from io_retro_meshes.formats import bo3d
from io_retro_meshes.formats.bo3d.document import BONE, HALF_VERTEX, KEY, VERTEX, Document, Entity, Mesh, floats
from io_retro_meshes.scene import Armature, Bone, Channel, Clip, Layer, Node, Scene, Skin, Track, Transform
from io_retro_meshes.scene import Mesh as SceneMesh
from io_retro_meshes.scene.maths import quaternion_multiply

FACES = [
    (0, 2, 1),
    (0, 3, 2),
    (4, 5, 6),
    (4, 6, 7),
    (0, 1, 5),
    (0, 5, 4),
    (1, 2, 6),
    (1, 6, 5),
    (2, 3, 7),
    (2, 7, 6),
    (3, 0, 4),
]


def keys(*rows: tuple[int, tuple[float, ...], tuple[float, ...]]) -> np.ndarray:
    """(frame, position, rotation) each."""
    table = np.zeros(len(rows), KEY)
    for row, (frame, position, rotation) in zip(table, rows, strict=True):
        row["frame"], row["position"], row["scale"], row["rotation"] = frame, position, (1, 1, 1), rotation
    return table


def boxes(*centres: tuple[float, float, float], half: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of boxes, counter-clockwise seen from outside."""
    corner = np.array([(x, y, z) for z in (-1, 1) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))], float) * 0.25
    rows = np.zeros(8 * len(centres), HALF_VERTEX if half else VERTEX)
    rows["position"] = np.concatenate([corner + centre for centre in centres])
    rows["normal"] = np.tile(corner / np.linalg.norm(corner, axis=1, keepdims=True), (len(centres), 1))
    rows["uv"] = np.tile(np.linspace(0, 1, 16).reshape(8, 2), (len(centres), 1))
    triangles = np.concatenate([np.array(FACES) + 8 * index for index in range(len(centres))]).astype("<u2")
    return rows, triangles


def turn(degrees: float, *axis: float) -> tuple[float, ...]:
    half = np.radians(degrees) / 2
    return (float(np.cos(half)), *(float(value) for value in np.sin(half) * np.array(axis) / np.linalg.norm(axis)))


def two_arms(half: bool = False) -> Document:
    """A body with two arms: every kind of list, padding, an empty bone, a pivot between bones, something in a hand."""
    vertices, triangles = boxes((0, 1, 0), (1, 1, 0), (2, 1, 0), (-1, 1, 0), half=half)
    bones = np.array([(1, 0, 7), (2, 8, 7), (3, 8, 15), (5, 16, 23), (6, 24, 31)], BONE)
    colors = np.arange(len(vertices) * 3, dtype=np.uint8).reshape(-1, 3)
    body = Mesh(vertices, triangles, colors, b"C:\\art\\Body.PNG", bones, (10, 20, 30, 255), 0.5, 1 | 4 | 32 | 1024)
    sword, faces = boxes((0, 0.5, 0), half=half)
    still = (1.0, 0.0, 0.0, 0.0)
    entities = [
        Entity(b"Body", -1, floats(0, 0.5, 0), length=21, mesh=body),
        Entity(b"Spine", 0, floats(0, 0.5, 0), keys=keys((1, (0, 0.5, 0), still), (20, (0, 1, 0.25), turn(40, 0, 1, 0)))),
        Entity(b"Left", 1, floats(0.5, 0, 0)),
        Entity(b"Left Arm", 2, floats(0, 0.5, 0), keys=keys((1, (0, 0.5, 0), still), (11, (0, 0.5, 0), turn(120, 0, 0, 1)))),
        Entity(b"Twist", 3, floats(0.25, 0, 0), rotation=floats(*turn(90, 1, 0, 0))),
        Entity(b"Left Hand", 4, floats(0.5, 0, 0), keys=keys((5, (0.5, 0, 0), still), (9, (0.6, 0, 0), turn(-60, 1, 1, 0)))),
        Entity(b"Right Arm", 1, floats(-0.5, 0.5, 0), keys=keys((20, (-0.5, 0.5, 0), turn(-90, 0, 0, 1)))),
        Entity(b"Sword", 5, floats(0.25, 0, 0), rotation=floats(*turn(30, 0, 1, 1)), mesh=Mesh(sword, faces)),
    ]
    return Document(entities, vfloat=16 if half else 32)


def any_document(random: np.random.Generator) -> Document:
    """Entities that hang on each other, move each other's vertices and have keys in any way a file may have them."""
    count = int(random.integers(1, 9))
    entities = []
    for index in range(count):
        rotation = random.normal(size=4)
        entity = Entity(
            f"e{index}".encode(),
            int(random.integers(-1, index)) if index else -1,
            random.normal(size=3).astype("<f4"),
            random.choice([0.5, 1, 1, 2]) * np.ones(3, "<f4"),
            (rotation / np.linalg.norm(rotation)).astype("<f4"),
            length=30,
        )
        frames = random.integers(0, 24, int(random.integers(0, 6)))
        if random.random() < 0.7:
            frames = np.unique(frames)
        rows = [(int(frame), tuple(random.normal(size=3)), tuple(random.normal(size=4))) for frame in frames]
        entity.keys = keys(*rows)
        if random.random() < 0.6:
            entity.mesh = Mesh(*boxes((0, 0, 0), (1, 0, 0)))
            ranges = [(int(random.integers(0, count)), 4 * part, 4 * part + 3) for part in range(4) if random.random() < 0.5]
            entity.mesh.bones = np.array(ranges, BONE) if ranges else entity.mesh.bones
        entities.append(entity)
    return Document(entities)


# ---------------------------------------------------------------------------------------------------------------- scenes


def matrix_of(location: tuple[float, ...], rotation: tuple[float, ...], scale: float = 1.0) -> np.ndarray:
    return Transform(*map(floats_of, (location, rotation, (scale,) * 3))).matrix


def floats_of(values: tuple[float, ...]) -> np.ndarray:
    return np.array(values, np.float32)


def rig_scene(scale: float = 1.0, mirrored: bool = False) -> Scene:
    """Two arms of turned bones below an armature of any scale, a mesh of four boxes on them, and a sword in a hand."""
    rows, triangles = boxes((0, 0, 1), (1, 0, 1), (2, 0, 1), (-1, 0, 1))
    mesh = SceneMesh("Body", rows["position"].astype(np.float32), triangles.astype(np.int32).reshape(-1))
    mesh.normals = Layer("normals", rows["normal"][triangles].reshape(-1, 3).astype(np.float32), "CORNER")
    mesh.uvs = [Layer("UVMap", rows["uv"][triangles].reshape(-1, 2).astype(np.float32), "CORNER")]
    mesh.skin = Skin(0, np.arange(32, dtype=np.int32), np.repeat(np.array([3, 2, 0, 1], np.int32), 8), np.ones(32, np.float32))
    binds = [
        matrix_of((0, 0, 0.5), turn(30, 1, 2, 3)),
        matrix_of((0.5, 0, 1), turn(100, 0, 1, 0)),
        matrix_of((1.5, 0, 1), turn(-70, 1, 1, 0)),
        matrix_of((-0.5, 0, 1), turn(180, 0, 0, 1)),
    ]
    bones = []
    for name, parent, bind in zip(("Spine", "Arm", "Hand", "Other"), (-1, 0, 1, 0), binds, strict=True):
        local = np.linalg.inv(binds[parent]) @ bind if parent >= 0 else bind
        bones.append(Bone(name, parent, bind, Transform.from_matrix(local)))
    sword, faces = boxes((0, 0, 0.5))
    blade = SceneMesh("Sword", sword["position"].astype(np.float32), faces.astype(np.int32).reshape(-1))
    sizes = floats_of((scale, scale, -scale if mirrored else scale))
    nodes = [
        Node(
            "Rig",
            transform=Transform(floats_of((1, 2, 3)), floats_of(turn(50, 1, 0, 1)), sizes),
            armature=Armature("Rig", bones),
        ),
        Node("Body", parent=0, mesh=0),
        Node(
            "Sword", parent=0, parent_bone=2, transform=Transform(floats_of((0.2, 0, 0)), scale=floats_of((1, 2, 0.5))), mesh=1
        ),
    ]
    tracks = {}
    for index, bone in enumerate(bones):
        turns = [
            quaternion_multiply(bone.transform.rotation, floats_of(turn(angle, 1, index, 2))) for angle in (0, 70, -50, 160)
        ]
        moves = [bone.transform.location + floats_of((0, step * 0.1, 0)) for step in range(2)]
        tracks[0, index] = Track(
            Channel(floats_of((1, 30)), np.array(moves)), Channel(floats_of((1, 8, 20, 30)), np.array(turns, np.float32))
        )
    return Scene(nodes, [mesh, blade], timeline=Clip("Animation", 1, 30, tracks))


def fuzz_seeds() -> list[bytes]:
    return [bo3d.write(each) for each in (two_arms(), two_arms(True), any_document(np.random.default_rng(1)))]
