# SPDX-License-Identifier: GPL-3.0-or-later
"""What glTF has one texture for: stages, blends and light maps of Blitz3D, against the engine's arithmetic pixel by pixel."""

from __future__ import annotations

import io
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.convert import convert
from io_retro_meshes.formats import b3d
from io_retro_meshes.formats.b3d import document as doc
from io_retro_meshes.pictures import png
from tests.engines import stages
from tests.engines.gltf import Gltf

PIL = pytest.importorskip("PIL.Image")
SIZE = 4
RANDOM = np.random.default_rng(5)
PICTURES = [RANDOM.integers(0, 256, (SIZE, SIZE, 4)).astype(np.uint8) for _ in range(2)]


def model(
    folder: Path,
    textures: list[doc.Texture],
    brush: doc.Brush,
    colors: Any = None,
    uvs: Any = None,
    pictures: Any = tuple(PICTURES),
) -> Path:
    """A square with two UV maps; the pictures a.png and b.png beside it."""
    for name, pixels in zip("ab", pictures, strict=False):
        (folder / f"{name}.png").write_bytes(png.encode(pixels))
    corners = np.array([(0, 0), (0, 1), (1, 1), (1, 0)], np.float32)
    vertices = doc.Vertices(0 if colors is None else doc.COLORS, 2, 2, np.zeros((0, 0), "<f4"))
    vertices.rows = np.zeros((4, vertices.row_size), "<f4")
    vertices.rows[:, :2] = corners
    if colors is not None:
        vertices.rows[:, 3:7] = colors
    vertices.rows[:, -4:] = np.c_[corners, corners]
    mesh = doc.Mesh(-1, [vertices, doc.Triangles(0, np.array([[0, 1, 2], [0, 2, 3]], "<i4"))])
    path = folder / "model.b3d"
    node = doc.Node(b"quad", chunks=[mesh])
    path.write_bytes(b3d.write(doc.Document(chunks=[doc.Textures(textures), doc.Brushes(len(textures), [brush]), node])))
    return path


def brush(count: int, color: tuple[float, ...] = (1, 1, 1, 1), blend: int = 1, fx: int = 0) -> doc.Brush:
    return doc.Brush(b"paint", doc.floats(*color), 0.0, blend, fx, np.arange(count, dtype="<i4"))


def texture(name: str, blend: int = 2, flags: int = 1, scale: tuple[float, float] = (1, 1)) -> doc.Texture:
    made = doc.Texture(f"{name}.png".encode(), flags, blend)
    made.scale = np.array(scale, "<f4")
    return made


def shown(path: Path) -> tuple[np.ndarray, np.ndarray, list[str], Gltf]:
    """The picture of the colour, its lower row first, and the factor, both 0 to 1; and the warnings."""
    warnings = convert(path, path.with_suffix(".glb"))
    file = Gltf(path.with_suffix(".glb").read_bytes())
    pbr = file.json["materials"][0]["pbrMetallicRoughness"]
    source = file.json["textures"][pbr["baseColorTexture"]["index"]]["source"]
    view = file.json["bufferViews"][file.json["images"][source]["bufferView"]]
    start = view.get("byteOffset", 0)
    opened = PIL.open(io.BytesIO(file.inside[start : start + view["byteLength"]]))
    return np.asarray(opened.convert("RGBA"))[::-1] / 255, np.array(pbr["baseColorFactor"]), warnings, file


