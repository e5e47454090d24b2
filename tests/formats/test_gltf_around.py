# SPDX-License-Identifier: GPL-3.0-or-later
"""glTF into each of the other formats and back: the same poses and materials, or a warning that says what is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.convert import convert
from io_retro_meshes.formats import FORMATS, MENU_FORMATS, FormatError, gltf
from tests.conftest import corpus_files
from tests.engines.gltf import Gltf
from tests.formats.test_convert import EXAMPLES, LOSSES, OPTIONS, TOLERANCES, distance

FILES = [*corpus_files("gltf", "*.glb"), *EXAMPLES]
MORE_LOSSES = {"bogle": ("follow more than 3 bones", "bones change their size")}
# Formats whose materials have a colour, a texture, and a way to be seen through.
WITH_MATERIALS = ("b3d", "dbo")


def around(source: Path, to: str, folder: Path) -> tuple[Gltf, Gltf, list[str], tuple[float, float, float]]:
    """The file before and after, what was said on the way, and the animation's factor, shift and rate."""
    before = folder / "before.glb"
    if source.suffix == ".glb":
        before = source
    else:
        convert(source, before, options={"spacing": 0} if source.suffix == ".bin" else {})
    middle, after = folder / f"middle{FORMATS[to].extensions[0]}", folder / "after.glb"
    fps = gltf.to_scene(gltf.read(before.read_bytes())).fps or 24
    warnings = convert(before, middle, to=to, options=OPTIONS.get(to, {}))
    # These have no frame rate, nor has .bo3d, for which it cannot be set; and the one puts characters side by side.
    back: dict[str, Any] = {"dbo": {"fps": fps}, "saturn": {"spacing": 0, "fps": fps}}.get(to, {})
    convert(middle, after, options=back)
    laid_out = any("others in the file" in warning for warning in warnings)
    return Gltf(before), Gltf(after), warnings, (fps / 24 if to == "bo3d" else 1.0, 1 / fps if laid_out else 0.0, fps)


def keys(file: Gltf, number: int) -> list[float]:
    """The first and the last second of an animation."""
    samplers = [each for animation in file.json.get("animations", [])[number : number + 1] for each in animation["samplers"]]
    found = [file.array(sampler["input"])[[0, -1], 0].tolist() for sampler in samplers]
    return [min(first for first, _ in found), max(last for _, last in found)] if found else []


def pairs(before: Gltf, after: Gltf, to: str, clock: tuple[float, float, float]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The same moments of both files. The animations of a .bgl start at zero, and are named parts where there are such."""
    names = [[animation.get("name") for animation in file.json.get("animations", [])] for file in (before, after)]
    number = 1 if to == "bogle" and len(names[0]) > 1 else 0
    span = keys(before, number)
    if not span:
        return [(np.concatenate(before.pose(None)), np.concatenate(after.pose(None)))]
    other = names[1].index(names[0][number]) if number else 0
    first, last = span
    rate, shift = (1.0, -first) if to == "bogle" and not number else clock[:2]
    # Most formats have keys on whole frames only, and straight lines between them.
    moments = [round((first + (last - first) * part) * clock[2]) / clock[2] for part in (0, 0.3, 0.77, 1)]
    return [(np.concatenate(before.pose(at, number)), np.concatenate(after.pose(at * rate + shift, other))) for at in moments]


@pytest.mark.parametrize("to", MENU_FORMATS)
@pytest.mark.parametrize("source", FILES)
def test_poses_come_back(source: Path, to: str, tmp_path: Path) -> None:
    try:
        before, after, warnings, clock = around(source, to, tmp_path)
    except FormatError as error:
        assert to == "saturn" and "several bones" in str(error), error
        return
    if any(loss in warning for loss in (*LOSSES[to], *MORE_LOSSES.get(to, ())) for warning in warnings):
        return
    for moment, (old, new) in enumerate(pairs(before, after, to, clock)):
        size = float(np.linalg.norm(np.ptp(old, 0)))
        assert distance(old, new, size) < TOLERANCES.get(to, 1e-4), moment


@pytest.mark.parametrize("to", WITH_MATERIALS)
@pytest.mark.parametrize("source", FILES)
def test_materials_come_back(source: Path, to: str, tmp_path: Path) -> None:
    before, after, _, _ = around(source, to, tmp_path)
    assert looks(after, to) == looks(before, to)


def looks(file: Gltf, to: str) -> set[tuple[Any, ...]]:
    """What can be seen of the materials of a file: colour, alpha, and whether there is a texture.

    Blitz3D cuts out what is black, and blends where a picture has an alpha of its own.
    """
    found = set()
    for material in file.json.get("materials", []):
        pbr = material.get("pbrMetallicRoughness", {})
        color = tuple(np.round(np.array(pbr.get("baseColorFactor", (1, 1, 1, 1))) * 100).astype(int).tolist())
        mode = material.get("alphaMode", "OPAQUE")
        found.add((color, mode == "OPAQUE" if to == "b3d" else mode, "baseColorTexture" in pbr))
    return found
