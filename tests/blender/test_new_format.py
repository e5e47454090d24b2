# SPDX-License-Identifier: GPL-3.0-or-later
"""The walk-through of CONTRIBUTING.md: one new folder and one new line make a format that is everywhere."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT, bpy_command

LINE = "from .toy import FORMAT as toy\n"

DRIVE = """
import json, os, struct, sys
root = os.path.abspath(sys.argv[-1])
sys.path.insert(0, root)
import bpy
import io_retro_meshes
from io_retro_meshes import cli, formats
io_retro_meshes.register()
triangle = struct.pack("<4sI9f", b"TOY1", 1, 0, 0, 0, 1, 0, 0, 0, 1, 0)
path = os.path.join(root, "one.toy")
open(path, "wb").write(triangle)

bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
assert bpy.ops.import_scene.toy(filepath=path, scale=2.0) == {"FINISHED"}
assert [tuple(v.co) for v in bpy.data.objects["triangles"].data.vertices] == [(0, 0, 0), (2, 0, 0), (0, 2, 0)]
out = os.path.join(root, "two.toy")
assert bpy.ops.export_scene.toy(filepath=out, scale=0.5, flip=True) == {"FINISHED"}
assert struct.unpack("<4sI9f", open(out, "rb").read())[2:] == (0, 1, 0, 1, 0, 0, 0, 0, 0)

handler = next(cls for cls in bpy.types.FileHandler.__subclasses__() if cls.__name__ == "IO_FH_retro_toy")
assert handler.is_registered and handler.bl_file_extensions == ".toy"
assert bpy.ops.export_scene.toy.get_rna_type().properties["flip"].name == "Flip"

assert cli.main(["info", path]) == 0 and cli.main(["check", path]) == 0
assert cli.main(["convert", path, "-o", os.path.join(root, "one.b3d")]) == 0
assert cli.main(["convert", os.path.join(root, "one.b3d"), "-o", os.path.join(root, "back.toy"), "--option", "flip=true"]) == 0
assert formats.FORMATS["toy"].read(open(os.path.join(root, "back.toy"), "rb").read()).triangles.shape == (1, 3, 3)
print("driven", flush=True)
os._exit(0)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the toy format in it."""
    root = tmp_path_factory.mktemp("project")
    for name in ("io_retro_meshes", "tests", "examples"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests" / "toy", root / "io_retro_meshes" / "formats" / "toy")
    table = root / "io_retro_meshes" / "formats" / "__init__.py"
    last = "from .saturn import FORMAT as saturn\n"
    assert last in table.read_text("utf-8")
    table.write_text(table.read_text("utf-8").replace(last, last + LINE), "utf-8")
    return root


def test_a_new_format_is_one_folder_and_one_line(project: Path, tmp_path: Path) -> None:
    script = tmp_path / "drive.py"
    script.write_text(DRIVE, "utf-8")
    done = subprocess.run(bpy_command(script, project), capture_output=True, text=True, timeout=300)
    assert "driven" in done.stdout and done.returncode == 0, done.stdout + done.stderr


def test_the_fuzzer_takes_a_new_format(project: Path) -> None:
    (project / "examples" / "one.toy").write_bytes(b"TOY1\1\0\0\0" + bytes(36))
    command = bpy_command(project / "tests" / "fuzz" / "fuzz.py", "--format", "toy", "--seconds", "2")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "0 problems" in done.stdout, done.stdout + done.stderr


def test_contributing_tells_of_it() -> None:
    words = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert "tests/toy" in words and LINE.strip() in words
