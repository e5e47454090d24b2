# SPDX-License-Identifier: GPL-3.0-or-later
"""How much longer Blender takes to start with the add-on."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.conftest import ROOT, bpy_command

from .timing import ROUNDS, Report

LIMIT = 0.03  # seconds of the processor

# Python would sort out Blender's own objects sometime: they are frozen, so that it is not the add-on that pays for it.
SCRIPT = """
import gc, os, sys, time
import bpy
sys.path.insert(0, sys.argv[-1])
gc.freeze()
start = time.process_time()
import io_retro_meshes
io_retro_meshes.register()
print("seconds:", time.process_time() - start, flush=True)
os._exit(0)
"""


def measure(report: Report, folder: Path) -> None:
    """The best of several fresh processes; the first one compiles."""
    script = folder / "startup.py"
    script.write_text(SCRIPT, "utf-8")
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    times = []
    for _ in range(ROUNDS + 1):
        done = subprocess.run(bpy_command(script, ROOT), capture_output=True, text=True, env=environment, check=True)
        times.append(float(done.stdout.split("seconds:")[1].split()[0]))
    report.line("register", min(times[1:]), None, LIMIT)
