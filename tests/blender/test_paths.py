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
FLOWER = ROOT / "examples" / "flower.dbo"
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
    blender.ops.mesh.primitive_cube_add()
    assert blender.ops.export_scene.b3d(filepath=f"{tmp_path}/\udcff.b3d") == {"FINISHED"}
    assert blender.ops.import_scene.b3d(filepath=f"{tmp_path}/\udcff.b3d") == {"FINISHED"}


def test_exports_that_have_nowhere_to_go(blender: Any, tmp_path: Path) -> None:
    blender.ops.mesh.primitive_cube_add()
    for path, words in (("", "No file"), (str(tmp_path), "No file"), (f"{tmp_path}/none/x.b3d", "cannot be written")):
        with pytest.raises(RuntimeError, match=words):
            blender.ops.export_scene.b3d(filepath=path)
    assert not list(tmp_path.iterdir())


def test_long_names_and_links(blender: Any, tmp_path: Path) -> None:
    blender.ops.mesh.primitive_cube_add()
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


def test_frames_are_set_only_where_nobody_has_set_or_animated_anything(blender: Any) -> None:
    scene = blender.context.scene

    def imported(**options: str) -> tuple[int, int, int]:
        blender.data.batch_remove(list(blender.data.objects))
        blender.ops.import_scene.dbo(filepath=str(FLOWER), **options)
        return scene.frame_start, scene.frame_end, scene.render.fps

    def reset(first: int, last: int, rate: int) -> None:
        scene.frame_start, scene.frame_end, scene.render.fps, scene.render.fps_base = first, last, rate, 1

    assert imported(scene_range="NEVER") == (1, 250, 24)
    assert imported() == (0, 84, 30)
    reset(1, 7777, 24)
    assert imported() == (1, 7777, 30)  # each by itself
    reset(1, 250, 60)
    assert imported() == (0, 84, 60)
    reset(3, 7777, 60)
    assert imported(scene_range="ALWAYS") == (0, 84, 30)
    reset(1, 250, 24)
    blender.ops.import_scene.dbo(filepath=str(FLOWER))  # beside a flower that moves
    assert (scene.frame_start, scene.frame_end, scene.render.fps) == (1, 250, 24)


def test_a_pose_is_no_range(blender: Any, corpus: Path) -> None:
    blender.ops.import_scene.b3d(filepath=str(next(corpus.rglob("door_frame.b3d"))))
    assert blender.data.actions and (blender.context.scene.frame_start, blender.context.scene.frame_end) == (1, 250)


@pytest.mark.parametrize("name", EXAMPLES)
def test_models_of_next_to_no_size_keep_their_bones(blender: Any, name: str) -> None:
    path = str(ROOT / "examples" / EXAMPLES[name])
    getattr(blender.ops.import_scene, name)(filepath=path)
    names = {bone.name for rig in blender.data.armatures for bone in rig.bones}
    blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert getattr(blender.ops.import_scene, name)(filepath=path, scale=1e-6) == {"FINISHED"}
    assert {bone.name for rig in blender.data.armatures for bone in rig.bones} == names
