# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of artists' scenes: with the usual options every exported model finds them, in Blender and by conversion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.convert import convert
from io_retro_meshes.formats import MENU_FORMATS
from io_retro_meshes.pictures.search import Finder

bpy = pytest.importorskip("bpy")

from tests.blender.test_scenes import log  # noqa: E402
from tests.builders.scenes import picture, square, textured  # noqa: E402

FORMATS = {name: entry for name, entry in MENU_FORMATS.items() if not entry.embeds}
RED, GREEN, BLUE, GREY, WHITE = (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1), (0.2, 0.2, 0.2, 1), (1, 1, 1, 1)


def colors(path: Path) -> list[tuple[float, ...]]:
    """Of all pictures that an engine finds for the model, by its own names."""
    entry = next(entry for entry in FORMATS.values() if path.suffix in entry.extensions)
    scene = entry.to_scene(entry.read(path.read_bytes()))
    folders = [path.parent / entry.texture_folder] if entry.texture_folder else []
    finder = Finder(path.parent, folders)
    found = []
    for image in scene.images:
        place = finder.find(image.names or (image.name,))
        assert place is not None, image.name
        loaded = bpy.data.images.load(str(place), check_existing=False)
        found.append(tuple(np.round(loaded.pixels[:4], 1).tolist()))
    return found


def pack(path: Path, color: Any) -> Any:
    made = picture(path, color)
    made.pack()
    path.unlink()
    return made


def generated(path: Path, color: Any) -> Any:
    made = bpy.data.images.new("made here", 2, 2)
    made.pixels.foreach_set(np.tile(np.float32(color), 4))
    made.update()
    return made


def painted(path: Path, color: Any) -> Any:
    made = picture(path, WHITE)
    made.pixels.foreach_set(np.tile(np.float32(color), 4))
    made.update()
    return made


KINDS = {"file": picture, "packed": pack, "generated": generated, "painted": painted}


@pytest.mark.parametrize("to", FORMATS)
def test_pictures_from_anywhere_are_found(blender: Any, tmp_path: Path, to: str) -> None:
    """Two of one name in two folders, packed, generated and painted ones: all five, with the right colours."""
    wanted = {
        "a/diffuse.png": (picture, RED),
        "b/diffuse.png": (picture, GREEN),
        "packed.png": (pack, BLUE),
        "generated": (generated, GREY),
        "out/painted.png": (painted, RED),
    }
    for number, (name, (make, color)) in enumerate(wanted.items()):
        square(f"s{number}").data.materials.append(textured(f"m{number}", make(tmp_path / name, color))[0])
    path = tmp_path / "out" / f"model{FORMATS[to].extensions[0]}"
    getattr(blender.ops.export_scene, to)(filepath=str(path))
    assert sorted(colors(path)) == sorted(tuple(map(float, color)) for _, color in wanted.values())
    assert (tmp_path / "out/painted.png").stat().st_size and "copied" not in log(blender)


@pytest.mark.parametrize("to", [name for name, entry in FORMATS.items() if not entry.texture_folder])
@pytest.mark.parametrize("place", ["skin.png", "maps/skin.png"])
def test_a_picture_beside_or_below_stays_where_it_is(blender: Any, tmp_path: Path, to: str, place: str) -> None:
    square().data.materials.append(textured("m", picture(tmp_path / "out" / place, RED))[0])
    path = tmp_path / "out" / f"model{FORMATS[to].extensions[0]}"
    getattr(blender.ops.export_scene, to)(filepath=str(path))
    assert sorted(each.name for each in path.parent.rglob("*.png")) == ["skin.png"]
    scene = FORMATS[to].to_scene(FORMATS[to].read(path.read_bytes()))
    assert [image.name for image in scene.images] == [place] and colors(path) == [RED]


def test_a_picture_that_is_nowhere_is_told(blender: Any, tmp_path: Path) -> None:
    image = picture(tmp_path / "gone.png", RED)
    square().data.materials.append(textured("m", image)[0])
    (tmp_path / "gone.png").unlink()
    image.reload()
    blender.ops.export_scene.b3d(filepath=str(tmp_path / "model.b3d"))
    assert "gone.png" in log(blender)


@pytest.mark.parametrize("to", FORMATS)
def test_conversions_go_by_the_same_rule(blender: Any, tmp_path: Path, to: str) -> None:
    for number, color in enumerate((RED, GREEN)):
        image = picture(tmp_path / "in" / f"{number}/skin.png", color)
        square(f"s{number}").data.materials.append(textured(f"m{number}", image)[0])
    source = tmp_path / "in" / "model.b3d"
    blender.ops.export_scene.b3d(filepath=str(source))
    for folder in ("in", "out"):
        target = tmp_path / folder / f"other{FORMATS[to].extensions[0]}"
        convert(source, target)
        assert sorted(colors(target)) == sorted([RED, GREEN])
    copies = [each for each in (tmp_path / "in").rglob("*.png") if "textures" not in each.parts]
    assert len(copies) == 2  # beside the source nothing was copied, but where the engine wants them in a folder of their own
