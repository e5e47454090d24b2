# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters that are alike, actions that are copies, faces that change their material: each edit arrives where it was made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import saturn
from io_retro_meshes.formats.saturn.document import Document
from tests.builders import saturn as made
from tests.builders import saturn_packed as later


def brought_in(bpy: Any, path: Path, data: bytes) -> bytes:
    path.write_bytes(data)
    assert bpy.ops.import_scene.saturn(filepath=str(path)) == {"FINISHED"}
    return data


def exported(bpy: Any, path: Path) -> bytes:
    assert bpy.ops.export_scene.saturn(filepath=str(path)) == {"FINISHED"}
    return path.read_bytes()


def log(bpy: Any) -> str:
    return str(bpy.data.texts["Retro Meshes Log"].as_string())


@pytest.mark.parametrize("times", [1, 2])
def test_twins_keep_to_themselves(blender: Any, tmp_path: Path, times: int) -> None:
    """The same character three times in a file, or that file twice in a scene."""
    data = b""
    for _ in range(times):
        data += brought_in(blender, tmp_path / "twins.bin", saturn.write(Document([later.fighter(1)] * 3)))
    assert exported(blender, tmp_path / "out.bin") == data
    bone = next(o for o in blender.data.objects if o.type == "ARMATURE" and o.retro_saturn.character == 1).pose.bones[1]
    blender.context.scene.frame_set(6)
    bone.location.x += 0.25
    bone.keyframe_insert("location", frame=6)
    size = len(data) // (3 * times)
    again = exported(blender, tmp_path / "out.bin")
    assert sum(again[at : at + size] != data[at : at + size] for at in range(0, len(data), size)) == 1


def test_two_files_with_an_x8an_file_each(blender: Any, tmp_path: Path) -> None:
    """The file of both has all animations of both beside it."""
    more = [made.more_animations(2), made.more_animations(2)]
    more[1].segments[0].bones[2].rotation.values[1] = (0, 11585, 0, 11585)
    for name, segments in zip("ab", more, strict=True):
        (tmp_path / f"{name}_an.bin").write_bytes(saturn.write(segments))
        brought_in(blender, tmp_path / f"{name}.bin", saturn.write(made.puppet(2)))
    data = exported(blender, tmp_path / "both.bin")
    assert data == saturn.write(made.puppet(2)) * 2
    found = saturn.read((tmp_path / "both_an.bin").read_bytes()).segments
    known = [*more[0].segments, *more[1].segments]
    assert len(found) == 4
    for segment, other in zip(found, known, strict=True):
        assert (segment.bones[2].rotation.values == other.bones[2].rotation.values).all()


def test_a_face_with_another_material(blender: Any, tmp_path: Path) -> None:
    """It looks like that in the file, but for what somebody has set on the face itself."""
    path = tmp_path / "fighter.bin"
    data = brought_in(blender, path, saturn.write(Document([later.fighter()])))
    mesh = blender.data.objects["fighter_body"].data
    names = [material.name for material in mesh.materials]
    ways = {"fighter atlas double": (1, 0), "fighter atlas mesh half": (0, 0x103), "fighter flat": (0, 0)}
    before = saturn.read(data).characters[0].model.lists[0][0].attributes[0]
    for name, (flag, bits) in ways.items():
        mesh.polygons[0].material_index = names.index(name)
        row = saturn.read(exported(blender, path)).characters[0].model.lists[0][0].attributes[0]
        assert (row["flag"] & 1, row["atrb"] & 0x103) == (flag, bits), name
        assert row["atrb"] & ~0x107 == before["atrb"] & ~0x107
        assert (row["dir"] & 15 == 4) == (name == "fighter flat")
    mesh.polygons[0].material_index = names.index("fighter atlas")
    assert exported(blender, path) == data
    mesh.attributes["atrb"].data[0].value |= 0x100
    assert saturn.read(exported(blender, path)).characters[0].model.lists[0][0].attributes[0]["atrb"] & 0x100


def test_new_names_and_copies(blender: Any, tmp_path: Path) -> None:
    path = tmp_path / "fighter.bin"
    brought_in(blender, path, saturn.write(Document([later.fighter()])))
    actions = blender.data.actions
    copy = actions["magic"].copy()
    copy.name, copy.use_fake_user = "death", True
    actions["idle"].name = "guard (block)"
    actions["item"].name = "Potion"
    definitions = saturn.read(exported(blender, path)).characters[0].animation.definitions
    assert [each.name for each in definitions] == ["block", "counter", "attack", "magic", "item", "death"]
    for words in ('"guard (block)" is written as block', '"Potion" is written as item', '"death" is written as death'):
        assert words in log(blender)


@pytest.mark.parametrize("images", ["ATLAS", "EACH"])
def test_textures_without_pixels_stay(blender: Any, tmp_path: Path, images: str) -> None:
    character = later.fighter(1)
    character.textures.definitions["cgadr"][1] = 0x7000  # far outside
    character.textures.definitions["height"][0] = 0
    path = tmp_path / "empty.bin"
    path.write_bytes(saturn.write(Document([character])))
    data = path.read_bytes()
    blender.ops.import_scene.saturn(filepath=str(path), images=images)
    assert exported(blender, tmp_path / "out.bin") == data
    if images == "EACH":
        image = next(image for image in blender.data.images if image.name.startswith("empty texture"))
        image.pixels.foreach_set(np.array([1, 0, 0, 1], np.float32))
        image.update()
        with pytest.raises(RuntimeError, match="another image"):
            blender.ops.export_scene.saturn(filepath=str(tmp_path / "out.bin"))
