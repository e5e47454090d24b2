# SPDX-License-Identifier: GPL-3.0-or-later
"""What a small file may ask for again and again, and what it may cost: counted, not timed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from io_retro_meshes.formats import FormatError, b3d, bogle
from io_retro_meshes.formats.b3d.document import Brush, Brushes, Document, Mesh, Node, Texture, Textures, Triangles
from io_retro_meshes.formats.bogle import drafts
from io_retro_meshes.scene import maths, surfaces
from tests.builders import b3d as built
from tests.builders import bogle as scenes


def counted(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> list[int]:
    """How often a function is called from now on: an entry a call."""
    calls: list[int] = []
    function = getattr(owner, name)

    def call(*arguments: object) -> object:
        calls.append(1)
        return function(*arguments)

    monkeypatch.setattr(owner, name, call)
    return calls


def test_thousands_of_surfaces_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte of them, most of them empty, took fifteen seconds."""
    calls = counted(monkeypatch, surfaces, "_triangle_normals")
    parts = [Triangles(-1, np.array(rows, "<i4").reshape(-1, 3)) for rows in ([[0, 1, 2]], [[0, 2, 9]], [[2, 1, 0]])]
    mesh = Mesh(-1, [built.vertices(built.QUAD), *([Triangles(-1, np.zeros((0, 3), "<i4"))] * 2000), *parts])
    scene = b3d.to_scene(b3d.read(b3d.write(Document(chunks=[Node(b"n", chunks=[mesh])]))))
    assert len(calls) == 1 and scene.meshes[0].corners.tolist() == [0, 2, 1, 2, 0, 1]
    assert any("1 triangles of vertices that do not exist" in warning for warning in scene.warnings)
    normals = scene.meshes[0].normals
    assert normals is not None and np.allclose(normals.data[:3], -normals.data[3:]), "smooth within a surface only"


def test_brushes_have_as_many_textures_as_the_engine_takes() -> None:
    brushes = [Brush(b"b", np.ones(4, "<f4"), 0.0, 1, 0, np.zeros(600, "<i4")) for _ in range(3)]
    texture = Texture(b"a.png", 1, 2, np.zeros(2, "<f4"), np.ones(2, "<f4"), 0.0)
    surfaces_ = [Triangles(number, np.array([[0, 1, 2]], "<i4")) for number in range(3)]
    node = Node(b"n", chunks=[Mesh(0, [built.vertices(built.QUAD), *surfaces_])])
    scene = b3d.to_scene(b3d.read(b3d.write(Document(chunks=[Textures([texture]), Brushes(600, brushes), node]))))
    assert [len(material.layers) for material in scene.materials] == [8, 8, 8]
    assert any("more than 8 textures" in warning for warning in scene.warnings)


def test_objects_that_share_a_skeleton(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few are what crowds are made of; so many that a small file would fill the memory are refused."""
    calls = counted(monkeypatch, maths, "decompose")
    document = bogle.read(scenes.file(scenes.rigged_scene()))
    assert not isinstance(document, drafts.Draft)
    rigged = next(each for each in document.instances if each.values[0]["animation"])
    document.tree, document.instances = b"", [rigged] * 100
    scene = bogle.to_scene(document)
    assert sum(node.armature is not None for node in scene.nodes) == 100 and len(calls) < 20
    [collection] = document.collections
    document.collections[0] = replace(collection, bones=np.tile(collection.bones, 1000), animations=[])
    document.instances = [rigged] * 1000
    with pytest.raises(FormatError, match="too many"):
        bogle.to_scene(bogle.read(bogle.write(document)))
