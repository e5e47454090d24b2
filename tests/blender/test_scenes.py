# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of scenes, exported to every format: exact, or told what is lost; and the scene is as it was before."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import FORMATS
from tests.builders.unchanged import differences, fingerprint
from tests.engines import b3d, bo3d, bogle, dbo, saturn
from tests.formats.test_convert import distance

from . import scene_materials as scene_materials  # the rest of the table
from .scenes import ALL, CASES, Case

PRECISION = {"saturn": 2e-3, "bogle": 5e-4}


def log(bpy: Any) -> str:
    found = bpy.data.texts.get("Retro Meshes Log")
    return "" if found is None else str(found.as_string())


def shown(bpy: Any, frame: float) -> np.ndarray:
    """The corners of the faces of all that can be seen, instances too, in the world."""
    bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
    found = []
    for instance in bpy.context.evaluated_depsgraph_get().object_instances:
        source = instance.object
        if source.type not in ("MESH", "CURVE", "SURFACE", "FONT", "META") or not instance.show_self:
            continue
        own = source.type != "MESH" and not instance.is_instance
        data = source.to_mesh() if own else source.data
        if data is None or not isinstance(data, bpy.types.Mesh):
            continue
        points, corners = np.empty(len(data.vertices) * 3, np.float32), np.empty(len(data.loops), np.int32)
        data.vertices.foreach_get("co", points)
        data.loops.foreach_get("vertex_index", corners)
        matrix = np.array(instance.matrix_world)
        found.append((points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])[np.unique(corners)])
    return np.concatenate(found)


def drawn(path: Path, to: str, frame: float, clip: str, bpy: Any) -> np.ndarray:
    """The vertices as the format's engine has them."""
    data = path.read_bytes()
    document = FORMATS[to].read(data)
    scene = FORMATS[to].to_scene(document)
    render = bpy.context.scene.render
    action = bpy.data.actions.get(clip)
    start = float(np.floor(action.frame_range[0] + 1e-3)) if action is not None else 1.0
    part = next((each for each in scene.clips if each.name == clip), None)
    at = part.first + frame - start if part is not None else frame
    told = re.search(f'"{re.escape(clip)}" is frames ([0-9.]+) to', log(bpy)) if clip else None
    at = float(told[1]) + frame - start if told else at
    if to == "bogle":
        names = [each.name.decode() for rig in document.collections[:1] for each in rig.animations]
        first = start if clip in names else bpy.context.scene.frame_start
        found = bogle.pose(document, (frame - first) * render.fps_base / render.fps, names.index(clip) if clip in names else 0)
    elif to == "b3d":
        found = b3d.pose(document, at)[0]
    elif to == "dbo":
        found = dbo.pose(data, at)
    else:
        found = [bo3d.points(document, at)] if to == "bo3d" else saturn.pose(document, at)
    return np.concatenate([points[:, :3] for points in found])


def judged_clip(bpy: Any, case: Case) -> str:
    data = [source.animation_data for source in bpy.context.scene.objects if source.animation_data]
    names = [each.action.name for each in data if each.action]
    names += [part.action.name for each in data for track in each.nla_tracks for part in track.strips if not track.mute]
    return case.clip or next(iter(names), "")


@pytest.mark.parametrize("to", ALL)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_exact_or_told_what_is_lost(blender: Any, tmp_path: Path, case: Case, to: str) -> None:
    if to not in case.only:
        pytest.skip("not about this format")
    case.make()
    blender.context.scene.frame_set(1)
    path = tmp_path / f"made{FORMATS[to].extensions[0]}"
    before = fingerprint()
    export = getattr(blender.ops.export_scene, to)
    if case.refused:
        with pytest.raises(RuntimeError, match=case.refused):
            export(filepath=str(path), **case.options)
        assert not path.exists()
    else:
        assert export(filepath=str(path), **case.options) == {"FINISHED"}
    assert differences(before, fingerprint()) == {}
    if case.refused:
        return
    warnings = log(blender)
    assert re.search(case.warns, warnings), warnings
    assert not case.silent or not re.search(case.silent, warnings), warnings
    if case.look is not None:
        case.look(FORMATS[to].to_scene(FORMATS[to].read(path.read_bytes())), to)
    if case.shows is not None:
        case.shows(path, to)
    if to in case.exact and not re.search("Only bones", warnings):  # what stands still is named there
        judge(blender, case, path, to)


def judge(bpy: Any, case: Case, path: Path, to: str) -> None:
    if bpy.context.mode == "EDIT_MESH":
        bpy.ops.object.mode_set(mode="OBJECT")
    clip = judged_clip(bpy, case)
    place = np.zeros(3)
    for frame in case.frames:
        expected, found = shown(bpy, frame), drawn(path, to, frame, clip, bpy)
        size = float(np.linalg.norm(np.ptp(expected, 0)))
        if to == "saturn" and frame == case.frames[0]:  # a character has no place in its file: the game puts it somewhere
            place = expected.min(0) - found.min(0)
        apart = distance(expected, found + place, size)
        assert apart < max(case.tolerance, PRECISION.get(to, 1e-4)), (frame, apart)


def test_the_table_is_large_enough() -> None:
    assert len(CASES) >= 120
    assert len({case.name for case in CASES}) == len(CASES)
