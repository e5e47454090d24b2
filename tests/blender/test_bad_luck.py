# SPDX-License-Identifier: GPL-3.0-or-later
"""What is beside a model, what its names are after, and what goes wrong half way: Blender and the user's files stay whole."""

from __future__ import annotations

import os
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import FORMATS, MENU_FORMATS
from io_retro_meshes.pictures import png
from tests.builders.hostile import HOSTILE, PIXELS, surroundings, textured, touched
from tests.conftest import ROOT

LOG = "Retro Meshes Log"
NAMES = [name for name in HOSTILE if "\ud800" not in name]


def log_of(bpy: Any) -> str:
    text = bpy.data.texts.get(LOG)
    return text.as_string() if text else ""


def bomb() -> bytes:
    """The head of a picture that would fill 1.6 GB."""
    header = b"IHDR" + struct.pack(">IIBBBBB", 20000, 20000, 8, 6, 0, 0, 0)
    return png.MAGIC + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header)) + png.encode(PIXELS)[33:]


def put(path: Path, data: bytes) -> None:
    """Where this system can have a file of that name."""
    try:
        with path.open("xb") as stream:
            stream.write(data)
    except (OSError, ValueError):
        pass


# ----------------------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize("source", MENU_FORMATS)
def test_nothing_outside_is_read_or_written(blender: Any, tmp_path: Path, source: str) -> None:
    """A table of hostile names, imported from each format and exported to all of them."""
    inside = tmp_path / "in"
    inside.mkdir()
    for number, name in enumerate(dict.fromkeys(name for name in NAMES if "/" not in name)):
        put(inside / name, png.encode(np.full((8, 8, 4), number, np.uint8)))
    for name in ("up.png", "passwd", "evil.png", "outside.png"):
        (tmp_path / name).write_bytes(png.encode(PIXELS))
    os.remove(inside / "link.png")
    os.symlink(tmp_path / "outside.png", inside / "link.png")
    path = inside / f"hostile.model{FORMATS[source].extensions[0]}"
    path.write_bytes(textured(NAMES, source))
    before = {format_id: surroundings(tmp_path / f"out {format_id}") for format_id in MENU_FORMATS}
    with touched() as (read, written):
        assert getattr(blender.ops.import_scene, source)(filepath=str(path)) == {"FINISHED"}
        for entry in MENU_FORMATS.values():
            folder = tmp_path / f"out {entry.id}"
            getattr(blender.ops.export_scene, entry.id)(filepath=str(folder / f"model{entry.extensions[0]}"), textures="COPY")
    for format_id, kept in before.items():
        folder = tmp_path / f"out {format_id}"
        assert {name: (folder / name).read_bytes() for name in kept} == kept and (folder / "link.png").is_symlink()
    roots = [inside, *(tmp_path / f"out {format_id}" for format_id in MENU_FORMATS)]
    for name in [*written, *(name for name in read if Path(name).is_relative_to(tmp_path))]:
        assert any(Path(name).resolve().is_relative_to(root) for root in roots), name
    assert not any(Path(name).is_relative_to("/etc") for name in read)
    for image in blender.data.images:
        shown = Path(blender.path.abspath(image.filepath or str(inside / "none")))
        assert shown.resolve().is_relative_to(inside), image.filepath
    outside = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert outside == {"up.png", "passwd", "evil.png", "outside.png"}


# -------------------------------------------------------------------------------------------------------------- pictures


