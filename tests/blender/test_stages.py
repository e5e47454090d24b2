# SPDX-License-Identifier: GPL-3.0-or-later
"""Quads with every flag, blend and effect of Blitz3D, and the stages of Dark Basic Pro, rendered: the engine's colours.

Where something is laid over what is behind it, renderers compute in linear light: the measure does the same there.
"""

from __future__ import annotations

import shutil
import struct
import zlib
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.convert import convert
from io_retro_meshes.formats import FORMATS, FormatError, b3d
from io_retro_meshes.formats.b3d import document as doc
from io_retro_meshes.pictures import png
from io_retro_meshes.pictures.search import Finder
from io_retro_meshes.scene.maths import linear_to_srgb, srgb_to_linear
from tests.conftest import corpus_files
from tests.engines import stages
from tests.engines.stages import Surface, Texture

bpy = pytest.importorskip("bpy")
mathutils = pytest.importorskip("mathutils")

RED, GREY, DARK = (200, 60, 20, 255), (128, 128, 128, 255), (40, 90, 160, 128)
BLACK, PALE = (0, 0, 0, 255), (220, 230, 190, 64)
BEHIND = 0.25
SIZE = 4  # pixels of a quad
# The product with the brush's or the vertices' colour is in linear light, where the glTF exporter finds it: for two dark
# colours that is so far off, of 255.
LINEAR_PRODUCT = 9


def texture(rgba: tuple[int, int, int, int], flags: int = 1, blend: int = 2, **more: Any) -> Texture:
    red, green, blue, alpha = (value / 255 for value in rgba)
    return Texture((red, green, blue, alpha), flags, blend, **more)


def over(kind: str, color: Any, alpha: float) -> Any:
    """Laid over the ground, in linear light."""
    above, below = srgb_to_linear(np.asarray(color, float)), srgb_to_linear(np.full(3, BEHIND))
    if kind == "MULTIPLY":
        return linear_to_srgb(above * below)
    return linear_to_srgb(np.clip(above * alpha + below * (1 - alpha if kind == "ALPHA" else 1), 0, 1))


def blitz_cases() -> Iterator[Surface]:
    """All pairs of texture blends; of texture flags; of effects with brush blends; what is missing, and what has no alpha."""
    for first, second in product(range(6), range(6)):
        yield Surface(textures=[texture(GREY, 1, first), texture(DARK, 1, second)])
        yield Surface(color=(0.5, 1.0, 0.75), textures=[texture(RED, 1, first), texture(GREY, 1, second)])
    for one, other in combinations((2, 4, 8, 16, 32, 64, 128, 65536), 2):
        for rgba in (RED, BLACK, PALE):
            yield Surface(textures=[texture(rgba, 1 | one | other)])
    for flags, blend, rgba in product((1, 3, 5, 7), range(4), (RED, BLACK, DARK)):
        yield Surface(blend=blend, textures=[texture(rgba, flags)])
        yield Surface(blend=blend, textures=[texture(rgba, flags, has_alpha=False)])
        yield Surface(blend=blend, textures=[texture(GREY), texture(rgba, flags)])
    for one, other in combinations((2, 4, 8, 16, 32), 2):
        for blend, vertex in product(range(4), (None, (0.8, 0.9, 1.0, 0.5))):
            yield Surface(fx=1 | one | other, blend=blend, vertex=vertex, textures=[texture(RED)])
    yield Surface(fx=3, color=(0.2, 0.2, 0.2), textures=[texture(GREY)])
    yield Surface(alpha=0.5, textures=[texture(RED)])
    yield Surface(textures=[texture(RED), texture(GREY, there=False)])
    yield Surface(textures=[texture(RED), texture(GREY, 1, 3, there=False), texture(GREY, 1, 5)])


# -------------------------------------------------------------------------------------------------------------- files


def write_png(path: Path, rgba: tuple[int, int, int, int], channels: int) -> None:
    rows = b"".join(b"\0" + bytes(rgba[:channels]) * 2 for _ in range(2))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 6 if channels == 4 else 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows))]
    data = b"\x89PNG\r\n\x1a\n"
    for name, body in [*chunks, (b"IEND", b"")]:
        data += struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    path.write_bytes(data)


