# SPDX-License-Identifier: GPL-3.0-or-later
"""One place where files are converted: a worker process, started when it is needed and replaced when it is worn out or dead."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from functools import lru_cache
from pathlib import Path
from typing import IO

from ..atomic import sweep
from .interrupts import INTERRUPTED, end, listening
from .job import Job, Result
from .record import fingerprint
from .remote import Staging, is_remote
from .worker import READY, RESULT, words

PROGRAM = Path(__file__).parents[1] / "cli.py"
# Files that a worker converts before another one takes its place: Blender keeps something of each.
FILES = {True: 300, False: 1000}  # with Blender, without
MEMORY = 2 << 30  # bytes that it may hold after a file
TICK = 0.1  # seconds between looks at the clock
START = 300.0  # seconds that it may need to start
BLENDER = "RETRO_MESHES_BLENDER"  # names the Blender to use
BUILD = "RETRO_MESHES_BUILD"  # names the build.py that can install Blender's module


class CannotStart(Exception):
    """There is no worker, and there will be none."""


class Slot:
    """Converts one file at a time, each within the time that it may take."""

    def __init__(self, timeout: float, folder: Path, debug: bool = False) -> None:
        self.timeout = timeout
        self._folder = folder
        self._debug = debug
        self._workers: dict[bool, Worker] = {}  # one for Blender, one without
        self._refused: dict[bool, str] = {}
        self._staging = Staging(folder)
        self._lock = threading.RLock()  # a signal handler may want it, too
        self._closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def convert(self, job: Job) -> Result:
        """Never raises: everything that can go wrong is a result."""
        start = time.monotonic()
        job.made = fingerprint(job)
        try:
            if is_remote(job.source) or is_remote(job.target):
                with self._staging.staged(job) as here:
                    result = self._ask(here)
                    result.error = self._staging.told(result.error)
                    result.warnings = [self._staging.told(warning) for warning in result.warnings]
                    if result.failed:
                        raise _Failed(result)
            else:
                result = self._ask(job)
        except _Failed as failed:
            result = failed.result
        except Exception as error:  # of a store, which may raise anything
            result = Result.of(job, "failed", words(error), time.monotonic() - start)
        result.input, result.output = job.source, job.target
        return result

    def _ask(self, job: Job) -> Result:
        start = time.monotonic()
        kind = job.through_blender
        if kind in self._refused:
            return Result.of(job, "failed", self._refused[kind])
        try:
            worker = self._worker(kind)
        except (CannotStart, OSError) as error:
            self._refused[kind] = words(error) if isinstance(error, OSError) else str(error)
            return Result.of(job, "failed", self._refused[kind])
        result = worker.ask(job)
        if result is None:
            del self._workers[kind]
            result = worker.verdict(job, time.monotonic() - start)
            sweep(Path(job.target).parent, worker.process.pid)
        elif worker.files >= FILES[kind] or result.memory > MEMORY:
            del self._workers[kind]
            worker.retire()
        return result

    def _worker(self, kind: bool) -> Worker:
        """Raises CannotStart or OSError."""
        worker = self._workers.get(kind)
        if worker is None:
            start = [*command(kind), "work", "--timeout", str(self.timeout), *["--through-blender"] * kind]
            with self._lock:  # so that none is started after all have been ended
                if self._closed.is_set():
                    raise CannotStart("interrupted")
                worker = self._workers[kind] = Worker(start, self.timeout, self._folder, self._debug)
            try:
                worker.wait_until_ready()
            except CannotStart:
                del self._workers[kind]
                raise
        return worker

    def _watch(self) -> None:
        while not self._closed.wait(TICK):
            for worker in list(self._workers.values()):
                worker.end_if_late(time.monotonic())

    def stop(self) -> None:
        """Asks the workers to end, which they do at once unless they are inside Blender."""
        with self._lock:
            self._closed.set()
        for worker in list(self._workers.values()):
            worker.terminate()

    def close(self, until: float) -> None:
        """Ends the workers for certain when that time has come, and removes what they leave."""
        self.stop()
        for worker in list(self._workers.values()):
            worker.close(max(0.0, until - time.monotonic()))
        shutil.rmtree(self._folder, ignore_errors=True)


class _Failed(Exception):
    def __init__(self, result: Result) -> None:
        self.result = result


# -------------------------------------------------------------------------------------------------------------- worker


class Worker:
    """A process that converts, as seen from the one that started it."""

    def __init__(self, start: list[str], timeout: float, folder: Path, debug: bool) -> None:
        self.files = 0
        self._timeout = timeout
        self._late = False
        self._job: Job | None = None
        # Blender's own temporary folder goes there, too, and away with it
        self._folder = Path(tempfile.mkdtemp(dir=_made(folder)))
        places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self._folder))
        self._complaints: IO[bytes] | None = None if debug else tempfile.TemporaryFile()  # noqa: SIM115 - closed at the end
        self._deadline = time.monotonic() + START
        self.process = subprocess.Popen(
            start,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            encoding="ascii",
            errors="replace",
            env={**os.environ, **places},
            start_new_session=os.name != "nt",  # Ctrl-C is for the process that started this one
        )

    def wait_until_ready(self) -> None:
        if self._read(READY) is None:
            self.process.kill()
            self.process.wait()
            reason = self._last_complaint() or f"exit code {self.process.returncode}"
            self._clean()
            raise CannotStart(f"no worker can be started: {reason}")

    def ask(self, job: Job) -> Result | None:
        """None: it died over it."""
        assert self.process.stdin is not None
        self.files += 1
        self._job = job
        self._deadline = time.monotonic() + self._timeout if self._timeout else float("inf")
        try:
            self.process.stdin.write(job.dump() + "\n")
            self.process.stdin.flush()
            answer = self._read(RESULT)
        except OSError:
            answer = None
        if answer is None:
            return None
        self._deadline = float("inf")
        self._job = None
        return Result.load(answer)

    def _read(self, start: str) -> str | None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(start):
                self._deadline = float("inf")
                return line.removeprefix(start)
        return None

    def end_if_late(self, now: float) -> None:
        if now > self._deadline and not self._late:
            self._late = True
            self.process.kill()

    def verdict(self, job: Job, seconds: float) -> Result:
        """How it died."""
        self.process.kill()
        code = self.process.wait()
        reason = self._last_complaint()
        self._clean()
        if self._late:
            return Result.of(job, "timed out", f"it took more than {self._timeout:g} seconds (--timeout)", seconds)
        if code < 0:
            how = f"signal {-code}, {signal.Signals(-code).name}" if -code in set(signal.Signals) else f"signal {-code}"
        else:
            how = f"exit code {code}"
        return Result.of(job, "crashed", f"the worker crashed ({how})" + (f": {reason}" if reason else ""), seconds)

    def _last_complaint(self) -> str:
        """What it said last, which may be why it ended."""
        if self._complaints is None:
            return ""
        with contextlib.suppress(OSError, ValueError):
            self._complaints.seek(max(0, self._complaints.seek(0, os.SEEK_END) - 4096))
            lines = self._complaints.read().decode("utf-8", "replace").split("\n")
            return next((" ".join(line.split()) for line in reversed(lines) if line.strip()), "")[:300]
        return ""

    def retire(self) -> None:
        """Lets it end in peace: it has nothing to do."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.close(0)

    def terminate(self) -> None:
        with contextlib.suppress(OSError):
            self.process.terminate()

    def close(self, patience: float) -> None:
        job = self._job
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(patience)
        self.process.kill()
        self.process.wait()
        if job is not None and not is_remote(job.target):
            sweep(Path(job.target).parent, self.process.pid)
        self._clean()

    def _clean(self) -> None:
        if self._complaints is not None:
            self._complaints.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# ------------------------------------------------------------------------------------------------------------ commands


