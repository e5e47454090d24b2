# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests share: the folder of real files, an empty Blender, and an end that does not hang."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("RETRO_CORPUS") or ROOT.parent / "shared" / "corpus")


def corpus_files(folder: str, *patterns: str) -> list[Path]:
    """The real files of a format, none where the corpus is not there. For `pytest.mark.parametrize`."""
    return sorted(path for pattern in patterns for path in (CORPUS / folder).rglob(pattern) if path.is_file())


def pytest_make_parametrize_id(val: object) -> str | None:
    return val.name if isinstance(val, Path) else None


def bpy_command(script: Path | str, *arguments: object) -> list[str]:
    """Runs a script in another Blender like the one the tests are in: a Python with bpy, or a Blender."""
    bpy = sys.modules.get("bpy")
    if bpy is not None and bpy.app.binary_path:
        start = [bpy.app.binary_path, "-b", "--factory-startup", "--python", str(script), "--"]
    else:
        start = [sys.executable, str(script)]
    return [*start, *map(str, arguments)]


@contextlib.contextmanager
def lease(path: Path) -> Iterator[Path]:
    """A file that others wait for when they open it, for 45 seconds or until this is left. Only Linux has such leases."""
    import fcntl  # not on Windows

    path.touch()
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)  # sent when somebody opens it
    descriptor = os.open(path, os.O_RDWR)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        yield path
    finally:
        os.close(descriptor)
        signal.signal(signal.SIGIO, before)


@pytest.fixture
def corpus() -> Path:
    if not CORPUS.is_dir():
        pytest.skip("no corpus: set RETRO_CORPUS to a folder of real files")
    return CORPUS


@pytest.fixture(scope="session")
def addon() -> Iterator[Any]:
    """The add-on, registered."""
    import io_retro_meshes

    io_retro_meshes.register()
    yield io_retro_meshes
    io_retro_meshes.unregister()


@pytest.fixture
def blender(addon: Any) -> Any:
    """bpy with the add-on registered and nothing in the file."""
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return bpy


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    session.config.stash[_EXIT] = session


_EXIT = pytest.StashKey[pytest.Session]()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Blender's module can wait for ever when the interpreter ends: do not let it come to that."""
    session = config.stash.get(_EXIT, None)
    if session is not None and "bpy" in sys.modules:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(session.exitstatus))
