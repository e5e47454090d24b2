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
import sys
import time
import traceback
import tracemalloc
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from io_retro_meshes.formats import FORMATS, MENU_FORMATS, FormatError, sniff
from io_retro_meshes.scene.sanitize import sanitize

# What a reader may take: a part that is always there, and one for each byte of the file.
SECONDS, SECONDS_A_BYTE = 0.5, 5e-6
MEMORY, MEMORY_A_BYTE = 4 << 20, 60
BUILD_SECONDS = 5.0
BUILD_MEMORY = 700 << 20
MOST_MEMORY = 3 << 30  # the process gets no more, so that the machine goes on


class Problem(Exception):
    pass


class Clock:
    """How long things take; one that is not `timed` never complains, as tests must not on a busy machine."""

    def __init__(self, timed: bool) -> None:
        self.timed = timed
        self.start = time.process_time()

    def check(self, what: str, limit: float, size: int) -> None:
        spent = time.process_time() - self.start
        if self.timed and spent > limit:
            raise Problem(f"{what} took {spent:.1f} s for {size} bytes")


def read_and_write(format_id: str, data: bytes, measured: bool, timed: bool) -> Any:
    module = FORMATS[format_id]
    sniff(data)
    clock = Clock(timed)
    if measured:
        tracemalloc.start()
    try:
        document = module.read(data)
    finally:
        peak = tracemalloc.get_traced_memory()[1] if measured else 0
        tracemalloc.stop()
        if peak > MEMORY + MEMORY_A_BYTE * len(data):
            raise Problem(f"read took {peak >> 20} MB for {len(data)} bytes")
        clock.check("read", (SECONDS + SECONDS_A_BYTE * len(data)) * (10 if measured else 1), len(data))
    written = module.write(document)
    if not document.warnings and written != data:
        raise Problem("written differently, without a warning")
    module.summary(document)
    return document


def to_scene(format_id: str, document: Any, size: int, timed: bool) -> Any:
    module = FORMATS[format_id]
    clock = Clock(timed)
    scene = module.to_scene(document, module.ImportOptions())
    clock.check("to_scene", BUILD_SECONDS / 2 + 10 * SECONDS_A_BYTE * size, size)
    for what in dangling(scene):
        raise Problem(what)
    return scene


def dangling(scene: Any) -> Iterator[str]:
    """What refers to something that is not there, or has another shape than it must: Blender would go down with it."""
    for index, node in enumerate(scene.nodes):
        if not -1 <= node.parent < index:
            yield "a parent does not come before its child"
        above = scene.nodes[node.parent].armature if node.parent >= 0 else None
        if not -1 <= node.parent_bone < (len(above.bones) if above else 0):
            yield "a node hangs on a bone that is not there"
        if not (-1 <= node.mesh < len(scene.meshes) and -1 <= node.camera < len(scene.cameras)):
            yield "a node shows something that is not there"
        if not -1 <= node.light < len(scene.lights):
            yield "a node has a light that is not there"
        if any(not -1 <= slot < len(scene.materials) for slot in node.materials or ()):
            yield "a node has a material that is not there"
        if any(not -1 <= bone.parent < number for number, bone in enumerate(node.armature.bones if node.armature else ())):
            yield "a bone's parent does not come before it"
    for mesh in scene.meshes:
        yield from _dangling_mesh(scene, mesh)
    for clip in [*([scene.timeline] if scene.timeline else []), *scene.clips]:
        for (node, bone), track in (clip.tracks or {}).items():
            armature = scene.nodes[node].armature
            if not -1 <= bone < (len(armature.bones) if armature else 0):
                yield "a track moves a bone that is not there"
            for channel in (track.location, track.rotation, track.scale):
                if channel is not None and not (np.diff(channel.frames) > 0).all():
                    yield "frames do not ascend"


