# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversions to glTF without Blender, beside Assimp's of the same files and Blender's own export of the same mesh."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import bpy

from io_retro_meshes.convert import convert
from tests.conftest import ROOT, corpus_files

from .meshes import grid
from .timing import Report, best

ASSIMP_LIMIT = 1.5  # times that of `assimp export` in a loop over the same files
SINGLE_LIMIT = 0.35  # seconds for one small file, with the start of Python
LARGE_LIMIT = 0.3  # times that of Blender's glTF export
MEMORY_LIMIT = 4.0  # sizes of the file

# How much more memory than before it a conversion has needed at most, in bytes. Linux says it; the high-water mark that
# getrusage gives is also that of the process that started this one.
PEAK = """
import sys
from pathlib import Path
from io_retro_meshes.convert import convert

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])

convert(Path(sys.argv[1]), Path(sys.argv[3]))  # a small one, so that all that is loaded is there
before = peak()
convert(Path(sys.argv[2]), Path(sys.argv[3]))
print(peak() - before)
"""


def measure(report: Report, folder: Path) -> None:
    beside_assimp(report, folder)
    fox, target = ROOT / "examples" / "fox.b3d", folder / "fox.glb"
    command = [sys.executable, "-m", "io_retro_meshes", "convert", str(fox), "-o", str(target)]
    single = best(lambda: subprocess.run(command, cwd=ROOT, check=True, capture_output=True))
    report.line("fox.b3d to .glb", single, None, SINGLE_LIMIT)
    grid()
    large = folder / "field.b3d"
    bpy.ops.export_scene.b3d(filepath=str(large))
    theirs = best(lambda: bpy.ops.export_scene.gltf(filepath=str(folder / "theirs.glb")))
    report.line("Blender's own .glb", theirs)
    ours = best(lambda: convert(large, folder / "ours.glb"))
    report.line("field.b3d to .glb", ours, ours / theirs, LARGE_LIMIT, "x Blender's")
    if not Path("/proc/self/status").exists():
        return
    asked = [sys.executable, "-c", PEAK, str(fox), str(large), str(target)]
    more = int(subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    report.line("    memory", ours, more / large.stat().st_size, MEMORY_LIMIT, "x the file")


def beside_assimp(report: Report, folder: Path) -> None:
    """Once each, as a modder would: the files are many enough. A file that crashes Assimp counts with its time."""
    assimp, files = shutil.which("assimp"), corpus_files("b3d", "*.b3d")
    if assimp is None or not files:
        print("no Assimp, or no corpus: not compared")
        return
    convert(files[0], folder / "first.glb")  # what Python loads once
    start = time.perf_counter()
    for number, path in enumerate(files):
        convert(path, folder / f"{number}.glb")
    ours = time.perf_counter() - start
    start = time.perf_counter()
    failed = 0
    for number, path in enumerate(files):
        done = subprocess.run([assimp, "export", str(path), str(folder / f"{number}_.glb")], capture_output=True)
        failed += done.returncode != 0
    theirs = time.perf_counter() - start
    report.line(f"assimp, {len(files)} files", theirs)
    print(f"    not converted: {failed}")
    report.line(f"{len(files)} .b3d to .glb", ours, ours / theirs, ASSIMP_LIMIT, "x Assimp's")
