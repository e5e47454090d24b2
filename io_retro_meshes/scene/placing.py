# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the parts of a timeline go when some of them have become longer, shorter, or were moved."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

Frames = tuple[float, float]  # the first and the last


@dataclass
class Part:
    """A named part: its room on the timeline, and the frames of its own keys if they are to take the timeline's place."""

    room: Frames
    own: Frames | None = None


@dataclass
class Piece:
    """Frames that are written `shift` frames later than they are."""

    first: float
    last: float
    shift: float = 0.0


@dataclass
class Layout:
    pieces: list[Piece]  # of the timeline
    parts: list[Piece]  # of each part: its own frames, or its room
    moves: list[tuple[float, float, bool]] = field(default_factory=list)

    def moved(self, frame: float, starts: bool = False) -> float:
        """Where a frame of the timeline goes. On the border of a part that grew: with what `starts` there, or what ends."""
        behind = [by for border, by, shared in self.moves if frame > border or (frame == border and starts and shared)]
        return frame + sum(behind)


def lay_out(timeline: Frames, parts: list[Part], longer: Literal["KEEP", "MOVE"]) -> Layout:
    """Each part with keys of its own stays in its room if it fits there. One that is longer goes to the end; or it stays,
    and what is behind its room goes further back."""
    own = [_whole(part.own) for part in parts if part.own is not None]
    rooms = [_whole(part.room) for part in parts if part.own is not None]
    grown = [] if longer == "KEEP" else [(r[0], r[1], _length(o) - _length(r)) for o, r in zip(own, rooms, strict=True)]
    moves: list[tuple[float, float, bool]] = []
    for _, border, by in sorted(each for each in grown if each[2] > 0):
        shared = any(_whole(part.room)[0] == border for part in parts)  # then both need the frame for themselves
        moves.append((border, by + shared, shared))
    layout = Layout([], [], moves)
    layout.pieces = _pieces(timeline, layout)
    end = max([timeline[1], *(part.room[1] for part in parts if part.own is None)])
    cursor = math.ceil(layout.moved(end)) + 1.0
    for part in parts:
        piece = _placed(part, layout, longer == "MOVE")
        if piece is None and part.own is not None:
            first, last = _whole(part.own)
            piece = Piece(*part.own, cursor - first)
            cursor += last - first + 1
        assert piece is not None
        layout.parts.append(piece)
    return layout


def _placed(part: Part, layout: Layout, grows: bool) -> Piece | None:
    """Where a part goes that stays in its room; None for one that does not fit there."""
    room = _whole(part.room)
    if part.own is None:
        return Piece(layout.moved(part.room[0], starts=True), layout.moved(part.room[1]))
    own = _whole(part.own)
    offset = layout.moved(room[0], starts=True) - room[0]
    if room[0] <= own[0] and own[1] <= room[1]:
        return Piece(*part.own, offset)
    if grows or _length(own) <= _length(room):
        return Piece(*part.own, room[0] - own[0] + offset)
    return None


def _pieces(timeline: Frames, layout: Layout) -> list[Piece]:
    pieces: list[Piece] = []
    start, shift = timeline[0], 0.0
    for border, by, shared in sorted(layout.moves):
        if border >= timeline[1]:
            break
        if border >= start:
            pieces.append(Piece(start, border, shift))
            start = border if shared else border + 1
        shift += by
    return [*pieces, Piece(start, timeline[1], shift)]


def _whole(frames: Frames) -> Frames:
    return math.floor(frames[0]), math.ceil(frames[1])


def _length(frames: Frames) -> float:
    return frames[1] - frames[0]
