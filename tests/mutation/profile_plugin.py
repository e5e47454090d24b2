# SPDX-License-Identifier: GPL-3.0-or-later
"""A pytest plugin: which functions of the package each test calls, and how long it takes.

`pytest -p tests.mutation.profile_plugin` writes a JSON file to the path that RETRO_PROFILE names: test to seconds,
functions, a function as file:line, and whether it starts other processes, in which nothing is seen. The test "" is what
runs before all tests, when modules are loaded and tests are collected.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

PACKAGE = str(Path(__file__).resolve().parents[2] / "io_retro_meshes") + os.sep

tests: dict[str, dict[str, Any]] = {}
called: set[CodeType] = set()


def note(frame: FrameType, event: str, argument: object) -> None:
    if event == "call":
        called.add(frame.f_code)


def start() -> None:
    called.clear()
    threading.setprofile(note)
    sys.setprofile(note)


def stop(name: str, seconds: float) -> None:
    sys.setprofile(None)
    threading.setprofile(None)
    ours = (code for code in called if code.co_filename.startswith(PACKAGE))
    functions = {f"{code.co_filename[len(PACKAGE) :].replace(os.sep, '/')}:{code.co_firstlineno}" for code in ours}
    tests[name] = {
        "seconds": seconds,
        "functions": sorted(functions),
        "processes": subprocess.Popen.__init__.__code__ in called,
    }


def pytest_configure() -> None:
    """Loads the whole package now: a module that a test is the first to need would seem to be that test's alone."""
    start()
    import io_retro_meshes

    for module in pkgutil.walk_packages(io_retro_meshes.__path__, "io_retro_meshes.", onerror=lambda name: None):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # bpy is not everywhere
                importlib.import_module(module.name)


def pytest_collection_finish() -> None:
    stop("", 0.0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    before = time.monotonic()
    start()
    try:
        return (yield)
    finally:
        stop(item.nodeid, time.monotonic() - before)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    Path(os.environ["RETRO_PROFILE"]).write_text(json.dumps(tests), "utf-8")
