# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel and the node graph of a material agree, whichever of them is changed."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.pictures import png
from io_retro_meshes.scene import Material
from tests.conftest import ROOT

bpy = pytest.importorskip("bpy")

LEAF = np.array([[[0, 0, 0, 255], [0, 200, 0, 255]]] * 2, np.uint8)


class Thing:
    """A quad with two UV maps and a material as a user makes one: an image into a Principled BSDF."""

    def __init__(self, folder: Path) -> None:
        from io_retro_meshes.blender import compat

        self.picture = str(folder / "leaf.png")
        Path(self.picture).write_bytes(png.encode(LEAF))
        self.mesh = bpy.data.meshes.new("quad")
        self.mesh.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
        for name in ("Skin", "Shadows"):
            self.mesh.uv_layers.new(name=name)
        self.material = bpy.data.materials.new("leaf")
        self.mesh.materials.append(self.material)
        bpy.context.scene.collection.objects.link(bpy.data.objects.new("quad", self.mesh))
        self.tree = compat.node_tree(self.material)
        self.shader = self.tree.nodes["Principled BSDF"]
        self.texture = self.new_texture()
        self.link(self.texture.outputs["Color"], self.shader.inputs["Base Color"])

    def new_texture(self) -> Any:
        node = self.tree.nodes.new("ShaderNodeTexImage")
        node.image = bpy.data.images.load(self.picture, check_existing=True)
        return node

    def link(self, output: Any, socket: Any) -> None:
        self.tree.links.new(output, socket)

    def look(self) -> Material:
        from io_retro_meshes.blender.collect.images import ImageCollector
        from io_retro_meshes.blender.collect.materials import collect_material

        return collect_material(self.material, ImageCollector(), [layer.name for layer in self.mesh.uv_layers])


@pytest.fixture
def thing(blender: Any, tmp_path: Path) -> Thing:
    return Thing(tmp_path)


def test_the_panel_changes_the_graph(thing: Thing) -> None:
    panel = thing.material.retro_b3d
    assert panel.no_culling and not panel.full_bright  # as new materials are
    for setting, value, field, look in [
        ("full_bright", True, "full_bright", True),
        ("flat", True, "flat", True),
        ("no_culling", False, "double_sided", False),
        ("blend", "ADD", "blend", "ADD"),
        ("blend", "MULTIPLY", "blend", "MULTIPLY"),
        ("blend", "ALPHA", "blend", "OPAQUE"),
        ("force_alpha", True, "blend", "ALPHA"),
        ("shininess", 0.75, "full_bright", True),
        ("full_bright", False, "specular", 0.75),
        ("shininess", 0.25, "specular", 0.25),
        ("color", (0.5, 0.25, 1), "color", [0.5, 0.25, 1, 1]),
        ("brush", "bark", "name", "bark"),
        ("vertex_colors", True, "lacks_colors", True),
        ("fx", 0, "blend", "OPAQUE"),
    ]:
        setattr(panel, setting, value)
        found = getattr(thing.look(), field)
        assert np.allclose(found, look) if isinstance(look, list | float) else found == look, setting
        assert thing.material.use_backface_culling == (not panel.no_culling)
    assert [node.image.name for node in thing.tree.nodes if node.type == "TEX_IMAGE"] == ["leaf.png"]
    assert panel.color[:] == pytest.approx((0.5, 0.25, 1))  # vertex colours took its place for a while


def test_a_texture_node_changes_the_graph_and_stays(thing: Thing) -> None:
    panel = thing.texture.retro_b3d
    panel.clamp_u = True
    panel.masked = True
    panel.second_uv = True
    look = thing.look()
    (layer,) = look.layers
    assert (look.blend, layer.clamp, layer.uv) == ("MASK", (True, False), 1)
    assert thing.texture.image.retro_meshes.mask_black and thing.texture.image.packed_file
    assert "Shadows" in [node.uv_map for node in thing.tree.nodes if node.type == "UVMAP"]
    panel.blend = "OFF"
    assert not thing.texture.outputs["Color"].is_linked and panel.flags & 4
    panel.blend = "MULTIPLY_2X"
    panel.flags = 1
    look = thing.look()
    assert (look.blend, look.layers[0].blend, look.layers[0].clamp) == ("OPAQUE", "MULTIPLY_2X", (False, False))
    assert thing.texture.image.name == "leaf.png" and not thing.texture.image.packed_file
    assert thing.texture.name == "Layer 0"


