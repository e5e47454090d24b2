# SPDX-License-Identifier: GPL-3.0-or-later
"""The zip as users get it: valid by Blender's own rules, installed by Blender's own installer, in a Blender of its own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import bpy_command

ROOT = Path(__file__).resolve().parents[2]

INSTALL = """
import bpy, addon_utils, os, sys
zip_path, model, exported = sys.argv[-3:]
addon_utils.enable("bl_pkg", default_set=True)
bpy.ops.extensions.package_install_files(filepath=zip_path, repo="user_default", enable_on_install=True)
name = "bl_ext.user_default.io_retro_meshes"
assert name in bpy.context.preferences.addons.keys(), bpy.context.preferences.addons.keys()
assert not addon_utils._extensions_warnings_get(), addon_utils._extensions_warnings_get()
bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
assert bpy.ops.import_scene.b3d(filepath=model) == {"FINISHED"}
assert any(ob.type == "ARMATURE" for ob in bpy.data.objects), list(bpy.data.objects)
assert bpy.ops.export_scene.b3d(filepath=exported) == {"FINISHED"}
addon_utils.disable(name)
assert not hasattr(bpy.types, "IMPORT_SCENE_OT_b3d")
addon_utils.enable(name)
assert hasattr(bpy.types, "IMPORT_SCENE_OT_b3d")
print("installed and working", flush=True)
os._exit(0)
"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build: Any = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location("build", ROOT / "build.py"))
    spec.loader.exec_module(build)
    return build.build(tmp_path_factory.mktemp("dist"))


def test_zip_holds_the_extension_and_nothing_else(archive: Path) -> None:
    names = zipfile.ZipFile(archive).namelist()
    assert {"blender_manifest.toml", "__init__.py", "LICENSE", "formats/b3d/read.py"} <= set(names)
    assert not [name for name in names if "test" in name or name.endswith(".pyc") or name.startswith("/")]


def test_blender_finds_the_zip_valid(archive: Path) -> None:
    import bpy

    tool = Path(bpy.utils.system_resource("SCRIPTS")) / "addons_core/bl_pkg/cli/blender_ext.py"
    command = [sys.executable, str(tool), "validate", str(archive)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_installed_extension_works(archive: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "user")}
    (tmp_path / "install.py").write_text(INSTALL)
    command = bpy_command(tmp_path / "install.py", archive, ROOT / "examples/fox.b3d", tmp_path / "fox.b3d")
    # from another folder, so that nothing of the sources can be meant by accident
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, cwd=tmp_path)
    assert done.returncode == 0 and "installed and working" in done.stdout, done.stdout + done.stderr
    assert (tmp_path / "fox.b3d").stat().st_size > 1000
