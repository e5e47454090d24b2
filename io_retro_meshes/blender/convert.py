# SPDX-License-Identifier: GPL-3.0-or-later
"""One file into another, through Blender: our formats on one side or on both, Blender's own on the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

from ..atomic import folder_beside, move_into_place
from ..formats import FORMATS, AnyFormat
from ..formats.options import split
from . import files, foreign, properties
from .flatten import flatten

Options = dict[str, Any]


def prepare() -> None:
    """Has Blender know our settings."""
    properties.register()


def convert(source: Path, reader: AnyFormat | None, target: Path, to: str, options: Options) -> list[str]:
    """Makes `target` out of `source`, which is of the format `reader` or, without one, one of Blender's.

    Returns the warnings; raises OSError, FormatError or RuntimeError.
    """
    prepare()
    writer = None if to in foreign.OUTPUTS else FORMATS[to]
    kinds = (None if reader is None else reader.ImportOptions, None if writer is None else writer.ExportOptions)
    importing, exporting = split(options, *kinds)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    if reader is not None:
        warnings = files.import_file(bpy.context, reader, source, **importing)
    else:
        foreign.INPUTS[source.suffix.lower()](str(source))
        warnings = []
    target.parent.mkdir(parents=True, exist_ok=True)
    if writer is not None:
        return warnings + files.export_file(bpy.context, writer, target, **exporting)
    lost = foreign.losses(to)
    if to in foreign.FLAT:
        lost += flatten()
    _export_whole(target, foreign.OUTPUTS[to])
    return warnings + lost


def _export_whole(target: Path, export: Callable[[str], object]) -> None:
    """Lets Blender write into a folder of its own, and moves what it made into place when all of it is there."""
    with folder_beside(target) as made:
        export(str(made / target.name))
        move_into_place(made, target)
