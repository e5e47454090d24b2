# SPDX-License-Identifier: GPL-3.0-or-later
"""Workers without Blender: as many as wanted, replaced when they die, stopped when that is wanted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from io_retro_meshes import formats
from tests.conftest import lease

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
LIMIT = 120

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals, and pipes with names")


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "io_retro_meshes", "convert", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)


def run(*arguments: object) -> tuple[int, str]:
    process = start(*arguments)
    words = process.communicate(timeout=LIMIT)[0]
    return process.returncode, words


@pytest.fixture
def models(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    for number in range(40):
        shutil.copy(EXAMPLES / "fox.b3d", folder / f"fox{number:02}.b3d")
    return folder


def test_many_files_make_the_same_as_one(models: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    code, words = run(models, "-o", tmp_path / "out", "--to", "bo3d", "--jobs", 3, "--report", report)
    assert code == 0 and "40 converted" in words, words
    files = json.loads(report.read_text())["files"]
    assert {entry["status"] for entry in files} == {"converted"} and len(files) == 40
    (made,) = {path.read_bytes() for path in (tmp_path / "out").glob("*.bo3d")}
    assert formats.bo3d.read(made).warnings == []


@pytest.mark.skipif(sys.platform != "linux", reason="leases")
def test_a_file_that_never_comes(models: Path, tmp_path: Path) -> None:
    with lease(tmp_path / "hanging.b3d") as hanging:
        code, words = run(hanging, models, "-o", tmp_path / "out", "--to", "bo3d", "--jobs", 1, "--timeout", 2)
    assert code == 1 and "40 converted, 1 failed" in words and words.count("more than 2 seconds") == 2, words


def test_a_pipe_is_refused_at_once(models: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.b3d")
    code, words = run(tmp_path / "pipe.b3d", models, "-o", tmp_path / "out", "--to", "bo3d", "--jobs", 1)
    assert code == 1 and "40 converted, 1 failed" in words and words.count("It is a pipe") == 2, words


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_run_is_stopped(models: Path, tmp_path: Path, number: signal.Signals) -> None:
    os.mkfifo(tmp_path / "pipe.b3d")
    process = start(models, tmp_path / "pipe.b3d", "-o", tmp_path / "out", "--to", "bo3d", "--jobs", 2)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(number)
    process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert all(path.suffix == ".bo3d" and formats.bo3d.read(path.read_bytes()) for path in (tmp_path / "out").rglob("*.*"))
