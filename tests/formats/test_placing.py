# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a timeline that have grown, shrunk or moved: where they and the others go."""

from __future__ import annotations

import pytest

from io_retro_meshes.scene.placing import Layout, Part, lay_out

ROOMS = [(1.0, 40.0), (40.0, 84.0), (85.0, 104.0)]  # the first two share a frame


def in_file(layout: Layout) -> list[tuple[float, float]]:
    return [(piece.first + piece.shift, piece.last + piece.shift) for piece in layout.parts]


def laid(own: dict[int, tuple[float, float]], longer: str) -> Layout:
    return lay_out((0, 104), [Part(room, own.get(number)) for number, room in enumerate(ROOMS)], longer)  # type: ignore[arg-type]


@pytest.mark.parametrize("longer", ["KEEP", "MOVE"])
@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ((40, 84), (40, 84)),
        ((50, 60), (50, 60)),  # shorter, on frames of its own
        ((1, 45), (40, 84)),  # moved elsewhere: back to its room
        ((0, 10), (40, 50)),
    ],
)
def test_what_fits_stays(longer: str, own: tuple[float, float], expected: tuple[float, float]) -> None:
    layout = laid({1: own}, longer)
    assert in_file(layout) == [ROOMS[0], expected, ROOMS[2]]
    assert [(piece.first, piece.last, piece.shift) for piece in layout.pieces] == [(0, 104, 0)]


def test_longer_ones_go_to_the_end() -> None:
    layout = laid({0: (1, 60), 2: (85, 120)}, "KEEP")
    assert in_file(layout) == [(105, 164), ROOMS[1], (165, 200)]
    assert [(piece.first, piece.last, piece.shift) for piece in layout.pieces] == [(0, 104, 0)]


def test_longer_ones_stay_and_others_move() -> None:
    layout = laid({0: (1, 60), 2: (85, 120)}, "MOVE")
    assert in_file(layout) == [(1, 60), (61, 105), (106, 141)]
    assert [(piece.first, piece.last, piece.shift) for piece in layout.pieces] == [(0, 40, 0), (40, 104, 21)]
    assert (layout.moved(40), layout.moved(40, starts=True), layout.moved(41)) == (40, 61, 62)


def test_what_is_behind_a_part_that_grew_starts_on_the_next_frame() -> None:
    """Where nothing shares its last frame, no frame is written twice and none is missing."""
    layout = laid({1: (40, 94)}, "MOVE")
    assert in_file(layout) == [(1, 40), (40, 94), (95, 114)]
    assert [(piece.first, piece.last, piece.shift) for piece in layout.pieces] == [(0, 84, 0), (85, 104, 10)]
