# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports for programs, written while a run goes on: JSON, or a JSON object a line."""

from __future__ import annotations

import contextlib
import json
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from ..atomic import owner_prefix, sweep
from .job import Result, UsageError
from .record import version

FIELDS = ("input", "output", "status", "seconds", "peak_memory", "warnings", "notes", "error", "made")


def entry_of(result: Result) -> dict[str, Any]:
    """What the report says of a file. Memory is in bytes."""
    return {name: value for name in FIELDS if (value := vars(result)[name]) or name not in ("notes", "error")}


def dump(value: object, **layout: Any) -> str:
    """JSON as it is read best; names that are not UTF-8 are escaped, so that they come back as they were."""
    text = json.dumps(value, ensure_ascii=False, **layout)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, **layout)
    return text


class Report(ABC):
    """Written under another name beside its place, and renamed at the end: a report that is there is whole."""

    def __init__(self, path: Path) -> None:
        """Raises UsageError: a night's work is not to end with a report that cannot be written."""
        self.path = path
        self.counts: Counter[str] = Counter()
        self.problem = ""
        self._part = self._part_of(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            sweep(path.parent)
            self._file: TextIO = open(self._part, "w", encoding="utf-8")  # noqa: SIM115 - closed in finish
        except OSError as error:
            raise UsageError(f"the report {path} cannot be written: {error.strerror}") from None
        self._write(self.head())

    def _part_of(self, path: Path) -> Path:
        return path.with_name(f"{owner_prefix()}{path.name}")

    @abstractmethod
    def head(self) -> str: ...

    @abstractmethod
    def line(self, result: Result, first: bool) -> str: ...

    @abstractmethod
    def tail(self, summary: dict[str, Any]) -> str: ...

    def add(self, result: Result) -> None:
        first = not self.counts
        self.counts[result.status] += 1
        self._write(self.line(result, first))

    def finish(self, summary: dict[str, Any]) -> None:
        self._write(self.tail({**summary, **{status.replace(" ", "_"): number for status, number in self.counts.items()}}))
        try:
            self._file.close()
            if not self.problem and self._part != self.path:
                os.replace(self._part, self.path)
        except OSError as error:
            self.problem = error.strerror or str(error)
        if self.problem and self._part != self.path:
            with contextlib.suppress(OSError):
                self._part.unlink()

    def _write(self, text: str) -> None:
        """A full disk ends the report, not the run."""
        if self.problem:
            return
        try:
            self._file.write(text)
            self._file.flush()
        except OSError as error:
            self.problem = error.strerror or str(error)


class JsonReport(Report):
    """One object: the version, a list of files, and a summary."""

    def head(self) -> str:
        return f'{{"version": {dump(version())},\n"files": ['

    def line(self, result: Result, first: bool) -> str:
        return ("\n" if first else ",\n") + dump(entry_of(result))

    def tail(self, summary: dict[str, Any]) -> str:
        return f'\n],\n"summary": {dump(summary)}}}\n'


class JsonLinesReport(Report):
    """A line for each file as soon as it is done, to be followed while the run goes on."""

    def _part_of(self, path: Path) -> Path:
        return path

    def head(self) -> str:
        return ""

    def line(self, result: Result, first: bool) -> str:
        return dump(entry_of(result)) + "\n"

    def tail(self, summary: dict[str, Any]) -> str:
        return ""


def make_report(name: str) -> Report:
    """By its extension. Raises UsageError."""
    from .html import HtmlReport

    kinds: dict[str, type[Report]] = {".json": JsonReport, ".jsonl": JsonLinesReport, ".html": HtmlReport, ".htm": HtmlReport}
    path = Path(name)
    if path.suffix.lower() not in kinds:
        raise UsageError(f"a report is a .json, .jsonl or .html file, not {name}")
    if path.is_dir():
        raise UsageError(f"the report {name} is a folder")
    return kinds[path.suffix.lower()](path)


def wants_thumbnails(name: str | None) -> bool:
    return name is not None and Path(name).suffix.lower() in (".html", ".htm")


def reported(name: str) -> dict[str, str]:
    """The fingerprints of results in an earlier report, by output."""
    with contextlib.suppress(OSError, ValueError):
        return {entry["output"]: entry["made"] for entry in _entries(Path(name)) if entry.get("made")}
    return {}


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    if path.suffix.lower() == ".json":
        yield from json.loads(path.read_text("utf-8"))["files"]
    elif path.suffix.lower() == ".jsonl":
        with path.open(encoding="utf-8") as file:
            for line in file:
                with contextlib.suppress(ValueError):  # the last one of a run that was killed may be cut off
                    yield json.loads(line)
