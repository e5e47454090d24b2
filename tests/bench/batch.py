# SPDX-License-Identifier: GPL-3.0-or-later
"""Many files without Blender: what a second worker brings, and whether memory grows with the number of files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from .timing import Report

ROOT = Path(__file__).resolve().parents[2]
MODELS = ("fox.b3d", "robot.bo3d", "lighthouse.bgl", "flower.dbo")
FILES = 2000
BOTH = 1 / 1.8  # of the time of one worker that two may take
GROWTH = 1.25  # of the most memory a worker held in the first tenth of the files


def measure(report: Report, folder: Path) -> None:
    sources = folder / "models"
    sources.mkdir()
    for number in range(FILES):
        model = ROOT / "examples" / MODELS[number % len(MODELS)]
        shutil.copy(model, sources / f"{number:05}{model.suffix}")
    alone, _ = _run(sources, folder / "one", 1)
    both, caller = _run(sources, folder / "two", 2)
    report.line(f"{FILES} files, two workers", both, both / alone, BOTH, "x one")
    lines = [json.loads(line) for line in (folder / "two.jsonl").read_text().splitlines()]
    assert len(lines) == FILES and all(line["status"] == "converted" for line in lines)
    peaks = [line["peak_memory"] for line in lines]
    early, late = max(peaks[: FILES // 10]), max(peaks)
    print(
        f"memory: a worker {early / 1e6:.0f} MB, at most {late / 1e6:.0f} MB; the process that was called {caller / 1e6:.0f} MB"
    )
    report.line("memory, all to a tenth", both, late / early, GROWTH, "x")


def _run(sources: Path, out: Path, jobs: int) -> tuple[float, int]:
    """Seconds, and the most memory that the process which was called held, in bytes (0 where it is not known)."""
    script = str(ROOT / "io_retro_meshes" / "cli.py")
    words = ["convert", sources, "-o", out, "--to", "glb", "--jobs", jobs, "--report", f"{out}.jsonl", "--quiet"]
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, script, *map(str, words)], env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""})
    peak = [0]
    watcher = threading.Thread(target=_watch, args=(process, peak))
    watcher.start()
    assert process.wait() == 0
    seconds = time.perf_counter() - start
    watcher.join()
    return seconds, peak[0]


def _watch(process: subprocess.Popen[bytes], peak: list[int]) -> None:
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None and status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                peak[0] = 1024 * int(line.split()[1])
        time.sleep(0.2)
