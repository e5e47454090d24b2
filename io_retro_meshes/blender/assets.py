# SPDX-License-Identifier: GPL-3.0-or-later
"""Models as assets: collections that the Asset Browser lists, each with a picture, and whole libraries of them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..atomic import read_regular, write_atomically
from ..formats import AnyFormat
from ..pictures.render import render
from ..scene import Scene

SIDE = 256  # pixels of a preview, as Blender's own have
CATALOGS = "blender_assets.cats.txt"  # Blender's name for the list of catalogs beside a library
HEADER = "# This is an Asset Catalog Definition file for Blender.\n\nVERSION 1\n\n"
SPACE = uuid.UUID("6c1b8b0e-54f3-5b52-9d4e-0f6a3c1f7a10")  # that the numbers of catalogs are made in


def mark(collection: Any, format: AnyFormat, scene: Scene, path: Path, folders: Sequence[Path] = (), catalog: str = "") -> None:
    """Makes a model's collection an asset, with a picture of it as the engine first shows it."""
    collection.asset_mark()
    about = collection.asset_data
    about.description = f"{path.name} ({format.label})"
    about.tags.new(format.label, skip_if_exists=True)
    if catalog:
        about.catalog_id = str(uuid.uuid5(SPACE, catalog))
    pixels = render(scene, path.parent, folders, SIDE)
    if pixels is None:
        return
    preview = collection.preview_ensure()
    preview.image_size = (SIDE, SIDE)
    preview.image_pixels_float.foreach_set(pixels.astype(np.float32).reshape(-1) / 255)


def save_library(target: Path, catalogs: Sequence[str]) -> None:
    """Writes what is open as a library, textures inside, and lists its catalogs beside it."""
    bpy.ops.file.pack_all()
    bpy.ops.wm.save_as_mainfile(filepath=str(target), compress=True, copy=True, relative_remap=False)
    _list_catalogs(target.parent / CATALOGS, catalogs)


def _list_catalogs(path: Path, catalogs: Sequence[str]) -> None:
    """Adds to the list what it does not have: other libraries of the folder are in it, too."""
    text = read_regular(path).decode("utf-8") if path.exists() else HEADER
    known = {line.split(":")[0] for line in text.splitlines()}
    lines = [f"{uuid.uuid5(SPACE, name)}:{name}:{name.replace('/', '-')}" for name in dict.fromkeys(catalogs) if name]
    new = [line for line in lines if line.split(":")[0] not in known]
    if new:
        write_atomically(path, (text.rstrip("\n") + "\n" + "\n".join(new) + "\n").encode())
