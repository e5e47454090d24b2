# SPDX-License-Identifier: GPL-3.0-or-later
"""BOGLE files at the edge of what the format allows."""

from __future__ import annotations

import numpy as np
import pytest

from io_retro_meshes.formats import bogle
from io_retro_meshes.formats.bogle.document import BONE, TEXTURES, Document
from io_retro_meshes.formats.bogle.from_scene.materials import from_material
from io_retro_meshes.scene import Armature, Image, Material, TextureLayer, floats
from tests.builders import bogle as made


def armature(parents: list[int]) -> tuple[Armature, list[str]]:
    """The armature of a skeleton with these parents, counted from 1, and the warnings."""
    document = bogle.from_scene(made.rigged_scene(), bogle.ExportOptions(file_layout="ANIM"))
    (collection,) = document.collections
    collection.bones = np.zeros(len(parents), BONE)
    collection.bones["parent"], collection.bones["rotation"][:, 3] = parents, 1
    collection.animations = []
    scene = bogle.to_scene(bogle.read(bogle.write(document)))
    return next(node.armature for node in scene.nodes if node.armature is not None), scene.warnings


@pytest.mark.parametrize(
    ("parents", "found", "lost"),
    [
        ([4, 1, 1, 0], {"1": "4", "2": "1", "3": "1", "4": ""}, 0),  # the root comes last
        ([0, 3, 2], {"1": "", "2": "", "3": "2"}, 1),  # a ring
        ([9, 1], {"1": "", "2": "1"}, 1),  # a parent that is not there
    ],
)
def test_bones_in_any_order(parents: list[int], found: dict[str, str], lost: int) -> None:
    skeleton, warnings = armature(parents)
    names = [bone.name.removeprefix("Bone.").lstrip("0") for bone in skeleton.bones]
    assert all(bone.parent < number for number, bone in enumerate(skeleton.bones))
    assert len(names) == len(parents)
    assert {
        name: names[bone.parent] if bone.parent >= 0 else "" for name, bone in zip(names, skeleton.bones, strict=True)
    } == found
    assert [f"{lost} bones" in warning for warning in warnings if "no parent" in warning] == [True] * bool(lost)


def test_a_file_that_ends_with_its_last_object() -> None:
    data = bogle.write(Document("SEED"))
    document = bogle.read(data[:-1])
    assert isinstance(document, Document) and ["without the NUL" in warning for warning in document.warnings] == [True]
    assert bogle.write(document) == data[:-1]


@pytest.mark.parametrize(("mode", "blended"), [(0.001, 0), (0.0011, 1)])
def test_a_blending_mode_above_a_thousandth_is_on(mode: float, blended: int) -> None:
    material = Material("x", graph="bogle", settings={"bogle": {"Alpha Blending Mode": mode}})
    assert from_material(material, [], []).values["alpha_blending_mode"] == blended


@pytest.mark.parametrize("textured", [False, True])
def test_what_is_full_bright_shines_and_takes_no_light(textured: bool) -> None:
    material = Material("x", floats(1, 0, 1, 1), [TextureLayer(0)] if textured else [], full_bright=True)
    written = from_material(material, [Image("sign.png")], [])
    values = written.values[0]
    assert values["diffuse"].tolist() == values["ambient"].tolist() == [0, 0, 0, 1]
    # The engine adds the emissive texture to the base colour.
    assert values["emissive"].tolist() == ([0, 0, 0, 1] if textured else [1, 0, 1, 1])
    assert {TEXTURES[place]: name for place, name in enumerate(written.textures) if name} == (
        {"Emissive": b"sign"} if textured else {}
    )


def test_a_mesh_of_points_alone_is_an_empty_geometry() -> None:
    scene = made.still_scene()
    scene.meshes[0].corners = scene.meshes[0].corners[:0]
    document = bogle.read(made.file(scene))
    assert isinstance(document, Document)
    assert [(len(each.vertices), len(each.indices)) for each in document.geometries] == [(0, 0)]
