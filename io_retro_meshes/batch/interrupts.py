# SPDX-License-Identifier: GPL-3.0-or-later
"""SIGINT, SIGTERM and SIGHUP end a command with exit code 130. Imported before all else, so it imports next to nothing."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # not all of them are there on Windows
SIGNALS = [signal.Signals[name] for name in _NAMES if name in signal.Signals.__members__]

_listener: Callable[[], None] | None = None


def _on_signal(number: int, frame: FrameType | None) -> None:
    if _listener is None:  # nothing was started, so there is nothing to clean up
        end(INTERRUPTED)
    _listener()


def end(code: int) -> NoReturn:
    """Ends this process at once. A Blender removes its temporary folder only when it ends by itself, so that is done here."""
    bpy = sys.modules.get("bpy")
    folder = str(bpy.app.tempdir) if bpy is not None and bpy.app.binary_path else ""
    if os.path.basename(os.path.normpath(folder)).startswith("blender_"):
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(code)


def install() -> None:
    """From now on a signal ends this process with 130. build.py blocks them until here, so that none is lost on the way."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGINT:  # nohup ignores SIGHUP
            signal.signal(number, _on_signal)
    if os.name != "nt":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


@contextmanager
def listening(listener: Callable[[], None]) -> Iterator[None]:
    """Has a function called on a signal instead; afterwards everything is as it was."""
    global _listener
    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in SIGNALS} if main else {}
    _listener = listener
    if main:
        install()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        _listener = None