def _dangling_mesh(scene: Any, mesh: Any) -> Iterator[str]:
    count, corners, faces = len(mesh.positions), len(mesh.corners), mesh.face_count
    if corners and not (mesh.corners.min() >= 0 and mesh.corners.max() < count):
        yield "a corner is no vertex"
    sizes = np.diff(np.append(mesh.starts, corners))
    if (sizes < 3).any() or (mesh.face_starts is None and corners % 3) or (faces and mesh.starts[0] != 0):
        yield "a face has less than three corners"
    if any(not -1 <= slot < len(scene.materials) for slot in mesh.materials):
        yield "a mesh has a material that is not there"
    if mesh.face_materials is not None and (len(mesh.face_materials) != faces or (mesh.face_materials < 0).any()):
        yield "face_materials do not fit"
    if mesh.edges is not None and len(mesh.edges) and not (mesh.edges.min() >= 0 and mesh.edges.max() < count):
        yield "an edge has no vertex"
    rows = {"POINT": count, "CORNER": corners, "FACE": faces}
    layers = [*mesh.uvs, *mesh.colors, *mesh.attributes, *([mesh.normals] if mesh.normals else [])]
    if any(len(layer.data) != rows[layer.domain] for layer in layers):
        yield "a layer has another number of rows than its domain"
    if mesh.skin is not None and len(mesh.skin.vertices):
        armature = scene.nodes[mesh.skin.node].armature
        if mesh.skin.vertices.min() < 0 or mesh.skin.vertices.max() >= count:
            yield "a weight is for no vertex"
        if mesh.skin.bones.min() < 0 or mesh.skin.bones.max() >= len(armature.bones):
            yield "a weight is for no bone"


def from_scene(format_id: str, scene: Any) -> None:
    """Written again, as Blender would have it written: its numbers are sound."""
    module = FORMATS[format_id]
    with np.errstate(all="ignore"):
        document = module.from_scene(sanitize(scene), module.ExportOptions())
    module.read(module.write(document))


def in_blender(format_id: str, path: Path, target: str, timed: bool) -> None:
    """Imported, shown at two frames, exported."""
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    size, before, clock = path.stat().st_size, memory(), Clock(timed)
    _operator(getattr(bpy.ops.import_scene, format_id), str(path))
    for frame in (1, 7):
        bpy.context.scene.frame_set(frame)
        bpy.context.evaluated_depsgraph_get().update()
    clock.check("import", BUILD_SECONDS + 50 * SECONDS_A_BYTE * size, size)
    grown = memory() - before
    if grown > BUILD_MEMORY + 100 * MEMORY_A_BYTE * size:
        raise Problem(f"import took {grown >> 20} MB for {size} bytes")
    clock = Clock(timed)
    out = path.with_name("out" + FORMATS[target].extensions[0])
    _operator(getattr(bpy.ops.export_scene, target), str(out))
    clock.check("export", 3 * BUILD_SECONDS + 100 * SECONDS_A_BYTE * size, size)
    if out.exists():
        FORMATS[target].read(out.read_bytes())
        out.unlink()


def _operator(operator: Any, path: str) -> None:
    """An error the operator reports is fine; one that it did not expect is not."""
    try:
        operator(filepath=path)
    except RuntimeError as error:
        if "Traceback" in str(error):
            raise Problem(python_error(str(error))) from None


def python_error(text: str) -> str:
    places = re.findall(r'File "[^"]*io_retro_meshes/([^"]*)", line (\d+), in (\w+)', text)
    words = [line for line in text.splitlines() if re.match(r"[\w.]+(Error|Exception|Warning)\b", line.strip())]
    last = words[-1] if words else (text.strip().splitlines() or [""])[-1]
    return f"{last} in {':'.join(places[-1]) if places else '?'}"


def memory() -> int:
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def attempt(format_id: str, path: Path, number: int, blender: bool, timed: bool = True) -> dict[str, Any]:
    """What became of one file: how far it went, and what was wrong, if anything was."""
    stage = "read"
    try:
        document = read_and_write(format_id, path.read_bytes(), number % 8 == 0, timed)
        stage = "to_scene"
        scene = to_scene(format_id, document, path.stat().st_size, timed)
        targets = list(MENU_FORMATS)
        target = format_id if number % 3 else targets[number // 3 % len(targets)]
        if not blender:
            stage = "from_scene"
            from_scene(format_id, scene)
            return {"stage": "end"}
        del document, scene
        stage = f"blender, {target}"
        in_blender(format_id, path, target, timed)
    except FormatError as error:
        return {"stage": stage, "error": str(error)}
    except Problem as problem:
        return {"stage": stage, "problem": str(problem)}
    except BaseException:
        return {"stage": stage, "problem": python_error(traceback.format_exc())}
    return {"stage": "end"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--format", required=True)
    parser.add_argument("--blender", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("error", RuntimeWarning)  # numpy's doubts about numbers, ComplexWarning among them
    import resource

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
