# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a timeline that were edited in actions of their own: they take the place of the timeline's frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import scene as neutral
from ...scene.placing import Layout, Part, Piece, lay_out
from .. import properties
from ..animations import Animation, has_keys
from ..fingerprints import came_without_keys, is_edited, timeline_was_edited
from .objects import ObjectCollector
from .plan import Frames, Plan
from .sample import Sampler, Take


@dataclass
class Edit:
    """A named part, with the frames of its own keys where those are to be written."""

    part: Animation
    room: Frames
    own: Frames | None


class TimelineParts:
    """The parts of an imported timeline as they are now, and where they go."""

    def __init__(self, collector: ObjectCollector, plan: Plan, longer: Any) -> None:
        assert plan.range is not None
        self.collector = collector
        self.plan = plan
        self.warnings = collector.scene.warnings
        self.edits = [self._edit(part) for part in plan.parts]
        self.layout: Layout = lay_out(plan.range, [Part(edit.room, edit.own) for edit in self.edits], longer)
        # The shorter of two that share frames lies above: less of the other is lost.
        edited = [(edit, piece) for edit, piece in zip(self.edits, self.layout.parts, strict=True) if edit.own is not None]
        self.edited = sorted(edited, key=lambda each: each[1].first - each[1].last)

    def _edit(self, part: Animation) -> Edit:
        frames = part.frames
        if not self.plan.imported or part.role != "SEQUENCE" or not any(is_edited(action) for action in part.actions):
            return Edit(part, frames, None)
        keyed = any(has_keys(owner.action) for owner in self.plan.base)
        if keyed and came_without_keys(part.actions[0]):
            self.warnings.append(
                f'The keys of "{part.name}" were left out: the timeline has too many for its parts to be edited by themselves'
            )
            return Edit(part, frames, None)
        return Edit(part, tuple(part.actions[0].retro_meshes.frames), frames)

    def takes(self) -> list[Take]:
        base = self.plan.base if self.edited else None
        takes = [Take(piece.first, piece.last, piece.shift, base) for piece in self.layout.pieces]
        for edit, piece in self.edited:
            owners = {owner.object: owner for owner in [*self.plan.base, *edit.part.owners]}
            takes.append(Take(*_whole(piece), piece.shift, list(owners.values()), self._nodes(edit.part)))
        return takes

    def _nodes(self, part: Animation) -> set[int] | None:
        """All but what belongs to objects with a timeline that the part is not about."""
        moved = {owner.object for owner in part.owners}
        others = {owner.object for owner in self.plan.base} - moved
        if not others:
            return None
        nodes = self.collector.scene.nodes
        about: list[bool] = []
        for node, source in zip(nodes, self.collector.objects, strict=True):
            above = about[node.parent] if node.parent >= 0 else True
            about.append(source not in others and (source in moved or above))
        return {index for index, wanted in enumerate(about) if wanted}

    @property
    def span(self) -> Frames:
        """Of the whole timeline in the file."""
        pieces = [*self.layout.pieces, *(piece for _, piece in self.edited)]
        ends = [(first + piece.shift, last + piece.shift) for piece in pieces for first, last in [_whole(piece)]]
        return min(end[0] for end in ends), max(end[1] for end in ends)

    def clips(self) -> list[neutral.Clip]:
        return [self._clip(edit, piece) for edit, piece in zip(self.edits, self.layout.parts, strict=True)]

    def _clip(self, edit: Edit, piece: Piece) -> neutral.Clip:
        found = [(float(marker.frame), marker.name) for action in edit.part.actions for marker in action.pose_markers]
        move = self.layout.moved if edit.own is None else lambda frame: frame + piece.shift
        markers = [(move(frame), name) for frame, name in dict.fromkeys(found)]
        settings = properties.collect(edit.part.actions[0])
        first, last = piece.first + piece.shift, piece.last + piece.shift
        return neutral.Clip(edit.part.name, first, last, None, markers, settings, only_owner(self.collector, edit.part))

    # ------------------------------------------------------------------------------------------------- warnings

    def warn(self, sampler: Sampler, takes: list[Take]) -> None:
        """Of frames that were edited in two places, and of parts that change with others. To be called after sampling."""
        above = len(takes) - len(self.edited)
        for number, (edit, piece) in enumerate(self.edited):
            first, last = edit.room
            if piece.shift == 0 and any(timeline_was_edited(action) for action in edit.part.actions):
                self.warnings.append(
                    f'"{edit.part.name}" was edited, and so was the timeline on its frames {first:g} to {last:g}: the file has '
                    f'them as they are in the action "{edit.part.actions[0].name}"'
                )
            for earlier in range(number):
                frames = self._apart(sampler, takes, above + earlier, above + number)
                if len(frames):
                    self.warnings.append(
                        f'"{self.edited[earlier][0].part.name}" and "{edit.part.name}" share {_in_words(frames)} and were both '
                        f'edited: there the file has "{edit.part.name}"'
                    )
            self._warn_of_neighbours(sampler, takes, above, above + number)

    def _warn_of_neighbours(self, sampler: Sampler, takes: list[Take], above: int, number: int) -> None:
        """Parts that were not edited and share frames with one that was."""
        changed = [self._apart(sampler, takes, base, number) for base in range(above)]
        frames = np.unique(np.concatenate(changed))
        edit = self.edited[number - above][0]
        moved = {owner.object for owner in edit.part.owners}
        for other, piece in zip(self.edits, self.layout.parts, strict=True):
            shared = frames[(frames >= piece.first) & (frames <= piece.last)]
            if other.own is None and len(shared) and moved & {owner.object for owner in other.part.owners}:
                self.warnings.append(
                    f'"{other.part.name}" shares {_in_words(shared)} with "{edit.part.name}", and changes there with it'
                )

    @staticmethod
    def _apart(sampler: Sampler, takes: list[Take], one: int, other: int) -> np.ndarray:
        nodes = [index for index in sampler.nodes if takes[one].is_about(index) and takes[other].is_about(index)]
        return sampler.difference(sampler.played[one], sampler.played[other], nodes)


def only_owner(collector: ObjectCollector, animation: Animation) -> int:
    """The armature that an animation is about alone, where there are others: they may be as like as twins. Else -1."""
    first, *more = dict.fromkeys(owner.object for owner in animation.owners)
    rigs = {source for source in collector.objects if source is not None and source.type == "ARMATURE"}
    return collector.objects.index(first) if not more and first in rigs and len(rigs) > 1 else -1


def _whole(piece: Piece) -> Frames:
    return float(np.floor(piece.first)), float(np.ceil(piece.last))


def _in_words(frames: np.ndarray) -> str:
    return f"frame {frames[0]:g}" if len(frames) == 1 else f"frames {frames[0]:g} to {frames[-1]:g}"
