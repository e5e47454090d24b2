# SPDX-License-Identifier: GPL-3.0-or-later
"""Times beside those of Blender's own importers and exporters in the same run.

    python3 build.py bench                  prints them
    python3 build.py bench --only meshes    only these (a name in SECTIONS; may be given more than once)
    python3 build.py bench --check          fails when one is over its limit
    python3 build.py bench --profile        says where the time of a large mesh goes as well

Absolute times mean little between machines; the limits are ratios. Each section is a file in this folder.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # Blender runs this file by its path

import io_retro_meshes
from tests.bench import batch, conversions, exports, meshes, reading, saturn, scaling, small, startup
from tests.bench.timing import ROUNDS, Report

SECTIONS = {
    "meshes": meshes.measure,
    "small": small.measure,
    "reading": reading.measure,
    "saturn": saturn.measure,
    "batch": batch.measure,
    "exports": exports.measure,
    "scaling": scaling.measure,
    "startup": startup.measure,
    "conversions": conversions.measure,
}


def main() -> int:
    given = sys.argv[sys.argv.index("--") + 1 :] if bpy.app.binary_path and "--" in sys.argv else sys.argv[1:]
    parser = argparse.ArgumentParser(prog="build.py bench")
    parser.add_argument("--only", action="append", choices=SECTIONS, help="this section only")
    parser.add_argument("--check", action="store_true", help="fail when a limit is missed")
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    arguments = parser.parse_args(given)
    io_retro_meshes.register()
    report = Report()
    print(f"Blender {bpy.app.version_string}, best of {ROUNDS}")
    for name in arguments.only or SECTIONS:
        with tempfile.TemporaryDirectory() as folder:
            SECTIONS[name](report, Path(folder))
    if arguments.profile:
        with tempfile.TemporaryDirectory() as folder:
            meshes.profile(Path(folder))
    if report.missed:
        print(f"Over the limit: {', '.join(report.missed)}")
    return 1 if report.missed and arguments.check else 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
