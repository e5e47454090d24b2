# SPDX-License-Identifier: GPL-3.0-or-later
"""One `convert`: a plan, a run here or on a cluster, and everything that is told about it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from ..formats import FORMATS, AnyFormat
from . import choices
from .interrupts import INTERRUPTED
from .job import Job, Result, UsageError
from .kinds import format_of, is_foreign, writer_of
from .plan import Plan
from .progress import Progress, say, shown
from .record import Existing
from .report import Report, make_report, reported
from .run import Interrupted, Run, Skip, cores
from .slot import find_blender

if TYPE_CHECKING:
    from .cluster import ClusterRun

LOOKED_AT = 1000  # files that are counted before the first of them is converted


@dataclass
class Manner:
    """How a plan is carried out."""

    jobs: int | None = None  # None: as many as there are cores
    timeout: float = 120.0
    report: str | None = None
    cluster: str | None = None
    skip_existing: bool = False
    dry_run: bool = False
    quiet: bool = False


def convert(plan: Plan, manner: Manner) -> int:
    """Converts everything and returns the exit code. Raises UsageError before anything runs."""
    _check(plan, manner)
    stream = plan.jobs()
    first = list(islice(stream, LOOKED_AT))
    existing = Existing(reported(manner.report) if manner.report else None) if manner.skip_existing else None
    if manner.dry_run:
        return _print_plan(chain(first, stream), existing)
    total = len(first) if len(first) < LOOKED_AT else None
    if manner.cluster is None and any(job.through_blender for job in first):
        find_blender()
    run = _make_run(chain(first, stream), total, plan.debug, manner, existing.is_current if existing else None)
    report = make_report(manner.report) if manner.report else None
    progress = Progress(manner.quiet, total)
    if total is None and plan.is_repeatable:
        threading.Thread(target=_count, args=(plan, progress), daemon=True).start()
    return _carry_out(run.results(), progress, report)


def _carry_out(results: Iterator[Result], progress: Progress, report: Report | None) -> int:
    start = time.monotonic()
    interrupted = False
    try:
        for result in results:
            progress.add(result)
            if report is not None:
                report.add(result)
    except Interrupted:
        interrupted = True
    if report is not None:
        report.finish({"interrupted": interrupted, "seconds": round(time.monotonic() - start, 3)})
    progress.finish(interrupted)
    if report is not None and report.problem:
        say(f"The report {report.path} could not be written: {report.problem}", print)
    if interrupted:
        return INTERRUPTED
    return 1 if progress.failed or (report is not None and report.problem) else 0


def _make_run(jobs: Iterator[Job], total: int | None, debug: bool, manner: Manner, skip: Skip | None) -> Run | ClusterRun:
    if manner.cluster is not None:
        from .cluster import ClusterRun, connect

        return ClusterRun(jobs, connect(manner.cluster), manner.timeout, skip)
    count = manner.jobs or cores()
    return Run(jobs, max(1, min(count, total if total is not None else count)), manner.timeout, skip, debug)


def _count(plan: Plan, progress: Progress) -> None:
    """For the time that is left: the plan once more, while the run goes on."""
    progress.total = sum(1 for _ in plan.jobs())


def _print_plan(jobs: Iterator[Job], existing: Existing | None) -> int:
    for job in jobs:
        note = ""
        if job.error:
            note = f"  (cannot be converted: {job.error})"
        elif existing is not None and existing.is_current(job):
            note = "  (is there already)"
        say(f"{shown(job.source)} -> {shown(job.target)}{note}", print)
    return 0


# -------------------------------------------------------------------------------------------------------------- checks


def _check(plan: Plan, manner: Manner) -> None:
    """Raises UsageError for what could never work."""
    if manner.jobs is not None and manner.jobs < 1:
        raise UsageError(f"--jobs is at least 1, not {manner.jobs}")
    if not 0 <= manner.timeout < float("inf"):
        raise UsageError(f"--timeout is a number of seconds, or 0 for no limit, not {manner.timeout:g}")
    for folder in plan.texture_folders:
        if not os.path.isdir(folder):
            raise UsageError(f"there is no texture folder {folder}")
    between = FORMATS[plan.via] if plan.via else None
    readers = [*_readers(plan), *([between] if between else [])]
    choices.check(plan.options, readers, between, writer_of(plan.to, plan.through_blender))
    choices.check(plan.usual, list(FORMATS.values()), *FORMATS.values())


def _readers(plan: Plan) -> list[AnyFormat]:
    """The formats whose options there may be: of one file its own, of many all."""
    if plan.single is None:
        return list(FORMATS.values())
    if is_foreign(plan.single):
        return []
    try:
        found = format_of(Path(plan.single))
    except OSError:  # told when it is converted
        found = None
    return list(FORMATS.values()) if found is None else [found]
