# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation of the exported objects: one timeline with its named parts, and clips with frames of their own."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator

from ... import scene as neutral
from ...formats.options import ExportOptions
from .. import properties
from ..animations import Animation
from .objects import ObjectCollector
from .parts import TimelineParts, only_owner
from .plan import Plan, has_no_end, make_plan, missing_bones
from .playing import Stage
from .sample import Sampler, Take


class AnimationCollector:
    """Decides what is exported before the objects are collected, and samples it afterwards."""

    def __init__(self, collector: ObjectCollector, options: ExportOptions) -> None:
        self.collector = collector
        self.options = options
        objects = [source for source in collector.objects if source is not None]
        self.plan: Plan = make_plan(objects, collector.context.scene, options.animation)
        self.stage = Stage(collector.context, objects, self.plan.owners)

    @contextlib.contextmanager
    def playing(self) -> Iterator[None]:
        """While it lasts, objects with a timeline are as that has them, whichever action is assigned."""
        if self.options.animation == "NONE":
            yield
            return
        with self.stage:
            if self.plan.imported:
                self.stage.show(self.plan.base, self.plan.owners)
            yield

    def collect(self) -> None:
        """Fills the scene's timeline, or its clips."""
        scene = self.collector.scene
        scene.warnings += self.plan.left_out
        if self.options.animation == "NONE":
            return
        sampler = Sampler(self.collector, self.options.key_tolerance)
        if self.options.animation != "SCENE":
            self.stage.let_move()
        if self.plan.range is not None:
            self._timeline(sampler)
        if self.plan.clips:
            self._clips(sampler)
        elif self.plan.range is None:
            frame = self.collector.context.scene.frame_current
            tracks = sampler.tracks(self.stage, [Take(frame, frame)])
            if tracks:
                scene.timeline = neutral.Clip("timeline", frame, frame, tracks)
            sampler.look_around()
        scene.warnings += sampler.losses.warnings()
        scene.interpolation = "SLERP"

    def _timeline(self, sampler: Sampler) -> None:
        scene = self.collector.scene
        parts = TimelineParts(self.collector, self.plan, self.options.sequence_frames)
        edited = [owner for edit, _ in parts.edited for owner in edit.part.owners]
        scene.warnings += missing_bones([*self.plan.base, *edited])
        if edited:
            self.stage.start_from_rest([*self.plan.base, *edited])
        takes = parts.takes()
        tracks = sampler.tracks(self.stage, takes)
        if edited:
            parts.warn(sampler, takes)
        first, last = parts.span
        markers = [(parts.layout.moved(frame), name) for frame, name in _markers(Animation("", "", self.plan.base))]
        scene.timeline = neutral.Clip("timeline", first, last, tracks, markers)
        scene.clips = parts.clips()

    def _clips(self, sampler: Sampler) -> None:
        """Each action in turn, all others at rest."""
        self.stage.start_from_rest(self.plan.owners)
        self.collector.scene.warnings += missing_bones([owner for each in self.plan.clips for owner in each.owners])
        for animation in self.plan.clips:
            self.stage.assign(animation.owners, alone=True)
            first, last = math.floor(animation.frames[0]), math.ceil(animation.frames[1])
            if first == last and any(has_no_end(action) for action in animation.actions):
                first, last = self.collector.context.scene.frame_start, self.collector.context.scene.frame_end
            tracks = sampler.tracks(self.stage, [Take(first, last)])
            settings = properties.collect(animation.actions[0])
            owner = only_owner(self.collector, animation)
            clip = neutral.Clip(animation.name, float(first), float(last), tracks, _markers(animation), settings, owner)
            self.collector.scene.clips.append(clip)


def _markers(animation: Animation) -> list[tuple[float, str]]:
    return [(float(marker.frame), marker.name) for action in animation.actions for marker in action.pose_markers]