def blitz_file(cases: list[Surface], folder: Path) -> Path:
    """A quad for each surface, in a row along the engine's x."""
    textures: list[doc.Texture] = []
    brushes: list[doc.Brush] = []
    root = doc.Node(b"root")
    for number, case in enumerate(cases):
        ids = []
        for each in case.textures:
            rgba = tuple(round(value * 255) for value in each.rgba)
            channels = 4 if each.has_alpha else 3
            name = f"{'_'.join(map(str, rgba))}_{channels}.png" if each.there else "missing.png"
            if each.there:
                write_png(folder / name, rgba, channels)
            ids.append(len(textures))
            textures.append(doc.Texture(name.encode(), each.flags, each.blend))
        color = doc.floats(*case.color, case.alpha)
        ids += [-1] * (3 - len(ids))
        brushes.append(doc.Brush(b"b%d" % number, color, 0.0, case.blend, case.fx, np.array(ids, "<i4")))
        corners = np.add([(0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0)], (number, 0, 0))
        flags = 0 if case.vertex is None else doc.COLORS
        vertices = doc.Vertices(flags, 2, 2, np.zeros((0, 0), "<f4"))
        vertices.rows = np.zeros((4, vertices.row_size), "<f4")
        vertices.rows[:, :3] = corners
        if case.vertex is not None:
            vertices.rows[:, 3:7] = case.vertex
        vertices.rows[:, -4:] = 0.5
        mesh = doc.Mesh(-1, [vertices, doc.Triangles(number, np.array([[0, 1, 2], [0, 2, 3]], "<i4"))])
        root.chunks.append(doc.Node(b"q%d" % number, chunks=[mesh]))
    path = folder / "quads.b3d"
    path.write_bytes(b3d.write(doc.Document(chunks=[doc.Textures(textures), doc.Brushes(3, brushes), root])))
    return path


# ------------------------------------------------------------------------------------------------------------- pictures


