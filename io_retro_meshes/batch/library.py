# SPDX-License-Identifier: GPL-3.0-or-later
"""`assets`: an asset library for Blender out of files and folders, a model an asset, a folder a catalog."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..formats import AnyFormat, FormatError
from .job import UsageError
from .kinds import format_of
from .slot import CannotStart, command


def make_library(inputs: Sequence[str], output: str, texture_folders: Sequence[str], arguments: Sequence[str]) -> int:
    """0, or 1 when a file could not be read. Without Blender at hand, one that is installed does it."""
    target = Path(output).absolute()
    if target.suffix.lower() != ".blend":
        raise UsageError(f"an asset library is a .blend file, not {target.name}")
    if importlib.util.find_spec("bpy") is None:
        try:
            return subprocess.run([*command(True), "assets", *arguments], env={**os.environ}).returncode
        except CannotStart as error:
            raise UsageError(str(error)) from None
    models = list(find(inputs))
    if not models:
        raise UsageError("there is no model in these folders")
    return _fill(models, target, [Path(folder).absolute() for folder in texture_folders])


def find(inputs: Sequence[str]) -> Iterator[tuple[Path, AnyFormat, str]]:
    """Every model with its format and its catalog: the folder it is in, seen from the one that was given."""
    for name in inputs:
        given = Path(name)
        if not given.exists():
            raise UsageError(f"there is no {name}")
        for path in sorted(given.rglob("*")) if given.is_dir() else [given]:
            if path.is_file() and (found := format_of(path)) is not None and found.in_menus:
                inner = path.parent.relative_to(given).as_posix() if given.is_dir() else "."
                yield path, found, "" if inner == "." else inner


def _fill(models: Sequence[tuple[Path, AnyFormat, str]], target: Path, folders: Sequence[Path]) -> int:
    import bpy

    from ..blender import assets, convert, files

    convert.prepare()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    options = {"use_collection": "ALWAYS", "placement": "ROW", "use_assets": True}
    batch = files.Batch(bpy.context, options, len(models), folders)
    failed = 0
    for path, kind, catalog in models:
        batch.catalog = catalog
        told = len(batch.warnings)
        try:
            batch.add(kind, path)
        except (FormatError, OSError) as error:
            failed += 1
            print(f"FAILED: {error}")
            continue
        print("\n    warning: ".join([batch.lines[-1], *batch.warnings[told:]]), flush=True)
    if batch.lines:
        target.parent.mkdir(parents=True, exist_ok=True)
        assets.save_library(target, [catalog for _, _, catalog in models])
        print(f"{target.name}: {len(batch.lines):,} assets")
    return 1 if failed else 0
