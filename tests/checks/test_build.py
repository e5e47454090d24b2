# SPDX-License-Identifier: GPL-3.0-or-later
"""build.py's environments: made once, made anew when half made or outdated, never left broken. Nothing is downloaded here."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import build
from tools import environments, libraries, lock
from tools.common import ROOT, Failure

POSIX = pytest.mark.skipif(os.name == "nt", reason="only Linux has system libraries that may be missing")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(environments, "ENVIRONMENTS", tmp_path / "envs")
    return tmp_path / "envs"


@pytest.fixture
def installs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Makes environments of one empty file, and notes which."""
    made: list[str] = []

    def install(folder: Path, name: str) -> None:
        made.append(name)
        python = environments.interpreter(folder)
        python.parent.mkdir(parents=True)
        python.touch()

    monkeypatch.setattr(environments, "install", install)
    return made


def test_environment_is_made_once(installs: list[str]) -> None:
    assert environments.environment("plain") == environments.environment("plain")
    assert installs == ["plain"]
    assert [path.name for path in environments.ENVIRONMENTS.iterdir()] == ["plain"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / environments.MARKER).unlink(),
        lambda folder: (folder / environments.MARKER).write_text("numpy==1.0"),
    ],
    ids=["half made", "other lock"],
)
def test_unfit_environment_is_made_anew(installs: list[str], spoil: Callable[[Path], object]) -> None:
    environments.environment("plain")
    spoil(environments.ENVIRONMENTS / "plain")
    environments.environment("plain")
    assert installs == ["plain", "plain"]
    assert [path.name for path in environments.ENVIRONMENTS.iterdir()] == ["plain"]


def test_failed_install_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def install(folder: Path, name: str) -> None:
        (folder / "half").mkdir()
        raise Failure("no network")

    monkeypatch.setattr(environments, "install", install)
    with pytest.raises(Failure, match="no network"):
        environments.environment("plain")
    assert not list(environments.ENVIRONMENTS.iterdir())


def test_a_faster_run_wins(installs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    slow = environments.install

    def install(folder: Path, name: str) -> None:
        if len(installs) == 0:
            installs.append("other")
            environments.environment(name)  # another run makes it meanwhile
        slow(folder, name)

    monkeypatch.setattr(environments, "install", install)
    assert Path(environments.environment("plain")).is_file()
    assert [path.name for path in environments.ENVIRONMENTS.iterdir()] == ["plain"]


def test_wrong_python_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "PYTHON", (3, 99))
    with pytest.raises(Failure, match=r"Python 3\.99 is needed"):
        environments.find_python()


def broken_bpy(folder: Path) -> str:
    stub = folder / "python"
    words = "ImportError: libXrender.so.1: cannot open shared object file: No such file or directory"
    stub.write_text(f"#!{sys.executable}\nimport sys\nsys.exit({words!r})\n")
    stub.chmod(0o755)
    return str(stub)


@POSIX
def test_missing_library_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "install", lambda: False)
    with pytest.raises(Failure, match=r"libXrender\.so\.1") as told:
        environments.start_bpy(broken_bpy(tmp_path))
    assert "install" in str(told.value)


@POSIX
def test_missing_library_is_installed_where_that_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = broken_bpy(tmp_path)

    def install() -> bool:
        Path(python).write_text(f"#!{sys.executable}\nprint('4.5.4')\n")
        return True

    monkeypatch.setattr(libraries, "install", install)
    assert environments.start_bpy(python) == "4.5.4"


def test_zip_is_the_same_every_time(tmp_path: Path) -> None:
    assert build.build(tmp_path / "a").read_bytes() == build.build(tmp_path / "b").read_bytes()


def test_locks_are_of_the_groups() -> None:
    """Every requirement is in its lock as it is pinned, with hashes; and no lock is left over or says where it came from."""
    groups = lock.environments()
    assert {path.stem for path in environments.LOCKS.iterdir()} == set(groups)
    for name, requirements in groups.items():
        text = environments.lock_text(name)
        entries = {line.split()[0] for line in text.replace("\\\n", "").splitlines() if "--hash=sha256:" in line}
        pins = {requirement.partition(";")[0].strip() for requirement in requirements}
        assert {lock.canonical(pin.partition("==")[0]) + "==" + pin.partition("==")[2] for pin in pins} <= entries
        assert "://" not in text and "index" not in text


def test_build_tool_is_the_locked_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert set(project["build-system"]["requires"]) <= set(lock.environments()["install"])


def test_wheels_of_every_system_are_locked() -> None:
    assert lock.runs_here("cp311", "cp311") and lock.runs_here("py2.py3", "none") and lock.runs_here("cp39", "abi3")
    assert not lock.runs_here("cp312", "cp312") and not lock.runs_here("cp312", "abi3") and not lock.runs_here("py2", "none")
