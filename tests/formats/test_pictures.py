# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures beside models: decoded, masked, and written where nothing else is."""

from __future__ import annotations

import io
import os
import shutil
import struct
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from io_retro_meshes import atomic
from io_retro_meshes.convert import convert
from io_retro_meshes.formats import FORMATS, b3d
from io_retro_meshes.formats.b3d import document as doc
from io_retro_meshes.pictures import decode, kinds, png, sizes
from io_retro_meshes.pictures.names import LONGEST, key, safe_name
from io_retro_meshes.pictures.write import Shelf
from tests.builders.hostile import HOSTILE, PIXELS, surroundings, textured, touched

# ----------------------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_safe_everywhere(name: str) -> None:
    made = safe_name(name, (".png",))
    stem, extension = os.path.splitext(made)
    assert extension.lower() == ".png" and stem == stem.strip(" .") and len(made.encode()) <= LONGEST
    assert made.isprintable() and not set('<>:"/\\|?*') & set(made)
    assert stem.split(".")[0].lower() not in {"con", "nul", "aux", "com1", "lpt¹", "conin$"}
    assert safe_name(made, (".png",)) == made


@pytest.mark.parametrize("extension", [extension for entry in FORMATS.values() for extension in entry.extensions])
def test_nothing_is_written_outside_or_over_anything(extension: str, tmp_path: Path) -> None:
    to = next(entry.id for entry in FORMATS.values() if extension in entry.extensions)
    embeds = FORMATS[to].embeds and extension != ".gltf"
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    names = list(dict.fromkeys(name for name in HOSTILE if "/" not in name and "\ud800" not in name))
    for number, name in enumerate(names):  # a different picture under every name that this system can hold
        pixels = np.full((8, 8, 4), number, np.uint8)
        with open_or_none(inside / name) as stream:
            if stream is not None:
                stream.write(png.encode(pixels))
    model = inside / "hostile.model.b3d"
    model.write_bytes(textured([name for name in HOSTILE if "\ud800" not in name]))
    before = surroundings(outside)
    target = outside / f"model{extension}"
    with touched() as (_, written):
        convert(model, target, options={"textures": "COPY"})
    assert all(Path(path).resolve().is_relative_to(outside) for path in written), written
    assert {name: (outside / name).read_bytes() for name in before} == before
    assert not (tmp_path / "outside.png").exists() and (outside / "link.png").is_symlink()
    made = {path.name for path in outside.rglob("*") if path.is_file() and not path.is_symlink()} - set(before)
    made -= {target.name, "model.bin"}
    assert len({key(name) for name in made}) == len(made) >= (0 if embeds else 20)
    assert all(Path(name).suffix.lower() == ".png" for name in made)


@contextmanager
def open_or_none(path: Path) -> Iterator[io.BufferedWriter | None]:
    try:
        stream = path.open("xb")
    except (OSError, ValueError):
        yield None
        return
    with stream:
        yield stream


def test_the_model_refers_to_the_new_names(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "wall.bmp").write_bytes(png.encode(PIXELS))  # a PNG under another name
    (tmp_path / "out" / "wall.png").write_bytes(png.encode(255 - PIXELS))
    (tmp_path / "in" / "m.b3d").write_bytes(textured(["wall.bmp"]))
    for _ in range(2):  # the second time the very picture is there
        assert convert(tmp_path / "in" / "m.b3d", tmp_path / "out" / "m.b3d") == []
        (image,) = b3d.to_scene(b3d.read((tmp_path / "out" / "m.b3d").read_bytes())).images
        assert image.name == "wall_1.png"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["m.b3d", "wall.png", "wall_1.png"]


def test_equal_pictures_share_a_name_and_what_is_no_picture_stays(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "model.b3d")
    first, second = png.encode(PIXELS), png.encode(255 - PIXELS)
    names = [
        shelf.place(name, data) for name, data in (("a.png", first), ("A.png", first), ("a.png", second), ("model", first))
    ]
    assert names == ["a.png", "a.png", "a_1.png", "model.png"] and shelf.write() == [] and shelf.write() == []
    assert (tmp_path / "a_1.png").read_bytes() == second
    (tmp_path / "link.png").symlink_to(tmp_path / "a.png")
    shelf = Shelf(tmp_path / "model.png")  # as if a model could be called that
    assert [shelf.place(name, first) for name in ("link.png", "MODEL.png", "model.png")] == [
        "link_1.png",
        "MODEL_1.png",
        "MODEL_1.png",
    ]
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    (tmp_path / "m.b3d").write_bytes(textured(["notes.txt", "gone.png"]))
    (tmp_path / "notes.txt").write_text("not a picture")
    warnings = convert(tmp_path / "m.b3d", tmp_path / "out" / "m.dbo")
    assert any("it is no picture" in warning and "notes.txt" in warning for warning in warnings)
    assert any("Images not found: gone.png" in warning for warning in warnings)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["m.dbo"]


