# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes in which no two vertices have the same normal, texture coordinates or colour."""

from __future__ import annotations

import numpy as np

from io_retro_meshes.scene import Armature, Bone, Image, Layer, Material, Mesh, Node, Scene, Skin, TextureLayer, Transform

SIDE = 3  # squares


def _points(random: np.random.Generator) -> np.ndarray:
    x, y = np.meshgrid(np.arange(SIDE + 1), np.arange(SIDE + 1))
    return np.stack([x, y * 1.5, random.uniform(-0.3, 0.3, x.shape)], -1).reshape(-1, 3).astype(np.float32)


def _squares() -> np.ndarray:
    corner = np.arange((SIDE + 1) ** 2).reshape(SIDE + 1, SIDE + 1)
    return np.stack([corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]], -1).reshape(-1, 4)


def _normals(random: np.random.Generator, count: int) -> np.ndarray:
    normals = np.array((0, 0, 1)) + random.uniform(-0.4, 0.4, (count, 3))
    return (normals / np.linalg.norm(normals, axis=1, keepdims=True)).astype(np.float32)


def painted() -> Scene:
    """Triangles with normals, two UV maps and a colour attribute, all by vertex."""
    random = np.random.default_rng(11)
    points = _points(random)
    corners = _squares()[:, [0, 1, 2, 0, 2, 3]].reshape(-1).astype(np.int32)
    mesh = Mesh("painted", points, corners)
    mesh.normals = Layer("normal", _normals(random, len(points)))
    mesh.uvs = [Layer(name, random.random((len(points), 2)).astype(np.float32)) for name in ("UVMap", "UVMap.001")]
    mesh.colors = [Layer("Color", (random.integers(0, 256, (len(points), 4)) / 255).astype(np.float32))]
    return Scene([Node("painted", mesh=0)], [mesh])


def painted_character() -> Scene:
    """Quads on a bone that show a picture, each mirrored in another way, or a colour of their own."""
    random = np.random.default_rng(12)
    points, quads = _points(random), _squares()
    mesh = Mesh("body", points, quads.reshape(-1).astype(np.int32), face_starts=np.arange(0, 4 * len(quads), 4, dtype=np.int32))
    mesh.normals = Layer("normal", _normals(random, len(points)))
    whole = np.array([(0, 1), (1, 1), (1, 0), (0, 0)], np.float32)
    flips = np.array([(number & 1, number >> 1 & 1) for number in range(len(quads))], np.float32)
    mesh.uvs = [Layer("UVMap", np.abs(whole[None] - flips[:, None]).reshape(-1, 2), "CORNER")]
    words = random.integers(0, 32, (len(quads), 3)) / 31
    mesh.colors = [Layer("Color", np.repeat(np.c_[words, np.ones(len(quads))], 4, 0).astype(np.float32), "CORNER")]
    mesh.face_materials = np.array([0] * 5 + [1] * (len(quads) - 5), np.int32)
    mesh.materials = [0, 1]
    mesh.skin = Skin(0, *(np.full(len(points), value, kind) for value, kind in ((0, np.int32), (0, np.int32), (1, np.float32))))
    mesh.skin.vertices = np.arange(len(points), dtype=np.int32)
    pixels = np.full((8, 16, 4), 255, np.uint8)
    pixels[..., :3] = random.integers(0, 32, (8, 16, 3)) * 8
    scene = Scene([Node("rig", armature=Armature("rig", [Bone("bone", -1, np.eye(4, dtype=np.float32), Transform())]))], [mesh])
    scene.nodes.append(Node("body", 0, mesh=0))
    scene.images = [Image("cloth.png", pixels=pixels)]
    scene.materials = [Material("cloth", layers=[TextureLayer(0)]), Material("flat", vertex_colors=True)]
    return scene
