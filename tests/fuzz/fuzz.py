# SPDX-License-Identifier: GPL-3.0-or-later
"""Spoils files in every way there is, and watches what the project makes of them.

    python tests/fuzz/fuzz.py --format b3d --seconds 60 --seed 1 [--blender] [--corpus FOLDER] [--limit SECONDS]

A file may be refused with a FormatError, or be imported; it may not crash, hang, take much more than its size, or raise
anything else. With --blender (in a Python that has bpy) every file that can be read is imported, shown at two frames
and exported. Each problem is printed once, with the file that makes it, which is kept in --keep (by default a new
temporary folder); case N of a seed is always the same file.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # this is a script

import numpy as np  # noqa: E402

from io_retro_meshes.formats import FORMATS  # noqa: E402
from tests.fuzz.mutate import mutated  # noqa: E402

LARGEST = 60_000  # bytes of a file to start from: larger ones take long, and have nothing else in them


class Worker:
    """The process that tries the files; another takes its place when it is lost."""

    def __init__(self, format_id: str, blender: bool, limit: float) -> None:
        self.limit = limit
        self.command = [sys.executable, "-m", "tests.fuzz.worker", "--format", format_id, *(["--blender"] if blender else [])]
        self.process: subprocess.Popen[str] | None = None

    def attempt(self, number: int, path: Path) -> dict[str, Any]:
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                cwd=ROOT,
            )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{number} {path}\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], self.limit)[0]:
            self.close()
            return {"stage": "?", "problem": f"no end after {self.limit:g} s"}
        line = self.process.stdout.readline()
        if line:
            return dict(json.loads(line))
        code = self.process.wait()
        self.process = None
        return {"stage": "?", "problem": f"the process died: {code}"}

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def seeds(format_id: str, corpus: Path | None) -> list[bytes]:
    """The project's own files, and those of the folder that can be read: what is broken already is soon refused."""
    entry = FORMATS[format_id]
    folders = [ROOT / "examples", *([corpus] if corpus else [])]
    paths = sorted(path for folder in folders for path in folder.rglob("*") if path.suffix.lower() in entry.extensions)
    found = [path.read_bytes() for path in paths if path.is_file() and path.stat().st_size <= LARGEST]
    return [data for data in [*found, *made(format_id)] if _readable(format_id, data)]


def _readable(format_id: str, data: bytes) -> bool:
    try:
        FORMATS[format_id].read(data)
    except ValueError:
        return False
    return True


def made(format_id: str) -> list[bytes]:
    """The fixtures of the tests, for a format that has some: `fuzz_seeds` of tests/builders/<format>.py."""
    name = f"tests.builders.{format_id}"
    return list(importlib.import_module(name).fuzz_seeds()) if importlib.util.find_spec(name) else []


def case(files: list[bytes], format_id: str, seed: int, number: int) -> bytes:
    return mutated(np.random.default_rng([seed, number]), files, FORMATS[format_id])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--format", choices=sorted(FORMATS), required=True)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--corpus", type=Path, help="a folder of more files to start from")
    parser.add_argument("--blender", action="store_true", help="also import and export in Blender")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one file")
    parser.add_argument("--keep", type=Path, help="where files that make problems are kept")
    # Inside Blender what stands before -- is Blender's.
    options = parser.parse_args(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else None)
    keep = options.keep or Path(tempfile.mkdtemp(prefix="fuzz-"))
    keep.mkdir(parents=True, exist_ok=True)
    files = seeds(options.format, options.corpus)
    worker = Worker(options.format, options.blender, options.limit)
    stages: Counter[str] = Counter()
    problems: Counter[str] = Counter()
    end, number = time.monotonic() + options.seconds, options.first
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "case" + FORMATS[options.format].extensions[0])
        while time.monotonic() < end:
            data = case(files, options.format, options.seed, number)
            path.write_bytes(data)
            found = worker.attempt(number, path)
            stages[found["stage"].split(",")[0]] += 1
            if "problem" in found:
                kept = keep / f"{options.format}-{options.seed}-{number}{path.suffix}"
                if found["problem"] not in problems:
                    kept.write_bytes(data)
                    print(f"{kept} ({len(data)} bytes): {found['stage']}: {found['problem']}", flush=True)
                problems[found["problem"]] += 1
            number += 1
    worker.close()
    print(f"{options.format}: {number - options.first} files from {len(files)}: {dict(stages)}, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
