# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading one large file from disk into a document, without Blender: how fast, and with how much memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from io_retro_meshes.formats import b3d
from tests.builders.b3d import grid

from .timing import Report, best

SIDE = 1340  # squares along each side of the plane: 100 MB
A_SECOND = 500e6  # bytes to read
MEMORY = 1.2  # of the file's size, the file itself included


def measure(report: Report, folder: Path) -> None:
    model = folder / "large.b3d"
    model.write_bytes(b3d.write(grid(SIDE)))
    size = model.stat().st_size
    seconds = best(lambda: b3d.read(model.read_bytes()))
    report.line(f"read {size / 1e6:.0f} MB of .b3d", seconds, None, size / A_SECOND)
    tracemalloc.start()
    b3d.read(model.read_bytes())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    report.line("memory of that", seconds, peak / size, MEMORY, "x the file")
