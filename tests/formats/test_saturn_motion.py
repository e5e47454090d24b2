# SPDX-License-Identifier: GPL-3.0-or-later
"""Battle characters in motion: which segment is whose, where joints are, and keys that do not turn the long way round."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from io_retro_meshes.formats import saturn
from io_retro_meshes.formats.saturn.document import Document
from io_retro_meshes.scene import Scene
from tests.builders import saturn as made


def own_clips(scene: Scene) -> dict[int, list[tuple[float, float]]]:
    """For each armature the first and last key of the animations that came from an x8an file."""
    found: dict[int, list[tuple[float, float]]] = {}
    for clip in scene.clips:
        if clip.tracks is not None:
            frames = np.concatenate([track.rotation.frames for track in clip.tracks.values()])
            found.setdefault(clip.owner, []).append((float(frames.min()), float(frames.max())))
    return found


def turned(clip: object) -> float:
    """The sine of half the angle to which the arm turns."""
    track = max(clip.tracks.items())[1]
    return float(np.abs(track.rotation.values[:, 1:]).max())


# ------------------------------------------------------------------------------------------------------------- segments


def test_segments_are_found_by_their_frames() -> None:
    """In a file for several characters with as many bones, the run of segments that has the definitions' frames is meant."""
    several = made.more_animations(5)
    group = saturn.read(saturn.write(Document(segments=[*several.segments[3:], *several.segments[:2]])))
    scene = saturn.to_scene(made.puppet(2), None, [group])
    assert not scene.warnings
    assert own_clips(scene) == {0: [(40, 60), (70, 90)]}


def test_segments_of_other_bones_are_passed_over() -> None:
    """Those of a character with a bone more come first, and have the same frames."""
    others = made.more_animations(2).segments
    for segment in others:
        segment.bones.append(segment.bones[0])
    group = Document(segments=[*others, *made.more_animations(2).segments])
    scene = saturn.to_scene(made.puppet(2), None, [saturn.read(saturn.write(group))])
    assert not scene.warnings
    arms = [turned(clip) for clip in scene.clips if clip.tracks is not None]
    assert [round(np.degrees(2 * np.arcsin(arm))) for arm in arms] == [60, 60]
    alone = saturn.to_scene(made.puppet(2), None, [Document(segments=others)])
    assert own_clips(alone) == {} and "bone_count_mismatch" in alone.warnings[0]


def test_segments_of_other_frames_are_left_out() -> None:
    group = Document(segments=made.more_animations(5).segments[3:])
    scene = saturn.to_scene(made.puppet(2), None, [group])
    assert own_clips(scene) == {}
    assert any("2 animations" in warning and "bone_count_mismatch" in warning for warning in scene.warnings)


def test_the_second_of_two_like_characters_has_the_second_run() -> None:
    pair = Document([*made.puppet(2).characters, *made.puppet(2).characters])
    segments = made.more_animations(2).segments
    for start in (40, 70):
        rest = made.swing((0, 0, 0), (0, 1, 0), {start: 0})
        swing = made.swing((1, -5, 0), (1, 0, 0), {start: 0.0, start + 10: 20.0, start + 20: 0.0})
        segments.append(made.Segment([rest, rest, swing]))
    scene = saturn.to_scene(pair, None, [saturn.read(saturn.write(Document(segments=segments)))])
    angles = {clip.owner: np.degrees(2 * np.arcsin(turned(clip))) for clip in scene.clips if clip.tracks is not None}
    assert [round(angle) for _, angle in sorted(angles.items())] == [60, 20]


# --------------------------------------------------------------------------------------------------------------- joints


def arm_head(document: Document) -> np.ndarray:
    return saturn.to_scene(document).nodes[0].armature.bones[2].head


def shaken(degrees: float, part: float) -> Document:
    """A puppet whose arm turns about a joint at (1, 0, 5) of Blender's, in all directions, up to `part` of a unit off it."""
    document = made.puppet()
    random = np.random.default_rng(3)
    frames, channels = [], []
    for number in range(12):
        frames.append(number + 1)
        channels.append(made.swing((1, -5, 0), tuple(_unit(random.normal(size=3))), {number + 1: degrees}))
    bone = channels[0]
    bone.translation.frames = bone.rotation.frames = np.array(frames, ">u2")
    moves = np.concatenate([channel.translation.values for channel in channels]).astype(float)
    bone.translation.values = np.rint(moves + random.uniform(-part, part, moves.shape) * 65536).astype(">i4")
    bone.rotation.values = np.concatenate([channel.rotation.values for channel in channels])
    document.characters[0].animation.bones[2] = bone
    return document


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def test_a_bone_that_turns_has_its_head_at_the_joint() -> None:
    np.testing.assert_allclose(arm_head(shaken(40, 0)), (1, 0, 5), atol=0.01)


def test_a_joint_may_be_inexact() -> None:
    """The model is about 7 units in size: what is off by a tenth of a unit is still a joint."""
    np.testing.assert_allclose(arm_head(shaken(40, 0.1)), (1, 0, 5), atol=0.25)


def test_a_bone_that_moves_about_has_none() -> None:
    """Its head is in the middle of what it carries."""
    np.testing.assert_allclose(arm_head(shaken(40, 2)), (2, 0, 5), atol=1e-4)


# ---------------------------------------------------------------------------------------------------------------- signs


def neighbours(rotations: np.ndarray) -> np.ndarray:
    values = rotations.astype(float)
    return np.sum(values[1:] * values[:-1], 1)


def test_signs_of_keys_agree_on_import() -> None:
    document = made.puppet()
    for bone in document.characters[0].animation.bones:
        bone.rotation.values[1::2] *= -1
    scene = saturn.to_scene(saturn.read(saturn.write(document)))
    tracks = [track for track in scene.timeline.tracks.values() if len(track.rotation.frames) > 1]
    assert len(tracks) == 2
    assert all((neighbours(track.rotation.values) > 0).all() for track in tracks)


def test_signs_of_keys_agree_on_export() -> None:
    scene = deepcopy(saturn.to_scene(made.puppet()))
    for track in scene.timeline.tracks.values():
        track.rotation.values[1::2] *= -1
    document = saturn.read(saturn.write(saturn.from_scene(scene)))
    bones = [bone for bone in document.characters[0].animation.bones if len(bone.rotation.frames) > 1]
    assert len(bones) == 2
    assert all((neighbours(bone.rotation.values) > 0).all() for bone in bones)
