# SPDX-License-Identifier: GPL-3.0-or-later
"""A night's work unattended: stopped, killed, hanging, out of space, resumed. Everything through the command line."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import bpy_command, lease

ROOT = Path(__file__).resolve().parents[2]
CLI = ROOT / "io_retro_meshes" / "cli.py"
FOX = ROOT / "examples" / "fox.b3d"
ROUNDS = int(os.environ.get("RETRO_KILL_ROUNDS") or 2)  # of each signal through each door
LIMIT = 120  # seconds for anything here

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals, /proc and leases")


def start(*arguments: object, door: list[str] | None = None, **more: Any) -> subprocess.Popen[str]:
    command = [*(door or bpy_command(CLI)), "convert", "--through-blender", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


def run(*arguments: object, **more: Any) -> tuple[int, str]:
    process = start(*arguments, **more)
    words = process.communicate(timeout=LIMIT)[0]
    assert "Traceback" not in words, words
    return process.returncode, words


def wait_for(condition: Callable[[], Any]) -> Any:
    until = time.monotonic() + LIMIT
    while not (found := condition()):
        assert time.monotonic() < until, "it never came"
        time.sleep(0.02)
    return found


def children(process: int) -> list[int]:
    """Processes that were started by one, and by those."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == process:
                found += [int(folder.name), *children(int(folder.name))]
    return found


