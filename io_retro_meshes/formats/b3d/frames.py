# SPDX-License-Identifier: GPL-3.0-or-later
"""What a mod for Luanti says to play an animation: in frames of a .b3d, in seconds of a .glb that was made of it.

Luanti's API counts the frames of a .b3d from 0, the file from 1: frame N of the API is frame N + 1 of the file, which
is at (N + 1) / fps seconds of the .glb. Speeds are frames a second for one, seconds a second for the other.
"""

from __future__ import annotations

from ...scene import Clip, Scene
from ..format import Note
from . import engine


def frames_in_seconds(scene: Scene) -> list[Note]:
    """A line for the whole timeline, and one for each named part of it."""
    if scene.timeline is None:
        return []
    fps = scene.fps or engine.DEFAULT_FPS
    return [_line(scene.timeline, fps), *(_line(clip, fps) for clip in scene.clips if clip.tracks is None)]


def _line(clip: Clip, fps: float) -> Note:
    in_mods = [max(frame - 1, 0) for frame in (clip.first, clip.last)]
    seconds = [f"{(frame + 1) / fps:.6g}" for frame in in_mods]
    return Note(
        f'Frames: "{clip.name}" is {clip.first:g} to {clip.last:g} in the .b3d, {in_mods[0]:g} to {in_mods[1]:g} in mods for '
        f"it, and {seconds[0]} to {seconds[1]} seconds in the .glb; divide the speed by {fps:g} (30 is {30 / fps:.6g})"
    )
