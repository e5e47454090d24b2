# SPDX-License-Identifier: GPL-3.0-or-later
"""The same jobs on many machines, through the scheduler of a Dask cluster.

Each Dask worker keeps a slot for each of its threads, that is a process that converts, so that a file that crashes or hangs
costs neither the worker nor the files after it. A worker that is lost has its files done by another one: that is Dask's part.
"""

from __future__ import annotations

import atexit
import os
import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..atomic import sweep
from .interrupts import listening
from .job import Job, Result, UsageError
from .record import fingerprint
from .remote import is_remote
from .run import Interrupted, Skip, temporary_folder
from .slot import Slot

AHEAD = 4  # jobs for each thread of the cluster that are handed over before they are needed
RETRIES = 2  # of a job whose task fails, which is never the file's fault
CONNECT = 15  # seconds
NEWS = 2.0  # seconds after which the cluster is asked again how large it is


def connect(address: str) -> Any:
    """A client. Raises UsageError."""
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("--cluster needs Dask: pip install 'io-retro-meshes[cluster]'") from None
    try:
        return Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"there is no Dask scheduler at {address}: {error}") from None


class ClusterRun:
    """Like run.Run, on a cluster."""

    def __init__(self, jobs: Iterator[Job], client: Any, timeout: float, skip: Skip | None = None) -> None:
        self._jobs = jobs
        self._client = client
        self._timeout = timeout
        self._skip = skip
        self._folders: set[str] = set()
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._going: dict[Any, Job] = {}
        self._interrupted = False
        self._threads = 0
        self._asked = -NEWS

    def results(self) -> Iterator[Result]:
        """Raises Interrupted on a signal, and what the plan raises. What a worker has begun it ends; the rest is cancelled."""
        with listening(self._interrupt):
            try:
                yield from self._collect()
            finally:
                self._client.cancel(list(self._going), force=True)
                self._client.close(timeout=1)
                for folder in self._folders:
                    sweep(Path(folder))

    def _interrupt(self) -> None:
        self._interrupted = True
        self._events.put(None)

    def _collect(self) -> Iterator[Result]:
        more = True
        while more or self._going:
            while more and len(self._going) < self._width():
                job = next(self._jobs, None)
                more = job is not None
                if job is not None:
                    yield from self._submit(job)
                if self._interrupted:
                    raise Interrupted
            if self._going:
                future = self._events.get()
                if future is None:
                    raise Interrupted
                yield self._result(future, self._going.pop(future))

    def _width(self) -> int:
        """As many as keep all threads busy that there are now: workers may come and go."""
        now = time.monotonic()
        if now > self._asked + NEWS:
            self._asked = now
            self._threads = sum(self._client.nthreads().values())
        return max(1, self._threads) * AHEAD

    def _submit(self, job: Job) -> Iterator[Result]:
        if job.error:
            yield Result.of(job, "failed", job.error)
        elif self._skip is not None and self._skip(job):
            job.made = fingerprint(job)
            yield Result.of(job, "skipped")
        else:
            there = replace(job, source=_absolute(job.source), target=_absolute(job.target))
            if not is_remote(there.target):
                self._folders.add(os.path.dirname(there.target))
            future = self._client.submit(convert_there, there.dump(), self._timeout, pure=False, retries=RETRIES)
            self._going[future] = job
            future.add_done_callback(self._events.put)

    def _result(self, future: Any, job: Job) -> Result:
        error = future.exception()
        if error is not None:  # the workers died of it, one after the other
            return Result.of(job, "crashed", " ".join(str(error).split()) or type(error).__name__)
        result = Result.load(future.result())
        result.input, result.output = job.source, job.target
        return result


def _absolute(path: str) -> str:
    """Workers have working folders of their own."""
    return path if is_remote(path) else os.path.abspath(path)


_slots = threading.local()


def convert_there(text: str, timeout: float) -> str:
    """What runs on a worker of the cluster: a job in, a result out."""
    job = Job.load(text)
    slot: Slot | None = _slots.__dict__.get("slot")
    if slot is None or slot.timeout != timeout:
        slot = _slots.slot = Slot(timeout, temporary_folder())
        atexit.register(slot.close, 0.0)
    return slot.convert(job).dump()
