# SPDX-License-Identifier: GPL-3.0-or-later
"""A small picture of a model for the report."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..pictures import png
from ..pictures.render import render
from ..scene import Scene
from .kinds import format_of


def thumbnail(source: Path, target: Path, texture_folders: Sequence[str] = ()) -> str:
    """A PNG in base64 of the result, or of the source where only Blender can read the result; else nothing."""
    for path in (target, source):
        try:
            with np.errstate(all="ignore"):
                scene = _read(path)
                pixels = None if scene is None else render(scene, path.parent, [Path(folder) for folder in texture_folders])
        except (OSError, ValueError, ArithmeticError, IndexError, MemoryError):  # no picture is no reason to fail
            continue
        if pixels is not None:
            return base64.b64encode(png.encode(pixels)).decode("ascii")
    return ""


def _read(path: Path) -> Scene | None:
    reader = format_of(path)
    return None if reader is None else reader.to_scene(reader.read(path.read_bytes()))
