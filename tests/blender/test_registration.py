# SPDX-License-Identifier: GPL-3.0-or-later
"""Switched on and off in any order, also beside another copy of itself."""

from __future__ import annotations

import importlib
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, bpy_command

FOX = str(ROOT / "examples" / "fox.b3d")


def works(bpy: Any, tmp_path: Path) -> bool:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    imported = bpy.ops.import_scene.b3d(filepath=FOX)
    bones = [bone.retro_meshes.axes[0] for rig in bpy.data.armatures for bone in rig.bones]
    return imported == bpy.ops.export_scene.b3d(filepath=str(tmp_path / "x.b3d")) == {"FINISHED"} and len(bones) > 0


def test_off_and_on_again(blender: Any, addon: Any, tmp_path: Path) -> None:
    for _ in range(2):
        addon.unregister()
        assert not hasattr(blender.types.Object, "retro_meshes") and not hasattr(blender.types, "IMPORT_SCENE_OT_b3d")
        addon.register()
    assert works(blender, tmp_path)


def test_two_copies(blender: Any, addon: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "io_retro_meshes", tmp_path / "retro_copy", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.syspath_prepend(tmp_path)
    copy = importlib.import_module("retro_copy")
    copy.register()
    assert works(blender, tmp_path)
    addon.unregister()
    try:
        assert works(blender, tmp_path)  # with the copy
        copy.unregister()
    finally:
        addon.register()
    assert works(blender, tmp_path)


LAZY = """
import os, sys
import bpy
had_numpy = "numpy" in sys.modules
sys.path.insert(0, sys.argv[-1])
import io_retro_meshes
assert not [name for name in sys.modules if name.startswith("io_retro_meshes.")]
io_retro_meshes.register()
heavy = ("io_retro_meshes.scene", "io_retro_meshes.cli", "io_retro_meshes.batch", "io_retro_meshes.blender.build")
loaded = [name for name in sys.modules if name.startswith(heavy)]
formats = [name for name in sys.modules if name.startswith("io_retro_meshes.formats.")]
loaded += [name for name in formats if name.endswith((".read", ".document"))]
loaded += ["numpy"] if "numpy" in sys.modules and not had_numpy else []
print("loaded:", loaded, flush=True)
os._exit(0)
"""


def test_registering_loads_no_reader_and_no_scene(tmp_path: Path) -> None:
    """They bring numpy along, and Blender's start would wait for it."""
    script = tmp_path / "lazy.py"
    script.write_text(LAZY, "utf-8")
    done = subprocess.run(bpy_command(script, ROOT), capture_output=True, text=True, timeout=120)
    assert "loaded: []" in done.stdout, done.stdout + done.stderr
