# SPDX-License-Identifier: GPL-3.0-or-later
"""What formats make of files, scenes and choices is what was recorded: `python -m tests.recorded.cases` records anew."""

from __future__ import annotations

import pytest

from tests.recorded import cases


@pytest.mark.parametrize("name", cases.NAMES)
def test_as_recorded(name: str) -> None:
    off = cases.changes(name, cases.record(name))
    assert not off, "\n".join([*off, "If that is meant: python -m tests.recorded.cases"])
