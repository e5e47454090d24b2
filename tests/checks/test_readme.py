# SPDX-License-Identifier: GPL-3.0-or-later
"""The README's examples do what it says, as they stand there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from io_retro_meshes.formats import FORMATS, sniff
from tools.common import ROOT

BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
LINES = [line for language, block in BLOCKS if not language for line in block.splitlines()]
OURS = [line for line in LINES if re.match(r"python3 build.py (convert|info|check) ", line)]
# build.py in this Python, so that nothing is installed: environments have tests of their own.
BUILD = """
import subprocess, sys
import build
build.environment = lambda name: sys.executable
build.replace_by = lambda command: subprocess.run(command).returncode
sys.exit(build.main(sys.argv[1:]))
"""


def run(line: str, folder: Path) -> str:
    arguments = [sys.executable, "-c", BUILD, *shlex.split(line, comments=True)[2:]]
    done = subprocess.run(
        arguments, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the examples ask for: the project's own files, and models and textures of somebody."""
    for name in ("examples", "models"):
        shutil.copytree(ROOT / "examples", tmp_path / name, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    (tmp_path / "textures").mkdir()
    for path in (tmp_path / "models").glob("*.png"):
        path.rename(tmp_path / "textures" / path.name)
    return tmp_path


def test_every_command_is_run_here_or_elsewhere() -> None:
    elsewhere = {"python3 build.py test"}  # this is what runs now
    others = [line for line in LINES if line and line not in OURS and line not in elsewhere]
    assert OURS and all(line.startswith("blender ") for line in others), "those have tests in tests/blender"


@pytest.mark.parametrize("line", OURS)
def test_commands(line: str, folder: Path) -> None:
    words = shlex.split(line)
    printed = run(line, folder)
    if words[2] != "convert":
        assert words[3] in printed
        return
    target, to = folder / words[words.index("-o") + 1], words[words.index("--to") + 1]
    kind = FORMATS["gltf" if to == "glb" else to]
    models = [path for path in ([target] if target.is_file() else target.iterdir()) if sniff(path.read_bytes()) is kind]
    wanted = [entry.example for entry in FORMATS.values() if entry.example.endswith(".dbo" if "*.dbo" in line else "")]
    assert len(models) == (1 if target.is_file() else len(list(filter(None, wanted))))


def test_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, "README.md", "exec"), {})
    assert any(language == "python" for language, _ in BLOCKS)
