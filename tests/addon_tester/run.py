# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs blender-addon-tester on our zip, for `build.py test --addon-tester REVISION [--blender PATH]`.

    python -m tests.addon_tester.run ARCHIVE REVISION CACHE [--blender PATH] [-- PYTEST...]

It downloads the Blender of that revision into CACHE; with --blender its runner is given that one instead.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from pathlib import Path

from blender_addon_tester import run_blender

HERE = Path(__file__).resolve().parent


def folder_of(blender: Path, scratch: Path) -> Path:
    """The folder in which the runner finds a Blender: it looks for a file of one name only."""
    if sys.platform == "darwin":
        return blender.parent.parent
    name = "blender.exe" if os.name == "nt" else "blender"
    if blender.name != name:
        (scratch / name).symlink_to(blender)
        return scratch
    return blender.parent


def main(arguments: list[str]) -> int:
    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser()
    parser.add_argument("archive")
    parser.add_argument("revision")
    parser.add_argument("cache")
    parser.add_argument("--blender", type=Path)
    options = parser.parse_args(arguments[:split])
    config = {"blender_load_tests_script": str(HERE / "load.py"), "tests": str(HERE.parent / "blender")}
    if arguments[split + 1 :]:
        config["pytest_args"] = shlex.join(arguments[split + 1 :])
    os.environ["BLENDER_CACHE"] = options.cache
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["BLENDER_USER_RESOURCES"] = str(Path(scratch) / "user")
        if options.blender:
            folder = folder_of(options.blender.absolute(), Path(scratch))
            run_blender.get_blender_from_suffix = lambda revision: str(folder)
        return int(run_blender.run_blender_version_for_addon_with_pytest_suite(options.archive, options.revision, config))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
