# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run says while it goes on: a bar on a terminal, a line for each file elsewhere, failures again at the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

from .job import Result

FAILURES = 100  # that are told again at the end


def shown(text: str) -> str:
    """A name as it can be printed: bytes that are not UTF-8 are escaped, and so are line ends."""
    printable = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return printable.replace("\r", "\\r").replace("\n", "\\n")


class Progress:
    """Counts results and tells of them. `total` is None until it is known."""

    def __init__(self, quiet: bool, total: int | None = None) -> None:
        self.total = total
        self.converted = self.failed = self.skipped = 0
        self._quiet = quiet
        self._failures: list[tuple[str, str]] = []
        self._bar = None if quiet else _make_bar(total)

    @property
    def number(self) -> int:
        return self.converted + self.failed + self.skipped

    def add(self, result: Result) -> None:
        if result.status == "skipped":
            self.skipped += 1
        elif result.failed:
            self.failed += 1
            if len(self._failures) < FAILURES:
                self._failures.append((result.input, result.error))
        else:
            self.converted += 1
        if self._bar is not None:
            self._bar.total = self.total
            self._bar.update(1)
        silent = self._bar is not None and result.status == "converted" and not (result.warnings or result.notes)
        if result.status == "skipped" or silent:
            return
        if not self._quiet:
            self._tell(result)
        if result.traceback:
            say(result.traceback, self._write_error)

    def _tell(self, result: Result) -> None:
        of = f"/{self.total}" if self.total is not None else ""
        what = f"FAILED: {result.error}" if result.failed else result.output
        say(f"[{self.number}{of}] {shown(result.input)} -> {shown(what)}", self._write)
        for warning in result.warnings:
            say(("         " if warning.startswith(" ") else "    warning: ") + shown(warning), self._write)
        for note in result.notes:
            say(f"    {shown(note)}", self._write)

    def finish(self, interrupted: bool = False) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        if self._failures and (self._quiet or self.number > 1):
            say("Failed:", self._write_error)
            for name, error in self._failures:
                say(f"    {shown(name)}: {shown(error)}", self._write_error)
            if self.failed > len(self._failures):
                say(f"    and {self.failed - len(self._failures)} more: --report lists them all", self._write_error)
        if interrupted:
            say("Interrupted.", self._write_error)
        if not self._quiet and (self.number > 1 or self.skipped or interrupted):
            say(f"{self.converted} converted, {self.failed} failed, {self.skipped} were there already.", self._write)

    def _write(self, text: str) -> None:
        if self._bar is not None:
            self._bar.write(text)
        else:
            print(text, flush=True)

    def _write_error(self, text: str) -> None:
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        else:
            print(text, file=sys.stderr, flush=True)


def say(text: str, write: Callable[[str], None]) -> None:
    """Prints; when nobody listens any more, the work goes on in silence."""
    try:
        write(text)
    except UnicodeEncodeError:  # a terminal with another encoding
        write(text.encode("ascii", "backslashreplace").decode("ascii"))
    except BrokenPipeError:
        _silence(sys.stdout)


def _silence(stream: TextIO) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _make_bar(total: int | None) -> Any:
    """tqdm's bar with rate and time left, where there is a terminal, more than one file, and tqdm."""
    if total == 1 or not sys.stderr.isatty() or not sys.stdout.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(total=total, unit="file", dynamic_ncols=True, smoothing=0.05)
