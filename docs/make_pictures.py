# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders the pictures of the examples for these pages, all or those that are named, in any Python with bpy:

    python docs/make_pictures.py [NAME.png...]

Those of Blender's window are taken by make_window_pictures.py, those of Luanti by make_luanti_pictures.py.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by its path

from examples.make_knight import packed
from io_retro_meshes.formats import saturn

DOCS = Path(__file__).resolve().parent
EXAMPLES = DOCS.parent / "examples"

PICTURES = {
    "fox.png": ("fox.b3d", "--frames 1 62 95 --size 1200 504"),
    "robot.png": ("robot.bo3d", "--frames 1 7 37"),
    "lighthouse.png": ("lighthouse.bgl", "--own --frames 8"),
    "flower.png": ("flower.dbo", "--frames 12 36 60 66 --size 1200 560"),
    "knight.png": ("knight.bin", "--frames 1 70 96 104"),
    "knight_attack.png": ("packed.bin", "--action attack --frames 1 13 21 30 --size 1200 504"),
}


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        knight = Path(folder) / "packed.bin"
        knight.write_bytes(saturn.write(saturn.from_scene(packed(), saturn.ExportOptions(external="PACKED"))))
        for name in names or PICTURES:
            model, options = PICTURES[name]
            source = knight if model == knight.name else EXAMPLES / model
            command = [sys.executable, DOCS / "make_picture.py", source, DOCS / name, *options.split()]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