def command(through_blender: bool) -> list[str]:
    """What starts a worker. Raises CannotStart."""
    inside = _this_blender()
    if inside:
        return _in_blender(inside)
    if not through_blender:
        return [sys.executable, str(PROGRAM)]
    return _with_blender()


def _this_blender() -> str:
    """The Blender that this is, unless it is a Python."""
    bpy = sys.modules.get("bpy")
    return str(bpy.app.binary_path) if bpy is not None else ""


def _in_blender(program: str) -> list[str]:
    return [program, "-b", "--factory-startup", "--python", str(PROGRAM), "--"]


@lru_cache(maxsize=1)
def _with_blender() -> list[str]:
    """A Python with Blender's module, or a Blender: this one, the one that was named, one that is installed."""
    named = os.environ.get(BLENDER)
    if named:
        return _in_blender(named)
    if importlib.util.find_spec("bpy") is not None:
        return [sys.executable, str(PROGRAM)]
    build = os.environ.get(BUILD)
    if build:
        return [_installed_by(build), str(PROGRAM)]
    installed = shutil.which("blender")
    if installed:
        return _in_blender(installed)
    raise CannotStart(
        f"this conversion goes through Blender, and there is none: install it, or name it in {BLENDER}, or pip install bpy"
    )


def find_blender() -> None:
    """Looks for a Blender, or has its module installed, before a run that needs it: then nothing but this has to be stopped."""
    with contextlib.suppress(CannotStart):  # told of each file
        command(True)


def _installed_by(build: str) -> str:
    """The Python with Blender's module that build.py has, or makes now."""
    process = subprocess.Popen([sys.executable, build, "environment"], stdout=subprocess.PIPE, text=True)

    def stop() -> None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1)
        process.kill()
        end(INTERRUPTED)

    alone = threading.current_thread() is threading.main_thread()
    with listening(stop) if alone else contextlib.nullcontext():
        words = process.communicate()[0]
    if process.returncode:
        raise CannotStart("this conversion goes through Blender, whose module could not be installed")
    return words.strip().splitlines()[-1]