def stacked(blends: tuple[int, int], color: Any, times: int = 1) -> np.ndarray:
    """The engine's stages for each pixel of the picture."""
    size = SIZE * times
    found = np.zeros((size, size, 3))
    for y, x in product(range(size), repeat=2):
        below: Any = np.array(color, float)
        for pixels, blend, at in zip(PICTURES, blends, ((y // times, x // times), (y % SIZE, x % SIZE)), strict=True):
            rgba = pixels[at] / 255
            if blend:
                below = stages.blitz_stage(blend, below, rgba[:3], rgba[3])
        found[y, x] = below
    return found


@pytest.mark.parametrize("color", [(1, 1, 1), (0.5, 1, 0.25)])
@pytest.mark.parametrize("blends", list(product(range(1, 6), range(1, 6))))
def test_two_textures_are_one_picture(tmp_path: Path, blends: tuple[int, int], color: tuple[float, ...]) -> None:
    path = model(tmp_path, [texture("a", blends[0]), texture("b", blends[1])], brush(2, (*color, 1)))
    picture, factor, warnings, file = shown(path)
    assert factor.tolist() == [1, 1, 1, 1] and warnings == [] and "alphaMode" not in file.json["materials"][0]
    assert np.abs(picture[..., :3] - stacked(blends, color)).max() < 1 / 255
    assert (picture[..., 3] == 1).all()
    convert(tmp_path / "model.glb", tmp_path / "back.b3d")
    again, before = (b3d.read((tmp_path / name).read_bytes()) for name in ("back.b3d", "model.b3d"))
    tables = [
        [(t.file, t.flags, t.blend) for c in each.chunks if isinstance(c, doc.Textures) for t in c.textures]
        for each in (again, before)
    ]
    assert tables[0] == tables[1], "the textures themselves are there again"
    made = next(each for each in again.chunks if isinstance(each, doc.Brushes)).brushes[0]
    assert np.allclose(made.color[:3], color, atol=1e-6)


def test_a_texture_that_is_repeated_more_often_fits_in(tmp_path: Path) -> None:
    """And one that would make the picture too large does not, and is told."""
    files = [texture("a"), texture("b", 5, scale=(4, 4))]
    picture, _, warnings, _ = shown(model(tmp_path, files, brush(2)))
    # The coarse picture is interpolated between its pixels, the fine one is met in the middle of each.
    coarse = stacked((2, 5), (1, 1, 1), 4)
    assert picture.shape[:2] == (16, 16) and warnings == []
    middles = np.ix_(range(1, 16, 4), range(1, 16, 4))  # nearest to the middles of the coarse pixels
    assert np.abs(picture[..., :3] - coarse)[middles].mean() < 0.1
    picture, _, warnings, _ = shown(model(tmp_path, [texture("a"), texture("b", 3, scale=(4096, 4096))], brush(2)))
    assert any('"paint": the texture "b.png"' in warning and "left out" in warning for warning in warnings)
    _, _, warnings, _ = shown(model(tmp_path, [texture("a"), texture("b", 3, scale=(1.5, 1))], brush(2)))
    assert any('"paint": the texture "b.png"' in warning and "left out" in warning for warning in warnings)


def linear(values: Any) -> np.ndarray:
    values = np.asarray(values, float)
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("grey", [False, True])
@pytest.mark.parametrize(("blend", "word"), [(2, "multiplies"), (3, "adds")])
def test_blends_with_what_is_behind(tmp_path: Path, blend: int, word: str, grey: bool) -> None:
    """Added: right over black. Multiplied: right for greys. Else nearer than leaving it out, or drawing it as it is."""
    pixels = PICTURES[0].copy()
    if grey:
        pixels[..., :3] = pixels[..., :1]
    tint = (1, 1, 1) if grey else (1, 0.5, 1)
    path = model(tmp_path, [texture("a")], brush(1, (*tint, 1), blend), pictures=[pixels])
    picture, factor, warnings, file = shown(path)
    assert file.json["materials"][0]["alphaMode"] == "BLEND" and factor.tolist() == [1, 1, 1, 1]
    assert any(f'"paint" {word}' in warning for warning in warnings)
    own = linear(pixels[..., :3] / 255 * tint)
    for behind in (0.0, 0.2, 1.0):
        drawn = linear(picture[..., :3]) * picture[..., 3:] + behind * (1 - picture[..., 3:])
        wanted = np.clip(own + behind, 0, 1) if blend == 3 else own * behind
        error = np.abs(drawn - wanted)
        if (grey and blend == 2) or (blend == 3 and behind == 0):
            assert error.max() < 3 / 255
        else:
            assert error.mean() < max(np.abs(behind - wanted).mean(), np.abs(own - wanted).mean()), behind


def test_light_maps_are_at_the_vertices(tmp_path: Path) -> None:
    pixels = PICTURES[1].copy()
    pixels[:2, :, :3], pixels[2:, :, :3] = 200, 50  # light below, dark above; v goes down in the file
    colors = np.array([(1, 0.5, 1, 1)] * 4)
    path = model(
        tmp_path, [texture("b", flags=1 | 65536), texture("a", 5)], brush(2, fx=2), colors, pictures=[PICTURES[0], pixels]
    )
    picture, _, warnings, file = shown(path)
    assert any('"paint": the texture "b.png"' in warning and "at the vertices" in warning for warning in warnings)
    assert np.abs(picture[..., :3] - np.clip(PICTURES[0][..., :3] / 255 * 2, 0, 1)).max() < 1 / 255
    primitive = file.json["meshes"][0]["primitives"][0]
    light, places = (file.array(primitive["attributes"][name]) for name in ("COLOR_0", "POSITION"))
    for place, color in zip(places, light, strict=True):
        shade = 50 / 255 if place[1] < 0.5 else 200 / 255
        # The lookups of a corner go into the middle, where the other shade is near.
        assert np.abs(color[:3] / linear([1, 0.5, 1]) - linear(shade)).max() < 0.15
    convert(tmp_path / "model.glb", tmp_path / "back.b3d")
    again = b3d.read((tmp_path / "back.b3d").read_bytes())
    rows = next(mesh.vertices for node, _ in again.walk() for mesh in node.chunks if isinstance(mesh, doc.Mesh)).rows
    assert np.allclose(rows[:, -8:-4] if rows.shape[1] > 11 else rows[:, 3:7], colors[0], atol=1e-3)


def test_a_second_texture_that_is_not_there_is_skipped(tmp_path: Path) -> None:
    picture, _, warnings, _ = shown(model(tmp_path, [texture("a"), texture("b", 3)], brush(2), pictures=PICTURES[:1]))
    assert np.array_equal(np.rint(picture[..., :3] * 255), PICTURES[0][..., :3])
    assert any("b.png" in warning for warning in warnings)
