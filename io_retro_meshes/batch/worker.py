# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that converts: a job a line in, a result a line out, until there are no more."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import time
import traceback
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TextIO

from ..atomic import after_commit
from ..formats.format import Note
from .choices import fitting
from .job import Job, Result
from .kinds import extension, format_of, is_foreign, writer_of
from .record import remember

READY = "retro_meshes ready"
RESULT = "retro_meshes result: "  # before an answer, which stands among whatever Blender says at its start


def convert_one(job: Job) -> list[str]:
    """Converts a file by the way that its job says, and returns warnings and notes. Raises whatever went wrong."""
    if job.via:
        return _in_two_steps(job)
    source, target = Path(job.source).absolute(), Path(job.target).absolute()
    reader = None if is_foreign(job.source) else format_of(source)
    if reader is None and not is_foreign(job.source):
        raise ValueError("not a file of a known format")
    target.parent.mkdir(parents=True, exist_ok=True)
    writer = writer_of(job.to, job.through_blender)
    options = fitting(job.options, reader, writer)
    if writer is not None and not job.through_blender:
        from ..convert import convert

        return convert(source, target, to=writer.id, options=options, texture_folders=[*map(Path, job.texture_folders)])
    if not (_is_utf8(job.source) and _is_utf8(job.target)):
        raise ValueError("its name is not UTF-8, and Blender takes no other names: rename it")
    from ..blender import convert as blender

    warnings = []
    if job.texture_folders and reader is not None:
        options["texture_folder"] = job.texture_folders[0]
        if len(job.texture_folders) > 1:
            warnings = [f"Through Blender, textures are looked for in one folder only: {job.texture_folders[0]}"]
    return warnings + blender.convert(source, reader, target, job.to, options)


def _in_two_steps(job: Job) -> list[str]:
    """What only the exporter of the first format does (axes of new bones, frames) is so in the second format, too."""
    source = Path(job.source).absolute()
    if not is_foreign(job.source) and (reader := format_of(source)) is not None and reader.id == job.via:
        return convert_one(replace(job, via=""))
    with TemporaryDirectory() as folder:
        between = str(Path(folder) / f"{source.stem}{extension(job.via)}")
        told = convert_one(replace(job, via="", target=between, to=job.via))
        once = {name: value for name, value in job.options.items() if name != "scale"}  # it is in there now
        last = replace(job, via="", source=between, options=once, through_blender=False)
        last.texture_folders = [*job.texture_folders, str(source.parent)]
        told += convert_one(last)
    return list(dict.fromkeys(told))


def _is_utf8(path: str) -> bool:
    """Names that are not are strings with bytes in them that stand for themselves."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def attempt(job: Job) -> Result:
    """Converts a file, and tells how that went. A failure of any kind is this file's alone."""
    _reset_peak_memory()
    start = time.monotonic()
    result = Result.of(job, "converted")
    try:
        told = convert_one(job)
        result.warnings = [line for line in told if not isinstance(line, Note)]
        result.notes = [line for line in told if isinstance(line, Note)]
        remember(job)
    except Exception as error:  # the next file is not to suffer for it
        result.status, result.error = "failed", words(error)
        result.traceback = traceback.format_exc() if job.debug else ""
    result.seconds = round(time.monotonic() - start, 4)
    result.peak_memory, result.memory = _memory()
    if job.thumbnail and result.status == "converted":
        from .thumbnail import thumbnail

        result.thumbnail = thumbnail(Path(job.source), Path(job.target), job.texture_folders)
    return result


def words(error: BaseException) -> str:
    """One line about an error."""
    if isinstance(error, OSError) and error.strerror:
        place = error.filename2 or error.filename
        return f"{error.strerror}: {place}" if place else error.strerror
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    text = _short(str(error))
    if isinstance(error, (ValueError, RuntimeError)) and text:  # they have words for people: ours, and Blender's operators'
        return text
    return f"{type(error).__name__}: {text}"


def _short(text: str) -> str:
    """In one line; of a traceback that an operator of Blender has made its message, only what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if any("Traceback (most recent call last)" in line for line in lines):
        lines = [line for line in lines if not line.startswith("Location: ")][-1:]
    return " ".join(" ".join(lines).split())


# -------------------------------------------------------------------------------------------------------------- memory


def _reset_peak_memory() -> None:
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:  # not Linux: the peak is that of the process
        pass


def _memory() -> tuple[int, int]:
    """The peak and what is held now, in bytes."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            fields = dict(line.split(":", 1) for line in file if line.startswith(("VmHWM", "VmRSS")))
        return _bytes(fields["VmHWM"]), _bytes(fields["VmRSS"])
    except (OSError, KeyError):
        pass
    if os.name == "nt":
        return 0, 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak *= 1 if sys.platform == "darwin" else 1024
    return peak, peak


def _bytes(text: str) -> int:
    return int(text.split()[0]) * 1024  # "  1234 kB"


# ---------------------------------------------------------------------------------------------------------------- loop


class Stopped(BaseException):
    """The run is over: clean up and end."""


def work(timeout: float, through_blender: bool) -> None:
    """Converts what standard input says. Ends with it, also in the middle of a file."""
    answers = _take_stdout()
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # that is for the process that started this one
    jobs: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    busy = threading.Event()
    threading.Thread(target=_listen, args=(jobs, busy), daemon=True).start()
    try:
        _load(through_blender)
        print(f"\n{READY}", file=answers, flush=True)
        while (line := jobs.get()) is not None:
            busy.set()
            _limit(timeout)
            result = attempt(Job.load(line))
            _limit(0)
            busy.clear()
            print(f"\n{RESULT}{result.dump()}", file=answers, flush=True)
    except (Stopped, BrokenPipeError):
        pass


def _load(through_blender: bool) -> None:
    """What takes long the first time is not to count as the first file's time."""
    if through_blender:
        from ..blender import convert as blender

        blender.prepare()
    else:
        from .. import convert  # noqa: F401


def _take_stdout() -> TextIO:
    """Keeps standard output for answers; what Blender and its exporters print, in whatever language, goes to nowhere."""
    sys.stdout.flush()
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return answers


def _listen(jobs: queue.SimpleQueue[str | None], busy: threading.Event) -> None:
    for line in sys.stdin:
        jobs.put(line)
    if busy.is_set():  # whoever wanted the result is gone
        os._exit(1)
    jobs.put(None)


def _stop(number: int, frame: FrameType | None) -> None:
    after_commit(_raise_stopped)


def _raise_stopped() -> None:
    raise Stopped


def _limit(seconds: float) -> None:
    """The system ends this process when a file takes far too long and nobody is left to do it."""
    if os.name != "nt":
        signal.setitimer(signal.ITIMER_REAL, seconds * 2)
