# SPDX-License-Identifier: GPL-3.0-or-later
"""From a path to a scene and back, with the files that belong to a model. Used in Blender and without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import formats
from .atomic import commit, read_regular, write_atomically
from .formats import AnyFormat, FormatError
from .formats.options import ExportOptions, ImportOptions
from .scene import Scene
from .scene.choosing import choose_animations, merged

SNIFFED = 1 << 16  # bytes of a file that are looked at to tell its format


def format_of(path: Path) -> AnyFormat:
    """By what is in the file; by its name only where the bytes say nothing."""
    found = formats.sniff(read_regular(path, SNIFFED)) or formats.by_extension(path.suffix)
    if found is None:
        raise FormatError("not a file of a known format", file=path.name)
    return found


def read_document(format: AnyFormat, path: Path, companion: bool = False) -> Any:
    data = read_regular(path)
    try:
        return format.read_companion(path, data) if companion else format.read(data)
    except FormatError as error:
        error.file = path.name
        raise


@np.errstate(all="ignore")  # numbers that got out of hand are dealt with as values
def load_scene(format: AnyFormat, path: Path, options: ImportOptions) -> Scene:
    """The scene of a file and of those that belong to it."""
    document = read_document(format, path)
    beside, warnings = _read_beside(format, format.companions(path, document, options))
    scene = format.to_scene(document, options, beside)
    scene.warnings += warnings
    if options.use_normals == "NONE":
        for mesh in scene.meshes:
            mesh.normals = None
    if options.merge_vertices:
        scene.meshes = [merged(mesh) for mesh in scene.meshes]
    choose_animations(scene, options.animations, options.animation_names)
    return scene


def _read_beside(format: AnyFormat, paths: list[Path]) -> tuple[list[Any], list[str]]:
    """Documents that belong to another; those that cannot be read do not keep that one from being imported."""
    documents, warnings = [], []
    for path in paths:
        try:
            documents.append(read_document(format, path, companion=True))
        except FormatError as error:
            documents += [] if error.partial is None else [error.partial]
            state = "was left out" if error.partial is None else "is damaged"
            warnings.append(f"The file beside the model {state}: {error}")
        except OSError as error:
            warnings.append(f"The file beside the model was left out: {error}")
    return documents, warnings


@np.errstate(all="ignore")
def file_contents(
    format: AnyFormat, path: Path, scene: Scene, options: ExportOptions
) -> tuple[list[tuple[Path, bytes]], list[str]]:
    """What to write for a scene that is prepared for the format, the model last, and the warnings about it."""
    document = format.from_scene(scene, options)
    files = [*format.companion_files(path, document), (path, format.write(document))]
    return files, [*scene.warnings, *(warning for warning in document.warnings if warning not in scene.warnings)]


def save_scene(
    format: AnyFormat, path: Path, scene: Scene, options: ExportOptions, copy_pictures: Callable[[], list[str]]
) -> list[str]:
    """Writes a scene that is prepared for the format, then its pictures, and returns all warnings there are by then."""
    files, warnings = file_contents(format, path, scene, options)
    with commit():  # what belongs together is written to the end, even if the program is to stop
        for target, data in files:
            if target.parent != path.parent:  # a folder beside the file; that of the file itself must be there
                target.parent.mkdir(exist_ok=True)
            write_atomically(target, data)
        copied = copy_pictures()
    return [*warnings, *copied]
