# SPDX-License-Identifier: GPL-3.0-or-later
"""Tries one file after the other: a line with a path on standard input, a line of JSON on standard output.

A process of its own, since what is tried may crash it or never come to an end.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import resource
import sys
import time
import tracemalloc
import traceback
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np  # noqa: E402

from io_retro_meshes.formats import FORMATS, FormatError, sniff  # noqa: E402
from io_retro_meshes.sound import sound  # noqa: E402

# What a reader may take: a part that is always there, and one for each byte of the file.
SECONDS, SECONDS_A_BYTE = 0.5, 5e-6
MEMORY, MEMORY_A_BYTE = 4 << 20, 60
BUILD_SECONDS = 5.0
BUILD_MEMORY = 700 << 20
MOST_MEMORY = 3 << 30  # the process gets no more, so that the machine goes on


class Problem(Exception):
    pass


def read_and_write(format_id: str, data: bytes, measured: bool) -> Any:
    module = FORMATS[format_id].module
    sniff(data)
    start = time.process_time()
    if measured:
        tracemalloc.start()
    try:
        document = module.read(data)
    finally:
        peak = tracemalloc.get_traced_memory()[1] if measured else 0
        tracemalloc.stop()
        spent = time.process_time() - start
        if peak > MEMORY + MEMORY_A_BYTE * len(data):
            raise Problem(f"read took {peak >> 20} MB for {len(data)} bytes")
        if spent > (SECONDS + SECONDS_A_BYTE * len(data)) * (10 if measured else 1):
            raise Problem(f"read took {spent:.1f} s for {len(data)} bytes")
    written = module.write(document)
    if not document.warnings and written != data:
        raise Problem("written differently, without a warning")
    module.summary(document)
    return document


def to_scene(format_id: str, document: Any, size: int) -> Any:
    module = FORMATS[format_id].module
    start = time.process_time()
    scene = module.to_scene(document, module.ImportOptions())
    spent = time.process_time() - start
    if spent > BUILD_SECONDS / 2 + 10 * SECONDS_A_BYTE * size:
        raise Problem(f"to_scene took {spent:.1f} s for {size} bytes")
    return scene


def from_scene(format_id: str, scene: Any) -> None:
    """Written again, as Blender would have it written: its numbers are sound."""
    module = FORMATS[format_id].module
    with np.errstate(all="ignore"):
        document = module.from_scene(sound(scene), module.ExportOptions())
    module.read(module.write(document))


def in_blender(format_id: str, path: Path, target: str) -> None:
    """Imported, shown at two frames, exported."""
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    size, before, start = path.stat().st_size, memory(), time.process_time()
    _operator(getattr(bpy.ops.import_scene, format_id), str(path))
    for frame in (1, 7):
        bpy.context.scene.frame_set(frame)
        bpy.context.evaluated_depsgraph_get().update()
    spent, grown = time.process_time() - start, memory() - before
    if spent > BUILD_SECONDS + 50 * SECONDS_A_BYTE * size:
        raise Problem(f"import took {spent:.1f} s for {size} bytes")
    if grown > BUILD_MEMORY + 100 * MEMORY_A_BYTE * size:
        raise Problem(f"import took {grown >> 20} MB for {size} bytes")
    start = time.process_time()
    out = path.with_name("out" + FORMATS[target].extensions[0])
    _operator(getattr(bpy.ops.export_scene, target), str(out))
    spent = time.process_time() - start
    if spent > 3 * BUILD_SECONDS + 100 * SECONDS_A_BYTE * size:
        raise Problem(f"export took {spent:.1f} s for {size} bytes")
    if out.exists():
        FORMATS[target].module.read(out.read_bytes())
        out.unlink()


def _operator(operator: Any, path: str) -> None:
    """An error the operator reports is fine; one that it did not expect is not."""
    try:
        operator(filepath=path)
    except RuntimeError as error:
        if "Traceback" in str(error):
            raise Problem(_python_error(str(error))) from None


def _python_error(text: str) -> str:
    places = re.findall(r'File "[^"]*io_retro_meshes/([^"]*)", line (\d+), in (\w+)', text)
    words = [line for line in text.splitlines() if re.match(r"[\w.]+(Error|Exception|Warning)\b", line.strip())]
    last = words[-1] if words else (text.strip().splitlines() or [""])[-1]
    return f"{last} in {':'.join(places[-1]) if places else '?'}"


def memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def attempt(format_id: str, path: Path, number: int, blender: bool) -> dict[str, Any]:
    """What became of one file: how far it went, and what was wrong, if anything was."""
    stage = "read"
    try:
        document = read_and_write(format_id, path.read_bytes(), measured=number % 8 == 0)
        stage = "to_scene"
        scene = to_scene(format_id, document, path.stat().st_size)
        targets = list(FORMATS)
        target = format_id if number % 3 else targets[number // 3 % len(targets)]
        if not blender:
            stage = "from_scene"
            from_scene(format_id, scene)
            return {"stage": "end"}
        del document, scene
        stage = f"blender, {target}"
        in_blender(format_id, path, target)
    except FormatError as error:
        return {"stage": stage, "error": str(error)}
    except Problem as problem:
        return {"stage": stage, "problem": str(problem)}
    except BaseException:
        return {"stage": stage, "problem": _python_error(traceback.format_exc())}
    return {"stage": "end"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--format", required=True)
    parser.add_argument("--blender", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("error", RuntimeWarning)  # numpy's doubts about numbers
    warnings.simplefilter("error", np.exceptions.ComplexWarning)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Blender talks
    if options.blender:
        import io_retro_meshes

        io_retro_meshes.register()
    for line in sys.stdin:
        number, path = line.rstrip("\n").split(" ", 1)
        print(json.dumps(attempt(options.format, Path(path), int(number), options.blender)), file=answers, flush=True)
        gc.collect()
    os._exit(0)


if __name__ == "__main__":
    main()
