# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets a model play one of its animations in the viewport, as an export will write it."""

from __future__ import annotations

import math

import bpy

from . import compat
from .animations import Animation, Owner, animations_of, assigned_owner, has_keys, is_made_here, timeline_owner
from .fingerprints import came_without_keys
from .renamed import follow
from .rest import channels, set_rest


def play(scene: bpy.types.Scene, animation: Animation, objects: list[bpy.types.Object]) -> None:
    """Assigns it to every object that it moves, and plays its frames alone. Beside a part of the timeline, what the part does
    not move plays the timeline; beside an action of its own, nothing."""
    owners = {owner.object: owner for owner in animation.owners}
    playing: list[Owner] = []
    for source in objects:
        _protect(source)
        whole = timeline_owner(source) if animation.role != "ACTION" else None
        owner = owners.get(source, whole)
        if owner is not None and came_without_keys(owner.action) and not has_keys(owner.action):
            owner = whole  # a part that was imported as a name alone
        if owner is not None:
            playing.append(owner)
        elif source.animation_data and source.animation_data.action:
            source.animation_data.action = None
    every = [owner for each in animations_of(objects) for owner in each.owners]
    follow((owner.object, owner.action) for owner in every)
    kept = {channel for owner in playing for channel in channels(owner)}
    for other in every:
        for channel in channels(other) - kept:
            set_rest(*channel)
    for owner in playing:
        compat.assign_action(owner.object, owner.action, owner.slot)
    show_frames(scene, animation.frames, whole=animation.role == "TIMELINE")


def _protect(source: bpy.types.Object) -> None:
    """An action that a person has made is not lost when another one is assigned and the file is saved."""
    owner = assigned_owner(source)
    if owner is not None and owner.action.library is None and is_made_here(owner.action):
        owner.action.use_fake_user = True


def show_frames(scene: bpy.types.Scene, frames: tuple[float, float], whole: bool = False) -> None:
    """The preview range plays these frames alone. A whole timeline needs none where the scene's range has it all."""
    first, last = math.floor(frames[0]), math.ceil(frames[1])
    scene.use_preview_range = not (whole and scene.frame_start <= first and last <= scene.frame_end)
    if scene.use_preview_range:
        scene.frame_preview_start, scene.frame_preview_end = first, last
    scene.frame_set(first)


def played_range(scene: bpy.types.Scene) -> tuple[int, int]:
    if scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_start, scene.frame_end
