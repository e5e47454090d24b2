# SPDX-License-Identifier: GPL-3.0-or-later
"""Many files at once on this machine. The process that was called converts nothing itself, so that it always can be stopped."""

from __future__ import annotations

import os
import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ..atomic import owner_prefix, sweep
from .interrupts import INTERRUPTED, end, listening
from .job import Job, Result
from .record import fingerprint
from .slot import Slot

AHEAD = 4  # jobs for each slot that are planned before they are needed
PATIENCE = 1.0  # seconds that workers get to end when the run is interrupted


class Interrupted(Exception):
    """A signal came."""


Skip = Callable[[Job], bool]


class Run:
    """Converts a stream of jobs in worker processes; `results` come in the order in which they are done."""

    def __init__(self, jobs: Iterator[Job], count: int, timeout: float, skip: Skip | None = None, debug: bool = False) -> None:
        self._jobs = jobs
        self._skip = skip
        self._timeout = timeout
        self._debug = debug
        self._count = count
        self._slots: list[Slot] = []
        self._waiting: queue.Queue[Job | None] = queue.Queue(AHEAD * count)
        # results; None from each slot that is through; an exception from the plan; Interrupted from the signal handler
        self._done: queue.SimpleQueue[Result | BaseException | None] = queue.SimpleQueue()
        self._ending = threading.Event()

    def results(self) -> Iterator[Result]:
        """Raises Interrupted on a signal, and what the plan raises. Nothing is left running in any case."""
        with listening(self._interrupt):
            folder = temporary_folder()
            try:
                self._start(folder)
                yield from self._collect()
            finally:
                self._end()
                shutil.rmtree(folder, ignore_errors=True)

    def _start(self, folder: Path) -> None:
        self._slots = [Slot(self._timeout, folder / str(number), self._debug) for number in range(self._count)]
        for work in (self._feed, *(lambda slot=slot: self._serve(slot) for slot in self._slots)):
            threading.Thread(target=work, daemon=True).start()

    def _collect(self) -> Iterator[Result]:
        through = 0
        while through < len(self._slots):
            done = self._done.get()
            if isinstance(done, BaseException):
                raise done
            if done is None:
                through += 1
            else:
                yield done

    def _interrupt(self) -> None:
        """In the signal handler: the workers are told at once, the rest is done where results are collected."""
        if self._ending.is_set():  # a second time: at once
            for slot in self._slots:
                slot.close(0)
            end(INTERRUPTED)
        self._ending.set()
        self._done.put(Interrupted())

    def _end(self) -> None:
        self._ending.set()
        for slot in self._slots:
            slot.stop()
        until = time.monotonic() + PATIENCE
        for slot in self._slots:
            slot.close(until)

    # --------------------------------------------------------------------------------------------------------- threads

    def _feed(self) -> None:
        try:
            for job in self._jobs:
                if self._ending.is_set():
                    return
                if job.error:
                    self._done.put(Result.of(job, "failed", job.error))
                elif self._skip is not None and self._skip(job):
                    job.made = fingerprint(job)
                    self._done.put(Result.of(job, "skipped"))
                else:
                    self._waiting.put(job)
        except BaseException as error:  # told where the results are
            self._done.put(error)
        for _ in self._slots:
            self._waiting.put(None)

    def _serve(self, slot: Slot) -> None:
        while (job := self._waiting.get()) is not None:
            if self._ending.is_set():
                return
            result = slot.convert(job)
            if not self._ending.is_set():
                self._done.put(result)
        self._done.put(None)


def temporary_folder() -> Path:
    """For what workers need while they run. Those of runs that were killed are removed."""
    sweep(Path(tempfile.gettempdir()))
    return Path(tempfile.mkdtemp(prefix=owner_prefix()))


def cores() -> int:
    """That this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
