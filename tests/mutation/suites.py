# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the tests on copies of the project with one defect each."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutation.mutants import function_lines

ROOT = Path(__file__).resolve().parents[2]
# test_defects.py compares the list with the sources: it would notice every listed defect whatever else the tests see.
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".envs", "dist", "__pycache__", ".*_cache", ".hypothesis", "*.blend1", "test_defects.py"
)
MEMORY = 12 << 30  # bytes of address space: a defect may allocate without end
MOST = 400  # tests named on a command line
FIRST = 40  # tests that are tried before all of them

RUNNING: set[subprocess.Popen[str]] = set()  # test runs, which are in sessions of their own and do not end with this one


@dataclass
class Suite:
    """A folder of tests and the Python that runs them."""

    folder: str
    python: str
    seconds: dict[str, float] = field(default_factory=dict)  # of each test
    callers: dict[str, set[str]] = field(default_factory=dict)  # function, as file:line, to the tests that call it
    starters: set[str] = field(default_factory=set)  # the tests that start processes
    whole: float = 0.0
    budget: float = 0.0  # seconds of tests for a random defect; 0: all that may notice it
    profile: Path | None = None  # what a former run has learned

    def learn(self, tree: Path) -> None:
        """Runs all tests once on the unchanged project, and notes what they call."""
        report = self.profile or tree / f"{Path(self.folder).name}.json"
        start = time.monotonic()
        if not report.is_file():
            environment = {"RETRO_PROFILE": str(report)}
            code, words = run(self.python, tree, ["-p", "tests.mutation.profile_plugin", self.folder], 3600, environment)
            if code:
                sys.exit(f"{self.folder} fails without any defect:\n{words}")
        self.whole = time.monotonic() - start
        for test, found in json.loads(report.read_text("utf-8")).items():
            self.seconds[test] = found["seconds"]
            if found["processes"]:
                self.starters.add(test)
            for function in found["functions"]:
                self.callers.setdefault(function, set()).add(test)

    def has(self, test: str) -> bool:
        return test.startswith(f"{self.folder}/")

    def check(self, tree: Path, tests: list[str]) -> None:
        """Runs some tests once on the unchanged project."""
        start = time.monotonic()
        code, words = run(self.python, tree, tests, 3600)
        if code:
            sys.exit(f"{self.folder} fails without any defect:\n{words}")
        self.whole = time.monotonic() - start

    def plan(self, path: str, data: bytes, line: int) -> tuple[list[str], list[str]]:
        """The tests to run for a defect in some line, and after them, if they pass, those that may notice it too.

        Inside a function these are the tests that call it, then those that start processes, where calls are not seen. If it is
        called before all tests, or the line is outside all functions, every test may depend on it.
        """
        around = function_lines(data, line)
        found: set[str] = set()
        for function, tests in self.callers.items():
            file, _, first = function.rpartition(":")
            if f"io_retro_meshes/{file}" == path and (around is None or around[0] <= int(first) <= around[1]):
                found |= tests
        anywhere = around is None or "" in found
        quickest = sorted(found - {""}, key=self.seconds.__getitem__)
        if self.budget:
            return self.affordable(quickest if found - {""} else sorted(self.seconds, key=self.seconds.__getitem__)), []
        if anywhere or len(quickest) > MOST:
            # One of each parametrized test: the many that read each file of the corpus all see much the same.
            different = {test.partition("[")[0]: test for test in reversed(quickest)}
            return sorted(different.values(), key=self.seconds.__getitem__)[:FIRST], [self.folder]
        return quickest, sorted(self.starters - found - {""})

    def affordable(self, tests: list[str]) -> list[str]:
        """Of some tests, as many as the budget lasts for: one of each parametrized test first."""
        different = {test.partition("[")[0]: test for test in reversed(tests) if test}
        first = sorted(different.values(), key=self.seconds.__getitem__)
        taken: list[str] = []
        left = self.budget
        for test in dict.fromkeys([*first, *filter(None, tests)]):
            left -= self.seconds[test]
            if (left < 0 and taken) or len(taken) == MOST:
                break
            taken.append(test)
        return taken

    def limit(self, tests: list[str]) -> float:
        """Seconds after which a run of some tests is taken to have no end."""
        return 60 + 10 * sum(self.seconds.get(test, self.whole) for test in tests)


def run(
    python: str, tree: Path, arguments: list[str], limit: float, environment: dict[str, str] | None = None
) -> tuple[int, str]:
    """pytest's exit code (-1: out of time) and what it printed."""
    command = [python, "-B", "-m", "pytest", "-x", "-p", "no:cacheprovider", "--hypothesis-seed=0", *arguments]
    corpus = os.environ.get("RETRO_CORPUS") or str(ROOT.parent / "shared" / "corpus")
    process = subprocess.Popen(
        command,
        cwd=tree,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "RETRO_CORPUS": corpus, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=limit_memory if os.name == "posix" else None,
    )
    RUNNING.add(process)
    try:
        words, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        stop(process)
        words, _ = process.communicate()
        return -1, words
    except BaseException:  # interrupted
        stop(process)
        raise
    finally:
        RUNNING.discard(process)
    return process.returncode, words


def limit_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def stop(process: subprocess.Popen[str]) -> None:
    """Ends a test run with everything it started."""
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


class Tree:
    """A copy of the project to put defects into."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="mutation-")
        self.root = Path(self.folder.name) / "project"
        shutil.copytree(ROOT, self.root, ignore=LEFT_OUT)

    def noticed_by(self, path: str, before: bytes, after: bytes, suites: list[Suite], test: str = "") -> str | None:
        """Which tests fail when a file is changed: the named one, else first those that call what was changed, then all."""
        file = self.root / path
        file.write_bytes(after)
        first = next((at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after)))
        line = before.count(b"\n", 0, first) + 1
        try:
            if test:
                return self.verdict(next(suite for suite in suites if suite.has(test)), [test])
            plans = [suite.plan(path, before, line) for suite in suites]
            for stage in (0, 1):
                for suite, plan in zip(suites, plans, strict=True):
                    if plan[stage] and (words := self.verdict(suite, plan[stage])):
                        return words
        finally:
            file.write_bytes(before)
        return None

    def verdict(self, suite: Suite, tests: list[str]) -> str | None:
        """How a defect was noticed by some tests, or None when they passed."""
        code, words = run(suite.python, self.root, tests, suite.limit(tests))
        if code == 4 and tests != [suite.folder]:  # a test of that name is not there any more
            return self.verdict(suite, [suite.folder])
        if code == 0:
            return None
        if code == -1:
            return "out of time"
        lines = [line for line in words.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        return lines[0].split(" - ")[0] if lines else f"pytest ended with {code}"
