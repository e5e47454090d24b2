# SPDX-License-Identifier: GPL-3.0-or-later
"""Many machines, on one: Dask's own scheduler and workers, and addresses of fsspec. Skipped where they are not installed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from io_retro_meshes import cli, formats

fsspec = pytest.importorskip("fsspec")
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
LIMIT = 120


def wait_for(condition: Callable[[], Any]) -> None:
    until = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.05)


@pytest.fixture
def store() -> Iterator[Any]:
    """A store in memory with a model in two folders, and its picture."""
    system = fsspec.filesystem("memory")
    for name in ("/models/x/fox.b3d", "/models/y/fox.b3d"):
        system.pipe(name, (EXAMPLES / "fox.b3d").read_bytes())
    system.pipe("/models/x/fox.png", (EXAMPLES / "fox.png").read_bytes())
    yield system
    system.rm("/", recursive=True)


def stored(system: Any, folder: str) -> dict[str, bytes]:
    return {name.removeprefix(folder): data for name, data in system.cat(system.find(folder)).items()}


def test_addresses_are_read_and_written(store: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["convert", "memory://models", "-o", "memory://out", "--to", "bo3d"]) == 0, capsys.readouterr().out
    made = stored(store, "/out")
    assert made.keys() == {"/x/fox.bo3d", "/y/fox.bo3d", "/x/fox.png"}, "with the picture that lay beside it"
    assert formats.bo3d.read(made["/x/fox.bo3d"]).warnings == []
    assert cli.main(["convert", "memory://models/x/fox.b3d", "-o", f"file://{tmp_path}/deep/fox.bo3d"]) == 0
    assert (tmp_path / "deep/fox.bo3d").read_bytes() == made["/x/fox.bo3d"]
    again = ["convert", "memory://models", "-o", "memory://out", "--to", "bo3d", "--skip-existing"]
    assert cli.main(again) == 0 and "2 were there already" in capsys.readouterr().out
    assert cli.main(["convert", "memory://models/*/no.b3d", "-o", "memory://out", "--to", "bo3d"]) == 2
    assert cli.main(["convert", "memory://absent", "-o", "memory://out", "--to", "bo3d"]) == 2
    assert cli.main(["convert", "nowhere://absent", "-o", "memory://out", "--to", "bo3d"]) == 2


def test_a_failure_stores_nothing(store: Any, capsys: pytest.CaptureFixture[str]) -> None:
    store.pipe("/models/x/fox.b3d", (EXAMPLES / "fox.b3d").read_bytes()[:1000])
    assert cli.main(["convert", "memory://models", "-o", "memory://out", "--to", "bo3d"]) == 1
    assert "memory:///models/x/fox.b3d -> FAILED" in capsys.readouterr().out
    assert stored(store, "/out").keys() == {"/y/fox.bo3d"}


def test_no_scheduler_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed")
    fox = str(EXAMPLES / "fox.b3d")
    assert cli.main(["convert", fox, "-o", "out", "--to", "bo3d", "--cluster", "not an address"]) == 2
    assert "no Dask scheduler" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------------------- loopback


class Cluster:
    """A scheduler and two workers as people start them."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.folder = folder
        self.processes = [self._dask("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file))]
        wait_for(self.file.is_file)
        self.processes += [self._worker() for _ in range(2)]

    def _worker(self) -> subprocess.Popen[bytes]:
        options = ["--nthreads", "1", "--no-dashboard", "--no-nanny", "--death-timeout", "60"]
        return self._dask("worker", "--scheduler-file", str(self.file), *options, "--local-directory", str(self.folder))

    def _dask(self, *arguments: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{arguments[0]}.log").open("ab")
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(self.folder)}
        command = [sys.executable, "-m", "dask", *arguments]
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=self.folder)

    @property
    def address(self) -> str:
        return str(json.loads(self.file.read_text())["address"])

    def close(self) -> None:
        for process in self.processes:
            process.kill()  # Dask's workers may wait for each other when they are asked to end
            process.wait(LIMIT)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    folder = tmp_path / "dask"
    folder.mkdir()
    found = Cluster(folder)
    yield found
    found.close()


def test_a_worker_may_be_lost_half_way(cluster: Cluster, tmp_path: Path) -> None:
    models, out = tmp_path / "models", tmp_path / "out"
    for number in range(100):
        folder = models / f"{number % 5}"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(EXAMPLES / "fox.b3d", folder / f"fox{number:02}.b3d")
    command = [sys.executable, "-m", "io_retro_meshes", "convert", str(models), "-o", str(out), "--to", "bo3d"]
    process = subprocess.Popen(
        [*command, "--cluster", cluster.address], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT
    )
    wait_for(lambda: len(list(out.rglob("*.bo3d"))) > 30 or process.poll() is not None)
    cluster.processes[-1].send_signal(signal.SIGKILL)
    words = process.communicate(timeout=LIMIT)[0]
    assert process.returncode == 0 and "100 converted, 0 failed" in words, words[-3000:]
    made = sorted(path.relative_to(out) for path in out.rglob("*") if path.is_file())
    expected = sorted(path.relative_to(models).with_suffix(".bo3d") for path in models.rglob("*.b3d"))
    assert made == expected, "all, once, and nothing else"
    assert len({(out / path).read_bytes() for path in made}) == 1


def test_a_run_on_a_cluster_can_be_stopped(cluster: Cluster, tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    for number in range(200):
        shutil.copy(EXAMPLES / "fox.b3d", models / f"fox{number:03}.b3d")
    command = [sys.executable, "-m", "io_retro_meshes", "convert", str(models), "-o", str(tmp_path / "out"), "--to", "bo3d"]
    process = subprocess.Popen([*command, "--cluster", cluster.address], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    wait_for(lambda: (tmp_path / "out").is_dir())
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT)
    assert process.returncode == 130 and len(list((tmp_path / "out").iterdir())) < 200


def test_a_cluster_in_this_process_has_addresses_in_memory(store: Any) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as local:
        command = ["convert", "memory://models", "-o", "memory://out", "--to", "bo3d", "--cluster", local.scheduler_address]
        assert cli.main(command) == 0
    assert stored(store, "/out").keys() == {"/x/fox.bo3d", "/y/fox.bo3d", "/x/fox.png"}
