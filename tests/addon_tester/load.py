# SPDX-License-Identifier: GPL-3.0-or-later
"""The load script for blender-addon-tester, run inside Blender: installs the zip as an extension and tests that.

Its own load script installs add-ons of the old kind only. The tests import io_retro_meshes and get the installed package,
not the sources beside them.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from types import ModuleType

NAME = "io_retro_meshes"
INSTALLED = f"bl_ext.user_default.{NAME}"


class Installed(MetaPathFinder, Loader):
    """Finds every module of the package under the name that the extension has in Blender."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        ours = fullname == NAME or fullname.startswith(f"{NAME}.")
        return importlib.machinery.ModuleSpec(fullname, self) if ours else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(INSTALLED + spec.name.removeprefix(NAME))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The module is loaded already; it only gets back what was written over."""
        module.__spec__ = module.__spec__.loader_state if module.__spec__ else None


def install(archive: str) -> None:
    import addon_utils
    import bpy

    addon_utils.enable("bl_pkg", default_set=True)
    bpy.ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=True)
    assert INSTALLED in bpy.context.preferences.addons, "the extension was not enabled"
    addon_utils.disable(INSTALLED)  # the tests register it themselves
    sys.meta_path.insert(0, Installed())


def main() -> int:
    install(os.environ["BLENDER_ADDON_TO_TEST"])
    sys.path.append(os.environ["RETRO_PACKAGES"])  # last, so that Blender's own numpy comes first
    import pytest

    package = importlib.import_module(NAME)
    print(f"Testing {package.__name__} in {os.path.dirname(package.__file__ or '')}", flush=True)
    arguments = [os.environ["BLENDER_ADDON_TESTS_PATH"], *shlex.split(os.environ.get("BLENDER_PYTEST_ARGS", ""))]
    return int(pytest.main(["-p", "no:cacheprovider", *arguments]))


if __name__ == "__main__":
    result = 1  # Blender itself would end with 0 after an exception
    try:
        result = main()
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(result)
