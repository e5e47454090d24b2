# SPDX-License-Identifier: GPL-3.0-or-later
"""BO3D exports as the engine's loader takes them, without Blender."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import bo3d
from io_retro_meshes.scene import Channel, Clip, Image, Material, Mesh, Node, Scene, TextureLayer, Track, Transform, floats
from tests.engines import bo3d as engine
from tests.growth import assert_linear


def painted(material: Material) -> Scene:
    mesh = Mesh("plate", np.eye(3, dtype=np.float32), np.array([0, 1, 2], np.int32), materials=[0])
    return Scene([Node("root"), Node("plate", 0, mesh=0)], [mesh], [material], [Image("wood.png")])


def loader_colors(mesh: Any) -> np.ndarray:
    """What the loader draws vertices in: their own colours where there is one for each, else white, whatever the entity has."""
    if len(mesh.colors) == len(mesh.vertices):
        return np.asarray(mesh.colors)
    return np.full((len(mesh.vertices), 3), 255)


def exported(scene: Scene, **options: Any) -> tuple[Any, list[str]]:
    made = bo3d.from_scene(scene, bo3d.ExportOptions(**options))
    document = bo3d.read(bo3d.write(made))
    return next(entity.mesh for entity in document.entities if entity.mesh is not None), made.warnings


def test_a_plain_coloured_material_has_its_colour_in_the_engine() -> None:
    scene = painted(Material("red", floats(1, 0.5, 0, 1)))
    mesh, warnings = exported(scene)
    assert np.array_equal(loader_colors(mesh), [(255, 128, 0)] * 3) and warnings == []
    again = bo3d.to_scene(bo3d.read(bo3d.write(bo3d.from_scene(scene))))
    assert not again.meshes[0].colors and np.allclose(again.materials[0].color[:3], (1, 0.5, 0), atol=0.003)
    mesh, warnings = exported(scene, material_colors=False)
    assert np.array_equal(loader_colors(mesh), [(255, 255, 255)] * 3)
    assert any("shows white" in warning for warning in warnings)
    scene.materials[0].layers = [TextureLayer(0)]  # a texture has colours of its own
    mesh, warnings = exported(scene)
    assert not len(mesh.colors) and any("shows white" in warning for warning in warnings)


@pytest.mark.parametrize(("settings", "fx"), [({"b3d": {"fx": 8}}, 4), ({"b3d": {"fx": 9}}, 4), ({"dbo": {"fog": False}}, 4)])
def test_no_fog_is_the_bit_it_has_here(settings: dict[str, Any], fx: int) -> None:
    material = Material("mist")
    material.settings = settings
    assert exported(painted(material))[0].fx == fx
    material.settings, material.double_sided = {**settings, "bo3d": {"fx": 32}}, True
    assert exported(painted(material))[0].fx == 32, "its own settings count first"


@pytest.mark.parametrize(("blend", "word"), [("ALPHA", "alpha of the texture"), ("MASK", "cuts nothing out")])
def test_transparency_that_the_engine_has_not_is_told(blend: Any, word: str) -> None:
    material = Material("leaf", blend=blend)
    material.layers = [TextureLayer(0)]
    assert any(word in warning for warning in exported(painted(material))[1])


def test_a_scale_of_0_on_the_current_frame_does_not_flatten_the_mesh() -> None:
    scene = painted(Material("plain"))
    scene.nodes[1].transform = Transform(scale=floats(0, 0, 0))
    sizes = np.array([[0, 0, 0], [1, 1, 1], [2, 2, 2]], np.float32)
    scene.timeline = Clip("grow", 1, 21, {(1, -1): Track(scale=Channel(floats(1, 11, 21), sizes))})
    document = bo3d.read(bo3d.write(bo3d.from_scene(scene)))
    for frame, size in ((1, 0), (11, 1), (16, 1.5), (21, 2)):
        points = engine.points(document, frame)
        assert np.allclose(np.sort(points, 0), np.sort(np.eye(3) * size, 0), atol=1e-5), frame
    assert np.allclose(engine.points(document, None), 0), "nothing is seen of it at rest, as in the scene"


def test_equal_names_take_time_in_proportion() -> None:
    def work(count: int) -> None:
        made = bo3d.from_scene(Scene([Node("root"), *(Node("bolt", 0) for _ in range(count))]))
        assert len({entity.name for entity in made.entities}) == count + 1

    assert_linear(work, 1000)
