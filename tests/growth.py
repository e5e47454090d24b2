# SPDX-License-Identifier: GPL-3.0-or-later
"""How work grows with what is given: a machine may be slow or busy, but twice as much must not cost four times as much."""

from __future__ import annotations

import time
from collections.abc import Callable

TIMES = 4  # as much, the second time
MOST = 7.0  # times the cost: 4 is in proportion, 16 is the square
TRIES = 5


def assert_linear(work: Callable[[int], object], count: int) -> None:
    """Work on 4n things costs about four times as much as on n: the best of several tries of each, until they agree."""
    small = large = float("inf")
    for _ in range(TRIES):
        small, large = min(small, _cost(work, count)), min(large, _cost(work, TIMES * count))
        if large <= MOST * small:
            return
    raise AssertionError(f"{TIMES} times as much costs {large / small:.1f} times as much")


def _cost(work: Callable[[int], object], count: int) -> float:
    start = time.process_time()
    work(count)
    return time.process_time() - start
