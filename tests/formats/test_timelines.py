# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips with keys of their own on the one timeline that some formats have."""

from __future__ import annotations

import numpy as np
import pytest

from io_retro_meshes.formats import b3d
from io_retro_meshes.scene import Armature, Channel, Clip, Node, Scene, Track, animation


def moving(name: str, first: float, last: float, node: int = 0) -> Clip:
    frames = np.array([first, last], np.float32)
    return Clip(name, first, last, {(node, -1): Track(Channel(frames, np.array([[0, 0, first], [0, 0, last]], np.float32)))})


@pytest.mark.parametrize(
    ("timeline", "keep", "expected"),
    [
        ((0, 24), None, [(25, 35), (36, 46)]),
        ((0, 24.5), None, [(26, 36), (37, 47)]),
        (None, None, [(1, 11), (12, 22)]),
        ((0, 24), 0, [(30, 40), (41, 51)]),  # nothing is shared: all stay
        ((0, 30), 0, [(31, 41), (42, 52)]),  # frame 30 is
        ((0, 24), 31, [(25, 35), (36, 46)]),  # one begins too early
    ],
)
def test_where_clips_go(timeline: tuple[float, float] | None, keep: float | None, expected: list[tuple[float, float]]) -> None:
    scene = Scene([Node("a"), Node("b")], [])
    scene.clips = [moving("one", 30, 40), moving("two", 41, 51, 1)]
    if timeline is not None:
        scene.timeline = moving("all", *timeline)
    whole, parts = animation.one_timeline(scene, keep=keep)
    assert whole is not None and [(part.first, part.last) for part in parts] == expected
    first = min([*(part.first for part in parts), *([timeline[0]] if timeline else [])])
    assert (whole.first, whole.last) == (first, max(part.last for part in parts))
    for number, part in enumerate(parts):
        track = (whole.tracks or {})[(number, -1)].location
        assert track is not None
        inside = track.values[(track.frames >= part.first) & (track.frames <= part.last), 2]
        assert inside[0] == scene.clips[number].first and inside[-1] == scene.clips[number].last
        other = (whole.tracks or {})[(1 - number, -1)].location  # at rest meanwhile
        assert other is not None and np.interp((part.first + part.last) / 2, other.frames, other.values[:, 2]) == 0


def test_a_rig_without_bones_is_written() -> None:
    document = b3d.from_scene(Scene([Node("rig", armature=Armature("rig", []))], []))
    assert [node.name for node in b3d.to_scene(b3d.read(b3d.write(document))).nodes]
