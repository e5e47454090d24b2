# SPDX-License-Identifier: GPL-3.0-or-later
"""How the examples write what they made: models and pictures beside this file, or into another folder for a test."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from io_retro_meshes.formats import AnyFormat
from io_retro_meshes.pictures import png
from io_retro_meshes.scene import Scene

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
FOLDER = FOLDER if FOLDER.is_dir() else FOLDER.parent


def save_model(name: str, format: AnyFormat, scene: Scene, **options: Any) -> None:
    """Writes a scene; its warnings are about the example, and would be worth mending."""
    document = format.from_scene(scene, format.ExportOptions(**options))
    (FOLDER / name).write_bytes(format.write(document))
    print(name, *document.warnings, sep="\n    ")


def save_picture(name: str, pixels: npt.NDArray[np.uint8]) -> None:
    """Writes RGBA bytes, bottom row first."""
    path = FOLDER / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(png.encode(pixels))
