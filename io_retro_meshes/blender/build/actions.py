# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips to actions: the whole timeline, and one action for each named clip."""

from __future__ import annotations

import uuid

import bpy
import numpy as np

from ... import scene as neutral
from ...scene import animation, maths, surfaces
from .. import compat, fingerprints, properties
from .armatures import BuiltArmature, sampled_tracks, simple_track

# Where a curve through the components of two rotations strays this far (radians) from the engine's arc, keys are added.
SLERP_TOLERANCE = 0.00005

# So many curves for the parts of a timeline. Further parts have a name and their frames, which is what a file needs of them.
MOST_CURVES = 150_000

LINEAR = 1  # Keyframe.interpolation as foreach_set takes it


class ActionBuilder:
    def __init__(
        self, scene: neutral.Scene, objects: list[bpy.types.Object], armatures: dict[int, BuiltArmature], name: str
    ) -> None:
        self.scene = scene
        self.objects = objects
        self.armatures = armatures
        self.name = name
        self.model = uuid.uuid4().hex
        # By the object they are about, before slots; with slots there is one for all.
        self.timelines: dict[str, tuple[bpy.types.Action, fingerprints.Keys]] = {}
        for made in objects:
            made.retro_meshes.model, made.retro_meshes.slot = self.model, made.name
        self.sizes = {index: _size(scene, index) for index in armatures}

    def build(self) -> list[bpy.types.Action]:
        """All actions there are; the timeline (or else the first clip) is assigned."""
        made: list[bpy.types.Action] = []
        curves = 0
        timeline = self.scene.timeline
        whole = neutral.Clip("", 0, 0, {})
        if timeline is not None and timeline.tracks:
            whole = neutral.Clip(timeline.name, timeline.first, timeline.last, self._blender_tracks(timeline.tracks))
            # Without slots each object has an action of its own: they are parts of one animation, not one after the other.
            parts_of_one = not compat.HAS_SLOTS and len({node for node, _ in timeline.tracks}) > 1
            role = "TIMELINE" if self.scene.clips or parts_of_one else "ACTION"
            made += self._actions(self.name, whole, timeline.markers, role, assign=True)
            self._remember_timeline(made, whole)
        elif self.objects and any(clip.tracks is None for clip in self.scene.clips):
            made.append(self._still_timeline())
        for place, clip in enumerate(self.scene.clips):
            if clip.tracks is None:
                curves += 10 * len(whole.tracks or {})
                part = whole if curves <= MOST_CURVES else neutral.Clip("", 0, 0, {})
                tracks, role = animation.cut(part, clip.first, clip.last, "NLERP"), "SEQUENCE"
                tracks = {target: track for target, track in tracks.items() if clip.owner in (-1, target[0])}
            else:
                tracks, role = self._blender_tracks(clip.tracks), "ACTION"
            cut = neutral.Clip(clip.name, clip.first, clip.last, tracks)
            parts = self._actions(clip.name, cut, clip.markers, role, assign=not made)
            if not parts and clip.tracks is None and (curves > MOST_CURVES or not whole.tracks):
                parts = [_new_action(clip.name, cut, clip.markers, role)]
            for action in parts:
                self._remember(action, cut, place)
                properties.apply(action, clip.settings)
            made += parts
        return made

    def _still_timeline(self) -> bpy.types.Action:
        """Of a file that names frames in which nothing moves: the names are parts of a timeline without keys."""
        named = [clip for clip in self.scene.clips if clip.tracks is None]
        whole = neutral.Clip("", min(clip.first for clip in named), max(clip.last for clip in named), {})
        action = _new_action(self.name, whole, [], "TIMELINE")
        action.use_frame_range = True
        action.frame_start, action.frame_end = whole.first, whole.last
        owner = self.objects[0]
        compat.assign_action(owner, action, compat.ActionCurves(action, owner).slot)
        owner.retro_meshes.timeline = action
        self._remember_timeline([action], whole)
        return action

    def _remember_timeline(self, made: list[bpy.types.Action], clip: neutral.Clip) -> None:
        """Whatever is assigned later, the objects know their timeline."""
        for action in made:
            action.retro_meshes.model = self.model
            keys = fingerprints.remember(action, (clip.first, clip.last))
            self.timelines[action.retro_meshes.owner] = (action, keys)
        for node in dict.fromkeys(node for node, _ in clip.tracks or {}):
            self.objects[node].retro_meshes.timeline = self.objects[node].animation_data.action

    def _remember(self, action: bpy.types.Action, clip: neutral.Clip, place: int) -> None:
        meta = action.retro_meshes
        meta.model, meta.name, meta.place = self.model, clip.name, place
        timeline, keys = None, None
        if meta.role == "SEQUENCE" and self.timelines:
            first = next(iter(self.timelines.values()))
            timeline, keys = self.timelines.get(meta.owner, first)
            timeline.retro_meshes.parts.add().action = action
            compat.hold_links(timeline)
            compat.hold_links(action)
        meta.timeline = timeline
        fingerprints.remember(action, (clip.first, clip.last), keys)

    def _blender_tracks(self, tracks: dict[neutral.Target, neutral.Track]) -> dict[neutral.Target, neutral.Track]:
        """The file's keys as the channels Blender has, with keys added where its curves would stray."""
        found = {}
        together: dict[tuple[int, float, float], list[int]] = {}  # bones, by the armature and the frames they have keys on
        for (node, bone), track in tracks.items():
            frames = [each.frames for each in (track.location, track.rotation, track.scale) if each and len(each.frames)]
            if not frames:
                continue
            found[(node, bone)] = track
            if bone >= 0 and (simple := self.armatures[node].bones[bone].simple) is not None:
                track = simple_track(simple, track)
            elif bone >= 0:
                span = float(min(each[0] for each in frames)), float(max(each[-1] for each in frames))
                together.setdefault((node, *span), []).append(bone)
                continue
            rotation = _followable(track.rotation, self.scene.interpolation)
            found[(node, bone)] = neutral.Track(track.location, rotation, track.scale)
        for (node, _, _), bones in together.items():
            found |= self._sampled(node, bones, tracks)
        return found

    def _sampled(
        self, node: int, bones: list[int], tracks: dict[neutral.Target, neutral.Track]
    ) -> dict[neutral.Target, neutral.Track]:
        built, armature = self.armatures[node].bones, self.scene.nodes[node].armature
        made = sampled_tracks(
            [built[bone] for bone in bones],
            [armature.bones[bone] for bone in bones],
            [tracks[(node, bone)] for bone in bones],
            self.scene.interpolation,
            self.sizes[node],
        )
        return {(node, bone): track for bone, track in zip(bones, made, strict=True)}

    def _actions(
        self, name: str, clip: neutral.Clip, markers: list[tuple[float, str]], role: str, assign: bool
    ) -> list[bpy.types.Action]:
        """One action for all that moves; before Blender 4.4 one for each object."""
        owners: dict[int, list[tuple[int, neutral.Track]]] = {}
        for (node, bone), track in (clip.tracks or {}).items():
            owners.setdefault(node, []).append((bone, track))
        made: list[bpy.types.Action] = []
        for node, tracks in owners.items():
            owner = self.objects[node]
            if not made or not compat.HAS_SLOTS:
                title = name if compat.HAS_SLOTS or len(owners) == 1 else f"{name} {owner.name}"
                made.append(_new_action(title, clip, markers, role))
                made[-1].retro_meshes.owner = "" if compat.HAS_SLOTS else owner.name
            curves = compat.ActionCurves(made[-1], owner)
            for bone, track in tracks:
                self._write_track(curves, node, bone, track)
            if role == "ACTION":
                owner.retro_meshes.clips.add().action = made[-1]
            if assign:
                compat.assign_action(owner, made[-1], curves.slot)
        return made

    def _write_track(self, curves: compat.ActionCurves, node: int, bone: int, track: neutral.Track) -> None:
        path, group = "", "Object Transforms"
        if bone >= 0:
            group = self.armatures[node].bones[bone].name
            path = f'pose.bones["{bpy.utils.escape_identifier(group)}"].'
        for channel, data_path in (
            (track.location, path + "location"),
            (track.rotation, path + "rotation_quaternion"),
            (track.scale, path + "scale"),
        ):
            if channel is not None and len(channel.frames):
                _write_channel(curves, data_path, group, channel)


