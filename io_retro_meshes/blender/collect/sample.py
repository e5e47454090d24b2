# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses as they play on whole frames, also by NLA, constraints and drivers, reduced to few keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ... import scene as neutral
from ...scene import maths, surfaces
from .. import compat
from ..animations import Owner
from .armatures import bone_order, file_axes, pose_matrices, pose_places
from .direct import Direct
from .losses import LOOKS, Losses
from .objects import ObjectCollector
from .playing import Stage

# Below this a pose is the same pose: a part of the model's size.
STILL = 1e-6

# ... and below this it is one that was sampled from other keys.
SAME = 1e-4

# An animation that is longer than that is not played frame by frame.
MOST_FRAMES = 20_000
FEW_FRAMES = 1000

# Poses that are made keys at once.
MOST_MATRICES = 200_000

# By node: world matrices of objects (frames, 4, 4), and of their bones in the armature (frames, bones, 4, 4).
Matrices = dict[int, np.ndarray]
Poses = tuple[Matrices, Matrices]

Sampled = tuple[np.ndarray, Poses]  # with the frames they are on


@dataclass
class Take:
    """Frames to play, and how many frames later they go to. Without owners, whatever is assigned plays."""

    first: float
    last: float
    shift: float = 0.0
    owners: list[Owner] | None = None
    nodes: set[int] | None = None  # that it is about; None: all of them

    def is_about(self, node: int) -> bool:
        return self.nodes is None or node in self.nodes


