# SPDX-License-Identifier: GPL-3.0-or-later
"""What only shows in special cases: rates with a fraction, names that changed, files that were there, imports that fail."""

from __future__ import annotations

import contextlib
import os
import stat
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes import cli
from io_retro_meshes.formats.b3d.document import Document
from tests.builders import b3d as made
from tests.builders.painted import painted
from tests.conftest import ROOT

bpy = pytest.importorskip("bpy")

from tests.builders.scenes import chunks, load, names, picture, saved, square, start_over, textures  # noqa: E402


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.b3d"


# --------------------------------------------------------------------------------------------------------------- frames


def moving(fps: float, *frames: int) -> Document:
    keys = made.keys(made.POSITION, *((frame, (frame, 0, 0)) for frame in frames))
    return Document(chunks=[made.Node(b"node", chunks=[made.Anim(0, frames[-1], fps), keys])])


@pytest.mark.parametrize("fps", [29.97, 23.976, 12.5, 60.0])
def test_a_rate_with_a_fraction(blender: Any, path: Path, fps: float) -> None:
    load(path, moving(fps, 1, 10))
    render = bpy.context.scene.render
    assert render.fps / render.fps_base == pytest.approx(fps, rel=1e-6)
    (anim,) = chunks(saved(path), b"ANIM")
    assert struct.unpack_from("<f", anim, 8)[0] == pytest.approx(fps, rel=1e-6)


def test_keys_before_frame_0_are_where_the_file_has_them(blender: Any, path: Path) -> None:
    load(path, moving(25, -6, 4))
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end) == (0, 4)
    for frame in (-6, -3, 4):
        scene.frame_set(frame)
        assert bpy.data.objects["node"].location.x == pytest.approx(frame, abs=1e-5)


# ---------------------------------------------------------------------------------------------------------------- names


def test_names_that_blender_numbered_and_those_that_people_changed(blender: Any, path: Path) -> None:
    document = Document(chunks=[made.Node(b"root", chunks=[made.Node(b"same") for _ in range(4)])])
    load(path, document)
    assert names(saved(path)) == ["root", "same", "same", "same", "same"]
    bpy.data.objects["same.001"].name = "other"
    bpy.data.objects["same.003"].name = "same but different"
    assert sorted(names(saved(path))) == ["other", "root", "same", "same", "same but different"]


def test_names_of_bones(blender: Any, path: Path) -> None:
    bones = [made.Node(b"bone", chunks=[made.weights((number, 1.0))]) for number in range(3)]
    body = made.Mesh(-1, [made.vertices(made.QUAD), made.triangles([0, 1, 2, 0, 2, 3])])
    load(path, Document(chunks=[made.Node(b"body", chunks=[body, *bones])]))
    assert names(saved(path)) == ["body", "bone", "bone", "bone"]
    bpy.data.armatures[0].bones["bone.002"].name = "tail"
    assert sorted(names(saved(path))) == ["body", "bone", "bone", "tail"]


def brushes() -> Document:
    """Two surfaces, with brushes of one name and colours of their own."""
    mesh = made.Mesh(-1, [made.vertices(made.QUAD), made.triangles([0, 1, 2], 0), made.triangles([0, 2, 3], 1)])
    pair = [made.Brush(b"wood", made.floats(1, shade, shade, 1), 0.0, 1, 0, np.zeros(1, "<i4") - 1) for shade in (0.5, 0.25)]
    return Document(chunks=[made.Brushes(1, pair), made.Node(b"node", chunks=[mesh])])


def brush_names(data: bytes) -> list[str]:
    (chunk,) = chunks(data, b"BRUS")
    (width,) = struct.unpack_from("<i", chunk)
    found, rest = [], chunk[4:]
    while rest:
        name, rest = rest.split(b"\0", 1)
        found.append(name.decode())
        rest = rest[28 + 4 * width :]
    return found


def test_names_of_materials(blender: Any, path: Path) -> None:
    load(path, brushes())
    assert brush_names(saved(path)) == ["wood", "wood"]
    bpy.data.materials["wood"].name = "wooden"
    bpy.data.materials["wood.001"].name = "stone"
    assert brush_names(saved(path)) == ["wooden", "stone"]


def test_names_that_blender_cut(blender: Any, path: Path) -> None:
    long = "Länge " * 20
    load(
        path,
        Document(
            chunks=[made.Node(b"root", chunks=[made.Node(name.encode("cp1252")) for name in (long, long, "a.001", "a.001")])]
        ),
    )
    assert names(saved(path)) == ["root", long, long, "a.001", "a.001"]


