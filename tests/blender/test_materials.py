# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials: there and back, what the glTF exporter makes of them, and what a renderer shows."""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, replace
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.pictures import png
from io_retro_meshes.scene import COLOR_NAME, Image, Material, Scene, TextureLayer, floats, uv_name

bpy = pytest.importorskip("bpy")

RED_HALF = np.full((2, 2, 4), (255, 0, 0, 128), np.uint8)
GREY = np.full((2, 2, 4), (128, 128, 128, 255), np.uint8)
CHECK = np.array([[[0, 0, 0, 255], [255, 255, 255, 255]], [[0, 255, 0, 255], [0, 0, 0, 255]]], np.uint8)
Layer = TextureLayer


@pytest.fixture
def pictures(tmp_path: Path) -> list[Image]:
    for name, pixels in {"red.png": RED_HALF, "grey.png": GREY, "check.png": CHECK}.items():
        (tmp_path / name).write_bytes(png.encode(pixels))
    return [Image("C:\\art\\red.png"), Image("grey.png", alpha=False), Image("check.png", mask_black=True)]


def build(scene: Scene, folder: Path) -> list[Any]:
    from io_retro_meshes.blender.build.images import build_images
    from io_retro_meshes.blender.build.materials import build_materials

    images, warnings = build_images(scene, folder, [])
    assert not warnings
    return build_materials(scene, images)


MATERIALS = [
    Material("plain", floats(0.2, 0.5, 1, 1), roughness=0.5, metallic=0.25, specular=0.75),
    Material("unused alpha", floats(0.2, 0.5, 1, 0.5)),
    Material("glow", emission=floats(0.5, 0.25, 0)),
    Material("clear", floats(1, 1, 1, 0.25), blend="ALPHA", double_sided=True),
    Material("textured", layers=[Layer(0)]),
    Material("tinted", floats(0.5, 0.25, 1, 1), layers=[Layer(1, nearest=True)], vertex_colors=True),
    Material("everything", floats(0.5, 1, 1, 0.5), [Layer(0)], blend="ALPHA", vertex_colors=True, vertex_alpha=True),
    Material("mask", layers=[Layer(2, clamp=(True, True))], blend="MASK", threshold=0.25),
    Material("unlit", floats(0.5, 1, 1, 1), [Layer(0, clamp=(False, True))], full_bright=True, flat=True),
    Material("unlit clear", layers=[Layer(0, clamp=(True, False), uv=1)], full_bright=True, blend="ALPHA"),
    Material("unlit mask", layers=[Layer(0)], full_bright=True, blend="MASK", threshold=0.75),
    Material("add", floats(1, 0.5, 1, 0.5), [Layer(0)], blend="ADD"),
    Material("unlit add", floats(1, 0.5, 1, 0.5), [Layer(0)], blend="ADD", full_bright=True),
    Material("multiply", floats(1, 0.5, 1, 1), [Layer(1)], blend="MULTIPLY"),
    Material("unlit multiply", layers=[Layer(1)], blend="MULTIPLY", full_bright=True),
    Material("stipple", layers=[Layer(1)], stipple=True, wireframe=True, flat=True),
    Material("offset", layers=[Layer(1, offset=(0.25, -0.5), scale=(2, 3))]),
    Material("turned", layers=[Layer(1, offset=(0.25, -0.5), scale=(2, 2), rotation=pi / 4)]),
    Material("turned and stretched", layers=[Layer(1, offset=(0.25, 0), scale=(2, -3), rotation=0.5, clamp=(True, False))]),
    Material("environment", layers=[Layer(1), Layer(0, mapping="SPHERE", blend="ADD"), Layer(1, mapping="CUBE", scale=(2, 2))]),
    Material(
        "stack",
        floats(0.5, 0.5, 1, 1),
        [
            Layer(0),
            Layer(1, uv=1, blend="MULTIPLY_2X"),
            Layer(0, blend="ALPHA"),
            Layer(1, uv=2, blend="ADD"),
            Layer(0, blend="DOT3"),
            Layer(0, blend="OFF"),
            Layer(1),
        ],
        vertex_colors=True,
    ),
    Material("alpha first", floats(0.5, 0.5, 1, 1), [Layer(0, blend="ALPHA"), Layer(1, blend="MULTIPLY")]),
    Material("light map first", layers=[Layer(0, uv=1), Layer(1, blend="MULTIPLY_2X"), Layer(1, uv=2)]),
    Material("2x first", layers=[Layer(0, blend="MULTIPLY_2X")]),
    Material(
        "maps",
        emission=floats(0.5, 1, 1),
        layers=[Layer(1, use="NORMAL"), Layer(0)]
        + [Layer(1, use=use) for use in ("ROUGHNESS", "METALLIC", "SPECULAR", "EMISSION", "OCCLUSION", "ALPHA", "OTHER")],
        blend="ALPHA",
    ),
    Material("unlit maps", layers=[Layer(1, use="NORMAL"), Layer(0), Layer(1, use="EMISSION")], full_bright=True),
    Material("kept", layers=[Layer(1, settings={"b3d": {"flags": 9, "slot": 2}})], settings={"b3d": {"fx": 16, "blend": 1}}),
]


