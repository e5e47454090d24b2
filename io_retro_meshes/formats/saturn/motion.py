# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation of a Scene -> bone keys and definitions."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import animation, maths
from ...scene import Armature, Bone, Channel, Clip, Scene, Track, Transform
from ..binary import FormatError
from . import axes, events
from . import document as doc

Array = npt.NDArray[Any]

LAST_FRAME = 0xFFFF
LAST_START = doc.EXTERNAL - 1  # the next bit has another meaning
TURN_TOLERANCE = 1e-4  # radians; the file's quaternions are good for about that
SHEAR = 1e-3

_TYPES = {name: code for code, name in doc.TYPE_NAMES.items()}


@dataclass
class Rig:
    """The bones of an armature, in the order of the file. `frame` takes the armature's space to the model's."""

    scene: Scene
    node: int
    frame: Array
    order: list[int]
    size: float
    warnings: list[str]

    def keys(self, clip: Clip | None) -> list[doc.BoneKeys]:
        """What the bones do in a clip; without one they rest."""
        armature = self.scene.nodes[self.node].armature
        assert armature is not None
        first, last = (clip.first, clip.last) if clip else (0.0, 0.0)
        if first < 0 or last > LAST_FRAME:
            raise FormatError(f"the animation runs from frame {first:g} to {last:g}: frames must be within 0 and {LAST_FRAME}")
        tracks = (clip.tracks if clip else None) or {}
        frames = np.arange(math.floor(first), math.ceil(last) + 1, dtype=np.float32)
        plain = bool(np.allclose(self.frame, np.eye(4), atol=1e-6))
        sheared = 0
        found = []
        for index in self.order:
            bone = armature.bones[index]
            track = tracks.get((self.node, index))
            if plain and _moves_the_model(armature, bone):
                channels = _own_channels(bone.transform, track, frames, self.scene)
            else:
                channels, shear = _moved_channels(self.scene, armature, bone, track, frames, self.frame, self.size)
                sheared += shear
            found.append(_file_keys(channels))
        if sheared:
            self.warnings.append(f"{sheared} bones are sheared, which the file cannot hold: the nearest pose was written.")
        return found


def _moves_the_model(armature: Armature, bone: Bone) -> bool:
    """Is the bone's matrix already a movement of the model as it stands, as it is after an import?"""
    above = armature.bones[bone.parent].bind if bone.parent >= 0 else bone.bind
    return bool(np.allclose(bone.bind, np.eye(4), atol=1e-6) and np.allclose(above, np.eye(4), atol=1e-6)) and (
        bone.transform.prefix is None
    )


def _own_channels(transform: Transform, track: Track | None, frames: Array, scene: Scene) -> list[Channel]:
    channels = []
    for name in animation.CHANNELS:
        channel: Channel | None = getattr(track, name) if track else None
        if channel is None or not len(channel.frames):
            channel = Channel(frames[:1], getattr(transform, name)[None])
        elif (channel.frames != np.rint(channel.frames)).any() or (name == "rotation" and scene.interpolation == "SLERP"):
            # Long turns go another way when the console interpolates them: give it more keys.
            kind = scene.interpolation if name == "rotation" else ""
            values = maths.sample(channel.frames, channel.values, frames, kind)
            channel = _reduced(frames, values, TURN_TOLERANCE if kind else 1e-5, "NLERP" if kind else "")
        channels.append(channel)
    return channels


def _moved_channels(
    scene: Scene, armature: Armature, bone: Bone, track: Track | None, frames: Array, frame: Array, size: float
) -> tuple[list[Channel], bool]:
    """A bone that has a place of its own: what it does to the model, on every frame. And is there a shear in it?"""
    local = animation.local_matrices(bone.transform, track, frames, scene.interpolation).astype(np.float64)
    above = frame @ armature.bones[bone.parent].bind if bone.parent >= 0 else frame
    moved = above @ local @ np.linalg.pinv(frame @ bone.bind)
    location, rotation, scale = maths.decompose(moved)
    error = np.abs(maths.compose(location, rotation, scale) - moved)[:, :3, :3].max()
    rotation = maths.continuous(rotation)
    channels = [
        _reduced(frames, location, 1e-5 * size, ""),
        _reduced(frames, rotation, TURN_TOLERANCE, "NLERP"),
        _reduced(frames, scale, 1e-4, ""),
    ]
    return channels, bool(error > SHEAR)


def _reduced(frames: Array, values: Array, tolerance: float, kind: str) -> Channel:
    kept = maths.reduce_keys(frames, values, tolerance, kind)
    return Channel(frames[kept], values[kept])


def _file_keys(channels: list[Channel]) -> doc.BoneKeys:
    moves, turns, scales = channels
    rotation = maths.normalized(turns.values.astype(np.float64), (1, 0, 0, 0))

    def times(channel: Channel) -> Array:
        return np.rint(channel.frames).astype(">u2")

    return doc.BoneKeys(
        doc.Keys(times(moves), axes.to_fixed(axes.from_blender(moves.values))),
        doc.Keys(times(turns), axes.to_quaternion_words(axes.rotation_from_blender(maths.continuous(rotation)))),
        doc.Keys(times(scales), axes.to_fixed(axes.scale_from_blender(scales.values))),
    )


def is_about(clip: Clip, number: int) -> bool:
    """Is the animation that of character `number`? One that does not say so is that of all."""
    return bool(clip.settings.get("saturn", {}).get("character", number) == number)


def place(clip: Clip) -> float:
    """The place among the animations of the file that the clip came from; new ones follow."""
    return float(clip.settings.get("saturn", {}).get("order", math.inf))


def definition(clip: Clip, warnings: list[str]) -> doc.Definition:
    first, last = round(clip.first), round(clip.last)
    if not 0 <= first <= LAST_START:
        raise FormatError(f'the animation "{clip.name}" starts at frame {first}: it must be within 0 and {LAST_START}')
    settings = clip.settings.get("saturn", {})
    kind = int(settings["type"]) if "type" in settings else _type_of(clip.name, warnings)
    distance = int(settings.get("distance", 0))
    return doc.Definition(first, last - first + 1, kind, distance, events.from_markers(clip.markers, warnings))


def _type_of(name: str, warnings: list[str]) -> int:
    plain = re.sub(r"\.\d{3}$", "", name).lower()
    if coded := re.fullmatch(r"type_([0-9a-f]{1,4})", plain):
        return int(coded[1], 16)
    for word, code in _TYPES.items():
        if word in plain:
            return code
    warnings.append(f'The animation "{name}" is none of {", ".join(_TYPES)}: it was written as an attack.')
    return _TYPES["attack"]
