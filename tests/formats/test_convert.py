# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversion without Blender: what the target's engine draws is what the source's engine draws."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes import formats
from io_retro_meshes.convert import convert
from io_retro_meshes.formats import FORMATS, MENU_FORMATS, FormatError
from tests.conftest import CORPUS, ROOT, corpus_files
from tests.engines import b3d, bo3d, bogle, dbo, saturn

Array = np.ndarray[Any, Any]

EXAMPLES = [ROOT / "examples" / name for name in ("fox.b3d", "robot.bo3d", "lighthouse.bgl", "flower.dbo", "knight.bin")]
SATURN = [path for path in corpus_files("saturn", "*.bin") if path.parent == CORPUS / "saturn" and "_an" not in path.name]
BOGLE = [path for path in corpus_files("bogle", "scene_*.bgl") if path.parent == CORPUS / "bogle"]
FILES = [*EXAMPLES, *corpus_files("dbo", "*.dbo", "*.DBO"), *corpus_files("bo3d", "*.bo3d"), *SATURN, *BOGLE]

# Skeletons in .bgl files, so that they hold as much as they can.
OPTIONS: dict[str, dict[str, Any]] = {"bogle": {"file_layout": "ANIM", "exact_joints": True}}
# What a format cannot hold, it says; then its poses are only near.
LOSSES = {
    "b3d": (),
    "dbo": (),
    "bo3d": ("follows the one with the greatest weight", "it is sheared over time"),
    "bogle": ("which the engine's cannot; left out", "Only bones move in the engine"),
    "saturn": ("belong to no armature were left out", "Only bones can move"),
}
# Quaternions of 14 bits; bones that turn about their parents' places, between keys; and scales that change next to nothing.
TOLERANCES = {"saturn": 3e-4, "bogle": 5e-4, "ninja_6c6fd96.bo3d to bo3d": 5e-4}


def file_of(source: Path, target: Path, to: str, **options: Any) -> list[str]:
    extra = {"spacing": 0} if source.suffix == ".bin" else {}
    return convert(source, target, to=to, options={**OPTIONS.get(to, {}), **extra, **options})


def drawn(path: Path, frame: float, clock: tuple[float, float] = (0.0, 1.0)) -> Array:
    """All vertices as the format's engine shows them on a frame. A .bgl counts seconds: (first frame, frames a second)."""
    data = path.read_bytes()
    format = formats.sniff(data)
    assert format is not None
    pose: dict[str, Callable[[], list[Array]]] = {
        "b3d": lambda: b3d.pose(format.read(data), frame)[0],
        "bo3d": lambda: [bo3d.points(format.read(data), frame)],
        "dbo": lambda: dbo.pose(data, frame),
        "bogle": lambda: bogle.pose(format.read(data), (frame - clock[0]) / clock[1]),
        "saturn": lambda: saturn.pose(format.read(data), frame),
    }
    found = pose[format.id]()
    return np.concatenate([points[:, :3] for points in found]) if found else np.zeros((0, 3))


def distance(a: Array, b: Array, size: float) -> float:
    """How far the vertices of the one are from those of the other at most, both ways, as a part of the size."""
    return max(_to_nearest(a, b, size), _to_nearest(b, a, size)) / size


def _to_nearest(points: Array, others: Array, size: float) -> float:
    if not len(points) or not len(others):
        return 0.0 if not len(points) else np.inf
    cell = 2e-5 * size
    cells = set(map(tuple, np.floor(others / cell).astype(np.int64).tolist()))
    near = np.zeros(len(points), bool)
    own = np.floor(points / cell).astype(np.int64)
    for step in np.ndindex(3, 3, 3):
        left = np.flatnonzero(~near)
        near[left] = [tuple(row) in cells for row in (own[left] + np.array(step) - 1).tolist()]
    far = np.unique(np.round(points[~near] / cell), axis=0) * cell
    worst = 0.0
    for start in range(0, len(far), 64):
        apart = np.linalg.norm(far[start : start + 64, None] - others[None], axis=-1).min(1)
        worst = max(worst, float(apart.max()))
    return max(worst, cell)


def clip_of(path: Path, to: str) -> tuple[list[tuple[float, float]], float, float]:
    """Frames to look at in the source, each with that of the target; where the target's clock starts; and its rate."""
    data = path.read_bytes()
    format = formats.sniff(data)
    assert format is not None
    scene = format.to_scene(format.read(data))
    whole = scene.timeline or (scene.clips[0] if scene.clips else None)
    if whole is None or not whole.tracks:
        return [(1.0, 1.0)], 0.0, 1.0
    # Several clips without a timeline are laid end to end, which in some files starts at 1.
    laid = scene.timeline is None and len(scene.clips) > 1 and to in ("b3d", "bo3d", "saturn")
    shift = 1 - whole.first if laid else 0.0
    if to == "bogle" and scene.clips:  # the engine plays its animations one by one
        whole = scene.clips[0]
    frames = {float(round(whole.first + (whole.last - whole.first) * part)) for part in (0, 0.3, 0.7, 1)}
    return [(frame, frame + shift) for frame in sorted(frames)], whole.first, scene.fps or 24