def test_pictures_that_are_not_to_be_loaded(blender: Any, tmp_path: Path) -> None:
    """Each is a warning, and nothing in Blender leads to it; the others arrive."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "bomb.png").write_bytes(bomb())
    (folder / "cut.png").write_bytes(png.encode(PIXELS)[:40])
    (folder / "text.png").write_text("no picture")
    (folder / "empty.png").write_bytes(b"")
    (folder / "good.png").write_bytes(png.encode(PIXELS))
    os.mkfifo(folder / "pipe.png")
    (folder / "folder.png").mkdir()
    (tmp_path / "secret.png").write_bytes(png.encode(PIXELS))
    os.symlink(tmp_path / "secret.png", folder / "link.png")
    os.symlink("loop.png", folder / "loop.png")
    names = ["bomb.png", "cut.png", "text.png", "empty.png", "good.png", "pipe.png", "folder.png", "link.png", "loop.png"]
    (folder / "m.b3d").write_bytes(textured(names))
    assert blender.ops.import_scene.b3d(filepath=str(folder / "m.b3d")) == {"FINISHED"}
    log = log_of(blender)
    assert all(name in log for name in names if name != "good.png") and "good.png" not in log
    assert "20000 x 20000" in log
    loaded = {Path(image.filepath).name: tuple(image.size) for image in blender.data.images if image.filepath}
    assert loaded["good.png"] == (2, 2)
    assert not {"bomb.png", "link.png", "pipe.png", "folder.png", "loop.png"} & set(loaded), "Blender would follow them"


# ------------------------------------------------------------------------------------------------------- failures half way


def blocks(bpy: Any) -> dict[str, int]:
    """How many data blocks of every kind there are."""
    kinds = [each.identifier for each in bpy.data.bl_rna.properties if each.type == "COLLECTION"]
    return {kind: len(getattr(bpy.data, kind)) for kind in kinds}


class Failing:
    """Raises an error at the n-th call of a function of the part of the add-on that makes Blender data."""

    def __init__(self, at: int) -> None:
        self.left = at
        self.count = 0

    def __call__(self, frame: Any, event: str, argument: Any) -> None:
        if event == "call" and f"{os.sep}blender{os.sep}build" in frame.f_code.co_filename:
            self.count += 1
            if self.count == self.left:
                sys.setprofile(None)
                raise MemoryError("there is no more")

    def run(self, operator: Any, path: Path) -> bool:
        """Did it fail?"""
        sys.setprofile(self)
        try:
            operator(filepath=str(path))
        except (RuntimeError, MemoryError):
            return True
        finally:
            sys.setprofile(None)
        return False


@pytest.mark.parametrize("name", ["fox.b3d", "robot.bo3d", "lighthouse.bgl", "flower.dbo", "knight.bin"])
def test_a_failed_import_leaves_nothing(blender: Any, name: str) -> None:
    """Wherever it fails: at forty places from the first call to the last."""
    path = ROOT / "examples" / name
    operator = getattr(blender.ops.import_scene, next(e.id for e in MENU_FORMATS.values() if path.suffix in e.extensions))
    whole = Failing(-1)
    assert not whole.run(operator, path) and whole.count > 20
    blender.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    before = blocks(blender)
    for at in np.unique(np.geomspace(1, whole.count, 40).astype(int)).tolist():
        assert Failing(at).run(operator, path), at
        assert blocks(blender) == before, at
        assert blender.context.mode == "OBJECT"
    assert operator(filepath=str(path)) == {"FINISHED"}


def test_a_hundred_thousand_warnings_can_be_read(blender: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from io_retro_meshes.blender import files

    load = files.load_scene

    def warned(*arguments: Any) -> Any:
        scene = load(*arguments)
        scene.warnings += [f"Face {number} has no area." for number in range(100_000)] + ["Another."] * 12 + ["Once."]
        return scene

    monkeypatch.setattr(files, "load_scene", warned)
    blender.ops.import_scene.b3d(filepath=str(ROOT / "examples" / "fox.b3d"))
    lines = [line.strip() for line in log_of(blender).splitlines()]
    assert "and 99,997 more like these" in lines and "[12x] Another." in lines and "Once." in lines and len(lines) < 20


# ------------------------------------------------------------------------------------------------------------- exporting


@pytest.mark.parametrize("format_id", MENU_FORMATS)
def test_where_no_model_can_be_written(blender: Any, tmp_path: Path, format_id: str) -> None:
    """A message, not a traceback, and nothing is left."""
    blender.ops.import_scene.b3d(filepath=str(ROOT / "examples" / "fox.b3d"), use_animation=False)
    extension = FORMATS[format_id].extensions[0]
    os.mkfifo(tmp_path / f"pipe{extension}")
    (tmp_path / f"folder{extension}").mkdir()
    export = getattr(blender.ops.export_scene, format_id)
    names = [f"pipe{extension}", f"folder{extension}", "x" * 300 + extension, "missing/m" + extension, "x" * 5000]
    for name in names:
        with pytest.raises(RuntimeError) as caught:
            export(filepath=str(tmp_path / name), check_existing=False)
        assert "Traceback" not in str(caught.value), name
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"folder{extension}", f"pipe{extension}"]


def test_textures_with_names_of_any_length(blender: Any, tmp_path: Path) -> None:
    """Whatever the file called them, or a user calls the image, an export goes on and says what it wrote."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "m.b3d").write_bytes(textured(["x" * 5000 + ".png", "y" * 300, "z" * 255]))
    blender.ops.import_scene.b3d(filepath=str(tmp_path / "in" / "m.b3d"))
    for image in blender.data.images:
        image.filepath = ""
        image.source = "GENERATED"
        image.generated_width = image.generated_height = 8  # that a Saturn takes
    for format_id, entry in MENU_FORMATS.items():
        (tmp_path / format_id).mkdir()
        for mode in ("COPY", "RELATIVE", "BASENAME"):
            target = tmp_path / format_id / f"{mode}{entry.extensions[0]}"
            assert getattr(blender.ops.export_scene, format_id)(filepath=str(target), textures=mode) == {"FINISHED"}
            assert entry.read(target.read_bytes())
