# SPDX-License-Identifier: GPL-3.0-or-later
"""The packing of textures: what goes in comes out, as small as it gets, and never more than was asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from io_retro_meshes.formats import saturn
from io_retro_meshes.formats.saturn import lzss
from tests.builders.saturn import tiles
from tests.conftest import corpus_files

random = np.random.default_rng(7)


SAMPLES = {
    "nothing": np.zeros(0, np.uint16),
    "random": random.integers(0, 0x10000, 3000, dtype=np.uint16),
    "few colours": random.integers(0, 3, 3000, dtype=np.uint16),
    "flat": np.full(3000, 0x8421, np.uint16),
    "periodic": np.tile(random.integers(0, 0x10000, 70, dtype=np.uint16), 40),
    "long period": np.tile(random.integers(0, 0x10000, lzss.FARTHEST, dtype=np.uint16), 2),
    "too long a period": np.tile(random.integers(0, 0x10000, 2048, dtype=np.uint16), 2),
    "tiles": tiles(12),
}


def greedy_items(words: np.ndarray) -> int:
    """How many items a plain greedy matcher needs: at each place it tries every distance."""
    padded = np.concatenate([words.astype(np.int64), -1 - np.arange(33)])  # what is behind the end equals nothing
    windows = np.lib.stride_tricks.sliding_window_view(padded, 33)
    place = items = 0
    while place < len(words):
        equal = windows[max(place - lzss.FARTHEST, 0) : place] == windows[place]
        runs = np.where(equal.all(1), 33, equal.argmin(1))
        place += max(int(runs.max(initial=1)), 1)
        items += 1
    return items


@pytest.mark.parametrize("name", SAMPLES)
def test_round_trip_no_larger_than_greedy(name: str) -> None:
    words = SAMPLES[name]
    packed = lzss.compress(words)
    unpacked, ended = lzss.decompress(packed)
    assert ended and np.array_equal(unpacked, words)
    items = greedy_items(words) + 1
    assert len(packed) <= 2 * (items + -(-items // 16))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 80)), max_size=40))
def test_round_trip_of_runs(runs: list[tuple[int, int]]) -> None:
    words = np.array([word for word, count in runs for _ in range(count)], np.uint16)
    assert np.array_equal(lzss.decompress(lzss.compress(words))[0], words)


@pytest.mark.parametrize("path", [path for path in corpus_files("saturn", "*.bin") if path.parent.name == "saturn"])
def test_real_textures_get_no_larger(path: object) -> None:
    for character in saturn.read(path.read_bytes()).characters:  # type: ignore[attr-defined]
        assert len(lzss.compress(character.textures.memory)) <= len(character.textures.source)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400), st.integers(0, 300))
def test_never_more_than_asked_for_and_one_command(data: bytes, most: int) -> None:
    try:
        words, _ = lzss.decompress(data, most)
    except lzss.StreamError:
        return
    assert len(words) <= most + 32
