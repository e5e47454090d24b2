# SPDX-License-Identifier: GPL-3.0-or-later
"""From a path to Blender data and back: what the operators and the command line call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..files import load_scene, save_scene
from ..formats import AnyFormat
from ..formats.options import make
from ..pictures.place import place_textures
from . import properties
from .build import build
from .collect import collect
from .collect.images import BlenderPicture


@np.errstate(all="ignore")  # numbers that got out of hand are dealt with as values
def import_file(context: bpy.types.Context, format: AnyFormat, path: Path, **options: Any) -> list[str]:
    """Imports a file into the active collection and returns the warnings."""
    chosen = make(format.ImportOptions, {"name": path.stem, **options})
    scene = load_scene(format, path, chosen)
    properties.mark(scene, format)
    built = build(context, scene, path, chosen)
    return built.warnings


@np.errstate(all="ignore")
def export_file(context: bpy.types.Context, format: AnyFormat, path: Path, **options: Any) -> list[str]:
    """Exports the scene, or the part the options say, and returns the warnings. The scene stays as it was."""
    chosen = make(format.ExportOptions, options)
    scene, images = collect(context, chosen, format)
    pictures = [BlenderPicture(image) for image in images]
    return save_scene(format, path, scene, chosen, place_textures(scene, pictures, path, chosen.textures, format))
