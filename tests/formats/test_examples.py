# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples are what their scripts make."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from io_retro_meshes.formats import FORMATS
from tests.conftest import ROOT

SCRIPTS = sorted(path.stem for path in (ROOT / "examples").glob("make_*.py"))


def test_every_format_has_an_example() -> None:
    assert all((ROOT / "examples" / entry.example).is_file() for entry in FORMATS.values() if entry.example)
    assert {entry.id for entry in FORMATS.values() if entry.example} >= {"b3d", "bo3d", "bogle", "dbo", "saturn"}


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_make_the_examples_that_are_there(script: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", f"examples.{script}", str(tmp_path)], cwd=ROOT, check=True, timeout=120)
    models = [entry for entry in FORMATS.values() if entry.example and (tmp_path / entry.example).is_file()]
    assert len(models) == 1
    made, there = (models[0].read((folder / models[0].example).read_bytes()) for folder in (tmp_path, ROOT / "examples"))
    assert models[0].summary(made) == models[0].summary(there)
    for one, other in zip(models[0].to_scene(made).meshes, models[0].to_scene(there).meshes, strict=True):
        np.testing.assert_allclose(one.positions, other.positions, atol=1e-5)
        np.testing.assert_array_equal(one.corners, other.corners)
