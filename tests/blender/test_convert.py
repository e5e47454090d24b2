# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversion without Blender gives what the way through Blender gives; and pictures as Blender keeps and writes them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.convert import convert
from io_retro_meshes.formats import FORMATS, MENU_FORMATS, sniff
from io_retro_meshes.pictures import png
from io_retro_meshes.scene import Image, Material, Scene, TextureLayer
from tests.builders.hostile import HOSTILE, PIXELS, surroundings, textured, touched
from tests.conftest import CORPUS, ROOT
from tests.formats.test_convert import distance, drawn

FILES = [
    ROOT / "examples" / "fox.b3d",
    ROOT / "examples" / "flower.dbo",
    ROOT / "examples" / "lighthouse.bgl",
    CORPUS / "b3d" / "MineClone5" / "mobs_mc_bat.b3d",
    CORPUS / "b3d" / "scpcb" / "173_2.b3d",
    CORPUS / "dbo" / "Babe.dbo",
    ROOT / "examples" / "knight.bin",
]
# Said in Blender of what happens in Blender.
OF_BLENDER = ("They are shown in magenta until they are found",)


@pytest.mark.parametrize("to", ["b3d", "dbo", "bo3d"])
@pytest.mark.parametrize("source", FILES)
def test_both_ways_lead_to_the_same(blender: Any, source: Path, to: str, tmp_path: Path) -> None:
    from io_retro_meshes.blender.convert import convert as convert_in_blender

    if not source.is_file():
        pytest.skip("no corpus")
    reader = sniff(source.read_bytes())
    assert reader is not None
    targets = [tmp_path / way / f"made{FORMATS[to].extensions[0]}" for way in ("direct", "blender")]
    warnings = convert(source, targets[0], to=to)
    others = convert_in_blender(source, reader, targets[1], to, {})
    for words in OF_BLENDER:
        others = [warning.replace(f". {words}", "") for warning in others]
    assert [warning for warning in others if not told(warning, warnings)] == []
    assert sorted(path.name for path in targets[0].parent.iterdir()) == sorted(
        path.name for path in targets[1].parent.iterdir()
    )
    last = blender.context.scene.frame_end if blender.context.scene.frame_end != 250 else 1
    for frame in {1, last // 3, last}:
        points = drawn(targets[1], frame)
        size = float(np.linalg.norm(np.ptp(points, 0)))
        assert distance(points, drawn(targets[0], frame), size) < 1e-3, frame


def told(warning: str, warnings: list[str]) -> bool:
    """Is the same said, perhaps with another number of clips?"""
    return warning in warnings or any(warning.split(":")[0] == other.split(":")[0] for other in warnings)


# -------------------------------------------------------------------------------------------------------------- pictures


def masked_image(bpy: Any, folder: Path, **how: bool) -> Any:
    from io_retro_meshes.blender.build.images import build_images

    picture = bpy.data.images.new("leaf", 2, 2, alpha=False)
    picture.pixels.foreach_set((PIXELS / np.float32(255)).reshape(-1))
    picture.file_format, picture.filepath_raw = "BMP", str(folder / "leaf.bmp")
    picture.save()
    bpy.data.images.remove(picture)
    scene = Scene(images=[Image("leaf.bmp", **how)], materials=[Material("leaf", layers=[TextureLayer(0)], blend="MASK")])
    (image,), warnings = build_images(scene, folder)
    assert warnings == []
    return image


@pytest.mark.parametrize(("how", "alpha"), [("mask_black", [0, 255, 255, 255]), ("mean_alpha", [0, 85, 30, 20])])
def test_alpha_made_of_colours_is_saved(blender: Any, tmp_path: Path, how: str, alpha: list[int]) -> None:
    from io_retro_meshes.blender.collect.images import BlenderPicture, collect_image
    from io_retro_meshes.blender.pixels import image_pixels

    image = masked_image(blender, tmp_path, **{how: True})
    before = (tmp_path / "leaf.bmp").read_bytes()
    image.use_fake_user = True
    blender.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    blender.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    (image,) = blender.data.images
    assert image.depth == 32 and (image_pixels(image)[..., 3].reshape(-1) == alpha).all()
    collected = collect_image(image)
    assert (collected.name, Path(collected.path).name, getattr(collected, how)) == ("leaf.bmp", "leaf.bmp", True)
    assert BlenderPicture(image).encoded() == before and BlenderPicture(image).altered()
    blender.ops.file.unpack_all(method="WRITE_LOCAL")
    assert (tmp_path / "leaf.bmp").read_bytes() == before, "the user's file is never written to"


@pytest.mark.parametrize("name", MENU_FORMATS)
def test_exports_write_nothing_outside_or_over_anything(blender: Any, name: str, tmp_path: Path) -> None:
    """Also from Blender: textures of every hostile name, copied beside the model."""
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    names = [each for each in HOSTILE if "\ud800" not in each]
    for number, each in enumerate(names):
        if "/" not in each and each.strip(" .") and len(each.encode()) < 256 and "textures" not in each:
            (inside / each).write_bytes(png.encode(np.full((8, 8, 4), number, np.uint8)))
    (inside / "hostile.b3d").write_bytes(textured(names))
    before = surroundings(outside)
    blender.ops.import_scene.b3d(filepath=str(inside / "hostile.b3d"))
    target = outside / f"model{FORMATS[name].extensions[0]}"
    with touched() as (_, written):
        assert getattr(blender.ops.export_scene, name)(filepath=str(target), textures="COPY") == {"FINISHED"}
    assert all(Path(path).resolve().is_relative_to(outside) for path in written), written
    assert {each: (outside / each).read_bytes() for each in before} == before
    assert not (tmp_path / "outside.png").exists() and (outside / "link.png").is_symlink()
    made = [path for path in outside.rglob("*") if path.is_file() and path.name not in before and path.name != target.name]
    assert all(path.suffix.lower() == ".png" and path.read_bytes().startswith(png.MAGIC) for path in made)
    assert len(made) >= (0 if FORMATS[name].embeds else 20)


def test_a_picture_that_cannot_be_copied_is_not_a_model_that_cannot(blender: Any, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "fox.b3d", tmp_path)
    shutil.copy(ROOT / "examples" / "fox.png", tmp_path)
    blender.ops.import_scene.b3d(filepath=str(tmp_path / "fox.b3d"))
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "out" / "textures")
    assert blender.ops.export_scene.bogle(filepath=str(tmp_path / "out" / "fox.bgl"), textures="COPY") == {"FINISHED"}
    assert (tmp_path / "out" / "fox.bgl").is_file() and not list((tmp_path / "elsewhere").iterdir())


def test_blender_has_a_way_for_every_format_that_is_not_ours(blender: Any) -> None:
    """The names are in one table, which needs no Blender; the functions that read and write them are in another."""
    from io_retro_meshes.batch import kinds
    from io_retro_meshes.blender import foreign as ways

    assert set(kinds.FOREIGN_INPUTS) <= set(ways.INPUTS) <= {*kinds.FOREIGN_INPUTS, ".glb", ".gltf"}
    assert set(kinds.FOREIGN_OUTPUTS) == set(ways.OUTPUTS)
