# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks for inputs that reach new code, with atheris, and watches what reading, building and writing make of them.

    python tests/fuzz/guided.py --format b3d --runs 200000 [--seconds S] [--keep FOLDER] [--corpus FOLDER]

atheris is no dependency of the project: install it, numpy and Pillow into an environment of your own. Every input is read,
written, made into a scene, made into a document again and written; anything but a FormatError is printed once, and the input
is kept. The last line has the number of runs, how many inputs came how far, and the edges and features that were reached.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # this is a script

LARGEST = 12_000  # bytes of an input: larger ones take long, and have nothing else in them
SECONDS = 20  # for one input
MEGABYTES = 3000
LYING = 0.5  # of the inputs are documents whose fields were changed, so that readers follow them to the end


def fuzz(format_id: str, keep: Path, arguments: list[str]) -> None:
    """Never returns: libFuzzer ends the process."""
    import atheris  # not there for the tests

    with atheris.instrument_imports(include=["io_retro_meshes"]):
        from io_retro_meshes.formats import FORMATS, FormatError

        for part in ("formats", "scene", "pictures"):  # formats load their modules later, when nothing is watched any more
            folder = f"{ROOT}/io_retro_meshes/{part}"
            for module in pkgutil.walk_packages([folder], f"io_retro_meshes.{part}."):
                importlib.import_module(module.name)
        from tests.fuzz import mutate, worker
    import numpy as np

    format, stages, problems = FORMATS[format_id], Counter[str](), Counter[str]()
    warnings.simplefilter("error", RuntimeWarning)  # numpy's doubts about numbers

    def one(data: bytes) -> None:
        stage = "read"
        try:
            document = worker.read_and_write(format_id, data, False, False)
            stage = "to_scene"
            scene = worker.to_scene(format_id, document, len(data), False)
            stage = "from_scene"
            worker.from_scene(format_id, scene)
            stage = "end"
        except FormatError:
            pass
        except Exception as error:
            found = str(error) if isinstance(error, worker.Problem) else worker.python_error(traceback.format_exc())
            if found not in problems:
                path = keep / f"{format_id}-{len(problems)}{format.extensions[0]}"
                path.write_bytes(data)
                print(f"PROBLEM {path}: {stage}: {found}", file=sys.stderr, flush=True)
            problems[found] += 1
        stages[stage] += 1
        if not stages.total() % 1000:  # libFuzzer ends the process without a word to Python
            print(f"STAGES {dict(stages)} PROBLEMS {len(problems)}", file=sys.stderr, flush=True)

    def other(data: bytes, most: int, seed: int) -> bytes:
        random = np.random.default_rng(seed)
        if random.random() < LYING:
            lied = mutate.lied(random, data, format)
            if lied != data and len(lied) <= most:
                return lied
        return bytes(atheris.Mutate(data, most))

    atheris.Setup(arguments, one, custom_mutator=other)
    atheris.Fuzz()


def run(format_id: str, runs: int, seconds: int, keep: Path, corpus: Path | None) -> int:
    """Fuzzes in a process of its own, and sums up what it says."""
    from tests.fuzz.fuzz import seeds

    with tempfile.TemporaryDirectory() as folder:
        small = [data for data in seeds(format_id, corpus) if len(data) <= LARGEST]
        for number, data in enumerate(small):
            Path(folder, str(number)).write_bytes(data)
        limits = [f"-runs={runs}", f"-max_total_time={seconds}", f"-max_len={LARGEST}", f"-timeout={SECONDS}"]
        limits += [f"-rss_limit_mb={MEGABYTES}", "-seed=1", "-len_control=0", f"-artifact_prefix={keep}/{format_id}-"]
        command = [sys.executable, __file__, "--inside", "--format", format_id, "--keep", str(keep), "--", *limits, folder]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace")
        assert process.stderr is not None
        last: dict[str, Any] = {"cov": "?", "ft": "?", "runs": "0", "stages": "it died"}
        for line in process.stderr:
            if line.startswith("PROBLEM") or "ERROR" in line or "SUMMARY" in line:
                print(line.rstrip(), flush=True)
            if found := re.match(r"#(\d+)\s.*cov: (\d+) ft: (\d+)", line):
                last["runs"], last["cov"], last["ft"] = found.groups()
            if line.startswith("STAGES"):
                last["stages"] = line.strip()
        code = process.wait()
    print(f"{format_id}: {last['runs']} runs from {len(small)} seeds, cov {last['cov']}, ft {last['ft']}; {last['stages']}")
    return 0 if not code and last["stages"].endswith("PROBLEMS 0") else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--format", required=True)
    parser.add_argument("--runs", type=int, default=200_000)
    parser.add_argument("--seconds", type=int, default=0, help="0: until all runs are done")
    parser.add_argument("--corpus", type=Path, help="a folder of more files to start from")
    parser.add_argument("--keep", type=Path, help="where inputs that make problems are kept")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    keep = options.keep or Path(tempfile.mkdtemp(prefix="fuzz-"))
    keep.mkdir(parents=True, exist_ok=True)
    if options.inside:
        fuzz(options.format, keep, [sys.argv[0], *options.rest])
    return run(options.format, options.runs, options.seconds, keep, options.corpus)


if __name__ == "__main__":
    sys.exit(main())