def test_a_folder_for_textures_that_leads_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "wall.png").write_bytes(png.encode(PIXELS))
    (tmp_path / "m.b3d").write_bytes(textured(["wall.png"]))
    for folder in ("elsewhere", "out"):
        (tmp_path / folder).mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "out" / "textures")
    warnings = convert(tmp_path / "m.b3d", tmp_path / "out" / "m.bgl")
    assert any("textures were not copied" in warning for warning in warnings)
    assert not list((tmp_path / "elsewhere").iterdir())


# ---------------------------------------------------------------------------------------------------------------- models


def test_models_are_only_written_over_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for bad in (tmp_path, tmp_path / "fifo"):
        with pytest.raises(OSError):
            atomic.write_atomically(bad, b"data")
    target = tmp_path / "model"
    target.write_bytes(b"old")
    target.chmod(0o640)
    (tmp_path / "link").symlink_to(target)
    atomic.write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink() and target.read_bytes() == b"new" and target.stat().st_mode & 0o777 == 0o640
    with pytest.raises(OSError):
        atomic.write_atomically(tmp_path / ("x" * 300), b"data")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fifo", "link", "model"]


def test_what_was_left_half_written_is_swept(tmp_path: Path) -> None:
    dead, mine = (tmp_path / f"{atomic.PREFIX}{atomic.HOST}-{process}-{'0' * 16}" for process in (2**22 + 1, os.getpid()))
    old, other = (tmp_path / f"{atomic.PREFIX}{'f' * 8}-1-{digit * 16}" for digit in "12")
    for path in (dead, mine, old, other, tmp_path / f"{atomic.PREFIX}notes"):
        path.write_bytes(b"")
    os.utime(old, (0, 0))
    atomic.write_atomically(tmp_path / "model", b"data")
    assert {path.name for path in tmp_path.iterdir()} == {mine.name, other.name, f"{atomic.PREFIX}notes", "model"}


# -------------------------------------------------------------------------------------------------------------- decoding


def encoded(kind: str, pixels: np.ndarray, mode: str = "RGB") -> bytes:
    pillow = pytest.importorskip("PIL.Image")
    stream = io.BytesIO()
    pillow.fromarray(np.ascontiguousarray(pixels[::-1])).convert(mode).save(stream, kind)
    return stream.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "TGA", "BMP", "PCX", "DDS", "GIF", "TIFF", "WEBP"])
def test_pictures_of_every_kind(kind: str) -> None:
    data = encoded(kind, PIXELS)
    if kind != "WEBP":  # which is not exact
        assert (decode.decode(data) == PIXELS).all()
    assert f".{kind.lower()}".replace("tiff", "tif") in kinds.extensions(data)


LARGE_HEADS = {  # of pictures of 20,000 x 10,000, of which there is no more
    "webp": b"RIFF\0\0\0\0WEBPVP8X\n\0\0\0\0\0\0\0" + (19999).to_bytes(3, "little") + (9999).to_bytes(3, "little"),
    "hdr": b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 10000 +X 20000\n",
    "exr": b"\x76\x2f\x31\x01\2\0\0\0dataWindow\0box2i\0\x10\0\0\0" + struct.pack("<4i", 0, 0, 19999, 9999),
    "jp2": b"\0\0\0\x0cjP  \r\n\x87\n\0\0\0\x16ihdr" + struct.pack(">II", 10000, 20000),
    "tif": b"II*\0"
    + struct.pack("<I", 300_000)
    + bytes(299_992)
    + struct.pack("<HHHIIHHII", 2, 256, 3, 1, 20000, 257, 4, 1, 10000),
}


