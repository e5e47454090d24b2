# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of negative scale below nodes of negative scale: faces look where the engine has them look."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from io_retro_meshes.formats import b3d
from io_retro_meshes.formats.b3d.document import Document
from io_retro_meshes.scene import Mesh, Node, Scene, Transform, floats
from tests.builders import b3d as made
from tests.engines import b3d as engine

TRIANGLE = [(0, 0, 0), (0, 1, 0), (1, 0, 0)]
CASES = list(product([1, -1], repeat=3))


def shown_in_blender(scene: Scene) -> list[np.ndarray]:
    """Where each mesh's first face looks in the world; Blender turns the faces of mirrored objects round."""
    found = []
    for node, matrix in zip(scene.nodes, scene.global_matrices(), strict=True):
        a, b, c = scene.meshes[node.mesh].positions[scene.meshes[node.mesh].corners[:3]] @ matrix[:3, :3].T
        found.append(np.cross(b - a, c - a) * np.sign(np.linalg.det(matrix[:3, :3])))
    return found


def shown_by_the_engine(document: Document) -> list[np.ndarray]:
    """The engine shows the side from which the corners go round clockwise in its left-handed world, mirrored or not."""
    chunks = [mesh for node, _ in document.walk() for mesh in node.chunks if hasattr(mesh, "triangles")]
    found = []
    for mesh, points in zip(chunks, engine.pose(document, 1)[0], strict=True):
        a, b, c = points[mesh.triangles[0].vertex_ids[0]]
        found.append(-np.cross(b - a, c - a))
    return found


@pytest.mark.parametrize("signs", CASES)
def test_import(signs: tuple[int, ...]) -> None:
    inside = None
    for axis, sign in reversed(list(enumerate(signs))):
        scale = np.ones(3)
        scale[axis] = sign
        node = made.Node(b"node", scale=made.floats(*scale))
        node.chunks = [made.Mesh(-1, [made.vertices(TRIANGLE), made.triangles([0, 1, 2])]), *([inside] if inside else [])]
        inside = node
    document = b3d.read(b3d.write(Document(chunks=[inside])))
    np.testing.assert_allclose(shown_in_blender(b3d.to_scene(document)), shown_by_the_engine(document), atol=1e-6)


@pytest.mark.parametrize("signs", CASES)
def test_export(signs: tuple[int, ...]) -> None:
    mesh = Mesh("triangle", np.array(TRIANGLE, np.float32), np.array([0, 1, 2], np.int32))
    scales = [floats(*(sign if axis == place else 1 for axis in range(3))) for place, sign in enumerate(signs)]
    nodes = [Node("node", place - 1, transform=Transform(scale=scale), mesh=0) for place, scale in enumerate(scales)]
    scene = Scene(nodes, [mesh])
    document = b3d.read(b3d.write(b3d.from_scene(scene)))
    np.testing.assert_allclose(shown_by_the_engine(document), shown_in_blender(scene), atol=1e-6)