def plain(material: Material) -> dict[str, Any]:
    """As values that compare; numbers to what a socket holds."""
    return json.loads(
        json.dumps(asdict(material), default=lambda array: np.round(array, 6).tolist()),
        parse_float=lambda x: round(float(x), 6),
    )


def collect_materials(
    materials: list[Any], pixels: bool = False, uv_names: dict[str, list[str]] | None = None
) -> tuple[list[Material], list[Image]]:
    """The materials of the scene, and the images they use."""
    from io_retro_meshes.blender.collect.images import ImageCollector
    from io_retro_meshes.blender.collect.materials import collect_material

    images = ImageCollector(pixels)
    return [collect_material(each, images, (uv_names or {}).get(each.name, ())) for each in materials], images.images


@pytest.mark.parametrize("material", MATERIALS, ids=lambda material: material.name)
def test_there_and_back(blender: Any, pictures: list[Image], tmp_path: Path, material: Material) -> None:
    built = build(Scene(images=pictures, materials=[material]), tmp_path)
    (found,), images = collect_materials(built)
    for layer in found.layers:
        picture = images[layer.image]
        assert Path(picture.path).read_bytes()
        layer.image = [each.name for each in pictures].index(picture.name)
        assert picture.mask_black == pictures[layer.image].mask_black
        layer.map_name = ""
    assert found.color_name in ("", COLOR_NAME) and found.lost == []
    assert plain(replace(found, color_name="")) == plain(material)


def test_images_load_once_and_masks_stay_apart(blender: Any, pictures: list[Image], tmp_path: Path) -> None:
    from io_retro_meshes.blender.build.images import build_images

    scene = Scene(images=[*pictures, Image("CHECK.PNG"), Image("check.png", mask_black=True), Image("no/such.tga")])
    images, warnings = build_images(scene, tmp_path, [])
    assert images[2] == images[4] != images[3]
    assert not images[3].packed_file and images[2].packed_file
    alpha = np.empty(16, np.float32)
    images[2].pixels.foreach_get(alpha)
    assert alpha[3::4].tolist() == [0, 1, 1, 0]
    assert images[5].source == "FILE" and Path(images[5].filepath) == tmp_path / "such.tga"
    assert len(warnings) == 1 and "such.tga" in warnings[0] and str(tmp_path) in warnings[0]
    again, _ = build_images(scene, tmp_path, [])
    assert again == images
    assert (tmp_path / "check.png").read_bytes() == png.encode(CHECK)


