# SPDX-License-Identifier: GPL-3.0-or-later
"""The mutation sampler: what it changes, what it leaves alone, and which tests it runs."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.mutation.mutants import changes, function_lines, mutants, sample
from tests.mutation.suites import FIRST, Suite

SOURCE = '''
"""Docstring 1 < 2."""

import os

__all__ = ["a" + "b"]
SIZE: int = 4


@cache(1)
def f(a: "x < y", b: int = 5) -> "1 + 1":
    """Docstring."""
    warnings.append(f"{a + b} is odd")
    if a < b and not g(a, b):
        raise ValueError(f"{a + 1}", 7)
    c.é, d = "é", a[b:]
    c.e = a @ b
    while True:
        break
    for x in zip(a, b, strict=True):
        h(x)
    return a - b if a is None else -2.5
'''


def replacements(folder: Path) -> set[tuple[str, str]]:
    path = folder / "module.py"
    path.write_text(SOURCE, "utf-8")
    data = path.read_bytes()
    found = mutants(path, folder)
    assert all(changes(mutant, data) for mutant in found if mutant.new != "pass")
    return {(data[mutant.start : mutant.end].decode(), mutant.new) for mutant in found}


def test_defects_are_where_they_should_be(tmp_path: Path) -> None:
    found = replacements(tmp_path)
    assert {
        ("4", "5"),
        ("5", "4"),
        ("<", "<="),
        ("and", "or"),
        ("not g(a, b)", "(g(a, b))"),
        ("a, b", "b, a"),
        ("a < b and not g(a, b)", "not (a < b and not g(a, b))"),
        ('raise ValueError(f"{a + 1}", 7)', "pass"),
        ("b", "(b) + 1"),
        ("c.e = a @ b", "pass"),
        ("a @ b", "(b) @ (a)"),
        ("True", "False"),
        ("break", "pass"),
        ("h(x)", "pass"),
        ("a - b if a is None else -2.5", "None"),
        ("is", "is not"),
        ("-", "+"),
        ("-2.5", "(2.5)"),
        ("2.5", "5.0"),
    } <= found
    assert not [old for old, _ in found if "is odd" in old or "Docstring" in old or old in ("1", "7", "2", "+")]


def test_sample_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    replacements(tmp_path)
    files = [tmp_path / "module.py"]
    picked = sample(files, tmp_path, 5, seed=1)
    assert picked == sample(files, tmp_path, 5, seed=1) != sample(files, tmp_path, 5, seed=2)
    assert len({mutant.line for mutant in picked}) == 5
    for mutant in picked:
        ast.parse(mutant.applied(files[0].read_bytes()))


def test_tests_that_call_the_function_are_run() -> None:
    data = b"X = 1\n\n\n@cache\ndef f():\n    return [x for x in X]\n\n\ndef g():\n    return 2\n"
    assert function_lines(data, 6) == (4, 6) and function_lines(data, 1) is None
    suite = Suite("tests/all", "python", {"": 0, "slow": 2.0, "quick": 1.0, "other": 1.0, "fuzz": 9.0})
    suite.callers = {"a.py:4": {"slow"}, "a.py:6": {"quick"}, "a.py:9": {"", "other"}, "b.py:4": {"other"}}
    suite.starters = {"fuzz"}
    assert suite.plan("io_retro_meshes/a.py", data, 6) == (["quick", "slow"], ["fuzz"])
    assert suite.plan("io_retro_meshes/a.py", data, 10) == (["other"], ["tests/all"])  # g is called while modules are loaded
    first, then = suite.plan("io_retro_meshes/a.py", data, 1)
    assert len(first) == 3 <= FIRST and then == ["tests/all"]
    suite.seconds |= {"many[1]": 0.5, "many[2]": 0.25}
    suite.callers["a.py:9"] = {"", "other", "many[1]", "many[2]"}
    assert suite.plan("io_retro_meshes/a.py", data, 10) == (["many[2]", "other"], ["tests/all"])


def test_a_budget_buys_one_of_each_kind_first() -> None:
    suite = Suite("tests/formats", "", seconds={"a[1]": 1.0, "a[2]": 2.0, "b": 4.0, "c": 50.0}, budget=6)
    assert suite.affordable(["a[1]", "a[2]", "b", "c"]) == ["a[1]", "b"]
    assert suite.affordable(["c"]) == ["c"], "one is always run"
