# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames before 0, lengths that are one off, and frame rates that a file does not state."""

from __future__ import annotations

import numpy as np
import pytest

from io_retro_meshes.formats import FormatError, b3d, bo3d, bogle, saturn
from io_retro_meshes.formats.b3d.document import Document
from io_retro_meshes.scene import Channel, Clip, Mesh, Node, Scene, Track, floats
from tests.builders import b3d as b3d_made
from tests.builders import bo3d as bo3d_made
from tests.builders import bogle as bogle_made
from tests.builders import saturn as saturn_made
from tests.engines import b3d as b3d_engine
from tests.engines import bo3d as bo3d_engine


def moving(first: int, last: int) -> Scene:
    """A triangle that is shaken: on every frame it is somewhere else, and no frame lies on a line between its neighbours."""
    mesh = Mesh("triangle", np.eye(3, dtype=np.float32), np.array([0, 1, 2], np.int32))
    frames = np.arange(first, last + 1, dtype=np.float32)
    places = np.stack([frames, np.cos(frames * 2), frames * 0], 1).astype(np.float32)
    track = Track(location=Channel(frames, places))
    scene = Scene([Node("root"), Node("shaken", 0, mesh=0)], [mesh], fps=25.0)
    scene.timeline = Clip("timeline", first, last, {(1, -1): track})
    scene.clips = [Clip("part", first + 1, last - 1)]
    return scene


def place(frame: float) -> np.ndarray:
    return np.eye(3) + np.array([frame, np.cos(frame * 2), 0])


# ------------------------------------------------------------------------------------------------------ frames before 0


@pytest.mark.parametrize("first", [-5, -1, 0, 1])
def test_b3d_frames_before_0_are_moved(first: int) -> None:
    document = b3d.from_scene(moving(first, 4))
    shift = 1 - first if first < 0 else 0
    assert any(f"moved by {shift} frames" in warning for warning in document.warnings) == (shift > 0)
    document = b3d.read(b3d.write(document))
    assert b3d_engine.key_frames(document) == list(range(first + shift, 5 + shift))
    (anim,) = (chunk for node, _ in document.walk() for chunk in node.chunks if hasattr(chunk, "fps"))
    (part,) = (chunk for node, _ in document.walk() for chunk in node.chunks if hasattr(chunk, "first"))
    assert (anim.frames, part.first, part.last) == (4 + shift, first + 1 + shift, 3 + shift)
    for frame in range(first, 5):
        np.testing.assert_allclose(b3d_engine.pose(document, frame + shift)[0][0], place(frame), atol=1e-5)


@pytest.mark.parametrize("first", [-5, -1, 0, 1])
def test_bo3d_frames_before_0_are_moved(first: int) -> None:
    document = bo3d.from_scene(moving(first, 4))
    shift = 1 - first if first < 0 else 0
    assert any(f"moved by {shift}." in warning for warning in document.warnings) == (shift > 0)
    document = bo3d.read(bo3d.write(document))
    keys = np.concatenate([entity.keys["frame"] for entity in document.entities])
    assert (keys.min(), keys.max()) == (first + shift, 4 + shift)
    for frame in range(first, 5):
        np.testing.assert_allclose(bo3d_engine.points(document, frame + shift), place(frame), atol=1e-5)


def test_saturn_has_no_frames_before_0() -> None:
    scene = saturn.to_scene(saturn_made.puppet())
    scene.timeline.first = -1
    with pytest.raises(FormatError, match="frame -1"):
        saturn.from_scene(scene)


def test_b3d_keys_before_0_are_read() -> None:
    node = b3d_made.Node(b"node", chunks=[b3d_made.keys(1, (-5, (1, 0, 0)), (5, (2, 0, 0)))])
    scene = b3d.to_scene(b3d.read(b3d.write(Document(chunks=[node]))))
    assert (scene.timeline.first, scene.timeline.last) == (-5, 5)
    assert scene.timeline.tracks[0, -1].location.frames.tolist() == [-5, 5]


# --------------------------------------------------------------------------------------------------------------- length


def test_bo3d_plays_one_frame_less_than_its_length() -> None:
    document = bo3d_made.two_arms()
    document.entities[0].length = 40
    scene = bo3d.to_scene(bo3d.read(bo3d.write(document)))
    assert (scene.timeline.first, scene.timeline.last) == (0, 39)


def test_bo3d_with_more_keys_than_frames_plays_all_its_keys() -> None:
    document = bo3d_made.two_arms()
    document.entities[0].length = 2
    scene = bo3d.to_scene(bo3d.read(bo3d.write(document)))
    assert scene.timeline.last == 20


@pytest.mark.parametrize(("first", "length"), [(1, 11), (3, 11), (0, 12), (-2, 14)])
def test_bo3d_length_has_room_for_the_last_frame_and_for_every_key(first: int, length: int) -> None:
    """The engine plays frames 0 to length - 1, and misreads a length that is less than the keys and the rest pose."""
    document = bo3d.read(bo3d.write(bo3d.from_scene(moving(first, 10))))
    keys = max(len(entity.keys) for entity in document.entities)
    assert keys == 11 - first
    assert max(entity.length for entity in document.entities) == length


# ---------------------------------------------------------------------------------------------------------------- rates


@pytest.mark.parametrize("fps", [24.0, 25.0, 30.0, 50.0, 60.0])
def test_bogle_frame_rate_is_found_in_the_times(fps: float) -> None:
    scene = bogle_made.rigged_scene()
    scene.fps = fps
    for track in scene.clips[0].tracks.values():
        for channel in (track.location, track.rotation):
            if channel is not None:
                channel.frames = floats(0, 7)
    document = bogle.from_scene(scene, bogle.ExportOptions(file_layout="ANIM"))
    document = bogle.read(bogle.write(document))
    np.testing.assert_allclose(document.collections[0].animations[0].keys["time"], [0, 7 / fps], rtol=1e-6)
    again = bogle.to_scene(document)
    assert (again.fps, again.clips[0].first, again.clips[0].last) == (fps, 0, 7)
