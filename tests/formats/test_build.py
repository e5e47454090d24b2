# SPDX-License-Identifier: GPL-3.0-or-later
"""build.py's environments: made once, made anew when half made or outdated, never left broken. Nothing is downloaded here."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    spec = importlib.util.spec_from_file_location("build", ROOT / "build.py")
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ENVIRONMENTS", tmp_path / "envs")
    return module


@pytest.fixture
def installs(build: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Makes environments of one empty file, and notes which."""
    made: list[str] = []

    def install(folder: Path, name: str) -> None:
        made.append(name)
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").touch()

    monkeypatch.setattr(build, "install", install)
    return made


def test_environment_is_made_once(build: Any, installs: list[str]) -> None:
    assert build.environment("plain") == build.environment("plain")
    assert installs == ["plain"]
    assert [path.name for path in build.ENVIRONMENTS.iterdir()] == ["plain"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / "pins.txt").unlink(),
        lambda folder: (folder / "pins.txt").write_text("numpy==1.0"),
    ],
    ids=["half made", "other pins"],
)
def test_unfit_environment_is_made_anew(build: Any, installs: list[str], spoil: Callable[[Path], object]) -> None:
    build.environment("plain")
    spoil(build.ENVIRONMENTS / "plain")
    build.environment("plain")
    assert installs == ["plain", "plain"]
    assert [path.name for path in build.ENVIRONMENTS.iterdir()] == ["plain"]


def test_failed_install_leaves_nothing(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def install(folder: Path, name: str) -> None:
        (folder / "half").mkdir()
        raise build.Failure("no network")

    monkeypatch.setattr(build, "install", install)
    with pytest.raises(build.Failure, match="no network"):
        build.environment("plain")
    assert not list(build.ENVIRONMENTS.iterdir())


def test_a_faster_run_wins(build: Any, installs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    slow = build.install

    def install(folder: Path, name: str) -> None:
        if len(installs) == 0:
            installs.append("other")
            build.environment(name)  # another run makes it meanwhile
        slow(folder, name)

    monkeypatch.setattr(build, "install", install)
    assert Path(build.environment("plain")).is_file()
    assert [path.name for path in build.ENVIRONMENTS.iterdir()] == ["plain"]


def test_wrong_python_is_told(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "PYTHON", (3, 99))
    with pytest.raises(build.Failure, match=r"Python 3\.99 is needed"):
        build.find_python()


def test_missing_library_is_told(build: Any, tmp_path: Path) -> None:
    stub = tmp_path / "python"
    words = "ImportError: libXrender.so.1: cannot open shared object file: No such file or directory"
    stub.write_text(f"#!{sys.executable}\nimport sys\nsys.exit({words!r})\n")
    stub.chmod(0o755)
    with pytest.raises(build.Failure, match=r"libXrender\.so\.1") as told:
        build.try_bpy(str(stub))
    assert "install" in str(told.value)


def test_zip_is_the_same_every_time(build: Any, tmp_path: Path) -> None:
    assert build.build(tmp_path / "a").read_bytes() == build.build(tmp_path / "b").read_bytes()
