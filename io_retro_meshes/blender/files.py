# SPDX-License-Identifier: GPL-3.0-or-later
"""From a path to Blender data and back: what the operators and the command line call."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..formats import Format, FormatError
from .build import BuildOptions, build
from .collect import CollectOptions, collect
from .collect.textures import place_textures


def read_document(format: Format, path: Path) -> Any:
    try:
        return format.module.read(path.read_bytes())
    except FormatError as error:
        error.file = path.name
        raise


@np.errstate(all="ignore")  # numbers that got out of hand are dealt with as values
def import_file(context: bpy.types.Context, format: Format, path: Path, **options: Any) -> list[str]:
    """Imports a file into the active collection and returns the warnings."""
    module = format.module
    document = read_document(format, path)
    import_options = module.ImportOptions(**_of(module.ImportOptions, {"name": path.stem, **options}))
    if hasattr(module, "companions"):
        beside, bad = _read_beside(format, module.companions(path, document, import_options))
        scene = module.to_scene(document, import_options, beside)
        scene.warnings += bad
    else:
        scene = module.to_scene(document, import_options)
    built = build(context, scene, path, BuildOptions(**_of(BuildOptions, options)))
    return built.warnings


def _read_beside(format: Format, paths: list[Path]) -> tuple[list[Any], list[str]]:
    """Documents that belong to another; those that cannot be read do not keep that one from being imported."""
    documents, warnings = [], []
    for path in paths:
        try:
            documents.append(read_document(format, path))
        except FormatError as error:
            warnings.append(f"The file beside the model was left out: {error}")
    return documents, warnings


@np.errstate(all="ignore")
def export_file(context: bpy.types.Context, format: Format, path: Path, **options: Any) -> list[str]:
    """Exports the scene, or the part the options say, and returns the warnings. The scene stays as it was."""
    module = format.module
    collect_options = CollectOptions(**_of(CollectOptions, options))
    scene, pictures = collect(context, collect_options, module)
    copies = place_textures(scene, pictures, path.parent, collect_options.textures, module)
    document = module.from_scene(scene, module.ExportOptions(**_of(module.ExportOptions, options)))
    made = [(path, module.write(document))]
    if hasattr(module, "companion_files"):
        made = [*module.companion_files(path, document), *made]
    for target, data in made:
        write_atomically(target, data)
    for copy in copies:
        copy()
    return [*scene.warnings, *(warning for warning in document.warnings if warning not in scene.warnings)]


def _of(kind: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options that a dataclass of options knows."""
    known = {field.name for field in fields(kind)}
    return {key: value for key, value in options.items() if key in known}


def write_atomically(path: Path, data: bytes) -> None:
    """The file is either the old one or the new one, whatever happens in between."""
    path = Path(os.path.realpath(path))  # a link stays a link
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    handle, name = tempfile.mkstemp(prefix=".export-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