def test_dark_is_transparent_where_a_picture_has_no_alpha(blender: Any, tmp_path: Path) -> None:
    from io_retro_meshes.blender.build.images import build_images

    shades = np.array([0.0, 0.25, 0.5, 1.0], np.float32)
    for name, mode in (("plain.png", "RGB"), ("alpha.png", "RGBA")):
        picture = blender.data.images.new(name, 4, 1, alpha=True)
        picture.pixels.foreach_set(np.c_[shades, shades, shades, np.full(4, 0.5)].astype(np.float32).reshape(-1))
        blender.context.scene.render.image_settings.file_format = "PNG"
        blender.context.scene.render.image_settings.color_mode = mode
        picture.save_render(str(tmp_path / name))
    made, _ = build_images(Scene(images=[Image("plain.png", mean_alpha=True), Image("alpha.png", mean_alpha=True)]), tmp_path)
    plain, own = (np.array(image.pixels[:]).reshape(-1, 4) for image in made)
    assert np.allclose(plain[:, 3], plain[:, :3].mean(1), atol=0.003) and np.ptp(plain[:, 3]) > 0.5
    assert np.allclose(own[:, 3], 0.5, atol=0.01)


def test_pixels_come_and_go(blender: Any, tmp_path: Path) -> None:
    from io_retro_meshes.blender.collect.images import BlenderPicture, image_pixels
    from io_retro_meshes.pictures.write import bytes_of

    pixels = np.random.default_rng(1).integers(0, 256, (3, 5, 4), np.uint8)
    scene = Scene(images=[Image("made", pixels=pixels)], materials=[Material("m", layers=[Layer(0)], blend="ALPHA")])
    (material,) = build(scene, tmp_path)
    _, (image,) = collect_materials([material], pixels=True)
    assert (image.name, image.path, image.alpha) == ("made", "", True)
    assert (image.pixels == pixels).all()
    source = bpy.data.images["made"]
    before = (source.filepath, source.source, source.file_format, source.is_dirty)
    (tmp_path / "saved.png").write_bytes(bytes_of(BlenderPicture(source), ".png", False))
    assert before == (source.filepath, source.source, source.file_format, source.is_dirty)
    assert (image_pixels(bpy.data.images.load(str(tmp_path / "saved.png"))) == pixels).all()
    assert [path.name for path in tmp_path.iterdir()] == ["saved.png"]


# ------------------------------------------------------------------------------------------------- what others understand


