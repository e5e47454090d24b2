# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of all importers: whatever is chosen, the model looks and moves the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import MENU_FORMATS
from tests.conftest import ROOT

EXAMPLES = ROOT / "examples"
RIGGED = ["fox.b3d", "robot.bo3d", "flower.dbo"]
FRAMES = (1, 13, 40)


@pytest.fixture(autouse=True)
def _registered(blender: Any, addon: Any) -> None:
    pass


def opened(bpy: Any, name: str, **options: Any) -> Any:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.import_scene.retro_mesh(filepath=str(EXAMPLES / name), **options)
    return next(each for each in bpy.data.objects if each.type == "ARMATURE")


def corners(bpy: Any, frame: int) -> np.ndarray:
    """Where each corner of each face is drawn, which merging vertices must not change."""
    bpy.context.scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    found = []
    for each in sorted((each for each in bpy.data.objects if each.type == "MESH"), key=lambda each: each.name):
        mesh = each.evaluated_get(graph).data
        points = np.empty(len(mesh.vertices) * 3, np.float32)
        mesh.vertices.foreach_get("co", points)
        index = np.empty(len(mesh.loops), np.int32)
        mesh.loops.foreach_get("vertex_index", index)
        world = np.array(each.evaluated_get(graph).matrix_world)
        found.append(points.reshape(-1, 3)[index] @ world[:3, :3].T + world[:3, 3])
    return np.concatenate(found)


def surface(bpy: Any) -> list[np.ndarray]:
    """UV coordinates and normals of every corner."""
    found = []
    for each in sorted((each for each in bpy.data.objects if each.type == "MESH"), key=lambda each: each.name):
        for layer in each.data.uv_layers:
            values = np.empty(len(each.data.loops) * 2, np.float32)
            layer.uv.foreach_get("vector", values)
            found.append(values)
        normals = np.empty(len(each.data.loops) * 3, np.float32)
        each.data.corner_normals.foreach_get("vector", normals)
        found.append(normals)
    return found


@pytest.mark.parametrize("name", RIGGED)
def test_bones_as_in_the_file_move_the_model_alike(blender: Any, tmp_path: Path, name: str) -> None:
    rig = opened(blender, name)
    assert rig.data.display_type == "STICK"
    before = {bone.name: np.array(bone.matrix_local) for bone in rig.data.bones}
    expected = [corners(blender, frame) for frame in FRAMES]
    rig = opened(blender, name, bone_direction="FILE", bone_length=0.25, bone_shape="OCTAHEDRAL")
    assert rig.data.display_type == "OCTAHEDRAL"
    assert all(abs(bone.length - 0.25) < 1e-5 for bone in rig.data.bones)
    axes = [np.array(bone.retro_meshes.axes).reshape(4, 4) for bone in rig.data.bones]
    assert all(np.abs(each / np.cbrt(np.linalg.det(each[:3, :3])) - np.eye(4))[:3, :3].max() < 1e-4 for each in axes)
    assert any(np.abs(np.array(bone.matrix_local) - before[bone.name]).max() > 0.01 for bone in rig.data.bones)
    size = np.ptp(expected[0], 0).max()
    for frame, points in zip(FRAMES, expected, strict=True):
        assert np.abs(corners(blender, frame) - points).max() < 1e-4 * size


@pytest.mark.parametrize("name", [entry.example for entry in MENU_FORMATS.values() if entry.example != "flower.dbo"])
def test_merged_vertices_keep_seams_and_movement(blender: Any, name: str) -> None:
    blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    blender.ops.import_scene.retro_mesh(filepath=str(EXAMPLES / name))
    count = sum(len(mesh.vertices) for mesh in blender.data.meshes)
    layers, expected = surface(blender), [corners(blender, frame) for frame in FRAMES]
    blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    blender.ops.import_scene.retro_mesh(filepath=str(EXAMPLES / name), merge_vertices=True)
    fewer = sum(len(mesh.vertices) for mesh in blender.data.meshes)
    assert fewer < count if name == "fox.b3d" else fewer <= count
    assert all(np.abs(a - b).max() < 0.01 for a, b in zip(layers, surface(blender), strict=True))
    for frame, points in zip(FRAMES, expected, strict=True):
        assert np.abs(corners(blender, frame) - points).max() < 1e-4 * np.ptp(points, 0).max()


def test_animations_are_chosen(blender: Any) -> None:
    opened(blender, "fox.b3d")
    everything = {action.name for action in blender.data.actions}
    assert {"fox", "walk", "wave"} < everything
    frames = blender.data.actions["walk"].frame_range[:]
    for options, names in (
        ({"animations": "TIMELINE"}, {"fox"}),
        ({"animations": "PARTS"}, everything - {"fox"}),
        ({"animations": "CHOSEN", "animation_names": "wa*"}, {"walk", "wave"}),
        ({"animations": "CHOSEN", "animation_names": "Walk, nothing"}, {"walk"}),
        ({"use_animation": False}, set()),
    ):
        rig = opened(blender, "fox.b3d", **options)
        assert {action.name for action in blender.data.actions} == names, options
        assert (rig.animation_data is not None and rig.animation_data.action is not None) == bool(names)
    opened(blender, "fox.b3d", animations="CHOSEN", animation_names="walk")
    assert blender.data.actions["walk"].frame_range[:] == frames
    opened(blender, "fox.b3d", animations="CHOSEN", animation_names="fly")
    assert '"fly"' in blender.data.texts[0].as_string() and '"walk"' in blender.data.texts[0].as_string()


def test_normals_can_be_ignored(blender: Any) -> None:
    opened(blender, "fox.b3d")
    assert any(mesh.has_custom_normals for mesh in blender.data.meshes)
    opened(blender, "fox.b3d", use_normals="NONE")
    assert not any(mesh.has_custom_normals for mesh in blender.data.meshes)
