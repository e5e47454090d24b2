# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in letters of any alphabet, in every format that has names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from io_retro_meshes import formats
from io_retro_meshes.formats.b3d.document import Document
from io_retro_meshes.scene import Camera, Image, Material, Mesh, Node, Scene, TextureLayer
from tests.builders import b3d as made

OPTIONS: dict[str, dict[str, Any]] = {"b3d": {}, "bo3d": {}, "bogle": {"file_layout": "NAMES"}, "dbo": {}}
# What old tools write where they can, and UTF-8 where that has no letter for it.
NAMES = {"Größe": "Größe".encode("cp1252"), "木の剣": "木の剣".encode(), "Меч": "Меч".encode(), "plain": b"plain"}


def scene_of(name: str) -> Scene:
    mesh = Mesh(name, np.eye(3, dtype=np.float32), np.array([0, 1, 2], np.int32), materials=[0])
    nodes = [Node("root"), Node(name, 0, mesh=0), Node("Eye", camera=0)]
    materials = [Material(name, layers=[TextureLayer(0)])]
    return Scene(nodes, [mesh], materials, [Image(f"{name}.png")], [Camera("Eye", main=True)])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("format_id", OPTIONS)
def test_names_there_and_back(format_id: str, name: str) -> None:
    module: Any = getattr(formats, format_id)
    data = module.write(module.from_scene(scene_of(name), module.ExportOptions(**OPTIONS[format_id])))
    assert NAMES[name] in data
    scene = module.to_scene(module.read(data))
    assert name in [node.name for node in scene.nodes]
    assert [image.name for image in scene.images] == [f"{name}.png"]


@pytest.mark.parametrize(
    ("raw", "name"),
    [("Größe 木".encode(), "Größe 木"), ("Größe".encode("cp1252"), "Größe"), (b"\x81\x8d\xff", "\x81\x8d\xff")],
)
def test_the_code_page_is_guessed(raw: bytes, name: str) -> None:
    document = Document(chunks=[made.Node(raw)])
    data = formats.b3d.write(document)
    assert formats.b3d.to_scene(formats.b3d.read(data)).nodes[0].name == name
