# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of textures that are after something, models that have them, and what there is to be after."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from io_retro_meshes.formats import FORMATS
from io_retro_meshes.pictures import png
from io_retro_meshes.scene import Image, Layer, Material, Mesh, Node, Scene, TextureLayer, prepare

PIXELS = np.array([[[0, 0, 0, 255], [255, 0, 0, 255]], [[0, 90, 0, 255], [10, 20, 30, 255]]], np.uint8)

HOSTILE = [
    "main.py",
    "model.b3d",
    "model.dbo",
    "MODEL.B3D",
    "con",
    "CON.png",
    "nul.tga",
    "aux.foo.bmp",
    "com1.png",
    "LPT¹.png",
    "conin$.png",
    "a:b.png",
    "wood.png:stream",
    "C:\\Windows\\System32\\evil.png",
    "C:evil.png",
    "\\\\server\\share\\x.png",
    "../../up.png",
    "..\\..\\up.png",
    "../",
    "..",
    ".",
    "",
    " ",
    "/etc/passwd",
    "/etc/cron.d/x.png",
    "~/.bashrc",
    "~root/x.png",
    ".bashrc",
    ".png",
    "..png",
    "trailing.png.",
    "trailing.png ",
    "trailing. . .",
    "dots....png",
    "x" * 300 + ".png",
    "漢" * 200 + ".png",
    "x" * 252 + ".png",
    "new\nline.png",
    "tab\t.png",
    "bell\x07.png",
    "escape\x1b[31m.png",
    "del\x7f.png",
    "right\u202egnp.exe",
    "zero\u200bwidth.png",
    "half\ud800.png",
    "Leaf.png",
    "leaf.PNG",
    "LEAF.png",
    "caf\u00e9.png",
    "cafe\u0301.png",
    "stra\u00dfe.png",
    "STRASSE.png",
    "pipe|rm -rf.png",
    "quo'te\".png",
    "star*?.png",
    "<angle>.png",
    "$(reboot).png",
    "-rf.png",
    "photo.jpg",
    "really.bmp",
    "archive.tar.gz",
    "desktop.ini",
    "textures",
    "link.png",
    "fifo.png",
    "folder.png",
]


@contextmanager
def touched() -> Iterator[tuple[list[str], list[str]]]:
    """Every path that Python opens for reading meanwhile, and every one that is written, made, linked, renamed or removed."""
    read: list[str] = []
    written: list[str] = []
    events = {"os.rename": 2, "os.link": 2, "os.symlink": 2, "os.mkdir": 1, "os.remove": 1, "os.rmdir": 1, "os.truncate": 1}

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if not watching:
            return
        if event == "open" and isinstance(arguments[0], (str, bytes)):
            changes = arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            (written if changes else read).append(os.fsdecode(arguments[0]))
        elif event in events:
            written.extend(os.fsdecode(each) for each in arguments[: events[event]])

    watching = [True]
    sys.addaudithook(hook)
    try:
        yield read, written
    finally:
        watching.clear()


def textured(names: list[str], format_id: str = "b3d") -> bytes:
    """A model whose materials have these textures."""
    format = FORMATS[format_id]
    triangle = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    mesh = Mesh("mesh", triangle, np.array([0, 1, 2] * len(names), np.int32), materials=list(range(len(names))))
    mesh.face_materials = np.arange(len(names), dtype=np.int32)
    mesh.uvs = [Layer("UVMap", triangle[:, :2].copy())]
    materials = [Material(f"m{index}", layers=[TextureLayer(index)]) for index in range(len(names))]
    scene = Scene([Node("node", mesh=0)], [mesh], materials, [Image(name) for name in names])
    options = format.ExportOptions()
    return bytes(format.write(format.from_scene(prepare.prepare(scene, format, options), options)))


def surroundings(folder: Path) -> dict[str, bytes]:
    """Things that a texture's name may be after: none of them may change."""
    folder.mkdir()
    (folder / "main.py").write_text("print('mine')")
    (folder / "leaf.PNG").write_bytes(png.encode(255 - PIXELS))
    (folder / "photo.jpg").write_bytes(b"another picture")
    (folder / "folder.png").mkdir()
    os.mkfifo(folder / "fifo.png")
    os.symlink(folder.parent / "outside.png", folder / "link.png")
    return {name: (folder / name).read_bytes() for name in ("main.py", "leaf.PNG", "photo.jpg")}
