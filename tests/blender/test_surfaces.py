# SPDX-License-Identifier: GPL-3.0-or-later
"""Textures, materials, colours and the world's light where it is less common: what is seen is what is written."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats.b3d.document import Document
from tests.builders import b3d as made
from tests.engines import raw

bpy = pytest.importorskip("bpy")

from tests.builders.scenes import load, picture, saved, square, start_over, textured, textures, with_nodes  # noqa: E402


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.b3d"


# ------------------------------------------------------------------------------------------------------------- textures


def test_pictures_of_one_name_are_copied_under_several(blender: Any, tmp_path: Path) -> None:
    colors = {"a/SKIN.png": (1, 0, 0, 1), "b/skin.png": (0, 1, 0, 1), "c/skin.png": (0, 0, 1, 1), "d/skin_1.png": (1, 1, 0, 1)}
    for number, (name, color) in enumerate(colors.items()):
        square(f"square {number}").data.materials.append(textured(f"m{number}", picture(tmp_path / name, color))[0])
    (tmp_path / "out").mkdir()
    found = [name for name, _ in textures(saved(tmp_path / "out" / "model.b3d", textures="COPY"))]
    assert len({name.lower() for name in found}) == 4
    shown = []
    for name in found:
        image = bpy.data.images.load(str(tmp_path / "out" / name), check_existing=False)
        shown.append(tuple(image.pixels[:4]))
    assert shown == list(colors.values())


def test_textures_that_nothing_shows_keep_their_names_and_places(blender: Any, path: Path) -> None:
    """The engine draws nothing of a texture with blend 0, but another tool may."""
    files = [b"first.png", b"off.png", b"second.png", b"light.png"]
    table = [made.Texture(file, blend=0 if file == b"off.png" else 2) for file in files]
    brush = made.Brush(b"brush", texture_ids=np.arange(4, dtype="<i4"))
    mesh = made.Mesh(0, [made.vertices(made.QUAD, 0, 1), made.triangles([0, 1, 2])])
    load(path, Document(chunks=[made.Textures(table), made.Brushes(4, [brush]), made.Node(b"node", chunks=[mesh])]))
    assert [name.encode() for name, _ in textures(saved(path))] == files


@pytest.mark.parametrize(("turn", "scale"), [(0.0, (2.0, 4.0)), (0.4, (2.0, 2.0)), (0.4, (2.0, 4.0))])
def test_a_mapping_that_moves_the_picture(
    blender: Any, path: Path, tmp_path: Path, turn: float, scale: tuple[float, float]
) -> None:
    """A Mapping node of type Texture: its inverse moves the coordinates, as Blender's manual has it."""
    material, texture = textured("m", picture(tmp_path / "p.png", (1, 0, 0, 1)))
    tree = material.node_tree
    mapping, source = tree.nodes.new("ShaderNodeMapping"), tree.nodes.new("ShaderNodeUVMap")
    mapping.vector_type = "TEXTURE"
    location = np.array([0.25, -0.5])
    mapping.inputs["Location"].default_value[:2] = location
    mapping.inputs["Scale"].default_value[:2] = scale
    mapping.inputs["Rotation"].default_value[2] = turn
    source.uv_map = "UVMap"
    tree.links.new(source.outputs[0], mapping.inputs[0])
    tree.links.new(mapping.outputs[0], texture.inputs[0])
    square().data.materials.append(material)
    ((_, (x, y, across, down, angle)),) = textures(saved(path))
    points = np.random.default_rng(2).random((20, 2))
    back = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    expected = (points - location) @ back.T / scale
    u, v = points[:, 0], 1 - points[:, 1]
    c, s = np.cos(angle), np.sin(angle)
    np.testing.assert_allclose(across * (c * u + s * v) + x, expected[:, 0], atol=1e-5)
    np.testing.assert_allclose(1 - (down * (c * v - s * u) + y), expected[:, 1], atol=1e-5)


# ------------------------------------------------------------------------------------------------------------- materials


