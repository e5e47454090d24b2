# SPDX-License-Identifier: GPL-3.0-or-later
"""Models through the formats that Blender itself reads and writes, and back: what stays is the same, what is lost is named."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import FORMATS
from tests.formats.test_convert import distance, drawn

FOX = Path(__file__).resolve().parents[2] / "examples" / "fox.b3d"
PARTS = {"idle": (1, 49), "walk": (50, 74), "wave": (75, 123)}
BACK = ["b3d", "dbo", "bo3d", "bogle"]
MOVING = ["fbx", "usd", "blend"]
BONES = '"fox_armature"'
ANIMATIONS = ['"fox"', '"idle"', '"walk"', '"wave"']
LOST = {
    "obj": [BONES, *ANIMATIONS],
    "ply": [BONES, *ANIMATIONS, "textures"],
    "stl": [BONES, *ANIMATIONS, "texture coordinates"],
    "usd": ANIMATIONS[1:],
    "fbx": [],
    "blend": [],
}


@pytest.fixture
def there(blender: Any, kind: str, tmp_path: Path) -> tuple[Path, list[str]]:
    from io_retro_meshes.blender.convert import convert

    target = tmp_path / "there" / f"fox.{kind}"
    try:
        return target, convert(FOX, FORMATS["b3d"], target, kind, {})
    except (AttributeError, RuntimeError) as error:
        if kind == "usd" and "could not be found" in str(error):
            pytest.skip("this Blender was built without USD")
        raise


@pytest.mark.parametrize("kind", LOST)
def test_what_a_format_cannot_hold_is_named(there: tuple[Path, list[str]], kind: str) -> None:
    _, warnings = there
    words = " ".join(warnings)
    assert [name for name in LOST[kind] if name not in words] == [] and bool(warnings) == bool(LOST[kind]), warnings


@pytest.mark.parametrize("to", BACK)
@pytest.mark.parametrize("kind", LOST)
def test_there_and_back(there: tuple[Path, list[str]], kind: str, to: str, tmp_path: Path) -> None:
    from io_retro_meshes.blender.convert import convert

    target = tmp_path / "back" / f"fox{FORMATS[to].extensions[0]}"
    convert(there[0], None, target, to, {})
    for frame in (1, 20, 60, 100) if kind in MOVING else (0,):
        wanted, found = drawn(FOX, frame), drawn(target, frame, (1, 24))
        size = float(np.linalg.norm(np.ptp(wanted, 0)))
        if kind in MOVING and to == "b3d":
            assert distance(found, wanted, size) < 1e-3, frame
        assert np.allclose(np.ptp(found, 0), np.ptp(wanted, 0), atol=0.1 * size) or to == "bo3d", frame


@pytest.mark.parametrize("kind", ["fbx", "blend"])
def test_every_animation_comes_back_once(there: tuple[Path, list[str]], kind: str, tmp_path: Path) -> None:
    from io_retro_meshes.blender.convert import convert

    convert(there[0], None, tmp_path / "back.b3d", "b3d", {})
    model = FORMATS["b3d"]
    scene = model.to_scene(model.read((tmp_path / "back.b3d").read_bytes()), model.ImportOptions())
    assert {clip.name: (clip.first, clip.last) for clip in scene.clips} == PARTS
    assert sum(len(node.armature.bones) for node in scene.nodes if node.armature) == 16


def test_a_model_without_its_texture_becomes_a_blend(blender: Any, tmp_path: Path) -> None:
    from io_retro_meshes.blender.convert import convert

    (tmp_path / "alone").mkdir()
    shutil.copy(FOX, tmp_path / "alone" / "fox.b3d")
    warnings = convert(tmp_path / "alone" / "fox.b3d", FORMATS["b3d"], tmp_path / "out" / "fox.blend", "blend", {})
    assert (tmp_path / "out" / "fox.blend").stat().st_size > 1000
    assert any("fox.png" in warning for warning in warnings), warnings
