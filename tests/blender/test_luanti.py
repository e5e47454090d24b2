# SPDX-License-Identifier: GPL-3.0-or-later
"""A modder's own scene exported with the preset Luanti, against the models that were shipped from it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.batch import profiles
from io_retro_meshes.batch.plan import Plan
from io_retro_meshes.batch.worker import convert_one
from io_retro_meshes.formats import FORMATS, b3d
from io_retro_meshes.formats.format import Note
from tests.conftest import ROOT
from tests.engines import b3d as engine
from tests.engines.gltf import Gltf
from tests.engines.luanti import B3d, glb_worlds

PRESETS = ROOT / "io_retro_meshes" / "presets" / "operator"


def preset(operator: str, name: str) -> dict[str, Any]:
    """The values that a preset gives an operator."""
    lines = ast.parse((PRESETS / operator / f"{name}.py").read_text()).body
    targets = [(line.targets[0], line.value) for line in lines if isinstance(line, ast.Assign)]
    return {target.attr: ast.literal_eval(value) for target, value in targets if isinstance(target, ast.Attribute)}


def opened(blender: Any, path: Path) -> None:
    if not path.exists():
        pytest.skip("no corpus")
    try:
        blender.ops.wm.open_mainfile(filepath=str(path), load_ui=False, use_scripts=False)
    except RuntimeError as error:
        pytest.skip(f"this Blender cannot open the file: {error}")


def far(one: np.ndarray, other: np.ndarray) -> float:
    """The way from any point of either cloud to the nearest of the other."""
    distances = np.linalg.norm(one[:, None] - other[None], axis=2)
    return float(max(distances.min(0).max(), distances.min(1).max()))


@pytest.mark.parametrize("name", ["character", "carts_cart"])
def test_the_preset_gives_what_was_shipped(blender: Any, corpus: Path, tmp_path: Path, name: str) -> None:
    opened(blender, corpus / "blend" / f"{name}.blend")
    made = tmp_path / f"{name}.b3d"
    blender.ops.export_scene.b3d(filepath=str(made), **preset("export_scene.b3d", "Luanti"))
    shipped = corpus / "b3d" / "minetest_game" / f"{name}.b3d"
    ours, theirs = B3d(made.read_bytes()), B3d(shipped.read_bytes())
    assert [joint.name for joint in ours.joints if not joint.surfaces] == [j.name for j in theirs.joints if not j.surfaces]
    frames = theirs.key_frames()
    assert ours.key_frames()[0] == frames[0] == 1 and ours.key_frames()[-1] == frames[-1]
    size = float(np.ptp(np.concatenate(theirs.surfaces).reshape(-1, 3), 0).max())
    for frame in [None, *frames]:
        one, other = ({j.name: m for j, m in zip(f.joints, f.worlds(frame), strict=True) if j.bone} for f in (ours, theirs))
        for bone, matrix in other.items():
            off = np.abs(one[bone] - matrix)[:3] / [1, 1, 1, size]
            assert off.max() < 1e-4, (bone, frame, one[bone], matrix)
    documents = [b3d.read(path.read_bytes()) for path in (made, shipped)]
    for frame in [frames[0], frames[len(frames) // 2], frames[-1]]:
        clouds = [np.concatenate(engine.pose(document, frame)[0]) for document in documents]
        assert far(*clouds) < 1e-4 * size, frame
    assert_glb_has_the_bones(corpus / "blend" / f"{name}.blend", theirs, tmp_path)


def assert_glb_has_the_bones(source: Path, shipped: B3d, folder: Path) -> None:
    """A .blend that becomes a .glb with the profile has the shipped file's axes, on the same frames of its own rate."""
    usual = profiles.load("luanti")
    (job,) = Plan([str(source)], str(folder / "made.glb"), "glb", usual=usual.options, via=usual.via).jobs()
    told = convert_one(job)
    assert [line for line in told if isinstance(line, Note)]
    made = Gltf(folder / "made.glb")
    fps = made.json["scenes"][0]["extras"]["retro_meshes"]["fps"]
    numbers = {node["name"]: number for number, node in enumerate(made.nodes) if "mesh" not in node}
    for frame in [None, *shipped.key_frames()[:: max(len(shipped.key_frames()) // 5, 1)]]:
        worlds = glb_worlds(made, None if frame is None else frame / fps)
        for joint, matrix in zip(shipped.joints, shipped.worlds(frame), strict=True):
            if joint.bone:
                assert np.abs(worlds[numbers[joint.name]] - matrix).max() < 1e-3, (joint.name, frame)


def test_what_was_imported_keeps_its_axes_and_frames(blender: Any, corpus: Path, tmp_path: Path) -> None:
    """Through Blender and back with both presets: the same bones on the same frames."""
    shipped = corpus / "b3d" / "minetest_game" / "character.b3d"
    blender.ops.import_scene.b3d(filepath=str(shipped), **preset("import_scene.b3d", "Luanti"))
    blender.ops.export_scene.b3d(filepath=str(tmp_path / "again.b3d"), **preset("export_scene.b3d", "Luanti"))
    ours, theirs = B3d((tmp_path / "again.b3d").read_bytes()), B3d(shipped.read_bytes())
    for frame in [None, 1, 80, 175, 221]:
        one, other = ({j.name: m for j, m in zip(f.joints, f.worlds(frame), strict=True) if j.bone} for f in (ours, theirs))
        assert one.keys() == other.keys()
        assert max(np.abs(one[bone] - matrix).max() for bone, matrix in other.items()) < 2e-3


@pytest.mark.parametrize("format", [name for name, entry in FORMATS.items() if entry.in_menus])
def test_an_armature_below_the_mesh_it_deforms(blender: Any, corpus: Path, tmp_path: Path, format: str) -> None:
    """Exported, imported again, and posed as Blender poses the scene itself."""
    opened(blender, corpus / "blend" / "mobs_mc_pillager.blend")
    frames = (1, 20, 100, 190)
    wanted = {frame: shown(blender, frame) for frame in frames}
    path = tmp_path / f"pillager{FORMATS[format].extensions[0]}"
    options = {"file_layout": "ANIM", "exact_joints": True} if format == "bogle" else {}  # its others have no such poses
    getattr(blender.ops.export_scene, format)(filepath=str(path), **options)
    blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    getattr(blender.ops.import_scene, format)(filepath=str(path))
    start = first_key(blender) - 1 if format == "bogle" else 0  # it counts in seconds, from zero
    for frame in frames:
        points = shown(blender, frame + start)
        assert far(points, wanted[frame]) < 1e-3 * np.ptp(wanted[frame], 0).max(), frame


def first_key(blender: Any) -> int:
    """The frame that the animation begins on."""
    return round(min(action.frame_range[0] for action in blender.data.actions))


def shown(blender: Any, frame: int) -> np.ndarray:
    """All vertices of all meshes as they are seen on a frame."""
    blender.context.scene.frame_set(frame)
    depsgraph = blender.context.evaluated_depsgraph_get()
    found = []
    for source in blender.context.scene.objects:
        if source.type == "MESH" and source.visible_get():
            evaluated = source.evaluated_get(depsgraph)
            points = np.array([vertex.co for vertex in evaluated.data.vertices]).reshape(-1, 3)
            found.append(points @ np.array(evaluated.matrix_world)[:3, :3].T + np.array(evaluated.matrix_world)[:3, 3])
    return np.concatenate(found)


def test_the_log_has_every_row_of_the_table(blender: Any, tmp_path: Path) -> None:
    """Actions that share frames are laid anew: a mod's author has to know where each of them is."""
    golem = blender.data.objects.new("golem", blender.data.armatures.new("golem"))
    blender.context.scene.collection.objects.link(golem)
    blender.context.view_layer.objects.active = golem
    blender.ops.object.mode_set(mode="EDIT")
    golem.data.edit_bones.new("body").tail = (0, 0, 1)
    blender.ops.object.mode_set(mode="OBJECT")
    golem.animation_data_create()
    for number in range(6):
        golem.animation_data.action = action = blender.data.actions.new(f"part {number}")
        action.use_fake_user = True
        for frame in (1, 10):
            golem.pose.bones["body"].location.x = frame
            golem.pose.bones["body"].keyframe_insert("location", frame=frame)
    blender.ops.export_scene.b3d(filepath=str(tmp_path / "golem.b3d"), **preset("export_scene.b3d", "Luanti"))
    log = blender.data.texts["Retro Meshes Log"].as_string()
    for number in range(6):
        assert f'"part {number}": frames 1 to 10 are {1 + 10 * number} to {10 + 10 * number} in the file' in log or number == 0
