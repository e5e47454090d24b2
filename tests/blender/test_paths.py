# SPDX-License-Identifier: GPL-3.0-or-later
"""Where files come from and go to, and where in Blender they arrive."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

EXAMPLES = {"b3d": "fox.b3d", "bo3d": "robot.bo3d", "bogle": "lighthouse.bgl", "dbo": "flower.dbo", "saturn": "knight.bin"}
FOX = ROOT / "examples" / "fox.b3d"


@pytest.mark.filterwarnings("ignore:.*blend relative")
@pytest.mark.parametrize("name", EXAMPLES)
def test_good_files_arrive_and_bad_ones_are_named(blender: Any, tmp_path: Path, name: str) -> None:
    example = ROOT / "examples" / EXAMPLES[name]
    good = tmp_path / f"møde漢l{example.suffix}"
    shutil.copy(example, good)
    bad = good.with_stem("bad")
    bad.write_bytes(b"nonsense")
    operator = getattr(blender.ops.import_scene, name)
    with pytest.raises(RuntimeError, match=r"bad\.") as raised:
        operator(directory=str(tmp_path), files=[{"name": bad.name}, {"name": "none"}, {"name": good.name}])
    assert "none: cannot be read" in str(raised.value) and "Traceback" not in str(raised.value)
    assert blender.context.selected_objects
    blender.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert operator(filepath=f"//{good.name}") == {"FINISHED"}


def test_names_that_are_not_unicode(blender: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="cannot be read"):
        blender.ops.import_scene.b3d(filepath=f"{tmp_path}/\udcff.b3d")
    blender.data.objects.new("Nowhere", None)
    assert blender.ops.export_scene.b3d(filepath=f"{tmp_path}/\udcff.b3d") == {"FINISHED"}
    assert blender.ops.import_scene.b3d(filepath=f"{tmp_path}/\udcff.b3d") == {"FINISHED"}


def test_exports_that_have_nowhere_to_go(blender: Any, tmp_path: Path) -> None:
    for path, words in (("", "No file"), (str(tmp_path), "No file"), (f"{tmp_path}/none/x.b3d", "cannot be written")):
        with pytest.raises(RuntimeError, match=words):
            blender.ops.export_scene.b3d(filepath=path)
    assert not list(tmp_path.iterdir())


def test_long_names_and_links(blender: Any, tmp_path: Path) -> None:
    assert blender.ops.export_scene.b3d(filepath=str(tmp_path / ("x" * 251 + ".b3d"))) == {"FINISHED"}
    (tmp_path / "real.b3d").write_bytes(b"old")
    os.symlink(tmp_path / "real.b3d", tmp_path / "link.b3d")
    blender.ops.export_scene.b3d(filepath=str(tmp_path / "link.b3d"))
    assert (tmp_path / "link.b3d").is_symlink() and (tmp_path / "real.b3d").read_bytes()[:4] == b"BB3D"


def test_a_collection_of_another_file_takes_nothing_in(blender: Any, tmp_path: Path) -> None:
    library = tmp_path / "library.blend"
    collection = blender.data.collections.new("Linked")
    blender.data.libraries.write(str(library), {collection})
    blender.data.collections.remove(collection)
    with blender.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.collections = ["Linked"]
    layer = blender.context.view_layer
    blender.context.scene.collection.children.link(blender.data.collections["Linked"])
    layer.active_layer_collection = layer.layer_collection.children["Linked"]
    assert blender.ops.import_scene.b3d(filepath=str(FOX)) == {"FINISHED"}
    assert len(blender.context.scene.collection.objects) == len(blender.data.objects) > 0


def test_frames_are_set_where_nothing_of_the_scene_moves_yet(blender: Any) -> None:
    scene = blender.context.scene
    scene.frame_end = 7777
    blender.ops.import_scene.b3d(filepath=str(FOX))
    last = scene.frame_end
    assert last != 7777
    for source in list(blender.data.objects):
        blender.data.objects.remove(source)
    scene.frame_end = 7777  # what is left of the first import is of no account
    blender.ops.import_scene.b3d(filepath=str(FOX))
    assert scene.frame_end == last
    scene.frame_end = 7777
    blender.ops.import_scene.b3d(filepath=str(FOX))
    assert scene.frame_end == 7777


@pytest.mark.parametrize("name", EXAMPLES)
def test_models_of_next_to_no_size_keep_their_bones(blender: Any, name: str) -> None:
    path = str(ROOT / "examples" / EXAMPLES[name])
    getattr(blender.ops.import_scene, name)(filepath=path)
    names = {bone.name for rig in blender.data.armatures for bone in rig.bones}
    blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert getattr(blender.ops.import_scene, name)(filepath=path, scale=1e-6) == {"FINISHED"}
    assert {bone.name for rig in blender.data.armatures for bone in rig.bones} == names