def rendered(count: int, folder: Path) -> Any:
    """The colours of the quads, 0 to 1 as displayed, seen along the engine's z over a grey ground."""
    scene = bpy.context.scene
    ground = bpy.data.objects.new("ground", bpy.data.meshes.new("ground"))
    ground.data.from_pydata([(-9, 1, -9), (count + 9, 1, -9), (count + 9, 1, 9), (-9, 1, 9)], [], [(0, 1, 2, 3)])
    ground.data.materials.append(ground_material())
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    for each in (ground, camera):
        scene.collection.objects.link(each)
    camera.data.type, camera.data.ortho_scale = "ORTHO", float(count)
    camera.location, camera.rotation_euler = (count / 2, -5, 0.5), (np.pi / 2, 0, 0)
    scene.camera, scene.world = camera, None
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = "CPU", 4, False
    scene.cycles.transparent_max_bounces = 32
    scene.cycles.pixel_filter_type = "BOX"
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = SIZE * count, SIZE
    scene.render.dither_intensity = 0
    scene.render.image_settings.file_format = "PNG"
    scene.render.filepath = str(folder / "shot.png")
    bpy.ops.render.render(write_still=True)
    shot = bpy.data.images.load(scene.render.filepath, check_existing=False)
    pixels = np.empty(SIZE * SIZE * count * 4, np.float32)
    shot.pixels.foreach_get(pixels)
    bpy.data.images.remove(shot)
    return pixels.reshape(SIZE, count, SIZE, 4)[SIZE // 2, :, SIZE // 2, :3]


def ground_material() -> Any:
    from io_retro_meshes.blender.build.materials import build_material
    from io_retro_meshes.scene import Material, floats

    color = floats(BEHIND, BEHIND, BEHIND, 1)
    return build_material(Material("ground", color, full_bright=True, double_sided=True), [], [])


def allowed(case: Surface) -> int:
    """Of 255."""
    tinted = (case.vertex is not None and case.fx & 2) or (case.color != (1.0, 1.0, 1.0) and not case.fx & 2)
    return LINEAR_PRODUCT if tinted and case.textures else 2


def test_blitz3d(blender: Any, tmp_path: Path) -> None:
    cases = list(blitz_cases())
    assert bpy.ops.import_scene.b3d(filepath=str(blitz_file(cases, tmp_path))) == {"FINISHED"}
    wanted = np.array([stages.blitz(case, over) for case in cases])
    first = rendered(len(cases), tmp_path)
    off = np.abs(first - wanted).max(1) * 255
    wrong = [(round(float(far)), case) for far, case in zip(off, cases, strict=True) if far > allowed(case) + 0.5]
    assert not wrong, f"{len(wrong)} of {len(cases)}: {wrong[:12]}"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "quads.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "quads.blend"))
    bpy.ops.render.render(write_still=True)
    shot = bpy.data.images.load(str(tmp_path / "shot.png"))
    again = np.array(shot.pixels[:]).reshape(SIZE, len(cases), SIZE, 4)[SIZE // 2, :, SIZE // 2, :3]
    assert np.abs(again - first).max() < 1 / 255


def alpha_files() -> list[Path]:
    """Real files with a material that uses the alpha of a texture, or cuts its black out."""
    found = []
    kinds = {"b3d": ["*.b3d"], "bo3d": ["*.bo3d"], "dbo": ["*.dbo", "*.DBO"], "bogle": ["scene*.bgl"], "saturn": ["hero.bin"]}
    for path in [each for kind, patterns in kinds.items() for each in corpus_files(kind, *patterns)]:
        entry = FORMATS[path.parent.name if path.parent.name in FORMATS else path.suffix[1:].lower()]
        try:
            scene = entry.to_scene(entry.read(path.read_bytes()))
        except FormatError:
            continue
        used = [scene.images[layer.image] for each in scene.materials if each.blend != "OPAQUE" for layer in each.layers]
        if any(image.alpha or image.mask_black for image in used):
            found.append(path)
    return found


def with_pictures(path: Path, folder: Path) -> Path:
    """The file with its pictures, in a folder of its own; for those that are not there, leaves on black are painted."""
    shutil.copytree(path.parent, folder, ignore=lambda where, names: [n for n in names if Path(n).suffix in (".b3d", ".dbo")])
    shutil.copy(path, folder / path.name)
    entry = FORMATS[path.parent.name if path.parent.name in FORMATS else path.suffix[1:].lower()]
    leaves = np.zeros((16, 16, 4), np.uint8)
    leaves[:, :, 3] = 255
    leaves[4:12, 2:14, :3] = (40, 180, 60)
    for image in entry.to_scene(entry.read(path.read_bytes())).images:
        if not Finder(folder, []).find(image.names or (image.name,)):
            (folder / image.name.replace("\\", "/").rsplit("/", 1)[-1]).with_suffix(".png").write_bytes(png.encode(leaves))
    return folder / path.name


def picture(path: Path) -> Any:
    bpy.context.scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    return np.array(bpy.data.images.load(str(path)).pixels[:])


# The engine's Uber material has more than glTF: a reflection and a light of its own. Its cut-outs are what is compared.
NEAR = {".bgl"}


@pytest.mark.parametrize("path", alpha_files())
def test_real_files_look_the_same_when_opened_again_and_as_glb(blender: Any, tmp_path: Path, path: Path) -> None:
    path = with_pictures(path, tmp_path / "model")
    entry = next(each for each in FORMATS.values() if path.suffix.lower() in each.extensions)
    getattr(bpy.ops.import_scene, entry.id)(filepath=str(path))
    camera = frame_it(tmp_path)
    before = picture(tmp_path / "before.png")
    assert np.ptp(before.reshape(-1, 4)[:, :3]) > 0.1  # there is something to see
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert np.abs(picture(tmp_path / "after.png") - before).max() <= 1 / 255
    convert(path, tmp_path / "made.glb")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(tmp_path / "made.glb"))
    for image in bpy.data.images:  # Blender reads them as channel packed: black between the pixels of a leaf, as in the engine
        image.alpha_mode = "STRAIGHT"
    frame_it(tmp_path, camera)
    glb = picture(tmp_path / "glb.png")
    clear = np.abs(glb - before).reshape(-1, 4)[:, 3]
    off = np.abs((glb - before).reshape(-1, 4)[:, :3].mean(0))  # of all pixels: light from everywhere is noise in each
    assert (clear > 0.1).mean() < 0.01, "what is cut out, and what is not"
    if path.suffix not in NEAR:
        assert off.max() < 2 / 255  # measured: 0 for a key, 0.7 for a tree


def frame_it(tmp_path: Path, given: Any = None) -> Any:
    """A camera that sees all, or the one given by its place; a plain light from everywhere, and nothing behind."""
    from io_retro_meshes.blender.world import set_world_color

    for each in [each for each in bpy.data.objects if each.type in ("LIGHT", "CAMERA")]:
        bpy.data.objects.remove(each)
    rendered(1, tmp_path)
    camera = bpy.context.scene.camera
    bpy.data.objects.remove(bpy.data.objects["ground"])
    meshes = [each for each in bpy.data.objects if each.type == "MESH"]
    corners = np.array([each.matrix_world @ mathutils.Vector(corner) for each in meshes for corner in each.bound_box])
    camera.location = (*corners[:, :1].mean(0), corners[:, 1].min() - 1, corners[:, 2].mean())
    if np.ptp(corners, 0).argmin() == 2:  # it lies flat: from above there is more to see
        camera.location, camera.rotation_euler = (*corners[:, :2].mean(0), corners[:, 2].max() + 1), (0, 0, 0)
    camera.data.ortho_scale, camera.data.clip_end = float(np.ptp(corners, 0).max()), 1e4
    if given is not None:
        camera.location, camera.rotation_euler, camera.data.ortho_scale = given
    scene = bpy.context.scene
    scene.render.resolution_x = scene.render.resolution_y = 32
    scene.render.film_transparent = True
    scene.cycles.samples = 16
    scene.world = bpy.data.worlds.new("light")
    set_world_color(scene.world, np.ones(3, np.float32))
    return tuple(camera.location), tuple(camera.rotation_euler), camera.data.ortho_scale


# ------------------------------------------------------------------------------------------------------ Dark Basic Pro


def dark_file(cases: list[dict[str, Any]], folder: Path) -> Path:
    """A quad for each case, as the project writes them."""
    from io_retro_meshes.formats import dbo
    from io_retro_meshes.scene import Image, Layer, Material, Mesh, Node, Scene, TextureLayer, floats

    pictures = {"grey.png": GREY, "red.png": RED, "dark.png": DARK}
    for name, rgba in pictures.items():
        write_png(folder / name, rgba, 4)
    scene = Scene(images=[Image(name) for name in pictures])
    for number, case in enumerate(cases):
        corners = floats(0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1).reshape(4, 3) + floats(number, 0, 0)
        mesh = Mesh("quad", corners, np.array([0, 1, 2, 0, 2, 3], np.int32), materials=[number])
        mesh.uvs = [Layer("UVMap", np.full((4, 2), 0.5, np.float32))]
        material = Material(f"m{number}", layers=[TextureLayer(case["first"]), TextureLayer(case["second"])])
        material.full_bright = material.double_sided = True
        material.settings = {"dbo": {name: case[name] for name in ("ghost", "ghost_mode", "transparency") if name in case}}
        material.layers[1].settings = {"dbo": {"blend_mode": case["mode"], "tc_mode": 3, "stage": 1}}
        dbo.restyle(material, scene.images)
        scene.meshes.append(mesh)
        scene.materials.append(material)
        scene.nodes.append(Node(f"q{number}", mesh=number))
    path = folder / "quads.dbo"
    path.write_bytes(dbo.write(dbo.from_scene(scene)))
    return path


# How each ghost mode is laid over what is behind: 1 and 2 as in the engine, the others as near as docs/looks.md says.
GHOSTS = {0: "ADD", 1: "MULTIPLY", 2: "ADD", 3: "ALPHA", 4: "ADD", 5: "MULTIPLY"}


def dark_color(case: dict[str, Any]) -> Any:
    below, above = (np.array((GREY, RED, DARK)[case[name]]) / 255 for name in ("first", "second"))
    color = stages.dark_stage(case["mode"], below[:3], above[:3], above[3])
    if case.get("ghost"):
        return over(GHOSTS[case["ghost_mode"]], color, above[3] * below[3])
    if case.get("transparency"):
        return over("ALPHA", color, above[3] * below[3])
    return color


def test_dark_basic(blender: Any, tmp_path: Path) -> None:
    pairs = list(product((0, 1), (0, 1, 2)))
    cases: list[dict[str, Any]] = [
        {"first": first, "second": second, "mode": mode} for mode in (4, 5, 7, 13, 24) for first, second in pairs
    ]
    cases += [{"first": 0, "second": 1, "mode": 4, "ghost": True, "ghost_mode": ghost} for ghost in GHOSTS]
    cases += [{"first": 0, "second": second, "mode": 4, "transparency": True} for second in (1, 2)]
    assert bpy.ops.import_scene.dbo(filepath=str(dark_file(cases, tmp_path))) == {"FINISHED"}
    off = np.abs(rendered(len(cases), tmp_path) - [dark_color(case) for case in cases]).max(1) * 255
    assert not [(round(float(far)), case) for far, case in zip(off, cases, strict=True) if far > 2.5]