@pytest.mark.parametrize(
    ("use", "socket"), [("ROUGHNESS", "Roughness"), ("METALLIC", "Metallic"), ("SPECULAR", "Specular IOR Level")]
)
def test_textures_of_numbers_are_in_their_sockets(blender: Any, tmp_path: Path, use: str, socket: str) -> None:
    from io_retro_meshes.scene import Image, Material, Scene, TextureLayer
    from tests.blender.test_materials import build, collect_materials

    picture(tmp_path / "map.png", (0.5, 0.5, 0.5, 1))
    start_over()
    (built,) = build(Scene(images=[Image("map.png")], materials=[Material("m", layers=[TextureLayer(0, use=use)])]), tmp_path)
    shader = next(node for node in built.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    assert [each.name for each in shader.inputs if each.is_linked] == [socket]
    assert shader.inputs[socket].links[0].from_node.image.colorspace_settings.name == (
        "sRGB" if use == "SPECULAR" else "Non-Color"
    )
    material, texture = textured("user", bpy.data.images["map.png"])
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    material.node_tree.links.clear()
    material.node_tree.links.new(texture.outputs["Color"], shader.inputs[socket])
    output = next(node for node in material.node_tree.nodes if node.type == "OUTPUT_MATERIAL")
    material.node_tree.links.new(shader.outputs[0], output.inputs[0])
    (found,), _ = collect_materials([material])
    assert [layer.use for layer in found.layers] == [use]


def test_a_specular_texture_of_any_material_is_one_of_bogle(blender: Any, tmp_path: Path) -> None:
    material, texture = textured("m", picture(tmp_path / "shine.png", (1, 0, 0, 1)))
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    material.node_tree.links.new(texture.outputs["Color"], shader.inputs["Specular IOR Level"])
    material.node_tree.links.remove(shader.inputs["Base Color"].links[0])
    square().data.materials.append(material)
    assert bpy.ops.export_scene.bogle(filepath=str(tmp_path / "model.bgl")) == {"FINISHED"}
    # Eight names a material, each with its length before it: the fourth is the specular texture.
    assert struct.pack("<3I", 0, 0, 0) + struct.pack("<I", 5) + b"shine" + bytes(16) in (tmp_path / "model.bgl").read_bytes()


def test_faces_of_blended_materials_show_those_behind_them(blender: Any, path: Path) -> None:
    brush = made.Brushes(1, [made.Brush(b"glass", made.floats(1, 1, 1, 0.5), texture_ids=np.array([-1], "<i4"))])
    mesh = made.Mesh(0, [made.vertices(made.QUAD), made.triangles([0, 1, 2])])
    load(path, Document(chunks=[brush, made.Node(b"node", chunks=[mesh])]))
    (material,) = bpy.data.materials
    assert (material.surface_render_method, material.use_transparency_overlap) == ("BLENDED", True)


def ambient(path: Path) -> list[float]:
    """The ambient light of a BOGLE file of layout SEED."""
    return np.frombuffer(path.read_bytes(), "<f4", 3, 26).tolist()


def background(world: Any) -> Any:
    return next(node for node in with_nodes(world).nodes if node.type == "BACKGROUND")


def test_the_strength_of_the_world(blender: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.bgl"
    square()
    world = bpy.context.scene.world = bpy.data.worlds.new("World")
    node = background(world)
    node.inputs["Color"].default_value = (0.125, 0.25, 0.375, 1)
    node.inputs["Strength"].default_value = 2
    assert bpy.ops.export_scene.bogle(filepath=str(path)) == {"FINISHED"}
    assert ambient(path) == [0.25, 0.5, 0.75]
    assert bpy.ops.import_scene.bogle(filepath=str(path)) == {"FINISHED"}
    node = background(bpy.context.scene.world)
    shown = np.array(node.inputs["Color"].default_value[:3]) * node.inputs["Strength"].default_value
    np.testing.assert_allclose(shown, (0.25, 0.5, 0.75))


@pytest.mark.parametrize("domain", ["POINT", "CORNER"])
@pytest.mark.parametrize("kind", ["FLOAT_COLOR", "BYTE_COLOR"])
@pytest.mark.parametrize("chosen", [0, 1, 2])
def test_the_colours_that_render_are_written(blender: Any, path: Path, domain: str, kind: str, chosen: int) -> None:
    mesh = square().data
    shades = [(1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)]
    for number, shade in enumerate(shades):
        layer = mesh.color_attributes.new(f"c{number}", kind, domain)
        layer.data.foreach_set("color", np.tile(np.float32(shade), len(layer.data)))
    mesh.color_attributes.active_color_index = (chosen + 1) % 3
    mesh.color_attributes.render_color_index = chosen
    rows = np.concatenate(raw.b3d(saved(path)))
    np.testing.assert_allclose(rows[:, raw.COLOR], np.tile(shades[chosen], (len(rows), 1)), atol=1e-6)


def test_shades_between_are_written_as_they_are_shown(blender: Any, path: Path) -> None:
    """Floats are linear in Blender; files have what a screen shows."""
    mesh = square().data
    mesh.color_attributes.new("Color", "FLOAT_COLOR", "POINT").data.foreach_set("color", np.tile(np.float32(0.2140411), 16))
    rows = np.concatenate(raw.b3d(saved(path)))
    np.testing.assert_allclose(rows[:, raw.COLOR][:, :3], 0.5, atol=1e-5)
