# SPDX-License-Identifier: GPL-3.0-or-later
"""Real glTF files and scenes of games, exported to every format: exact, or told what is lost; and the scene is as it was."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import FORMATS
from tests.blender.scenes import ALL, Case
from tests.blender.test_scenes import PRECISION, drawn, judged_clip, log, shown
from tests.builders.unchanged import differences, fingerprint
from tests.conftest import corpus_files
from tests.formats.test_convert import distance

FILES = [*corpus_files("gltf", "*.glb"), *corpus_files("blend", "*.blend")]
# What may move the vertices elsewhere, once it is said.
TOLD = "moved by several bones|follow more than 3 bones|bones other than the root|Only bones"
REFUSED = "follow several bones: every part must be rigid"  # only Saturn's


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_exact_or_told(blender: Any, tmp_path: Path, path: Path) -> None:
    if path.suffix == ".blend":
        blender.ops.wm.open_mainfile(filepath=str(path))
    else:
        blender.ops.import_scene.gltf(filepath=str(path))
    frame, before = blender.context.scene.frame_current, fingerprint()
    for to in ALL:
        target = tmp_path / f"made{FORMATS[to].extensions[0]}"
        try:
            getattr(blender.ops.export_scene, to)(filepath=str(target))
        except RuntimeError as error:
            assert to == "saturn" and re.search(REFUSED, str(error)) and not target.exists()
        if target.exists() and not re.search(TOLD, log(blender)):
            judge(blender, target, to)
        blender.context.scene.frame_set(frame)
    assert differences(before, fingerprint()) == {}


def judge(bpy: Any, target: Path, to: str) -> None:
    clip = judged_clip(bpy, Case("", lambda: None))
    action = bpy.data.actions.get(clip)
    first, last = action.frame_range if action is not None else (1, 1)
    place = np.zeros(3)
    for frame in np.linspace(round(first), round(last), 3).round():
        expected, found = shown(bpy, float(frame)), drawn(target, to, float(frame), clip, bpy)
        if to == "saturn" and frame == round(first):  # the game puts a character somewhere
            place = expected.min(0) - found.min(0)
        apart = distance(expected, found + place, float(np.linalg.norm(np.ptp(expected, 0))))
        assert apart < PRECISION.get(to, 1e-4), (to, frame, apart)
