# SPDX-License-Identifier: GPL-3.0-or-later
"""A short run of the fuzzer: files whose fields lie, so that readers follow them to the end."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from io_retro_meshes.formats import FORMATS, sniff
from tests.fuzz.fuzz import case, seeds
from tests.fuzz.worker import attempt


@pytest.mark.parametrize("format_id", sorted(FORMATS))
def test_lies_give_errors_or_scenes(format_id: str, tmp_path: Path) -> None:
    files = sorted(seeds(format_id, None), key=len)[:4]
    path = tmp_path / "case"
    reached = set()
    for number in range(1, 40):
        path.write_bytes(case(files, format_id, 3, number))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = attempt(format_id, path, number, blender=False, timed=False)
        assert "problem" not in found, (number, found)
        reached.add(found["stage"])
    assert {"read", "end"} <= reached  # some are refused, some come through


def test_noise_is_of_no_format() -> None:
    random = np.random.default_rng(1)
    for size in range(300):
        sniff(random.bytes(size))
    assert sniff(b"") is None and sniff(bytes(64)) is None