def is_alive(process: int) -> bool:
    with contextlib.suppress(OSError):
        return (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def leftovers(*folders: Path) -> list[Path]:
    temporary = Path(tempfile.gettempdir())  # Blender's own folder there is left when it is not Blender that ends the process
    return [
        *temporary.glob(".retro-meshes-*"),
        *temporary.glob("blender_*"),
        *(path for folder in folders for path in folder.rglob(".*")),
    ]


def is_whole(path: Path) -> bool:
    data = path.read_bytes()
    return data[:4] == b"glTF" and struct.unpack_from("<I", data, 8)[0] == len(data)


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of models, and a folder for temporary files that nobody else has."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    folder = tmp_path / "models"
    folder.mkdir()
    for number in range(30):
        shutil.copy(FOX, folder / f"fox{number:02}.b3d")
    shutil.copy(FOX.with_name("fox.png"), folder)
    yield folder
    assert leftovers(tmp_path) == []


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[Path]:
    """A model that whoever opens it waits for."""
    with lease(tmp_path / "hanging.b3d") as path:
        yield path


# --------------------------------------------------------------------------------------------------------- interrupted


def doors() -> list[Any]:
    """Every way in that is there. RETRO_TEST_BLENDER names a Blender for the last two, the program is found on the path."""
    found = [pytest.param(bpy_command(CLI), id="script")]
    if bpy_command(CLI)[0] == sys.executable:
        found.append(pytest.param([sys.executable, "-m", "io_retro_meshes"], id="module"))
    environments = Path(os.environ.get("RETRO_ENVS") or ROOT / ".envs")
    if all((environments / name).is_dir() for name in ("plain", "bpy-4.5")):  # else the first thing it did would be to install
        found.append(pytest.param([sys.executable, str(ROOT / "build.py")], id="build.py"))
    if program := shutil.which("retro-meshes"):
        found.append(pytest.param([program], id="program"))
    if blender := os.environ.get("RETRO_TEST_BLENDER"):
        background = [blender, "-b", "--factory-startup", "--python", str(CLI), "--"]
        found.append(pytest.param(background, id="blender"))
        found.append(pytest.param([blender, "--command", "retro_meshes"], id="command"))
    return found


@pytest.fixture
def opened(door: list[str], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The door; a Blender that is to know the command has the extension installed first, in a folder of its own."""
    if "--command" in door:
        user = tmp_path_factory.mktemp("user")
        monkeypatch.setenv("BLENDER_USER_RESOURCES", str(user))
        archive = user / "extension.zip"
        with zipfile.ZipFile(archive, "w") as made:
            made.write(ROOT / "blender_manifest.toml", "blender_manifest.toml")
            for path in CLI.parent.rglob("*"):
                if path.is_file() and path.suffix != ".pyc":
                    made.write(path, path.relative_to(CLI.parent))
        install = [door[0], "--command", "extension", "install-file", "-r", "user_default", "-e", str(archive)]
        done = subprocess.run(install, capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 0, done.stdout + done.stderr
    return door


def catches(process: int, number: int) -> bool:
    """Has the process a handler for a signal?"""
    lines = (Path("/proc") / str(process) / "status").read_text().splitlines()
    caught = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt"))
    return bool(caught >> (number - 1) & 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("door", doors())
def test_signals_end_everything(opened: list[str], number: signal.Signals, models: Path, hanging: Path, tmp_path: Path) -> None:
    """At some moment of a run that would never end. The longest time to the end is printed, for whoever wants to know it."""
    slowest = 0.0
    for seed in range(ROUNDS):
        out = tmp_path / f"out{seed}"
        process = start(models, hanging, "-o", out, "--to", "glb", "--jobs", 2, door=opened, cwd=ROOT)
        wait_for(lambda process=process: catches(process.pid, signal.SIGTERM))
        time.sleep(random.Random(f"{opened} {number} {seed}").uniform(0, 5))
        started = children(process.pid)
        sent = time.monotonic()
        process.send_signal(number)
        words = process.communicate(timeout=LIMIT)[0]
        slowest = max(slowest, time.monotonic() - sent)
        assert process.returncode == 130 and "Traceback" not in words, words
        wait_for(lambda started=started: not any(map(is_alive, started)))  # a killed process is gone a moment later
        assert all(path.suffix == ".glb" and is_whole(path) for path in out.rglob("*.*"))
        assert leftovers(out, tmp_path / "models") == []
        shutil.rmtree(out, ignore_errors=True)
    print(f"{ROUNDS} rounds, the slowest took {slowest:.2f} s to end")


def test_a_hanging_file_does_not_keep_a_run_from_being_stopped(models: Path, hanging: Path, tmp_path: Path) -> None:
    process = start(hanging, models / "fox00.b3d", "-o", tmp_path / "out", "--to", "glb", "--jobs", 1)
    wait_for(lambda: _blocked(process))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT)
    assert process.returncode == 130 and not (tmp_path / "out").exists()


# ------------------------------------------------------------------------------------------------- crash, time-out, space


def test_a_crash_and_a_time_out_cost_one_file_each(models: Path, hanging: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    one = models / "fox00.b3d"
    code, words = run(hanging, one, "-o", tmp_path / "out", "--jobs", 1, "--timeout", 9, "--to", "glb", "--report", report)
    slow, good = json.loads(report.read_text())["files"]
    assert code == 1 and (slow["status"], good["status"]) == ("timed out", "converted"), words
    assert "more than 9 seconds" in slow["error"] and good["peak_memory"] > 1 << 20

    process = start(hanging, one, "-o", tmp_path / "out", "--jobs", 1, "--to", "glb", "--report", report)
    os.kill(wait_for(lambda: _blocked(process)), signal.SIGKILL)
    words = process.communicate(timeout=LIMIT)[0]
    dead, good = json.loads(report.read_text())["files"]
    assert process.returncode == 1 and (dead["status"], good["status"]) == ("crashed", "converted"), words
    assert "SIGKILL" in dead["error"] and words.count("hanging.b3d") == 2, "told again at the end"


def _blocked(process: subprocess.Popen[str]) -> int:
    """The worker that waits for the file."""
    for child in children(process.pid):
        with contextlib.suppress(OSError):
            if "break_lease" in (Path("/proc") / str(child) / "wchan").read_text():
                return child
    return 0


def test_a_full_disk(models: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "none", str(disk)], capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        for number in range(4, 30):
            (models / f"fox{number:02}.b3d").unlink()
        code, words = run(models, "-o", disk / "out", "--to", "glb", "--jobs", 1, "--report", disk / "report.json")
        assert code == 1 and "No space left on device" in words and "1 converted, 3 failed" in words, words
        assert [is_whole(path) for path in (disk / "out").iterdir()] == [True]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_what_cannot_be_read_or_written_is_one_line(models: Path, tmp_path: Path) -> None:
    strange = os.fsdecode(b"caf\xe9.b3d")
    shutil.copy(FOX, tmp_path / strange)
    (tmp_path / "link.b3d").symlink_to("nowhere")
    (tmp_path / "out" / "models").mkdir(parents=True)
    (tmp_path / "out" / "models" / "fox00.glb").mkdir()
    inputs = [strange, "link.b3d", "models/fox00.b3d", "models/fox01.b3d"]
    code, words = run(*inputs, "-o", "out", "--to", "glb", cwd=tmp_path)
    lines = [line for line in words.splitlines() if "FAILED" in line]
    assert code == 1 and "1 converted, 3 failed" in words and len(lines) == 3, words
    assert any("caf\\xe9.b3d -> FAILED: its name is not UTF-8" in line for line in lines), words
    assert any("link.b3d -> FAILED: No such file or directory" in line for line in lines), words
    assert any("fox00.b3d -> FAILED: Is a directory" in line for line in lines), words
    process = start("link.b3d", "-o", "out", "--to", "glb", "--debug", cwd=tmp_path)
    assert "Traceback" in process.communicate(timeout=LIMIT)[0]


# -------------------------------------------------------------------------------------------------------------- resume


def statuses(path: Path) -> dict[str, str]:
    return {Path(entry["input"]).name: entry["status"] for entry in json.loads(path.read_text())["files"]}


def test_only_what_changed_is_made_again(models: Path, tmp_path: Path) -> None:
    for number in range(3, 30):
        (models / f"fox{number:02}.b3d").unlink()
    (models / "bad.b3d").write_bytes(FOX.read_bytes()[:1000])
    report, out = tmp_path / "report.json", tmp_path / "out"

    def again(*more: str) -> dict[str, str]:
        run(models, "-o", out, "--to", "glb", "--skip-existing", "--report", report, *more)
        return statuses(report)

    first = {"fox00.b3d": "converted", "fox01.b3d": "converted", "fox02.b3d": "converted", "bad.b3d": "failed"}
    same = {name: "skipped" if status == "converted" else status for name, status in first.items()}
    assert again() == first
    assert again() == same, "a failed file is tried again"
    os.utime(models / "fox01.b3d", (time.time() + 10, time.time() + 10))
    assert again() == {**same, "fox01.b3d": "converted"}, "the source is newer"
    os.utime(models / "fox01.b3d", (1, 1))
    assert again() == {**same, "fox01.b3d": "converted"}, "the source is another one"
    assert again("--option", "scale=2") == first, "other options"
    (out / "fox02.glb").unlink()
    assert again("--option", "scale=2") == {**same, "fox02.b3d": "converted"}


def test_a_killed_run_is_resumed_to_the_last_file(models: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(models, "-o", out, "--to", "glb", "--jobs", 2)
    wait_for(lambda: out.is_dir() and len(list(out.glob("*.glb"))) > 3)
    workers = children(process.pid)
    process.kill()
    process.communicate(timeout=LIMIT)
    wait_for(lambda: not any(map(is_alive, workers)))  # they notice
    done = {path: path.stat().st_mtime_ns for path in out.glob("*.glb")}
    code, words = run(models, "-o", out, "--to", "glb", "--jobs", 2, "--skip-existing")
    assert code == 0 and f"{30 - len(done)} converted, 0 failed, {len(done)} were there already" in words
    assert len(list(out.iterdir())) == 30 and all(map(is_whole, out.iterdir()))
    assert all(path.stat().st_mtime_ns == before for path, before in done.items())


def test_two_runs_into_one_folder(models: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    runs = [start(models, "-o", out, "--to", "bo3d", "--option", "textures=COPY") for _ in range(2)]
    for process in runs:
        words = process.communicate(timeout=LIMIT)[0]
        assert process.returncode == 0, words
    assert len(list(out.glob("*.bo3d"))) == 30 and (out / "fox.png").is_file()
    assert len({path.read_bytes() for path in out.glob("*.bo3d")}) == 1