@pytest.mark.parametrize("kind", LARGE_HEADS)
def test_large_pictures_of_every_kind_are_known_by_their_heads(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"large.{kind}"
    for data in (LARGE_HEADS[kind], LARGE_HEADS[kind][:20]):
        path.write_bytes(data)
        assert ("20000 x 10000" in sizes.trouble(path)) == (data is LARGE_HEADS[kind])
    if kind in ("webp", "tif", "jp2"):
        path.write_bytes(encoded({"tif": "TIFF", "jp2": "JPEG2000"}.get(kind, "WEBP"), np.zeros((21, 37, 4), np.uint8)))
        with path.open("rb") as stream:
            assert sizes.size(sizes._with_tags(stream, stream.read())) == (37, 21)


def test_bad_pictures_and_large_ones() -> None:
    pytest.importorskip("PIL")
    header = b"IHDR" + struct.pack(">IIBBBBB", 20000, 20000, 8, 6, 0, 0, 0)
    bomb = png.MAGIC + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header)) + png.encode(PIXELS)[33:]
    for data, words in ((bomb, "megapixels"), (png.encode(PIXELS)[:40], "cannot be decoded"), (b"", "cannot be decoded")):
        with pytest.raises(decode.PictureError, match=words):
            decode.decode(data)
    grey = encoded("PNG", np.arange(4, dtype=np.uint16).reshape(2, 2) * 21845, "I;16")
    assert (decode.decode(grey)[..., 0] == [[0, 85], [170, 255]]).all()


def masked(flags: int, data: bytes, extension: str, folder: Path) -> Path:
    """A .b3d with a texture of these flags."""
    brush = doc.Brush(b"brush", np.ones(4, "<f4"), 0.0, 1, 0, np.array([0], "<i4"))
    texture = doc.Texture(f"leaf{extension}".encode(), flags, 2, np.zeros(2, "<f4"), np.ones(2, "<f4"), 0.0)
    scene = b3d.to_scene(b3d.read(textured(["leaf.png"])))
    document = b3d.from_scene(scene)
    for chunk in document.chunks:
        if isinstance(chunk, doc.Textures):
            chunk.textures = [texture]
        elif isinstance(chunk, doc.Brushes):
            chunk.brushes[0] = brush
    (folder / f"leaf{extension}").write_bytes(data)
    (folder / "m.b3d").write_bytes(b3d.write(document))
    return folder / "m.b3d"


@pytest.mark.parametrize(
    ("flags", "kind", "alpha"),
    [
        (1 | 4, "BMP", [[0, 255], [255, 255]]),  # masked
        (1 | 4, "DDS", [[255, 255], [255, 255]]),  # has an alpha of its own
        (1 | 2, "BMP", [[0, 85], [30, 20]]),  # the mean of the colours
        (1 | 2, "PNG", [[255, 255], [255, 255]]),  # has an alpha of its own
        (1, "BMP", [[255, 255], [255, 255]]),
    ],
)
def test_alpha_that_the_engine_makes_is_in_the_copy(flags: int, kind: str, alpha: list[list[int]], tmp_path: Path) -> None:
    data = encoded(kind, PIXELS, "RGBA" if kind in ("PNG", "DDS") else "RGB")
    source = masked(flags, data, f".{kind.lower()}", tmp_path)
    convert(source, tmp_path / "out" / "m.dbo")
    (copy,) = [path for path in (tmp_path / "out").iterdir() if path.suffix != ".dbo"]
    pixels = decode.decode(copy.read_bytes())
    assert (pixels[..., 3] == alpha).all() and (pixels[..., :3] == PIXELS[..., :3]).all()
    assert (copy.read_bytes() == data) == (np.array(alpha) == 255).all(), "what need not change stays as it is"
    convert(source, tmp_path / "again" / "m.b3d")  # whose engine makes the alpha itself
    assert (tmp_path / "again" / source.with_name(f"leaf.{kind.lower()}").name).read_bytes() == data


def test_without_pillow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = masked(1 | 4, encoded("BMP", PIXELS), ".bmp", tmp_path)
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    warnings = convert(source, tmp_path / "out" / "m.dbo")
    assert any("Pillow is needed" in warning for warning in warnings) and (tmp_path / "out" / "leaf.bmp").is_file()
    assert convert(source, tmp_path / "again" / "m.b3d") == [], "a plain copy needs nothing"
