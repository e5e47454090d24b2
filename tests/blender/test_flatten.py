# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's own glTF exporter is given: the looks of old engines as a .glb can hold them, against their arithmetic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import FORMATS
from tests.engines.gltf import Gltf
from tests.formats.test_gltf_looks import PICTURES, brush, linear, model, stacked, texture

pytest.importorskip("bpy")


def through_blender(path: Path) -> tuple[dict[str, Any], Gltf, list[str]]:
    """The material of the file that Blender writes, the file, and the warnings."""
    from io_retro_meshes.blender.convert import convert

    warnings = convert(path, FORMATS["b3d"], path.with_suffix(".glb"), "glb", {})
    file = Gltf(path.with_suffix(".glb").read_bytes())
    return file.json["materials"][0], file, warnings


def picture(material: dict[str, Any], file: Gltf, folder: Path) -> np.ndarray:
    """Its colour's, its lower row first, 0 to 1."""
    import bpy

    info = material["pbrMetallicRoughness"]["baseColorTexture"]
    view = file.json["bufferViews"][file.json["images"][file.json["textures"][info["index"]]["source"]]["bufferView"]]
    (folder / "inside.png").write_bytes(file.inside[view.get("byteOffset", 0) :][: view["byteLength"]])
    image = bpy.data.images.load(str(folder / "inside.png"))
    return np.array(image.pixels[:]).reshape(image.size[1], image.size[0], 4)


@pytest.mark.parametrize("color", [(1, 1, 1), (0.5, 1, 0.25)])
@pytest.mark.parametrize("blends", [(2, 1), (2, 2), (2, 3), (1, 4), (5, 5)])
def test_two_textures_are_one_picture(blender: Any, tmp_path: Path, blends: tuple[int, int], color: Any) -> None:
    files = [texture("a", blends[0]), texture("b", blends[1])]
    material, file, warnings = through_blender(model(tmp_path, files, brush(2, (*color, 1))))
    assert "baseColorFactor" not in material["pbrMetallicRoughness"] and "alphaMode" not in material and warnings == []
    assert np.abs(picture(material, file, tmp_path)[..., :3] - stacked(blends, color)).max() < 1 / 255


@pytest.mark.parametrize("fx", [0, 1])
@pytest.mark.parametrize(("blend", "word"), [(2, "multiplies"), (3, "adds")])
def test_blends_with_what_is_behind(blender: Any, tmp_path: Path, blend: int, word: str, fx: int) -> None:
    material, file, warnings = through_blender(model(tmp_path, [texture("a")], brush(1, (1, 1, 1, 1), blend, fx)))
    assert material["alphaMode"] == "BLEND" and any(f'"paint" {word}' in warning for warning in warnings)
    shown = picture(material, file, tmp_path)
    wanted = linear(PICTURES[0][..., :3] / 255)
    behind = 0.0 if blend == 3 else 0.5
    drawn = linear(shown[..., :3]) * shown[..., 3:] + behind * (1 - shown[..., 3:])
    error = np.abs(drawn - (wanted if blend == 3 else wanted * behind))
    assert error.max() < 3 / 255 if blend == 3 else error.mean() < 0.1


def test_what_is_turned_and_stretched_has_a_uv_map_of_its_own(blender: Any, tmp_path: Path) -> None:
    turned = texture("a", scale=(2, 3))
    turned.rotation = 0.5
    material, file, warnings = through_blender(model(tmp_path, [turned], brush(1)))
    assert warnings == []
    info = material["pbrMetallicRoughness"]["baseColorTexture"]
    assert "extensions" not in info
    attributes = file.json["meshes"][0]["primitives"][0]["attributes"]
    places, uvs = (file.array(attributes[name]) for name in ("POSITION", f"TEXCOORD_{info['texCoord']}"))
    cosine, sine = np.cos(0.5), np.sin(0.5)
    given = places[:, :2]  # the square's corners are its coordinates
    wanted = np.c_[2 * (cosine * given[:, 0] + sine * given[:, 1]), 3 * (-sine * given[:, 0] + cosine * given[:, 1])]
    assert np.allclose(uvs, wanted, atol=1e-5)


def test_light_maps_are_at_the_vertices(blender: Any, tmp_path: Path) -> None:
    pixels = PICTURES[1].copy()
    pixels[..., :3] = 100
    colors = np.array([(1, 0.5, 1, 1)] * 4)
    files = [texture("b", flags=1 | 65536), texture("a", 5)]
    path = model(tmp_path, files, brush(2, fx=2), colors, pictures=[PICTURES[0], pixels])
    material, file, warnings = through_blender(path)
    assert any('"paint": the texture "b.png"' in warning and "at the vertices" in warning for warning in warnings)
    shown = np.clip(PICTURES[0][..., :3] / 255 * 2, 0, 1)
    assert np.abs(picture(material, file, tmp_path)[..., :3] - shown).max() < 1 / 255
    attributes = file.json["meshes"][0]["primitives"][0]["attributes"]
    light = file.array(attributes["COLOR_0"])[:, :3]
    light = light / (65535 if light.dtype.kind == "u" else 1)
    assert np.abs(light - linear([1, 0.5, 1]) * linear(100 / 255)).max() < 2 / 255


def test_full_bright_with_alpha_keeps_its_texture(blender: Any, tmp_path: Path) -> None:
    colors = np.array([(1, 1, 1, 0.5)] * 4)
    for number, (fx, color, given) in enumerate([(1, (1, 1, 1, 0.5), None), (3 | 32, (1, 1, 1, 1), colors)]):
        (tmp_path / str(number)).mkdir()
        material, _, _ = through_blender(model(tmp_path / str(number), [texture("a")], brush(1, color, fx=fx), given))
        assert material["alphaMode"] == "BLEND" and "KHR_materials_unlit" in material["extensions"]
        assert "baseColorTexture" in material["pbrMetallicRoughness"]


def test_patterns_are_filled(blender: Any, tmp_path: Path) -> None:
    from io_retro_meshes.blender.build.materials import build_material
    from io_retro_meshes.blender.flatten import flatten
    from io_retro_meshes.scene import Material

    material = build_material(Material("dots", stipple=True, wireframe=True, settings={"b3d": {"fx": 16}}), [], [])
    mesh = blender.data.meshes.new("mesh")
    mesh.materials.append(material)
    blender.context.scene.collection.objects.link(blender.data.objects.new("mesh", mesh))
    assert len(flatten()) == 2
    assert {node.type for node in material.node_tree.nodes} == {"BSDF_PRINCIPLED", "OUTPUT_MATERIAL"}


def test_what_a_person_made_is_left_alone(blender: Any, tmp_path: Path) -> None:
    from io_retro_meshes.blender.flatten import flatten

    bpy = blender
    bpy.ops.import_scene.b3d(filepath=str(model(tmp_path, [texture("a"), texture("b")], brush(2))))
    (made,) = bpy.data.materials
    own = made.copy()
    for name in FORMATS:
        group = getattr(own, f"retro_{name}", None)
        if group is not None and group.stored:
            group.property_unset("stored")
    next(each for each in bpy.data.objects if each.type == "MESH").material_slots[0].material = own
    before = [node.name for node in own.node_tree.nodes]
    assert flatten() == [] and [node.name for node in own.node_tree.nodes] == before