def test_what_the_format_does_not_know_stays(thing: Thing) -> None:
    """A normal map, a roughness and nodes beside the graph, when a flag of Blitz3D makes the graph anew."""
    bumps = thing.new_texture()
    bump = thing.tree.nodes.new("ShaderNodeNormalMap")
    thing.link(bumps.outputs["Color"], bump.inputs["Color"])
    thing.link(bump.outputs[0], thing.shader.inputs["Normal"])
    thing.shader.inputs["Roughness"].default_value = 0.375
    thing.tree.nodes.new("ShaderNodeValue").label = "mine"
    before = [thing.tree.nodes.find(node.name) for node in (bumps, thing.texture)]
    thing.material.retro_b3d.no_fog = True
    assert before == [thing.tree.nodes.find(node.name) for node in (bumps, thing.texture)]  # nothing to see, nothing made
    thing.material.retro_b3d.blend = "ADD"
    look = thing.look()
    assert (look.blend, look.roughness) == ("ADD", 0.375)
    assert sorted(layer.use for layer in look.layers) == ["COLOR", "NORMAL"]
    assert "mine" in [node.label for node in thing.tree.nodes]
    assert thing.material.retro_b3d.fx == 8 | 16


def test_the_graph_changes_the_panel(thing: Thing) -> None:
    material, panel, texture = thing.material, thing.material.retro_b3d, thing.texture.retro_b3d
    material.use_backface_culling = True
    assert panel.fx == 0 and material.retro_bo3d.fx == 0
    thing.link(thing.texture.outputs["Alpha"], thing.shader.inputs["Alpha"])
    assert texture.flags == 1 | 2 | 8 and panel.blend == "ALPHA"
    thing.texture.extension, thing.texture.interpolation = "EXTEND", "Closest"
    assert texture.flags == 1 | 2 | 16 | 32 and thing.texture.retro_dbo.mag == "POINT"
    thing.shader.inputs["Emission Color"].default_value = (1, 0, 0, 1)
    thing.shader.inputs["Emission Strength"].default_value = 1
    assert material.retro_dbo.emissive_color[:] == pytest.approx((1, 0, 0, 1))
    glow = thing.tree.nodes.new("ShaderNodeEmission")
    glow.inputs["Color"].default_value = (1, 0, 0, 1)
    thing.link(glow.outputs[0], thing.tree.nodes["Material Output"].inputs["Surface"])
    assert panel.full_bright and panel.color[:] == pytest.approx((1, 0, 0)) and material.retro_bo3d.full_bright
    material.name = "other"
    assert panel.brush == "other"


def test_another_way_of_the_same_look_is_kept(thing: Thing) -> None:
    """Numbers without a name, flags that change nothing: until the graph says something else."""
    panel = thing.material.retro_b3d
    panel.fx = 8 | 64 | 1024
    panel.blend_number = 7
    assert (panel.fx, panel.blend, panel.blend_number) == (8 | 64 | 1024, "OTHER", 7)
    panel.blend = "ADD"
    panel.blend = "OTHER"
    assert panel.blend_number == 4
    ghost = thing.material.retro_dbo
    ghost.ghost, ghost.ghost_mode = True, "SQUARED"
    assert thing.look().blend == "ADD" and ghost.ghost_mode == "SQUARED" and panel.blend == "ADD"
    panel.blend = "MULTIPLY"
    assert ghost.ghost and ghost.ghost_mode == "MULTIPLY"
    ghost.ghost = False
    assert thing.look().blend == "OPAQUE" and panel.blend == "ALPHA" and panel.fx == 8 | 64 | 1024


def test_vertex_colours_are_found_by_their_name(thing: Thing) -> None:
    thing.mesh.color_attributes.new("Painted", "BYTE_COLOR", "CORNER")
    thing.material.retro_b3d.vertex_colors = True
    assert [node.layer_name for node in thing.tree.nodes if node.type == "VERTEX_COLOR"] == ["Painted"]
    assert thing.look().vertex_colors


def test_panels_show_the_formats_of_the_file(blender: Any, tmp_path: Path) -> None:
    from io_retro_meshes.blender import properties

    bpy.ops.import_scene.b3d(filepath=str(ROOT / "examples" / "fox.b3d"))
    (material,) = bpy.data.materials
    (node,) = (node for node in material.node_tree.nodes if node.type == "TEX_IMAGE")
    for owner in (material, node, bpy.context.scene):
        assert properties.has_settings(owner, "b3d") and not properties.has_settings(owner, "dbo")
    with bpy.context.temp_override(material=material):
        assert bpy.ops.wm.retro_add_settings(owner="Material", format="dbo") == {"FINISHED"}
    assert properties.has_settings(material, "dbo")
    assert not properties.has_settings(bpy.data.materials.new("new"), "b3d")


