# SPDX-License-Identifier: GPL-3.0-or-later
"""The check before an export: the exporter's own words, and each line leads to what it is about."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from io_retro_meshes.formats import MENU_FORMATS
from tests.builders.unchanged import differences, fingerprint
from tests.conftest import ROOT, bpy_command

bpy = pytest.importorskip("bpy")

from tests.blender import scene_materials as scene_materials  # noqa: E402  the rest of the table
from tests.blender import scenes  # noqa: E402
from tests.blender.test_scenes import log  # noqa: E402

# Scenes that lose something, and what of it.
LOSING = ("preserve_volume", "keys_between_frames", "visibility_keys", "half_a_mask", "all_hidden", "forty_deep")
LOSING += ("noise_over_a_picture", "colors_of_the_mesh_over_a_picture", "box_projection")


def make(name: str) -> None:
    next(case for case in scenes.CASES if case.name == name).make()
    bpy.context.scene.frame_set(1)


def checked(**words: Any) -> list[tuple[str, str, str]]:
    assert bpy.ops.export_scene.retro_check(**words) == {"FINISHED"}
    return [(line.format, line.kind, line.text) for line in bpy.context.window_manager.retro_check.lines]


@pytest.mark.parametrize("name", LOSING)
def test_it_is_what_the_exports_say(blender: Any, tmp_path: Path, name: str) -> None:
    make(name)
    before = fingerprint()
    found = checked()
    assert differences(before, fingerprint()) == {} and not list(tmp_path.iterdir())
    assert list(dict.fromkeys(line[0] for line in found)) == list(MENU_FORMATS)
    for entry in MENU_FORMATS.values():
        told = [text for format, kind, text in found if format == entry.id and kind != "GOOD"]
        text = blender.data.texts.get("Retro Meshes Log")
        if text is not None:
            blender.data.texts.remove(text)
        export = getattr(blender.ops.export_scene, entry.id)
        if any(kind == "ERROR" for format, kind, _ in found if format == entry.id):
            with pytest.raises(RuntimeError) as error:
                export(filepath=str(tmp_path / f"made{entry.extensions[0]}"))
            assert told[0] in str(error.value)
        else:
            export(filepath=str(tmp_path / f"made{entry.extensions[0]}"))
            assert [line.strip() for line in log(blender).splitlines()[1:] if line.strip()] == told


def test_the_dialogs_options_count(blender: Any) -> None:
    scenes.person()
    assert any("Left out" in text for *_, text in checked(format="b3d", options=json.dumps({"animation": "NONE"})))
    assert not any("Left out" in text for *_, text in checked(format="b3d"))


def test_a_line_selects_what_it_is_about(blender: Any) -> None:
    make("preserve_volume")
    other = scenes.box("Bystander", (9, 0, 0))
    other.select_set(True)
    found = checked(format="b3d")
    number = next(number for number, line in enumerate(found) if "preserve volume" in line[2])
    assert blender.ops.object.retro_select_culprit(line=number) == {"FINISHED"}
    assert [source.name for source in blender.context.selected_objects] == ["Body"]
    assert blender.context.view_layer.objects.active.name == "Body"
    assert blender.ops.object.retro_select_culprit(line=len(found)) == {"CANCELLED"}


def test_culprits_by_what_they_use(blender: Any) -> None:
    from io_retro_meshes.blender.culprits import culprits

    one, two = scenes.box("Cube"), scenes.box("Cubes")
    two.data.materials.clear()
    two.data.materials.append(bpy.data.materials.new("Moss"))
    scenes.keyed(one).animation_data.action.name = "Slide"
    told = {
        '"Cubes" has too many': ["Cubes"],
        'the material "Moss" is': ["Cubes"],
        '"Slide" is frames': ["Cube"],
        "Instances stand (Cube, Sphere)": ["Cube"],
        "no names at all": [],
    }
    for text, names in told.items():
        assert [source.name for source in culprits(bpy.context, text)] == names, text


def test_on_the_command_line(blender: Any, tmp_path: Path) -> None:
    make("preserve_volume")
    path = tmp_path / "scene.blend"
    blender.ops.wm.save_as_mainfile(filepath=str(path))
    expected = [text for *_, text in checked(format="b3d")]
    command = bpy_command(ROOT / "io_retro_meshes/cli.py", "check", "--for", "b3d", "--for", "saturn", "--json", path)
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    report = json.loads(run.stdout[run.stdout.index("[") :])[0]
    assert report["lost"]["b3d"] == expected and run.returncode == (1 if "error" in report else 0)
    assert list(tmp_path.iterdir()) == [path]
