# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts defects into the project, one at a time, and counts those that the tests notice.

    python3 build.py mutate [--count 200] [--seed 1] [--jobs 2] [--under PATH...] [--blender-tests]
    python3 build.py mutate --list tests/mutation/defects.toml [--only WORDS]

Without --list the defects are random mutants of io_retro_meshes/formats and io_retro_meshes/scene, the same for the same
sources and seed. Docstrings, annotations, messages and the like are left alone. The list is written by hand:

    [[defect]]
    name = "b3d: V is not flipped on import"
    file = "io_retro_meshes/formats/b3d/..."
    old = "..."     stands in the file exactly once
    new = "..."
    test = "tests/formats/test_file_values.py::..."     must fail then; no other is run

tests/formats is run on each random mutant, and with --blender-tests tests/blender too: the tests that call what was changed
come first. A run that takes far too long counts as noticed. Every defect that passes all tests is printed as a diff.
"""

from __future__ import annotations

import argparse
import difflib
import queue
import signal
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.mutants import sample
from tests.mutation.suites import ROOT, RUNNING, Suite, Tree, stop

WHERE = ["io_retro_meshes/formats", "io_retro_meshes/scene"]


@dataclass(frozen=True)
class Defect:
    name: str
    path: str
    before: bytes
    after: bytes
    test: str = ""  # the only one to run

    def diff(self) -> str:
        old, new = (data.decode().splitlines() for data in (self.before, self.after))
        return "\n".join(difflib.unified_diff(old, new, self.path, self.path, n=1, lineterm=""))


def random_defects(under: list[str], count: int, seed: int) -> list[Defect]:
    files = [path for name in under for path in sorted([ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py"))]
    found = []
    for mutant in sample(files, ROOT, count, seed):
        before = (ROOT / mutant.path).read_bytes()
        found.append(Defect(f"{mutant.path}:{mutant.line} {mutant.kind}", mutant.path, before, mutant.applied(before)))
    return found


def listed_defects(path: Path, only: str) -> list[Defect]:
    found, wrong = [], []
    for entry in tomllib.loads(path.read_text("utf-8"))["defect"]:
        if only not in entry["name"]:
            continue
        file = ROOT / entry["file"]
        before = file.read_bytes() if file.is_file() else b""
        if before.count(entry["old"].encode()) != 1:
            wrong.append(f"{entry['name']}: {entry['file']} has its text {before.count(entry['old'].encode())} times, not once")
        after = before.replace(entry["old"].encode(), entry["new"].encode())
        found.append(Defect(entry["name"], entry["file"], before, after, entry["test"]))
    if wrong:
        sys.exit("\n".join(wrong))
    return found


def tried(defects: list[Defect], suites: list[Suite], jobs: int) -> Iterator[tuple[Defect, str | None]]:
    """Every defect and how it was noticed, in the order they are done."""
    trees: queue.Queue[Tree] = queue.Queue()
    for _ in range(jobs):
        trees.put(Tree())
    learner = trees.get()
    named = {defect.test for defect in defects if defect.test}
    for suite in suites:
        tests = sorted(filter(suite.has, named))
        if tests:
            suite.check(learner.root, tests)
        elif not named:
            suite.learn(learner.root)
            tests = list(suite.seconds)[1:]
        print(f"{suite.folder}: {len(tests)} tests pass without any defect, in {suite.whole:.0f} s", flush=True)
    trees.put(learner)

    def attempt(defect: Defect) -> tuple[Defect, str | None]:
        tree = trees.get()
        try:
            return defect, tree.noticed_by(defect.path, defect.before, defect.after, suites, defect.test)
        finally:
            trees.put(tree)

    pool = ThreadPoolExecutor(jobs)
    try:
        yield from pool.map(attempt, defects)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in RUNNING.copy():
            stop(process)


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="build.py mutate", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--under", nargs="+", default=WHERE, metavar="PATH", help="folders and files to take mutants from")
    parser.add_argument("--list", type=Path, metavar="FILE", help="the defects of a TOML file instead of random ones")
    parser.add_argument("--only", default="", metavar="WORDS", help="of the list, those with these words in their name")
    parser.add_argument("--blender-tests", action="store_true", help="tests/blender may notice a random mutant too")
    parser.add_argument("--at-least", type=float, default=0, metavar="PERCENT", help="fail when fewer are noticed")
    parser.add_argument(
        "--budget",
        type=float,
        default=0,
        metavar="SECONDS",
        help="of tests a random mutant: what is noticed later is not counted",
    )
    parser.add_argument("--profile", type=Path, metavar="FILE", help="what tests/formats calls: made once, read from then on")
    parser.add_argument("--bpy-python", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    options = parsed(arguments)
    if options.list:
        defects = listed_defects(options.list, options.only)
    else:
        defects = random_defects(options.under, options.count, options.seed)
    suites = [Suite("tests/formats", sys.executable, budget=options.budget, profile=options.profile)]
    if options.bpy_python:
        suites.append(Suite("tests/blender", options.bpy_python, budget=options.budget))
    homeless = [defect.test for defect in defects if defect.test and not any(suite.has(defect.test) for suite in suites)]
    if homeless:
        sys.exit(f"--bpy-python is needed to run {homeless[0]}")
    survivors = []
    for number, (defect, noticed) in enumerate(tried(defects, suites, options.jobs), 1):
        print(f"[{number}/{len(defects)}] {defect.name}: {noticed or 'SURVIVED'}", flush=True)
        if noticed is None:
            survivors.append(defect)
    for defect in survivors:
        print(f"\n{defect.name}\n{defect.diff()}")
    killed = len(defects) - len(survivors)
    percent = 100 * killed / max(len(defects), 1)
    print(f"\n{killed} of {len(defects)} noticed ({percent:.1f}%), {len(survivors)} survived")
    return 1 if percent < options.at_least or (options.list and survivors) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
