# SPDX-License-Identifier: GPL-3.0-or-later
"""The import graph's rules: each notices what it is for, and the project keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks import imports

GOOD = {
    "__init__.py": "def register():\n    from . import ui\n",
    "scene/__init__.py": "from .model import Scene\n",
    "scene/model.py": "class Scene: ...\n",
    "pictures/__init__.py": "",
    "formats/__init__.py": "from . import b3d, dbo\nfrom .binary import FormatError\n",
    "formats/binary.py": "class FormatError(ValueError): ...\n",
    "formats/b3d/__init__.py": "from .read import read\n",
    "formats/b3d/read.py": "import numpy\nfrom ..binary import FormatError\nfrom ...scene import Scene\n\nread = 0\n",
    "formats/dbo/__init__.py": "",
    "blender/__init__.py": "",
    "blender/compat.py": "import bpy\n\nNEW = bpy.app.version >= (5, 0)\n",
    "blender/build/__init__.py": "from .. import compat\nfrom ...formats import FORMATS\n",
    "blender/collect/__init__.py": "from .. import compat\n",
    "ui/__init__.py": "import bpy\nfrom .. import cli\nfrom ..formats import FORMATS\nfrom ..blender import build\n",
    "cli.py": "import sys\n\nsys.path.insert(0, '')\nfrom .formats import FORMATS\n\n\ndef register():\n    import bpy\n",
}


def problems(folder: Path, changes: dict[str, str]) -> list[str]:
    package = folder / "pack"
    for name, text in {**GOOD, **changes}.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    return imports.problems(package, allowed=set())


def test_a_good_house_has_no_problems(tmp_path: Path) -> None:
    assert problems(tmp_path, {}) == []


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("scene/model.py", "def f():\n    from ..formats import FORMATS", "scene may not import formats"),
        ("pictures/png.py", "def f():\n    from ..ui import x", "pictures may not import ui"),
        ("formats/b3d/read.py", "from ...blender import compat", "formats may not import blender"),
        ("formats/b3d/read.py", "def f():\n    import bpy", "bpy is only in Blender"),
        ("cli.py", "import mathutils", "mathutils is only in Blender"),
        ("blender/compat.py", "def f():\n    from .. import ui", "blender may not import ui"),
        ("blender/compat.py", "from ..formats import b3d", "only formats/__init__.py may name a format"),
        ("blender/compat.py", "from ..formats.b3d.read import x", "only formats/__init__.py may name a format"),
        ("cli.py", "def f():\n    from .formats.dbo import x", "only formats/__init__.py may name a format"),
        ("formats/dbo/__init__.py", "from ..b3d import read", "only formats/__init__.py may name a format"),
        ("ui/panel.py", "from ..scene import Scene", "ui may not import scene"),
        ("ui/panel.py", "from ..formats.binary import FormatError", "ui goes through blender"),
        ("ui/panel.py", "import pack.blender", "imports inside the package are relative"),
        ("ui/panel.py", "from .... import x", "imports inside the package are relative"),
        ("blender/collect/x.py", "from ..build import x", "collecting does not import building"),
        ("scene/model.py", "from . import Scene", "cycle: scene scene.model"),
        ("blender/x.py", "import sys\nsys.path.append('')", "sys.path"),
        ("blender/x.py", "from sys import path", "sys.path"),
        ("blender/x.py", "try:\n    pass\nexcept:\n    pass", "bare except"),
        ("ui/x.py", "import bpy\nif bpy.app.version_string: pass", "blender/compat.py only"),
        ("ui/x.py", "bl_info = {}", "bl_info"),
        ("ui/x.py", "import importlib\nimportlib.import_module('pack.scene')", "not seen in the graph"),
        ("attic.py", "", "attic: is on no floor"),
    ],
)
def test_broken_rule_is_noticed(tmp_path: Path, name: str, text: str, words: str) -> None:
    found = problems(tmp_path, {name: text})
    assert len(found) == 1 and words in found[0], found


def test_import_that_waits_makes_no_cycle(tmp_path: Path) -> None:
    assert problems(tmp_path, {"scene/model.py": "def f():\n    from . import Scene\n"}) == []
    types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import Scene\n"
    assert problems(tmp_path, {"scene/model.py": types}) == []


def test_allowance_does_not_outlive_its_reason(tmp_path: Path) -> None:
    problems(tmp_path, {"ui/panel.py": "from ..scene import Scene"})
    allowed = {("ui.panel", "scene"), ("ui.panel", "pictures")}
    assert imports.problems(tmp_path / "pack", allowed) == ["ui.panel -> pictures: is allowed, but not done any more"]


def test_the_house() -> None:
    assert imports.problems(imports.PACKAGE) == []
