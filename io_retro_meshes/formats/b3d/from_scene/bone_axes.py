# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that a user drew, with the axes that the bones of Luanti's own models have.

A bone of Blender lies along its Y, which is the file's Z. In shipped models a bone lies along the file's Y: with W the world
matrix of a bone they have W·C, where C is a half turn, its own inverse and the same in the file's axes and in the scene's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Armature, Channel, Clip, Node, Scene, Target, Track, Transform, animation, maths

Array = npt.NDArray[Any]

HALF_TURN = np.array([[-1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]], np.float32)
ROTATION = np.array([0, 0, np.sqrt(0.5), np.sqrt(0.5)], np.float32)


def with_luanti_bones(scene: Scene) -> Scene:
    """The same scene, in which every drawn bone is turned by C, and what hangs on it stays where it is."""
    turns = _turns(scene)
    if not any(own for _, own in turns.values()):
        return scene

    def clip(source: Clip) -> Clip:
        if source.tracks is None:
            return source
        return replace(source, tracks={target: _track(track, *turns[target]) for target, track in source.tracks.items()})

    return replace(
        scene,
        nodes=[_node(node, index, turns) for index, node in enumerate(scene.nodes)],
        timeline=None if scene.timeline is None else clip(scene.timeline),
        clips=[clip(each) for each in scene.clips],
    )


def _turns(scene: Scene) -> dict[Target, tuple[bool, bool]]:
    """Of every node and bone: is the space it is in turned, and is its own?"""
    found: dict[Target, tuple[bool, bool]] = {}
    for index, node in enumerate(scene.nodes):
        above = scene.nodes[node.parent].armature if node.parent >= 0 and node.parent_bone >= 0 else None
        found[index, -1] = above is not None and above.bones[node.parent_bone].drawn, False
        bones = node.armature.bones if node.armature else []
        for number, bone in enumerate(bones):
            found[index, number] = bone.parent >= 0 and bones[bone.parent].drawn, bone.drawn
    return found


def _node(node: Node, index: int, turns: dict[Target, tuple[bool, bool]]) -> Node:
    armature = node.armature
    if armature is not None:
        bones = [
            replace(
                bone,
                bind=bone.bind @ HALF_TURN if bone.drawn else bone.bind,
                transform=_transform(bone.transform, *turns[index, number]),
            )
            for number, bone in enumerate(armature.bones)
        ]
        armature = Armature(armature.name, bones)
    return replace(node, transform=_transform(node.transform, *turns[index, -1]), armature=armature)


def _transform(transform: Transform, above: bool, own: bool) -> Transform:
    """C · T · R · S · C, with the first C where what is above is turned, the last where it is turned itself."""
    if transform.prefix is not None:
        prefix = HALF_TURN @ transform.prefix if above else transform.prefix
        return replace(_transform(replace(transform, prefix=None), False, own), prefix=prefix)
    return Transform(*(_values(name, getattr(transform, name), above, own) for name in animation.CHANNELS))


def _track(track: Track, above: bool, own: bool) -> Track:
    made = Track()
    for name in animation.CHANNELS:
        channel: Channel | None = getattr(track, name)
        if channel is not None:
            setattr(made, name, Channel(channel.frames, _values(name, channel.values, above, own)))
    return made


def _values(name: str, values: Array, above: bool, own: bool) -> Array:
    if name == "location" and above:
        values = values[..., [0, 2, 1]] * np.array([-1, 1, 1], np.float32)
    elif name == "rotation":
        values = maths.quaternion_multiply(ROTATION, values) if above else values
        values = maths.quaternion_multiply(values, ROTATION) if own else values
    elif name == "scale" and own:
        values = values[..., [0, 2, 1]]
    return values.astype(np.float32)