def test_names_of_textures(blender: Any, path: Path) -> None:
    """As the file had them while they are the same pictures; of another picture its own."""
    picture(path.with_name("cloth.png"), (1, 0, 0, 1))
    texture = made.Textures([made.Texture(b"C:\\Art\\CLOTH.bmp")])
    brush = made.Brushes(1, [made.Brush(b"cloth", texture_ids=np.array([0], "<i4"))])
    mesh = made.Mesh(0, [made.vertices(made.QUAD), made.triangles([0, 1, 2])])
    start_over()
    load(path, Document(chunks=[texture, brush, made.Node(b"node", chunks=[mesh])]))
    (image,) = bpy.data.images
    assert textures(saved(path))[0][0] == "CLOTH.bmp"
    image.name = "renamed"
    assert textures(saved(path))[0][0] == "CLOTH.bmp"
    picture(path.with_name("silk.png"), (0, 1, 0, 1))
    image.filepath = str(path.with_name("silk.png"))
    assert textures(saved(path))[0][0] == "silk.png"


# ---------------------------------------------------------------------------------------------------------------- files


@pytest.mark.skipif(sys.platform == "win32", reason="modes are of POSIX systems")
def test_modes_of_files(blender: Any, path: Path) -> None:
    square()
    mask = os.umask(0o027)
    try:
        saved(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        for mode in (0o600, 0o664, 0o755):
            path.chmod(mode)
            saved(path)
            assert stat.S_IMODE(path.stat().st_mode) == mode
    finally:
        os.umask(mask)


def test_inputs_of_one_name_have_outputs_of_their_own(
    blender: Any, addon: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """hero.b3d, hero.bo3d and hero.dbo: each converted, none over another."""
    from io_retro_meshes import formats

    models = tmp_path / "models"
    models.mkdir()
    scene = painted()
    counts = {"b3d": 18, "bo3d": 12, "dbo": 6}
    for format_id, count in counts.items():
        module = getattr(formats, format_id)
        mesh = scene.meshes[0]
        mesh.corners = mesh.corners[: 3 * count]
        (models / f"hero.{format_id}").write_bytes(module.write(module.from_scene(scene)))
    assert cli.main(["convert", str(models), "-o", str(tmp_path / "out"), "--to", "stl"]) == 0, capfd.readouterr().out
    results = sorted((tmp_path / "out").iterdir())
    assert len(results) == 3 and (tmp_path / "out" / "hero.stl") in results
    assert sorted(struct.unpack_from("<I", each.read_bytes(), 80)[0] for each in results) == sorted(counts.values())


# ------------------------------------------------------------------------------------------------------------ operators


class RETRO_OT_note(bpy.types.Operator):
    """Comes second in a macro: Blender runs it only when the first operator says that it finished."""

    bl_idname = "retro.note"
    bl_label = "Note"

    def execute(self, context: Any) -> set[str]:
        context.scene["noted"] = True
        return {"FINISHED"}


class RETRO_OT_then_note(bpy.types.Macro):
    bl_idname = "retro.then_note"
    bl_label = "Import, Then Note"


@pytest.fixture
def finishes(blender: Any) -> Any:
    """Whether an import says that it finished. Errors are reported either way, so that the result itself is not seen."""
    bpy.utils.register_class(RETRO_OT_note)
    bpy.utils.register_class(RETRO_OT_then_note)
    RETRO_OT_then_note.define("IMPORT_SCENE_OT_b3d")
    RETRO_OT_then_note.define("RETRO_OT_note")

    def run(folder: Path, *names: str) -> bool:
        bpy.context.scene.pop("noted", None)
        chosen = {"directory": str(folder), "files": [{"name": name} for name in names]}
        with contextlib.suppress(RuntimeError):
            bpy.ops.retro.then_note(IMPORT_SCENE_OT_b3d=chosen)
        return bool(bpy.context.scene.get("noted"))

    yield run
    bpy.utils.unregister_class(RETRO_OT_then_note)
    bpy.utils.unregister_class(RETRO_OT_note)


def test_an_import_is_finished_when_something_was_imported(finishes: Any, tmp_path: Path) -> None:
    (tmp_path / "good.b3d").write_bytes((ROOT / "examples" / "fox.b3d").read_bytes())
    (tmp_path / "bad.b3d").write_bytes(b"nonsense")
    assert finishes(tmp_path, "good.b3d")
    assert not finishes(tmp_path, "bad.b3d")
    assert not finishes(tmp_path, "bad.b3d", "absent.b3d")
    assert finishes(tmp_path, "bad.b3d", "good.b3d")
