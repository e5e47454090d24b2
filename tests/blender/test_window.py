# SPDX-License-Identifier: GPL-3.0-or-later
"""What people see of an import: collections, places, names, frames, words, the importer for all, preferences, presets."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.blender import compat, files
from io_retro_meshes.formats import MENU_FORMATS
from io_retro_meshes.ui import reports
from tests.conftest import ROOT, bpy_command

EXAMPLES = ROOT / "examples"
NAMES = [entry.example for entry in MENU_FORMATS.values()]


@pytest.fixture
def empty(blender: Any, addon: Any) -> Any:
    blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return blender


def several(bpy: Any, names: list[str], **options: Any) -> set[str]:
    listed = [{"name": name} for name in names]
    return bpy.ops.import_scene.retro_mesh(directory=str(EXAMPLES), files=listed, **options)


def extent(bpy: Any, collection: Any) -> tuple[float, float]:
    bpy.context.view_layer.update()
    graph = bpy.context.evaluated_depsgraph_get()
    meshes = [each.evaluated_get(graph) for each in collection.all_objects if each.type == "MESH"]
    xs = [(each.matrix_world @ vertex.co).x for each in meshes for vertex in each.data.vertices]
    return min(xs), max(xs)


def test_every_format_comes_in_through_one_importer(empty: Any) -> None:
    assert several(empty, NAMES) == {"FINISHED"}
    assert [each.name for each in empty.context.scene.collection.children] == [Path(name).stem for name in NAMES]
    assert all(any(ob.type == "MESH" for ob in each.objects) for each in empty.context.scene.collection.children)


def test_a_single_file_goes_where_the_user_is_unless_told(empty: Any) -> None:
    several(empty, ["fox.b3d"])
    assert not empty.data.collections
    several(empty, ["fox.b3d"], use_collection="ALWAYS")
    several(empty, NAMES, use_collection="NEVER")
    assert [each.name for each in empty.data.collections] == ["fox"]


def test_content_decides_whatever_the_name(empty: Any, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "fox.b3d", tmp_path / "fox.bin")
    assert empty.ops.import_scene.retro_mesh(filepath=str(tmp_path / "fox.bin")) == {"FINISHED"}
    assert "fox_armature" in empty.data.objects
    (tmp_path / "song.bin").write_bytes(b"no model at all " * 400)
    with pytest.raises(RuntimeError, match=r"song\.bin: not a file of a known format"):
        empty.ops.import_scene.retro_mesh(filepath=str(tmp_path / "song.bin"))


def test_one_drop_handler_takes_every_extension(empty: Any) -> None:
    taken = empty.types.IO_FH_retro_mesh.bl_file_extensions.split(";")
    assert {".b3d", ".bo3d", ".bgl", ".dbo", ".bin", ".fpe"} <= set(taken)


def test_side_by_side(empty: Any, tmp_path: Path) -> None:
    """Nothing touches, moving models move along, and the file that is exported has them where they stand."""
    several(empty, ["fox.b3d", "robot.bo3d", "flower.dbo"], placement="ROW")
    spans = [extent(empty, each) for each in empty.context.scene.collection.children]
    assert all(left[1] < right[0] for left, right in itertools.pairwise(spans)), spans
    empty.ops.export_scene.b3d(filepath=str(tmp_path / "row.b3d"))
    empty.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    empty.ops.import_scene.b3d(filepath=str(tmp_path / "row.b3d"))
    low, high = extent(empty, empty.context.scene.collection)
    assert low == pytest.approx(spans[0][0], abs=0.05) and high == pytest.approx(spans[-1][1], abs=0.05)


def test_the_range_covers_all_files(empty: Any) -> None:
    ends = {}
    for name in ("fox.b3d", "robot.bo3d", "flower.dbo"):
        empty.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        several(empty, [name])
        ends[name] = empty.context.scene.frame_start, empty.context.scene.frame_end
    for order in (list(ends), list(ends)[::-1]):
        empty.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        several(empty, order)
        scene = empty.context.scene
        wanted = min(first for first, _ in ends.values()), max(last for _, last in ends.values())
        assert (scene.frame_start, scene.frame_end) == wanted


def test_a_rig_is_called_after_its_file(empty: Any, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "fox.b3d", tmp_path / "hero.b3d")
    empty.ops.import_scene.b3d(filepath=str(tmp_path / "hero.b3d"))
    (rig,) = [each for each in empty.data.objects if each.type == "ARMATURE"]
    assert (rig.name, rig.data.name) == ("hero", "hero") and "fox" in empty.data.objects


def test_success_and_failure_are_told_in_a_line(empty: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    empty.ops.import_scene.b3d(filepath=str(EXAMPLES / "fox.b3d"))
    batch = files.Batch(empty.context, {})
    batch.add(MENU_FORMATS["b3d"], EXAMPLES / "fox.b3d")
    (rig,) = [each for each in batch.objects if each.type == "ARMATURE"]
    assert batch.lines == [f"fox.b3d: 1 mesh, {len(rig.data.bones)} bones, 3 animations"]
    assert batch.lines[0] in capfd.readouterr().out
    whole = (EXAMPLES / "fox.b3d").read_bytes()
    (tmp_path / "cut.b3d").write_bytes(whole[:29992])
    with pytest.raises(RuntimeError, match=rf"cut\.b3d: the file is cut off: 29,992 of {len(whole):,} bytes.*offset 4"):
        empty.ops.import_scene.b3d(filepath=str(tmp_path / "cut.b3d"))


def test_folders_of_the_preferences_are_searched(empty: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from io_retro_meshes.ui import preferences

    (tmp_path / "far" / "down").mkdir(parents=True)
    (tmp_path / "model").mkdir()
    shutil.copy(EXAMPLES / "fox.b3d", tmp_path / "model")
    shutil.copy(EXAMPLES / "fox.png", tmp_path / "far" / "down")
    addon = empty.context.preferences.addons.new()
    addon.module = preferences.ROOT
    try:
        for below, found in ((False, 0), (True, 1)):
            empty.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
            chosen = preferences.preferences(empty.context)
            if chosen is None:  # a factory startup forgets add-ons
                addon = empty.context.preferences.addons.new()
                addon.module = preferences.ROOT
                chosen = preferences.preferences(empty.context)
            chosen.texture_folders.clear()
            empty.ops.preferences.retro_texture_folder_add()
            chosen.texture_folders[0].path, chosen.texture_folders[0].below = str(tmp_path / "far"), below
            empty.ops.import_scene.b3d(filepath=str(tmp_path / "model" / "fox.b3d"))
            assert sum(image.has_data or image.size[0] > 0 for image in empty.data.images) == found
        chosen.show_dbo = False
        assert not preferences.in_menus(empty.context, "dbo") and preferences.in_menus(empty.context, "b3d")
        chosen.import_scale_b3d = 0.1
        assert preferences.default_scale(empty.context, "import", "b3d") == pytest.approx(0.1)
    finally:
        empty.context.preferences.addons.remove(empty.context.preferences.addons[preferences.ROOT])


def test_presets_are_found_and_name_options_that_exist(empty: Any) -> None:
    shipped = sorted((ROOT / "io_retro_meshes/presets/operator").glob("*/*.py"))
    assert len(shipped) >= 4
    for preset in shipped:
        assert str(preset.parent) in [str(Path(path)) for path in empty.utils.preset_paths(f"operator/{preset.parent.name}")]
        group, name = preset.parent.name.split(".")
        known = getattr(getattr(empty.ops, group), name).get_rna_type().properties
        for line in preset.read_text("utf-8").splitlines():
            if line.startswith("op."):
                option, value = line.removeprefix("op.").split("#")[0].split(" = ", 1)
                parsed = eval(value)
                assert option in known, (preset, option)
                assert known[option].type != "ENUM" or parsed in known[option].enum_items, (preset, option)


def test_presets_of_two_copies_come_and_go(empty: Any, tmp_path: Path) -> None:
    (tmp_path / "presets/operator/toy").mkdir(parents=True)
    compat.register_presets(str(tmp_path))
    assert any(str(tmp_path) in path for path in empty.utils.preset_paths("operator/toy"))
    compat.unregister_presets(str(tmp_path))
    assert not any(str(tmp_path) in path for path in empty.utils.preset_paths("operator/toy"))


def test_each_import_has_a_log_and_the_newest_has_the_plain_name(empty: Any, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "fox.b3d", tmp_path / "one.b3d")
    shutil.copy(EXAMPLES / "lighthouse.bgl", tmp_path / "two.bgl")
    for name in ("one.b3d", "two.bgl"):  # their textures are not there
        empty.ops.import_scene.retro_mesh(filepath=str(tmp_path / name))
    logs = {text.name: text.as_string() for text in empty.data.texts}
    assert sorted(logs) == ["Retro Meshes Log", "Retro Meshes Log.001"]
    assert logs["Retro Meshes Log"].startswith("Imported two.bgl\n")
    assert logs["Retro Meshes Log.001"].startswith("Imported one.b3d\n")


def test_a_log_says_the_same_thing_a_few_times_only() -> None:
    many = [f'"Part {number}" has {number} loose edges' for number in range(1000)]
    lines = reports.folded(["Something else", *many, "Something else again"])
    assert lines[:4] == ["Something else", *many[:3]] and lines[-1] == "Something else again"
    assert lines[4].startswith('    and 997 more like these: "Part 3", "Part 4"') and len(lines) == 6


def test_progress_goes_up_to_the_end(empty: Any) -> None:
    told: list[float] = []
    batch = files.Batch(empty.context, {}, progress=told.append)
    batch.add(MENU_FORMATS["b3d"], EXAMPLES / "fox.b3d")
    assert told == sorted(told) and told[0] == 0 and told[-1] == 1 and len(told) >= 4


def test_assets_have_pictures_of_the_models(empty: Any) -> None:
    several(empty, NAMES, use_assets=True)
    made = {each.name: each for each in empty.context.scene.collection.children}
    assert list(made) == [Path(name).stem for name in NAMES]
    pictures = set()
    for name, each in made.items():
        assert name in each.asset_data.description
        pixels = np.empty(256 * 256 * 4, np.float32)
        each.preview.image_pixels_float.foreach_get(pixels)
        seen = pixels.reshape(-1, 4)[:, 3] > 0.5
        assert 0.03 < seen.mean() < 0.97 and np.ptp(pixels.reshape(-1, 4)[seen, :3]) > 0.2, name
        pictures.add(pixels.tobytes())
    assert len(pictures) == len(made)


def test_a_folder_becomes_an_asset_library(empty: Any, tmp_path: Path) -> None:
    (tmp_path / "models/machines").mkdir(parents=True)
    for name in ("fox.b3d", "fox.png", "make_robot.py"):
        shutil.copy(EXAMPLES / name, tmp_path / "models")
    shutil.copy(EXAMPLES / "robot.bo3d", tmp_path / "models/machines")
    (tmp_path / "models/broken.b3d").write_bytes((EXAMPLES / "fox.b3d").read_bytes()[:999])
    target = tmp_path / "library.blend"
    for _ in range(2):  # the list of catalogs is added to, not written anew
        command = bpy_command(ROOT / "io_retro_meshes/cli.py", "assets", tmp_path / "models", "-o", target)
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 1 and "broken.b3d" in done.stdout and "2 assets" in done.stdout, done.stdout + done.stderr
    (line,) = [line for line in (tmp_path / "blender_assets.cats.txt").read_text().splitlines() if ":" in line]
    number, *words = line.split(":")
    assert words == ["machines", "machines"]
    with empty.data.libraries.load(str(target), assets_only=True) as (found, wanted):
        assert sorted(found.collections) == ["fox", "robot"]
        wanted.collections = list(found.collections)
    placed = {each.name: each.asset_data.catalog_id for each in empty.data.collections}
    assert placed["robot"] == number and placed["fox"] != number
    assert any(image.packed_file for image in empty.data.images), "textures are inside"