def _new_action(name: str, clip: neutral.Clip, markers: list[tuple[float, str]], role: str) -> bpy.types.Action:
    action = bpy.data.actions.new(compat.short_name(name, "Action"))
    action.use_fake_user = True
    action.retro_meshes.role = role
    if role == "SEQUENCE" or clip.last > clip.first:
        action.use_frame_range = True
        action.frame_start, action.frame_end = clip.first, clip.last
    for frame, marker in markers:
        action.pose_markers.new(compat.short_name(marker, "Marker")).frame = round(frame)
    return action


def _write_channel(curves: compat.ActionCurves, data_path: str, group: str, channel: neutral.Channel) -> None:
    count = len(channel.frames)
    points = np.empty((count, 2), np.float32)
    points[:, 0] = channel.frames
    linear = np.full(count, LINEAR, np.int32)
    for index in range(channel.values.shape[1]):
        points[:, 1] = channel.values[:, index]
        curve = curves.new(data_path, index, group)
        curve.keyframe_points.add(count)
        curve.keyframe_points.foreach_set("co", points.reshape(-1))
        curve.keyframe_points.foreach_set("interpolation", linear)
        curve.update()


def _followable(channel: neutral.Channel | None, interpolation: neutral.Interpolation) -> neutral.Channel | None:
    """Rotation keys that Blender's curves follow as the engine does: signs agree, long arcs have keys on whole frames."""
    if channel is None or len(channel.frames) < 2:
        return channel
    values = maths.continuous(maths.normalized(channel.values, (1, 0, 0, 0)))
    far = np.diff(channel.frames) > 1
    if interpolation == "NLERP" or not far.any():
        return neutral.Channel(channel.frames, values)
    far &= maths.key_error(values[1:], values[:-1], "SLERP") > 0.2  # radians: below that the two never differ by as much
    if not far.any():
        return neutral.Channel(channel.frames, values)
    between = animation.whole_frames(channel.frames)[:-1]
    left = np.searchsorted(channel.frames, between, "right") - 1
    between = between[far[left] & (channel.frames[left] != between)]
    arc = maths.sample(channel.frames, values, between, "SLERP")
    error = maths.key_error(arc, maths.sample(channel.frames, values, between, "NLERP"), "SLERP")
    left = np.searchsorted(channel.frames, between, "right") - 1
    strays = np.zeros(len(channel.frames), bool)
    strays[left[error > SLERP_TOLERANCE]] = True
    between, arc = between[strays[left]], arc[strays[left]]
    frames = np.concatenate([channel.frames, between])
    order = np.argsort(frames, kind="stable")
    return neutral.Channel(frames[order], maths.continuous(np.concatenate([values, arc])[order]))


def _size(scene: neutral.Scene, index: int) -> float:
    """How large the armature and what it moves are."""
    points = [np.array([bone.bind[:3, 3] for bone in scene.nodes[index].armature.bones], np.float32).reshape(-1, 3)]
    points += [mesh.positions for mesh in scene.meshes if mesh.skin is not None and mesh.skin.node == index]
    return surfaces.extent(np.concatenate(points)) or 1.0
