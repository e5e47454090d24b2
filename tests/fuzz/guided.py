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
import itertools
import json
import pkgutil
import re
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # this is a script

LARGEST = 12_000  # bytes of an input: larger ones take long, and have nothing else in them
SECONDS = 20  # for one input
MEGABYTES = 3000
ROUND = 20_000  # runs of one process
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
            print(f"STAGES {json.dumps(stages)}", file=sys.stderr, flush=True)

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
    """Fuzzes in one process after the other, since atheris never gives memory back, and sums up what they say."""
    from tests.fuzz.fuzz import seeds

    done, stages, bad, reached = 0, Counter[str](), 0, ("?", "?")
    end = time.monotonic() + (seconds or 1e9)
    with tempfile.TemporaryDirectory() as folder:  # inputs that reached something new are kept in it, for the next process
        small = [data for data in seeds(format_id, corpus) if len(data) <= LARGEST]
        for number, data in enumerate(small):
            Path(folder, str(number)).write_bytes(data)
        for seed in itertools.count(1):
            left = end - time.monotonic()
            if done >= runs or left < 1:
                break
            limits = [f"-runs={min(runs - done, ROUND)}", f"-max_total_time={int(left)}", f"-max_len={LARGEST}"]
            limits += [f"-timeout={SECONDS}", f"-seed={seed}", f"-artifact_prefix={keep}/{format_id}-"]
            command = [sys.executable, __file__, "--inside", "--format", format_id, "--keep", str(keep), "--"]
            told, code = _round([*command, *limits, f"-rss_limit_mb={MEGABYTES}", "-len_control=0", folder])
            bad += told.problems + (code != 0)
            stages += told.stages
            done += told.runs
            reached = (told.edges, told.features)
            if not told.runs:
                break
    print(
        f"{format_id}: {done} runs from {len(small)} seeds, cov {reached[0]}, ft {reached[1]}; {dict(stages)}; {bad} problems"
    )
    return 1 if bad else 0


@dataclass
class Told:
    """What a process has said."""

    runs: int = 0
    edges: str = "?"
    features: str = "?"
    stages: Counter[str] = field(default_factory=Counter)
    problems: int = 0


def _round(command: list[str]) -> tuple[Told, int]:
    told = Told()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace")
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("PROBLEM") or "ERROR" in line or "SUMMARY" in line:
            print(line.rstrip(), flush=True)
            told.problems += line.startswith("PROBLEM")
        if found := re.match(r"#(\d+)\s.*cov: (\d+) ft: (\d+)", line):
            told.runs, told.edges, told.features = int(found[1]), found[2], found[3]
        if line.startswith("STAGES"):
            told.stages = Counter(json.loads(line.removeprefix("STAGES ")))
    return told, process.wait()


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