def test_a_mask_stays_when_the_file_is_saved(blender: Any, tmp_path: Path) -> None:
    """In the .blend file, in .glb, and never in the user's own picture; exported under the picture's own name."""
    from io_retro_meshes.blender.build.images import build_images
    from io_retro_meshes.blender.collect.images import collect_image
    from io_retro_meshes.scene import Image, Scene
    from tests.blender.test_stages import write_png

    write_png(tmp_path / "black.png", (0, 0, 0, 255), 3)
    write_png(tmp_path / "grey.png", (90, 90, 90, 255), 3)
    before = [path.read_bytes() for path in sorted(tmp_path.glob("*.png"))]
    scene = Scene(images=[Image("Black.png", mask_black=True), Image("grey.png", mean_alpha=True)])
    images, _ = build_images(scene, tmp_path, [])
    for image in images:
        image.use_fake_user = True
    names = [image.name for image in images]
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    images = [bpy.data.images[name] for name in names]
    assert [round(image.pixels[3] * 255) for image in images] == [0, 90]
    assert all(bytes(image.packed_file.data)[25] == 6 for image in images)  # PNG with red, green, blue and alpha
    assert [(each.name, Path(each.path).name) for each in map(collect_image, images)] == [
        ("Black.png", "black.png"),
        ("grey.png", "grey.png"),
    ]
    assert not any(image.filepath for image in images)  # saving the image cannot overwrite the picture
    assert before == [path.read_bytes() for path in sorted(tmp_path.glob("*.png"))]


def test_the_solid_view(blender: Any, tmp_path: Path) -> None:
    """The picture on the first UV map is the active one; cut out where the material uses its alpha."""
    from io_retro_meshes.blender.build.images import build_images
    from io_retro_meshes.blender.build.materials import build_materials
    from io_retro_meshes.scene import Image, Scene, TextureLayer
    from io_retro_meshes.scene.uber import ID as UBER

    for name in ("light", "leaf", "wall", "both", "uber"):
        (tmp_path / f"{name}.png").write_bytes(png.encode(LEAF))
    scene = Scene(
        images=[Image("light.png", alpha=False), Image("leaf.png", mask_black=True), Image("wall.png"), Image("both.png")]
    )
    scene.images.append(Image("uber.png"))
    scene.materials = [
        Material("lit", layers=[TextureLayer(0, uv=1), TextureLayer(2)]),
        Material("cut", layers=[TextureLayer(1)], blend="MASK"),
        Material("glass", layers=[TextureLayer(3)], blend="ALPHA"),
        Material("wall", layers=[TextureLayer(3)]),
        Material("only light", layers=[TextureLayer(0, uv=1)]),
        Material("uber", layers=[TextureLayer(4, settings={UBER: {"texture": "Diffuse"}})], blend="ALPHA", graph=UBER),
    ]
    images, _ = build_images(scene, tmp_path, [])
    built = build_materials(scene, images)
    active = [node.image.name if (node := each.node_tree.nodes.active) else None for each in built]
    assert active == ["wall.png", "leaf.png", "both.png", "both.png", None, "uber.png"]
    assert [image.alpha_mode for image in images] == [
        "CHANNEL_PACKED",
        "STRAIGHT",
        "CHANNEL_PACKED",
        "CHANNEL_PACKED",
        "STRAIGHT",
    ]


def test_a_masked_dds_has_its_own_alpha(blender: Any, tmp_path: Path) -> None:
    from io_retro_meshes.blender.build.images import build_images
    from io_retro_meshes.scene import Image, Scene

    header = b"DDS " + struct.pack("<7I", 124, 0x100F, 4, 4, 16, 0, 0) + bytes(44)
    header += struct.pack("<2I4s5I", 32, 0x41, bytes(4), 32, 0xFF0000, 0xFF00, 0xFF, 0xFF000000) + struct.pack(
        "<5I", 0x1000, 0, 0, 0, 0
    )
    (tmp_path / "leaf.dds").write_bytes(header + bytes([0, 0, 0, 200]) * 16)
    (image,), _ = build_images(Scene(images=[Image("leaf.dds", mask_black=True)]), tmp_path, [])
    assert round(image.pixels[3] * 255) == 200 and image.retro_meshes.mask_black


def test_settings_of_version_1_0_are_still_there(blender: Any, tmp_path: Path) -> None:
    """There Blender kept each setting by itself, numbers as numbers."""
    from io_retro_meshes.blender import compat, properties

    mesh = blender.data.meshes.new("mesh")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    material = blender.data.materials.new("old")
    mesh.materials.append(material)
    blender.context.scene.collection.objects.link(blender.data.objects.new("mesh", mesh))
    raw = compat.raw_properties(material.retro_b3d, create=True)
    raw["fx"], raw["shininess"] = 8, 0.5
    blender.ops.wm.save_as_mainfile(filepath=str(tmp_path / "old.blend"))
    blender.ops.wm.open_mainfile(filepath=str(tmp_path / "old.blend"))
    material = blender.data.materials["old"]
    assert properties.has_settings(material, "b3d")
    assert properties.collect(material)["b3d"] == {"fx": 8, "shininess": 0.5}
    assert material.retro_b3d.no_fog