def quad(material: Any, name: str = "quad") -> Any:
    """Two units wide, facing up, with two UV maps and vertex colours of half red and half alpha."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
    for index in range(3):
        mesh.uv_layers.new(name=uv_name(index))
    colors = mesh.color_attributes.new(COLOR_NAME, "BYTE_COLOR", "CORNER")
    for corner in colors.data:
        corner.color_srgb = (0.5, 1, 1, 0.5)
    mesh.materials.append(material)
    made = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(made)
    return made


def test_what_gltf_makes_of_them(blender: Any, pictures: list[Image], tmp_path: Path) -> None:
    for material in build(Scene(images=pictures, materials=MATERIALS), tmp_path):
        quad(material, material.name)
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "out.glb"))
    data = (tmp_path / "out.glb").read_bytes()
    made = json.loads(data[20 : 20 + struct.unpack_from("<I", data, 12)[0]])
    by_name = {material["name"]: material for material in made["materials"]}

    def texture(name: str) -> tuple[str, dict[str, Any]]:
        given = made["textures"][by_name[name]["pbrMetallicRoughness"]["baseColorTexture"]["index"]]
        return made["images"][given["source"]]["name"], made["samplers"][given["sampler"]]

    assert texture("textured")[0] == "red"
    assert texture("tinted") == ("grey", {"magFilter": 9728, "minFilter": 9984})
    assert by_name["tinted"]["pbrMetallicRoughness"]["baseColorFactor"] == pytest.approx([0.2140411, 0.0508761, 1, 1])
    everything = by_name["everything"]
    assert everything["alphaMode"] == "BLEND"
    assert everything["pbrMetallicRoughness"]["baseColorFactor"] == pytest.approx([0.2140411, 1, 1, 0.5])
    assert (by_name["mask"]["alphaMode"], by_name["mask"]["alphaCutoff"]) == ("MASK", 0.25)
    assert texture("mask")[0] == "check"
    assert texture("light map first")[0] == "grey"
    assert "KHR_materials_unlit" in by_name["unlit"]["extensions"]
    assert texture("unlit")[1]["wrapT"] == 33071 and texture("unlit")[1].get("wrapS", 10497) == 10497
    assert by_name["unlit clear"]["alphaMode"] == "BLEND" and "KHR_materials_unlit" in by_name["unlit clear"]["extensions"]
    assert by_name["unlit clear"]["pbrMetallicRoughness"]["baseColorTexture"]["texCoord"] == 1
    assert by_name["clear"]["doubleSided"] and "doubleSided" not in by_name["plain"]
    transform = by_name["offset"]["pbrMetallicRoughness"]["baseColorTexture"]["extensions"]["KHR_texture_transform"]
    assert transform["scale"] == [2, 3]
    assert by_name["maps"]["normalTexture"] and by_name["maps"]["emissiveTexture"]
    for name in ("tinted", "everything"):
        (primitive,) = next(mesh["primitives"] for mesh in made["meshes"] if mesh["name"] == name)
        assert "COLOR_0" in primitive["attributes"] and "COLOR_1" not in primitive["attributes"]


def test_back_from_gltf(blender: Any, pictures: list[Image], tmp_path: Path) -> None:
    """Materials that another importer made, of what another exporter wrote."""
    names = ["plain", "clear", "textured", "tinted", "everything", "mask", "unlit clear", "offset", "glow"]
    wanted = [material for material in MATERIALS if material.name in names]
    for material in build(Scene(images=pictures, materials=wanted), tmp_path):
        quad(material, material.name)
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "out.glb"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(tmp_path / "out.glb"))
    for given in wanted:
        (found,), images = collect_materials([bpy.data.materials[given.name]], uv_names={given.name: ["UVMap", "UVMap.001"]})
        facts = ("blend", "threshold", "full_bright", "double_sided")
        assert {fact: getattr(found, fact) for fact in facts} == {fact: getattr(given, fact) for fact in facts}, given.name
        assert found.color == pytest.approx(given.color, abs=1e-3) and found.emission == pytest.approx(given.emission, abs=1e-3)
        assert len(found.layers) == len(given.layers)
        for layer, original in zip(found.layers, given.layers, strict=True):
            assert Path(images[layer.image].name).stem == Path(pictures[original.image].name.split("\\")[-1]).stem
            assert (layer.uv, layer.nearest, layer.clamp) == (original.uv, original.nearest, original.clamp)
            assert (*layer.offset, *layer.scale) == pytest.approx((*original.offset, *original.scale))


class Made:
    """A material as a user makes one."""

    def __init__(self, tmp_path: Path) -> None:
        from io_retro_meshes.blender import compat
        from io_retro_meshes.blender.graphs.nodes import Tree

        (tmp_path / "user.png").write_bytes(png.encode(RED_HALF))
        self.material = bpy.data.materials.new("user")
        self.tree = Tree(compat.node_tree(self.material))
        self.nodes = self.tree.tree.nodes
        self.shader = self.nodes["Principled BSDF"]
        self.output = self.nodes["Material Output"]
        self.texture = self.tree.add("ShaderNodeTexImage", image=bpy.data.images.load(str(tmp_path / "user.png")))

    def collect(self) -> tuple[Material, list[Image]]:
        (found,), images = collect_materials([self.material])
        return found, images


@pytest.fixture
def user(blender: Any, tmp_path: Path) -> Made:
    return Made(tmp_path)


def test_a_material_out_of_the_box(user: Made) -> None:
    found, images = user.collect()
    assert (found.blend, found.layers, images) == ("OPAQUE", [], [])  # the texture is not linked to anything
    assert found.color == pytest.approx([0.9063, 0.9063, 0.9063, 1], abs=1e-3)


def test_alpha_of_a_texture_through_reroutes(user: Made) -> None:
    tree = user.tree
    reroute = tree.add("NodeReroute")
    tree.put(reroute.inputs[0], user.texture.outputs["Color"])
    tree.put(user.shader.inputs["Base Color"], reroute.outputs[0])
    tree.put(user.shader.inputs["Alpha"], user.texture.outputs["Alpha"])
    found, (image,) = user.collect()
    assert (found.blend, [layer.use for layer in found.layers]) == ("ALPHA", ["COLOR"])
    assert image.alpha and image.name == "user.png" and Path(image.path).name == "user.png"


def test_diffuse_mixed_with_transparent(user: Made) -> None:
    tree = user.tree
    diffuse = tree.add("ShaderNodeBsdfDiffuse", {"Color": user.texture.outputs[0]})
    clear = tree.add("ShaderNodeBsdfTransparent")
    mix = tree.add("ShaderNodeMixShader", {0: 0.25, 1: diffuse.outputs[0], 2: clear.outputs[0]})
    tree.put(user.output.inputs[0], mix.outputs[0])
    found, _ = user.collect()
    assert (found.blend, float(found.color[3]), len(found.layers), found.full_bright) == ("ALPHA", 0.75, 1, False)


def test_a_group_around_everything(user: Made) -> None:
    group = bpy.data.node_groups.new("my shader", "ShaderNodeTree")
    group.interface.new_socket("Picture", in_out="INPUT", socket_type="NodeSocketColor")
    group.interface.new_socket("Shader", in_out="OUTPUT", socket_type="NodeSocketShader")
    inner = type(user.tree)(group)
    picture = inner.add("NodeGroupInput").outputs[0]
    tint = inner.add("ShaderNodeMixRGB", {"Fac": 1.0, "Color1": picture, "Color2": (1, 0, 0, 1)}, blend_type="MULTIPLY")
    glow = inner.add("ShaderNodeEmission", {"Color": tint.outputs[0]})
    inner.add("NodeGroupOutput", {0: glow.outputs[0]})
    outer = user.tree.add("ShaderNodeGroup", node_tree=group)
    warm = user.tree.add("ShaderNodeHueSaturation", {"Color": user.texture.outputs[0]})
    user.tree.put(outer.inputs[0], warm.outputs[0])
    user.tree.put(user.output.inputs[0], outer.outputs[0])
    found, _ = user.collect()
    assert found.full_bright and len(found.layers) == 1
    assert found.color.tolist() == [1, 0, 0, 1]


def test_a_mixed_stack_with_a_mask_and_culling(user: Made) -> None:
    tree = user.tree
    second = tree.add("ShaderNodeTexImage", image=user.texture.image, interpolation="Closest", extension="CLIP")
    tree.put(second.inputs[0], tree.add("ShaderNodeUVMap", uv_map="UVMap.001").outputs[0])
    painted = tree.add("ShaderNodeAttribute", attribute_name="Col")
    stack = tree.mix("MIX", user.texture.outputs[0], second.outputs[0], second.outputs["Alpha"])
    tree.put(user.shader.inputs["Base Color"], tree.mix("MULTIPLY", stack, painted.outputs["Color"]))
    tree.put(user.shader.inputs["Alpha"], tree.math("GREATER_THAN", user.texture.outputs["Alpha"], 0.25))
    user.material.use_backface_culling = True
    found, _ = user.collect()
    assert [(layer.blend, layer.uv, layer.nearest, layer.clamp) for layer in found.layers] == [
        ("MULTIPLY", 0, False, (False, False)),
        ("ALPHA", 1, True, (True, True)),
    ]
    assert (found.blend, found.threshold, found.vertex_colors, found.double_sided) == ("MASK", 0.25, True, False)


def test_a_picture_that_only_blender_has(user: Made, tmp_path: Path) -> None:
    from io_retro_meshes.blender.collect.images import BlenderPicture, image_pixels
    from io_retro_meshes.pictures.write import bytes_of

    painted = user.texture.image = bpy.data.images.new("painted", 3, 2, alpha=True)
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4) * 10
    painted.pixels.foreach_set((pixels / np.float32(255)).reshape(-1))
    user.tree.put(user.shader.inputs["Base Color"], user.texture.outputs[0])
    _, (image,) = user.collect()
    assert (image.name, image.path) == ("painted.png", "")
    (tmp_path / "painted.png").write_bytes(bytes_of(BlenderPicture(painted), "", False))
    assert painted.source == "GENERATED" and not painted.packed_file
    assert (image_pixels(bpy.data.images.load(str(tmp_path / "painted.png"))) == pixels).all()


@pytest.fixture
def rendered(blender: Any, pictures: list[Image], tmp_path: Path) -> Any:
    """The colours (0 to 1, as displayed) that materials have, each on a quad in a row over a mid grey ground."""

    def render(*materials: Material) -> list[list[float]]:
        scene = bpy.context.scene
        ground = Material("ground", floats(0.5, 0.5, 0.5, 1), full_bright=True, double_sided=True)
        built = build(Scene(images=pictures, materials=[ground, *materials]), tmp_path)
        under = quad(built[0])
        under.location.z, under.scale = -1, (100, 100, 1)
        for index, material in enumerate(built[1:]):
            quad(material).location.x = index * 2
        camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
        scene.collection.objects.link(camera)
        camera.data.type, camera.data.ortho_scale = "ORTHO", 2.0 * len(materials)
        camera.location = (len(materials) - 1, 0, 5)
        scene.camera = camera
        scene.world = None
        scene.render.engine = "CYCLES"
        scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = "CPU", 16, False
        scene.view_settings.view_transform = "Standard"
        size = 8
        scene.render.resolution_x, scene.render.resolution_y = size * len(materials), size
        scene.render.image_settings.file_format = "PNG"
        scene.render.filepath = str(tmp_path / "shot.png")
        bpy.ops.render.render(write_still=True)
        shot = bpy.data.images.load(scene.render.filepath)
        pixels = np.empty(size * size * len(materials) * 4, np.float32)
        shot.pixels.foreach_get(pixels)
        middle = pixels.reshape(size, len(materials), size, 4)[size // 4, :, size // 4, :3]
        return [[round(float(value), 2) for value in color] for color in middle]

    return render


def test_what_a_renderer_shows(rendered: Any) -> None:
    def unlit(*layers: Layer, **options: Any) -> Material:
        return Material("m", layers=list(layers), full_bright=True, **options)

    cases = [
        (unlit(Layer(0)), (1, 0, 0)),
        (unlit(Layer(0), color=floats(0.25, 1, 1, 1)), (0.25, 0, 0)),
        (unlit(Layer(0), vertex_colors=True), (0.5, 0, 0)),
        (unlit(Layer(0), Layer(1)), (0.5, 0, 0)),
        (unlit(Layer(1), Layer(0, blend="ADD")), (1, 0.5, 0.5)),
        (unlit(Layer(1), Layer(0, blend="ALPHA")), (0.75, 0.25, 0.25)),
        (unlit(Layer(1), Layer(1, blend="MULTIPLY_2X")), (0.5, 0.5, 0.5)),
        (unlit(Layer(1), Layer(0, blend="OFF")), (0.5, 0.5, 0.5)),
        (unlit(Layer(0), blend="ADD"), (0.86, 0.5, 0.5)),
        (unlit(Layer(1), blend="MULTIPLY"), (0.24, 0.24, 0.24)),
        (unlit(Layer(0), blend="MASK", threshold=0.5), (1, 0, 0)),
        (unlit(Layer(0), blend="MASK", threshold=0.6), (0.5, 0.5, 0.5)),
        (unlit(Layer(2, nearest=True), blend="MASK"), (0.5, 0.5, 0.5)),
        (unlit(Layer(2, nearest=True, offset=(0.5, 0)), blend="MASK"), (1, 1, 1)),
        (unlit(Layer(2, nearest=True)), (0, 0, 0)),
        (unlit(Layer(2, nearest=True, offset=(1.5, -1), clamp=(True, False))), (1, 1, 1)),
        (Material("m", layers=[Layer(0)]), (0, 0, 0)),
        (Material("m", emission=floats(0.5, 0, 0)), (0.5, 0, 0)),
        (Material("m", floats(1, 1, 1, 0), blend="ALPHA"), (0.5, 0.5, 0.5)),
    ]
    shown = rendered(*(material for material, _ in cases))
    expected = [list(color) for _, color in cases]
    assert np.abs(np.array(shown) - expected).max(1).tolist() == pytest.approx([0] * len(cases), abs=0.03), shown
