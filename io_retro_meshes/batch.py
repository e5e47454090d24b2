# SPDX-License-Identifier: GPL-3.0-or-later
"""Converting many files: which they are, where the results go, and several Blenders at work on them."""

from __future__ import annotations

import glob
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from . import formats
from .formats import FORMATS, Format

# What Blender reads and writes itself; blender/convert.py knows how.
FOREIGN_INPUTS = (".blend", ".glb", ".gltf", ".obj", ".fbx", ".ply", ".stl", ".usd", ".usdc", ".usdz")
FOREIGN_OUTPUTS = ("glb", "gltf", "obj", "fbx", "ply", "stl", "usd", "blend")
SNIFFED = 1 << 16  # bytes of a file that are looked at to tell its format
LIMIT = 600  # seconds a worker may take over one file
RESULT = "retro_meshes result: "  # before a worker's answer, which stands among whatever Blender prints


class UsageError(Exception):
    """The command cannot be done as it was given."""


def format_of(path: Path) -> Format | None:
    """The format of a file: by its first bytes, else by its extension, unless that is everybody's."""
    with path.open("rb") as file:
        found = formats.sniff(file.read(SNIFFED))
    suffix = path.suffix.lower()
    if found is None and suffix != ".bin":
        found = next((entry for entry in FORMATS.values() if suffix in entry.extensions), None)
    return found


def extension(to: str) -> str:
    return FORMATS[to].extensions[0] if to in FORMATS else f".{to}"


@dataclass
class Job:
    """One file to convert, and how that went."""

    source: str
    target: str
    to: str
    options: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    error: str = ""


def sources(names: Sequence[str], to: str) -> Iterator[tuple[Path, Path]]:
    """Every file that the names mean, with the path that its result has in an output folder."""
    for name in names:
        path = Path(name)
        if path.is_dir():
            inside = sorted(found for found in path.rglob("*") if found.is_file() and _wanted(found, to))
            yield from ((found, found.relative_to(path)) for found in inside)
        elif path.exists():
            yield path, Path(path.name)
        else:
            matches = sorted(Path(found) for found in glob.glob(name, recursive=True) if Path(found).is_file())
            if not matches:
                raise UsageError(f"there is no file {name}")
            yield from ((found, Path(found.name)) for found in matches)


def _wanted(path: Path, to: str) -> bool:
    """Whether a file met in a folder is one to convert: one of ours, or one of Blender's that becomes one of ours."""
    suffix = path.suffix.lower()
    if suffix in FOREIGN_INPUTS:
        return to in FORMATS
    if suffix not in {known for entry in FORMATS.values() for known in entry.extensions}:
        return False
    found = format_of(path)
    return found is not None and found.id != to


def plan(inputs: Sequence[str], output: str, to: str | None, options: dict[str, str]) -> list[Job]:
    """Every file to convert and where its result goes. Raises UsageError."""
    out = Path(output)
    to = to or next((to for to in (*FOREIGN_OUTPUTS, *FORMATS) if extension(to) == out.suffix.lower()), None)
    if to is None:
        raise UsageError("say --to which format")
    found = list(sources(inputs, to))
    if not found:
        raise UsageError("there is nothing to convert in " + ", ".join(inputs))
    folder = out.is_dir() or output.endswith(("/", os.sep)) or not out.suffix or len(found) > 1 or Path(inputs[0]).is_dir()
    if not folder:
        return [_job(found[0][0], out, to, options)]
    jobs: list[Job] = []
    taken: set[Path] = set()
    for source, inside in found:
        target = out / inside.with_suffix(extension(to))
        if target in taken:  # hero.b3d and hero.dbo
            target = out / inside.with_name(inside.name.replace(".", "_")).with_suffix(extension(to))
        taken.add(target)
        jobs.append(_job(source, target, to, options))
    return jobs


def _job(source: Path, target: Path, to: str, options: dict[str, str]) -> Job:
    if target.exists() and source.samefile(target):
        raise UsageError(f"{source} would be written over itself")
    return Job(str(source), str(target), to, options)


# ------------------------------------------------------------------------------------------------------------- convert


def do(job: Job) -> Job:
    """Converts one file here. A failure of any kind is this file's alone."""
    try:
        with quiet():
            from .blender.convert import convert as convert_one

            source, target = Path(job.source).resolve(), Path(job.target).resolve()
            foreign = source.suffix.lower() in FOREIGN_INPUTS
            reader = None if foreign else format_of(source)
            if reader is None and not foreign:
                raise ValueError("not a file of a known format")
            job.warnings = convert_one(source, reader, target, job.to, job.options)
    except Exception as error:  # the next file is not to suffer for it
        job.error = str(error).strip() or type(error).__name__
    return job


@contextmanager
def quiet() -> Iterator[None]:
    """Sends what Blender and its exporters print, in whatever language, to nowhere."""
    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


# ------------------------------------------------------------------------------------------------------------- workers


def in_workers(jobs: list[Job], count: int) -> Iterator[Job]:
    """Converts with several Blenders at once. One that falls over takes only its file along."""
    crew = threading.local()
    started: list[subprocess.Popen[str]] = []

    def send(job: Job) -> Job:
        process = getattr(crew, "process", None)
        if process is None or process.poll() is not None:
            process = crew.process = _start_worker()
            started.append(process)
        return _ask(process, job)

    with ThreadPoolExecutor(count) as pool:
        try:
            for future in as_completed([pool.submit(send, job) for job in jobs]):
                yield future.result()
        finally:
            for process in started:
                process.kill()


def _start_worker() -> subprocess.Popen[str]:
    blender = getattr(getattr(sys.modules.get("bpy"), "app", None), "binary_path", "")
    program = str(Path(__file__).with_name("cli.py"))
    start = [blender, "-b", "--factory-startup", "--python", program, "--"] if blender else [sys.executable, program]
    return subprocess.Popen([*start, "work"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")


def _ask(process: subprocess.Popen[str], job: Job) -> Job:
    assert process.stdin is not None and process.stdout is not None
    watch = threading.Timer(LIMIT, process.kill)
    watch.start()
    try:
        process.stdin.write(json.dumps(asdict(job)) + "\n")
        process.stdin.flush()
        for line in process.stdout:
            if line.startswith(RESULT):
                return Job(**json.loads(line.removeprefix(RESULT)))
    except OSError:
        pass
    finally:
        watch.cancel()
    process.kill()
    process.wait()
    job.error = f"Blender fell over on this file, or needed more than {LIMIT} seconds"
    return job


def work() -> None:
    """The other end: a job a line in, a result a line out."""
    for line in sys.stdin:
        print(f"\n{RESULT}{json.dumps(asdict(do(Job(**json.loads(line)))))}", flush=True)
