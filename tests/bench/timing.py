# SPDX-License-Identifier: GPL-3.0-or-later
"""What every benchmark needs: the best of several rounds, an empty Blender, and a report with limits."""

from __future__ import annotations

import time
from collections.abc import Callable

import bpy

ROUNDS = 5


class Seconds(float):
    """Time on the clock, with that of the processor, which other programs do not lengthen as much."""

    processor: float = 0.0


def best(action: Callable[[], object], before: Callable[[], object] = lambda: None, rounds: int = ROUNDS) -> Seconds:
    times = []
    for _ in range(rounds):
        before()
        start, used = time.perf_counter(), time.process_time()
        action()
        times.append((time.perf_counter() - start, time.process_time() - used))
    found = Seconds(min(elapsed for elapsed, _ in times))
    found.processor = min(used for _, used in times)
    return found


def empty() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


class Report:
    def __init__(self) -> None:
        self.missed: list[str] = []

    def line(
        self, name: str, seconds: float, ratio: float | None = None, limit: float | None = None, unit: str = "x PLY"
    ) -> None:
        value = seconds if ratio is None else ratio
        words = f"{name:24}{seconds:9.3f} s"
        if isinstance(seconds, Seconds):
            words += f" ({seconds.processor:.3f} of the processor)"
        if ratio is not None:
            words += f"{ratio:9.2f} {unit}"
        if limit is not None:
            words += f"   limit {limit:.2f}: {'kept' if value <= limit else 'MISSED'}"
            if value > limit:
                self.missed.append(name)
        print(words, flush=True)