def assert_posed_alike(source: Path, target: Path, to: str) -> None:
    frames, first, fps = clip_of(source, to)
    tolerance = TOLERANCES.get(f"{source.name} to {to}", TOLERANCES.get(to, 1e-4))
    for before, after in frames:
        expected = drawn(source, before, (0.0, fps))
        size = float(np.linalg.norm(np.ptp(expected, 0)))
        assert distance(expected, drawn(target, after, (first, fps)), size) < tolerance, before


@pytest.mark.parametrize("to", MENU_FORMATS)  # glTF: see test_gltf_corpus.py
@pytest.mark.parametrize("source", FILES)
def test_the_engines_draw_the_same(source: Path, to: str, tmp_path: Path) -> None:
    target = tmp_path / f"made{FORMATS[to].extensions[0]}"
    try:
        warnings = file_of(source, target, to)
    except FormatError as error:
        assert to == "saturn" and "several bones" in str(error), error
        return
    if any(loss in warning for loss in LOSSES[to] for warning in warnings) or (to, source.name) == ("bogle", "robot.bo3d"):
        return  # in that file a mesh hangs on a bone
    assert_posed_alike(source, target, to)


@pytest.mark.parametrize("source", corpus_files("b3d", "*.b3d")[::3])
def test_there_and_back(source: Path, tmp_path: Path) -> None:
    file_of(source, tmp_path / "made.dbo", "dbo")
    file_of(tmp_path / "made.dbo", tmp_path / "again.b3d", "b3d")
    assert_posed_alike(source, tmp_path / "again.b3d", "b3d")


def test_a_character_must_be_rigid(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="follow several bones"):
        convert(EXAMPLES[0], tmp_path / "fox.bin")
    assert not list(tmp_path.iterdir()), "a conversion that fails leaves nothing behind"


# ------------------------------------------------------------------------------------------------------------- requests


def test_options_and_requests_that_make_no_sense(tmp_path: Path) -> None:
    fox, target = EXAMPLES[0], tmp_path / "deep" / "fox.dbo"
    size = np.ptp(drawn(fox, 1), 0)
    convert(fox, target, options={"scale": "2"})
    assert np.allclose(np.ptp(drawn(target, 1), 0), 2 * size, rtol=1e-4), "the scale counts once"
    convert(fox, target, options={"animation": "none", "textures": "basename"})
    assert formats.dbo.read(target.read_bytes()).root.animation_set is None
    for wrong, words in (({"scale": "much"}, "is a number"), ({"no_such": 1}, "no option no_such")):
        with pytest.raises(ValueError, match=words):
            convert(fox, target, options=wrong)
    with pytest.raises(ValueError, match="there is no format"):
        convert(fox, tmp_path / "fox.xyz")
    with pytest.raises(ValueError, match="over itself"):
        convert(target, target, to="b3d")
    (tmp_path / "words.txt").write_text("not a model")
    with pytest.raises(FormatError, match="not a file of a known format"):
        convert(tmp_path / "words.txt", target)


def test_companions_are_read_and_written(tmp_path: Path, corpus: Path) -> None:
    for old, new in (("hero.bin", "x8pc01.bin"), ("hero_an.bin", "x8an01.bin")):
        shutil.copyfile(corpus / "saturn" / old, tmp_path / new)
    warnings = convert(tmp_path / "x8pc01.bin", tmp_path / "out" / "x8pc02.bin", options={"spacing": 0})
    assert not [warning for warning in warnings if "left out" in warning and "Hidden" not in warning]
    made = [formats.saturn.read((tmp_path / "out" / name).read_bytes()) for name in ("x8pc02.bin", "x8an02.bin")]
    source = formats.saturn.read((tmp_path / "x8an01.bin").read_bytes())
    assert made[0].characters and len(made[1].segments) == len(source.segments) > 0


def test_clips_of_their_own_stay_apart_or_on_their_frames(tmp_path: Path) -> None:
    """A single clip is on its own frames, and keeps its name; several are laid end to end."""
    convert(EXAMPLES[2], tmp_path / "one.b3d")
    (sequence,) = formats.b3d.to_scene(formats.b3d.read((tmp_path / "one.b3d").read_bytes())).clips
    assert (sequence.name, sequence.first, sequence.last) == ("Fly", 0, 24)
    convert(EXAMPLES[0], tmp_path / "parts.bgl", options={"file_layout": "ANIM"})
    scene = formats.bogle.to_scene(formats.bogle.read((tmp_path / "parts.bgl").read_bytes()))
    assert [clip.name for clip in scene.clips] == ["idle", "walk", "wave"]
