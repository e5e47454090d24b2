# SPDX-License-Identifier: GPL-3.0-or-later
"""Battle characters as people mod them: through Blender and back, byte for byte but for what was edited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import saturn
from io_retro_meshes.formats.saturn.document import CHUNK_ENTRY, SECTOR, Document
from tests.builders import saturn as made
from tests.builders import saturn_packed as later
from tests.builders.posing import shown
from tests.conftest import CORPUS, corpus_files
from tests.engines import saturn_bytes as engine

FILES = [p for p in corpus_files("saturn", "*.bin") if p.parent == CORPUS / "saturn" and not p.stem.endswith("_an")]


def changed(data: bytes, other: bytes) -> list[int]:
    """Which chunks differ, by the headers; nothing else may."""
    assert len(data) == len(other)
    entries = np.frombuffer(data, CHUNK_ENTRY, 10).tolist()
    entries = entries[: next(index for index, entry in enumerate(entries) if entry[0] in (0, 0xFFFFFFFF))]
    rooms = [(a[0], min([b[0] for b in entries if b[0] > a[0]], default=len(data))) for a in entries]
    assert data[0x200:SECTOR] == other[0x200:SECTOR]
    return [index for index, (start, end) in enumerate(rooms) if data[start:end] != other[start:end]]


def play(bpy: Any, rig: Any, name: str) -> Any:
    action = bpy.data.actions[name]
    rig.animation_data.action = action
    if hasattr(action, "slots"):
        rig.animation_data.action_slot = action.slots[0]
    return action


@pytest.mark.parametrize("way", [{}, {"parts": "EACH", "images": "EACH"}], ids=["one", "each"])
@pytest.mark.parametrize("path", [*FILES, None], ids=lambda path: path.name if path else "party")
def test_untouched(blender: Any, tmp_path: Path, path: Path | None, way: dict[str, str]) -> None:
    data = path.read_bytes() if path else later.party()
    source, target = tmp_path / "in.bin", tmp_path / "out.bin"
    source.write_bytes(data)
    blender.ops.import_scene.saturn(filepath=str(source), **way)
    assert blender.ops.export_scene.saturn(filepath=str(target)) == {"FINISHED"}
    assert target.read_bytes() == data
    blender.ops.wm.save_as_mainfile(filepath=str(tmp_path / "kept.blend"))
    blender.ops.wm.open_mainfile(filepath=str(tmp_path / "kept.blend"))
    assert blender.ops.export_scene.saturn(filepath=str(target)) == {"FINISHED"}
    assert target.read_bytes() == data


def fighter(bpy: Any, folder: Path) -> tuple[Path, bytes, Any]:
    path = folder / "fighter.bin"
    data = saturn.write(Document([later.fighter()]))
    path.write_bytes(data)
    assert bpy.ops.import_scene.saturn(filepath=str(path)) == {"FINISHED"}
    return path, data, bpy.data.objects["fighter"]


def test_packed_attacks_play_as_on_the_console(blender: Any, tmp_path: Path) -> None:
    _, data, rig = fighter(blender, tmp_path)
    drawn = engine.Character(data)
    for number, name in enumerate(("attack", "magic", "item")):
        action = play(blender, rig, name)
        first, last = action.frame_range
        assert (first, last) == (40 + 30 * number, 60 + 30 * number)
        assert ("shield 16", first + 3) in [(marker.name, marker.frame) for marker in action.pose_markers]
        for frame in np.linspace(first, last, 11):
            points = shown(blender, float(frame))["fighter_body"]
            assert np.abs(points - np.concatenate(drawn.pose(frame, number))).max() < 1e-3


def test_an_edited_packed_attack(blender: Any, tmp_path: Path) -> None:
    from mathutils import Quaternion

    path, data, rig = fighter(blender, tmp_path)
    timeline = rig.animation_data.action, getattr(rig.animation_data, "action_slot", None)
    play(blender, rig, "magic")
    blender.context.scene.frame_set(77)
    bone = rig.pose.bones["bone_02"]
    bone.rotation_quaternion = Quaternion((0, 0, 1), 0.5) @ bone.rotation_quaternion
    bone.keyframe_insert("rotation_quaternion", frame=77)
    wanted = {frame: shown(blender, frame)["fighter_body"] for frame in range(70, 91)}
    rig.animation_data.action = timeline[0]
    if timeline[1] is not None:
        rig.animation_data.action_slot = timeline[1]
    assert blender.ops.export_scene.saturn(filepath=str(path)) == {"FINISHED"}
    assert changed(data, path.read_bytes()) == [5]
    drawn = engine.Character(path.read_bytes())
    for frame, points in wanted.items():
        assert np.abs(points - np.concatenate(drawn.pose(frame, 1))).max() < 4e-3


@pytest.mark.parametrize(("name", "frame"), [("idle", 4), ("special 1", 50), ("type_81", 80)])
def test_an_edited_action_arrives_where_it_lives(blender: Any, tmp_path: Path, name: str, frame: int) -> None:
    """A part of the timeline, or one from the x8an file: edited on its own, exported with the timeline assigned again."""
    from mathutils import Quaternion

    path, beside = tmp_path / "x8pc00a.bin", tmp_path / "x8an00.bin"
    path.write_bytes(saturn.write(made.puppet(2)))
    beside.write_bytes(saturn.write(made.more_animations(4)))
    before = path.read_bytes(), beside.read_bytes()
    assert blender.ops.import_scene.saturn(filepath=str(path)) == {"FINISHED"}
    rig = blender.data.objects["x8pc00a"]
    blender.ops.object.retro_play_animation(action=name)
    first, last = blender.data.actions[name].frame_range
    blender.context.scene.frame_set(frame)
    bone = rig.pose.bones["bone_02"]
    bone.rotation_quaternion = Quaternion((0, 1, 0), 0.6) @ bone.rotation_quaternion
    bone.keyframe_insert("rotation_quaternion", frame=frame)
    wanted = {frame: shown(blender, frame)["x8pc00a_body"] for frame in range(int(first), int(last) + 1)}
    blender.ops.object.retro_whole_timeline()
    assert blender.ops.export_scene.saturn(filepath=str(path)) == {"FINISHED"}
    data, more = path.read_bytes(), beside.read_bytes()
    place = {"idle": -1, "special 1": 0, "type_81": 1}[name]
    assert changed(before[0], data) == ([3] if place < 0 else [])
    parts = [[each[start : start + SECTOR] for start in range(0, SECTOR * 4, SECTOR)] for each in (before[1], more)]
    assert [a != b for a, b in zip(*parts, strict=True)] == [place == number for number in range(4)]
    segment = parts[1][place] if place >= 0 else b""
    drawn = engine.Character(data)
    for at, points in wanted.items():
        assert np.abs(points - np.concatenate(drawn.pose(at, segment=segment))).max() < 4e-3, at


def log(bpy: Any) -> str:
    return str(bpy.data.texts["Retro Meshes Log"].as_string())


def test_what_is_hidden_is_named(blender: Any, tmp_path: Path) -> None:
    path, data, _ = fighter(blender, tmp_path)
    blender.data.objects["fighter_weapon"].hide_set(True)
    assert blender.ops.export_scene.saturn(filepath=str(path)) == {"FINISHED"}
    assert '"fighter" is written without the whole weapon' in log(blender)
    assert changed(data, path.read_bytes()) == [2]
    assert blender.ops.export_scene.saturn(filepath=str(path), use_visible=False) == {"FINISHED"}
    assert path.read_bytes() == data


def test_an_import_without_textures_keeps_them(blender: Any, tmp_path: Path) -> None:
    path = tmp_path / "fighter.bin"
    data = saturn.write(Document([later.fighter()]))
    path.write_bytes(data)
    blender.ops.import_scene.saturn(filepath=str(path), use_textures=False)
    assert blender.ops.export_scene.saturn(filepath=str(path)) == {"FINISHED"}
    assert path.read_bytes() == data and "keep the textures" in log(blender)


def test_the_budget_is_measured(blender: Any, tmp_path: Path) -> None:
    fighter(blender, tmp_path)
    assert blender.ops.scene.retro_measure(format="saturn") == {"FINISHED"}
    lines = [(line.what, line.used, line.most) for line in blender.context.window_manager.retro_budget]
    assert lines == [
        ("polygons", 18, 507),
        ("textures", 2, 154),
        ("bytes of textures", 160, 116736),
        ("bytes in the file", 0x4000, 0x2B800),
    ]
    blender.ops.mesh.primitive_grid_add(x_subdivisions=25, y_subdivisions=25)
    grid = blender.context.object
    grid.parent, grid.parent_type, grid.parent_bone = blender.data.objects["fighter"], "BONE", "bone_01"
    assert blender.ops.export_scene.saturn(filepath=str(tmp_path / "large.bin")) == {"FINISHED"}
    assert "The character has 643 polygons: those of the game have at most 507" in log(blender)


def test_an_edited_timeline(blender: Any, tmp_path: Path) -> None:
    path, data, rig = fighter(blender, tmp_path)
    blender.context.scene.frame_set(15)
    bone = rig.pose.bones["bone_01"]
    bone.location.x += 0.5
    bone.keyframe_insert("location", frame=15)
    wanted = {frame: shown(blender, frame)["fighter_body"] for frame in range(1, 22)}
    assert blender.ops.export_scene.saturn(filepath=str(path)) == {"FINISHED"}
    assert changed(data, path.read_bytes()) == [3]
    drawn = engine.Character(path.read_bytes())
    for frame, points in wanted.items():
        assert np.abs(points - np.concatenate(drawn.pose(frame))).max() < 4e-3


def test_a_painted_atlas(blender: Any, tmp_path: Path) -> None:
    path, data, _ = fighter(blender, tmp_path)
    image = blender.data.images["fighter atlas"]
    pixels = np.empty(image.size[0] * image.size[1] * 4, np.float32)
    image.pixels.foreach_get(pixels)
    rows = pixels.reshape(-1, 4)
    rows[(rows * 255).round().astype(int)[:, 2] > 0] = (0, 0, 1, 1)
    image.pixels.foreach_set(pixels)
    image.update()
    assert blender.ops.export_scene.saturn(filepath=str(path)) == {"FINISHED"}
    assert changed(data, path.read_bytes()) == [1]
    blue = saturn.read(path.read_bytes()).characters[0].textures.memory == 0xFC00
    assert blue.sum() == (saturn.read(data).characters[0].textures.memory & 0x7C00 != 0).sum()


def test_moved_and_turned(blender: Any, tmp_path: Path) -> None:
    path, data, _ = fighter(blender, tmp_path)
    mesh = blender.data.objects["fighter_body"].data
    fronts = np.concatenate([part.polygons["normal"] for part in saturn.read(data).characters[0].model.lists[0]])
    normals = np.array([face.normal for face in mesh.polygons])
    assert (np.einsum("ij,ij->i", normals, fronts[:, [0, 2, 1]] * (1, 1, -1)) > 0).all()
    mesh.vertices[0].co.z += 0.25
    blender.data.objects["tag_chest"].location.y += 0.5
    assert blender.ops.export_scene.saturn(filepath=str(path)) == {"FINISHED"}
    assert changed(data, path.read_bytes()) == [2]
    before, after = (saturn.read(each).characters[0].model for each in (data, path.read_bytes()))
    assert before.lists[0][1].polygons.tobytes() == after.lists[0][1].polygons.tobytes()
    tags = [[command for command in model.skeleton if command.numbers] for model in (before, after)]
    assert [a.numbers == b.numbers for a, b in zip(*tags, strict=True)] == [True, False]


def test_a_damaged_companion_is_still_of_use(blender: Any, tmp_path: Path) -> None:
    path, beside = tmp_path / "x8pc00a.bin", tmp_path / "x8an00.bin"
    path.write_bytes(saturn.write(made.puppet(2)))
    data = bytearray(saturn.write(made.more_animations(2)))
    data[SECTOR : SECTOR + 4] = b"\0\xff\0\0"
    beside.write_bytes(data)
    assert blender.ops.import_scene.saturn(filepath=str(path)) == {"FINISHED"}
    assert "special 1" in blender.data.actions and "special 2" not in blender.data.actions
    assert "x8an00.bin" in blender.data.texts["Retro Meshes Log"].as_string()
    old = path.read_bytes()
    assert blender.ops.export_scene.saturn(filepath=str(path)) == {"FINISHED"}
    assert path.read_bytes() == old and beside.read_bytes() == bytes(data)
    with pytest.raises(RuntimeError, match="gone"):
        blender.ops.import_scene.saturn(filepath=str(path), animation_file=str(tmp_path / "gone"))


def test_two_files_become_one(blender: Any, tmp_path: Path) -> None:
    """Characters of several files in a scene: one file with all of them, each with its own animations."""
    first, second = saturn.write(Document([later.fighter(1)])), saturn.write(Document([later.fighter(2)]))
    for name, data in (("a", first), ("b", second)):
        (tmp_path / f"{name}.bin").write_bytes(data)
        blender.ops.import_scene.saturn(filepath=str(tmp_path / f"{name}.bin"))
    assert blender.ops.export_scene.saturn(filepath=str(tmp_path / "both.bin")) == {"FINISHED"}
    data = (tmp_path / "both.bin").read_bytes()
    document = saturn.read(data)
    assert [len(character.extra) for character in document.characters] == [1, 2] and not document.warnings
    size = len(data) // 2
    assert data[: len(first)] == first and data[size : size + len(second)] == second


def test_too_much_is_refused_before_the_work(blender: Any, tmp_path: Path) -> None:
    blender.ops.mesh.primitive_grid_add(x_subdivisions=200, y_subdivisions=200)
    blender.context.object.name = "Terrain"
    blender.context.object.keyframe_insert("location", frame=1)
    blender.context.object.keyframe_insert("location", frame=100_000)
    with pytest.raises(RuntimeError, match=r'"Terrain" alone 40000.*Decimate'):
        blender.ops.export_scene.saturn(filepath=str(tmp_path / "terrain.bin"))