class Sampler:
    def __init__(self, collector: ObjectCollector, tolerance: float) -> None:
        self.collector = collector
        self.scene = collector.scene
        self.tolerance = tolerance
        self.nodes = [index for index, source in enumerate(collector.objects) if source is not None]
        self.armatures = self._bones()
        self.size = _scene_size(self.scene)
        self.told = False
        self.losses = Losses(collector)
        self.played: list[Sampled] = []  # of the last takes, where there were several

    def _bones(self) -> dict[int, list[bpy.types.Bone]]:
        deforming = self.collector.options.deform_bones
        return {index: bone_order(self.collector.objects[index], deforming) for index in self.nodes if self._is_rig(index)}

    def _is_rig(self, index: int) -> bool:
        return self.scene.nodes[index].armature is not None

    def tracks(self, stage: Stage, takes: list[Take]) -> dict[neutral.Target, neutral.Track]:
        """The keys of everything that moves in the takes, or is posed other than it rests; later takes go over earlier."""
        frames, (worlds, poses) = self._composed(stage, takes)
        found: dict[neutral.Target, neutral.Track] = {}
        self._node_tracks(found, frames, worlds, poses)
        for index, posed in poses.items():
            self._bone_tracks(found, index, frames, posed)
        return found

    def _node_tracks(
        self, found: dict[neutral.Target, neutral.Track], frames: np.ndarray, worlds: Matrices, poses: Matrices
    ) -> None:
        nodes = [index for index in self.nodes if not self._is_skinned(self.scene.nodes[index])]
        for some in _portions(nodes, len(frames)):
            local = np.empty((len(some), len(frames), 4, 4))
            above = np.broadcast_to(np.eye(4), local.shape).copy()
            for place, index in enumerate(some):
                local[place] = worlds[index]
                node = self.scene.nodes[index]
                if node.parent >= 0:
                    above[place] = worlds[self.collector.holder(node.parent)]
                if node.parent_bone >= 0:
                    above[place] = above[place] @ poses[node.parent][:, node.parent_bone]
            local = maths.inverse(above) @ local
            self._add(found, [(index, -1) for index in some], frames, local, [self.scene.nodes[i].transform for i in some])

    def _bone_tracks(
        self, found: dict[neutral.Target, neutral.Track], index: int, frames: np.ndarray, posed: np.ndarray
    ) -> None:
        bones = self.scene.nodes[index].armature.bones
        for some in _portions(list(range(len(bones))), len(frames)):
            local = np.moveaxis(posed[:, some], 1, 0).copy()
            hung = [place for place, number in enumerate(some) if bones[number].parent >= 0]
            above = np.moveaxis(posed[:, [bones[some[place]].parent for place in hung]], 1, 0)
            local[hung] = maths.inverse(above) @ local[hung]
            flat = maths.is_flat(above)
            for place in np.flatnonzero(flat.any(1)).tolist():
                local[hung[place]] = _where_seen(local[hung[place]], flat[place])
            for place, number in enumerate(some):
                transform = bones[number].transform
                if transform.prefix is not None and not self._is_still(local[place], transform):
                    # A bone's shear never lasts.
                    bones[number].transform = neutral.Transform(*maths.decompose(transform.matrix))
            self._add(found, [(index, number) for number in some], frames, local, [bones[number].transform for number in some])

    def _is_skinned(self, node: neutral.Node) -> bool:
        return node.mesh >= 0 and self.scene.meshes[node.mesh].skin is not None

    # ------------------------------------------------------------------------------------------------------ takes

    def _composed(self, stage: Stage, takes: list[Take]) -> Sampled:
        """All takes on one timeline, each over the ones before it."""
        played = []
        for take in takes:
            if take.owners is not None:
                stage.assign(take.owners)
            frames = self._frames(take.first, take.last)
            played.append((frames + np.float32(take.shift), self._play(frames)))
        if len(takes) == 1:
            return played[0]
        every = np.unique(np.concatenate([frames for frames, _ in played]))
        worlds, poses = {}, {}
        for index in self.nodes:
            layers = [(i, frames) for i, (frames, _) in enumerate(played) if takes[i].is_about(index)]
            worlds[index] = _laid_over(every, [(frames, played[i][1][0][index]) for i, frames in layers])
            if index in self.armatures:
                poses[index] = _laid_over(every, [(frames, played[i][1][1][index]) for i, frames in layers])
        self.played = played
        return every, (worlds, poses)

    def difference(self, one: Sampled, other: Sampled, nodes: list[int]) -> np.ndarray:
        """The frames that two samplings have in common and on which something is not in the same place."""
        shared, a, b = np.intersect1d(one[0], other[0], return_indices=True)
        differs = np.zeros(len(shared), bool)
        for kind in (0, 1):
            for index in (index for index in nodes if index in one[1][kind]):
                apart = np.abs(one[1][kind][index][a] - other[1][kind][index][b])
                differs |= apart.max(tuple(range(1, apart.ndim)), initial=0) > SAME * self.size
        return shared[differs]

    def _frames(self, first: float, last: float) -> np.ndarray:
        """Every frame; of a very long animation, some, and those with keys."""
        if last - first <= MOST_FRAMES:
            frames = np.arange(first, last + 1, dtype=np.float32)
            between = self._keys_between(first, last)
            return np.union1d(frames, between).astype(np.float32) if self.collector.format.fractions else frames
        frames = np.rint(np.linspace(first, last, FEW_FRAMES))
        keys = [np.zeros(0, np.float32), *(curve_frames(curve) for _, curve in self._curves())]
        keyed = np.clip(np.rint(np.concatenate(keys)), first, last)
        if not self.told:
            self.told = True
            self.scene.warnings.append(
                f"The animation has {last - first:.0f} frames; only {len(frames)} and the keyed ones were exported."
            )
        return np.union1d(frames, keyed).astype(np.float32)

    def _curves(self) -> Iterator[tuple[bpy.types.Object, bpy.types.FCurve]]:
        """Of what is assigned now."""
        for source in filter(None, self.collector.objects):
            if source.animation_data and source.animation_data.action:
                slot = compat.assigned_slot(source)
                for of, curves in compat.action_curves(source.animation_data.action):
                    yield from ((source, curve) for curve in curves if of == slot)

    def _keys_between(self, first: float, last: float) -> np.ndarray:
        """Keys that are not on whole frames. A format that has no such frames loses them, unless a straight line is as good."""
        found: dict[str, np.ndarray] = {}
        for source, curve in self._curves():
            if source.retro_meshes.model:
                continue  # an imported file's own keys: its format has written them so
            keys = curve_frames(curve)
            off = keys[(np.abs(keys - np.rint(keys)) > 1e-3) & (keys > first) & (keys < last)]
            if len(off) and not _is_straight(curve, off):
                found[source.name] = np.union1d(found.get(source.name, off), off)
        for name, off in found.items() if not self.collector.format.fractions else ():
            warning = (
                f'"{name}" has {len(off)} keys between frames (the first on frame {off[0]:g}), which the format does not have: '
                "it was sampled on whole frames"
            )
            if warning not in self.scene.warnings:
                self.scene.warnings.append(warning)
        return np.unique(np.concatenate([np.zeros(0, np.float32), *found.values()]))

    def _play(self, frames: np.ndarray) -> tuple[Matrices, Matrices]:
        """World matrices of objects, and bones in their armature's space in the file's axes, at every frame."""
        context, objects = self.collector.context, self.collector.objects
        direct = Direct(context, frames)
        played = [index for index in self.nodes if not direct.covers(objects[index])]
        worlds = {index: np.empty((len(frames), 4, 4)) for index in self.nodes}
        poses = {index: np.empty((len(frames), len(bones), 4, 4)) for index, bones in self.armatures.items()}
        places = {index: pose_places(objects[index], bones) for index, bones in self.armatures.items()}
        self.losses.start(frames)
        needed = range(len(frames)) if played else sorted({0, *(self.losses.wanted if self.losses.causes else ())})
        manager = context.window_manager
        manager.progress_begin(0, len(needed))
        for done, number in enumerate(needed):
            manager.progress_update(done)
            context.scene.frame_set(int(frames[number] // 1), subframe=float(frames[number] % 1))
            depsgraph = context.evaluated_depsgraph_get()
            self.losses.look(number, depsgraph)
            for index in played:
                evaluated = objects[index].evaluated_get(depsgraph)
                worlds[index][number] = np.array(evaluated.matrix_world)
                if index in poses:
                    poses[index][number] = pose_matrices(evaluated)[places[index]]
        manager.progress_end()
        depsgraph = context.evaluated_depsgraph_get()
        for index in self.nodes:
            if direct.plain[objects[index]]:
                worlds[index][:] = direct.worlds(objects[index], depsgraph)
                if index in poses:
                    poses[index][:] = direct.poses(objects[index], depsgraph)[:, places[index]]
        poses = {index: maths.bounded(posed) @ file_axes(self.armatures[index]) for index, posed in poses.items()}
        worlds = {index: maths.bounded(world) for index, world in worlds.items()}
        self.losses.measure(frames, worlds, poses)
        return worlds, poses

    def look_around(self) -> None:
        """Sees whether meshes change their shapes in the scene's range, though nothing in it moves."""
        if self.losses.causes:
            scene = self.collector.context.scene
            self._play(np.unique(np.rint(np.linspace(scene.frame_start, scene.frame_end, LOOKS))))

    def _is_still(self, local: np.ndarray, rest: neutral.Transform) -> bool:
        return bool(np.abs(local - rest.matrix).max() <= STILL * self.size)

    def _warn_of_shear(self, target: neutral.Target) -> None:
        node, bone = target
        owner = self.scene.nodes[node] if bone < 0 else self.scene.nodes[node].armature.bones[bone]
        warning = f'"{owner.name}" is sheared as it moves, which an animation cannot hold: the nearest pose was exported'
        if warning not in self.scene.warnings:
            self.scene.warnings.append(warning)

    def _add(
        self,
        found: dict[neutral.Target, neutral.Track],
        targets: list[neutral.Target],
        frames: np.ndarray,
        local: np.ndarray,
        rests: list[neutral.Transform],
    ) -> None:
        """The keys of what moves, of many targets at once: (targets, frames, 4, 4)."""
        moves = np.abs(local - neutral.matrices(rests)[:, None]).max((1, 2, 3), initial=0) > STILL * self.size
        if not moves.any():
            return
        targets, rests, local = _chosen(targets, moves), _chosen(rests, moves), local[moves]
        for place, rest in enumerate(rests):
            if rest.prefix is not None:
                local[place] = maths.inverse(rest.prefix.astype(np.float64)) @ local[place]
        location, rotation, scale = maths.decompose(local)
        shear = np.abs(maths.compose(location, rotation, scale) - local)[..., :3, :3].max((1, 2, 3), initial=0)
        for place in np.flatnonzero(shear > 0.01).tolist():
            self._warn_of_shear(targets[place])
        tracks = [neutral.Track() for _ in targets]
        for name, values, still, tolerance, kind in (
            ("location", location, STILL * self.size, self.tolerance * self.size, ""),
            ("rotation", maths.continuous(rotation), STILL, self.tolerance, "SLERP"),
            ("scale", scale, STILL, self.tolerance, ""),
        ):
            still_at = np.array([getattr(each, name) for each in rests], np.float64)[:, None]
            leaves = np.flatnonzero(maths.key_error(still_at, values, kind).max(1, initial=0) > still)
            keep = maths.needed_keys(frames, values[leaves], tolerance, kind)
            for place, kept in zip(leaves.tolist(), keep, strict=True):
                setattr(tracks[place], name, neutral.Channel(frames[kept], values[place][kept].astype(np.float32)))
        found.update({target: track for target, track in zip(targets, tracks, strict=True) if track != neutral.Track()})


def _laid_over(every: np.ndarray, layers: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Values on every frame: those of the last layer that has it; beyond them all, the nearest of the first layer's."""
    frames, values = layers[0]
    found = values[np.clip(np.searchsorted(frames, every), 0, len(frames) - 1)].copy()
    for frames, values in layers:
        found[np.searchsorted(every, frames)] = values
    return found


def curve_frames(curve: bpy.types.FCurve) -> np.ndarray:
    points = np.empty(len(curve.keyframe_points) * 2, np.float32)
    curve.keyframe_points.foreach_get("co", points)
    return points[::2]


def _is_straight(curve: bpy.types.FCurve, frames: np.ndarray) -> bool:
    """Are the values on these frames what a line between the whole frames around them gives?"""
    around = [(curve.evaluate(np.floor(at)), curve.evaluate(float(at)), curve.evaluate(np.ceil(at)), at % 1) for at in frames]
    below, value, above, part = np.array(around, np.float64).T
    return bool((np.abs(below + (above - below) * part - value) < 1e-5 * max(np.abs(value).max(), 1)).all())


def _portions(places: list[int], frames: int) -> Iterator[list[int]]:
    """So many at once that they are worth it and fit into memory."""
    step = max(MOST_MATRICES // max(frames, 1), 1)
    for start in range(0, len(places), step):
        yield places[start : start + step]


def _chosen(values: list[Any], wanted: np.ndarray) -> list[Any]:
    return [values[place] for place in np.flatnonzero(wanted)]


def _where_seen(local: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """What a bone does on a vanished one cannot be told from the pose: as on the nearest frame where it can."""
    seen = np.flatnonzero(~flat)
    if not len(seen) or len(seen) == len(flat):
        return local
    after = np.clip(np.searchsorted(seen, np.arange(len(flat))), 0, len(seen) - 1)
    before = np.maximum(after - 1, 0)
    nearer = np.abs(seen[before] - np.arange(len(flat))) < np.abs(seen[after] - np.arange(len(flat)))
    return local[seen[np.where(nearer, before, after)]]


def _scene_size(scene: neutral.Scene) -> float:
    return max((surfaces.extent(mesh.positions) for mesh in scene.meshes), default=1.0) or 1.0
