# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that point somewhere sensible, and the algebra that keeps their poses exact all the same.

Column vectors. G0 is the file's bone in the armature's space as the skin was bound, L0 the same relative to its parent, L(f)
the bone relative to its parent at frame f. Blender's rest bone B is a rotation and a head, chosen freely; with C = G0^-1·B

    basis(f) = C^-1 · L0^-1 · L(f) · C

moves every vertex as the file's bones do, if all bones are treated so. With any other C the pose is still the file's,
P(f) = G(f) · C, if basis(f) = A · L(f) · C with A = B^-1 · Bp · Cp^-1, p the parent; only vertices then need a helper bone
(helpers.py).
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from ... import scene as neutral
from ...scene import animation, maths, surfaces
from .. import compat, properties
from .helpers import Plan
from .helpers import needed as helpers_needed

# A bone is at least this long, as a part of the armature's size: it must be grabbed, and 4.x deletes those of no length.
SHORTEST = 0.01
LEAF = 0.1
SMALLEST = 1e-6


@dataclass(frozen=True)
class BoneStyle:
    """How the user wants to see bones; poses are the same."""

    direction: str = "CHILDREN"  # or FILE: the file's own axes
    length: float = 0.0  # 0: to the child
    shape: str = "STICK"  # of Blender's ways to draw bones


@dataclass
class BuiltBone:
    name: str  # in Blender
    length: float
    c: np.ndarray  # C
    before: np.ndarray  # A
    held: np.ndarray | None = None  # the inverse of its transform's prefix, where a helper above it has that
    deform: str = ""  # the bone that moves the vertices, if it is not this one
    simple: Simple | None = None


class Simple(NamedTuple):
    """What a bone does to keys, where A and C only turn and scale evenly: then each channel depends on itself alone."""

    origin: np.ndarray  # the place in its parent that is no location in Blender
    location: np.ndarray  # (3, 3)
    rotation: np.ndarray  # (4, 4), of quaternions
    scale: np.ndarray  # (3, 3): it just exchanges the axes where C does, and leaves an even scale alone where C turns freely


@dataclass
class BuiltArmature:
    object: bpy.types.Object
    bones: list[BuiltBone]


def new_armature(collection: bpy.types.Collection, node: neutral.Node, style: BoneStyle) -> bpy.types.Object:
    """An armature without bones yet."""
    data = bpy.data.armatures.new(compat.short_name(node.armature.name, "Armature"))
    data.display_type = style.shape  # type: ignore[assignment]
    target = bpy.data.objects.new(compat.short_name(node.name, "Armature"), data)
    target.show_in_front = True
    collection.objects.link(target)
    return target


def build_armatures(
    context: bpy.types.Context, scene: neutral.Scene, objects: dict[int, bpy.types.Object], style: BoneStyle
) -> dict[int, BuiltArmature]:
    """Gives the armatures of these nodes their bones: all at once, since Blender looks at the whole scene each time."""
    binds = {
        index: np.array([_usable_bind(bone.bind) for bone in scene.nodes[index].armature.bones], np.float64).reshape(-1, 4, 4)
        for index in objects
    }
    plans = {index: _planned(scene, index, binds[index], style) for index in objects}
    names = {}
    with _editing(context, list(objects.values())):
        for index, target in objects.items():
            names[index] = _make_edit_bones(target, scene.nodes[index].armature, *plans[index])
    found = {}
    for index, target in objects.items():
        armature, (_, plan) = scene.nodes[index].armature, plans[index]
        found[index] = BuiltArmature(target, _built_bones(target, armature, binds[index], names[index], plan))
        _set_simple(found[index].bones, armature)
        set_rest_pose(found[index], armature)
        if plan is not None:
            plan.finish(found[index])
    return found


def _planned(scene: neutral.Scene, index: int, binds: np.ndarray, style: BoneStyle) -> tuple[list[Layout], Plan | None]:
    """Where Blender's bones go, and the helpers they need where they cannot hold their poses by themselves."""
    uneven = _uneven_scale(scene, index)
    layout = _layout(scene, index, binds, uneven, style)
    bones = scene.nodes[index].armature.bones
    suspect = any(uneven) or any(bone.transform.prefix is not None for bone in bones)
    if not suspect or not helpers_needed(scene, index, binds, np.array([place.matrix for place in layout])):
        return layout, None
    return _layout(scene, index, binds, [True] * len(bones), style), Plan(bones, binds)


def _built_bones(
    target: bpy.types.Object, armature: neutral.Armature, binds: np.ndarray, names: list[str], plan: Plan | None
) -> list[BuiltBone]:
    built: list[BuiltBone] = []
    rests = np.array([target.data.bones[name].matrix_local for name in names], np.float64).reshape(-1, 4, 4)
    turns = maths.inverse(binds) @ rests
    if plan is not None:
        turns = np.array([plan.turn(number, rest) for number, rest in enumerate(rests)])
    parents = np.array([bone.parent for bone in armature.bones], np.intp)
    back = maths.inverse(turns)
    above = np.where((parents >= 0)[:, None, None], rests[parents] @ back[parents], np.eye(4))
    before = maths.inverse(rests) @ above
    for number, (bone, name) in enumerate(zip(armature.bones, names, strict=True)):
        made = target.data.bones[name]
        built.append(BuiltBone(name, made.length, turns[number], before[number]))
        if plan is not None and number in plan.above:
            built[-1].before, built[-1].held = plan.back(number), np.linalg.pinv(bone.transform.prefix.astype(np.float64))
        made.retro_meshes.axes = back[number].astype(np.float32).reshape(-1)
        made.retro_meshes.first = name
        if name != bone.name:
            made.retro_meshes.name = bone.name
        properties.apply(made, bone.settings)
    return built


def _set_simple(built: list[BuiltBone], armature: neutral.Armature) -> None:
    before, c = (np.array([getattr(bone, name) for bone in built]).reshape(-1, 4, 4) for name in ("before", "c"))
    sizes = [np.cbrt(maths.determinant(each[:, :3, :3])) for each in (before, c)]
    back, turn = (each[:, :3, :3] / size[:, None, None] for each, size in zip((before, c), sizes, strict=True))
    origins = maths.inverse(before)[:, :3, 3]
    plain = (
        (np.abs(np.swapaxes(turn, 1, 2) @ turn - np.eye(3)).max((1, 2), initial=0) < 1e-5)
        & (np.abs(np.swapaxes(back, 1, 2) @ back - np.eye(3)).max((1, 2), initial=0) < 1e-5)
        & (np.abs(c[:, :3, 3]).max(1, initial=0) < 1e-6 * (1 + np.abs(origins).max(1, initial=0)))
        & (sizes[0] * sizes[1] > 0)
    )
    squares = turn**2 * (sizes[0] * sizes[1])[:, None, None]
    left, right = (maths.matrix_to_quaternion(each) for each in (back, turn))
    rotations = maths.quaternion_multiply(left[:, None], maths.quaternion_multiply(np.eye(4)[None], right[:, None]))
    for number, bone in enumerate(built):
        if plain[number] and (armature.bones[number].transform.prefix is None or bone.held is not None):
            bone.simple = Simple(origins[number], before[number, :3, :3].T, rotations[number], squares[number])


def _usable_bind(bind: np.ndarray) -> np.ndarray:
    """A bind matrix that can be inverted: a bone squashed to nothing gets its volume back."""
    if np.isfinite(bind).all() and abs(np.linalg.det(bind[:3, :3].astype(np.float64))) > 1e-18:
        return bind
    plain = np.eye(4)
    plain[:3, 3] = np.nan_to_num(bind[:3, 3])
    return plain


# --------------------------------------------------------------------------------------------------------- rest layout


@dataclass
class Layout:
    head: np.ndarray
    axes: np.ndarray  # (3, 3) columns: Blender's X, Y (along the bone) and Z
    length: float

    @property
    def matrix(self) -> np.ndarray:
        found = np.eye(4)
        found[:3, :3], found[:3, 3] = self.axes, self.head
        return found


def _layout(scene: neutral.Scene, index: int, binds: np.ndarray, uneven: list[bool], style: BoneStyle) -> list[Layout]:
    """Where Blender's bones go: each towards its child, the last ones towards the vertices they move."""
    bones = scene.nodes[index].armature.bones
    heads = np.array([bind[:3, 3] if bone.head is None else bone.head for bone, bind in zip(bones, binds, strict=True)])
    heads = heads.reshape(-1, 3)
    children: list[list[int]] = [[] for _ in bones]
    for number, bone in enumerate(bones):
        if bone.parent >= 0:
            children[bone.parent].append(number)
    carried = _carried_centres(scene, index, len(bones))
    everything = np.concatenate([heads, carried[np.isfinite(carried).all(1)]]) if len(bones) else heads
    size = surfaces.extent(everything)
    near = max(SMALLEST, 1e-6 * float(np.abs(everything).max(initial=0)))  # as far as 32 bits and Blender tell points apart
    size = size if size > near else 1.0
    rotations = maths.orthonormal(binds[:, :3, :3])
    layout: list[Layout] = []
    for number, bone in enumerate(bones):
        along = _direction(number, bone, heads, children, carried, layout, size)
        snap = uneven[number] or bone.head is not None
        length = float(np.linalg.norm(along))
        axes = rotations[number] if style.direction == "FILE" else _axes(rotations[number], along / length, snap)
        shown = style.length or max(length, SHORTEST * size)
        layout.append(Layout(heads[number], axes, max(shown, 2 * near)))
    return layout


def _carried_centres(scene: neutral.Scene, index: int, count: int) -> np.ndarray:
    """The weighted middle of the vertices that each bone moves; NaN where it moves none."""
    total, weight = np.zeros((count, 3)), np.zeros(count)
    for mesh in scene.meshes:
        if mesh.skin is not None and mesh.skin.node == index:
            points = mesh.positions[mesh.skin.vertices]
            for axis in range(3):
                total[:, axis] += np.bincount(mesh.skin.bones, points[:, axis] * mesh.skin.weights, count)
            weight += np.bincount(mesh.skin.bones, mesh.skin.weights, count)
    with np.errstate(divide="ignore", invalid="ignore"):
        return total / weight[:, None]


def _direction(
    number: int,
    bone: neutral.Bone,
    heads: np.ndarray,
    children: list[list[int]],
    carried: np.ndarray,
    layout: list[Layout],
    size: float,
) -> np.ndarray:
    """From the bone's head to its tail."""
    near = SHORTEST * size
    candidates = []
    if children[number]:
        steps = heads[children[number]] - heads[number]
        candidates.append(steps.mean(0) if len(steps) > 1 else steps[0])
        candidates.append(steps[np.argmax(np.linalg.norm(steps, axis=1))])
    if np.isfinite(carried[number]).all():
        candidates.append(2 * (carried[number] - heads[number]))
    for step in candidates:
        if np.isfinite(step).all() and np.linalg.norm(step) > near:
            return step
    if bone.parent >= 0:
        above = layout[bone.parent]
        return above.axes[:, 1] * max(above.length / 2, near)
    return np.array([0.0, 0.0, LEAF * size])


def _uneven_scale(scene: neutral.Scene, index: int) -> list[bool]:
    """Bones that are ever scaled differently along their axes: their scale must not turn into a shear."""
    tracks: list[dict[neutral.Target, neutral.Track]] = [
        clip.tracks for clip in [scene.timeline, *scene.clips] if clip is not None and clip.tracks
    ]

    bones = scene.nodes[index].armature.bones
    binds = maths.decompose(np.array([bone.bind for bone in bones], np.float32).reshape(-1, 4, 4))[2]
    scales = [[bone.transform.scale[None], bind[None]] for bone, bind in zip(bones, binds, strict=True)]
    for clip in tracks:
        for (node, number), track in clip.items():
            if node == index and number >= 0 and track.scale is not None and len(track.scale.frames):
                scales[number].append(track.scale.values)
    every = np.concatenate([np.zeros((0, 3), np.float32), *itertools.chain.from_iterable(scales)])
    starts = np.cumsum([0, *(sum(map(len, each)) for each in scales)])[:-1]
    if not len(bones):
        return []
    spread, size = np.maximum.reduceat(np.ptp(every, 1), starts), np.maximum.reduceat(np.abs(every).max(1), starts)
    return (spread > 1e-4 * np.maximum(size, 1e-12)).tolist()


# The 24 rotations that only exchange axes.
_TURNS = np.array(
    [
        matrix
        for order in itertools.permutations(range(3))
        for signs in itertools.product((1, -1), repeat=3)
        if np.linalg.det(matrix := np.eye(3)[:, order] * signs) > 0
    ]
)


def _axes(rotation: np.ndarray, along: np.ndarray, snap: bool) -> np.ndarray:
    """The file's axes, exchanged so that Y lies nearest to `along`, then (unless snapped) turned the rest of the way."""
    candidates = rotation @ _TURNS
    best = candidates[np.argmax(candidates[:, :, 1] @ along + 1e-4 * np.trace(candidates, axis1=1, axis2=2))]
    if snap:
        return best
    turn = Vector(best[:, 1].tolist()).rotation_difference(Vector(along.tolist())).to_matrix()
    return np.array(turn) @ best


@contextlib.contextmanager
def _editing(context: bpy.types.Context, targets: list[bpy.types.Object]) -> Iterator[None]:
    """Edit mode for these objects, and no others that were selected."""
    if not targets:
        yield
        return
    for other in context.selected_objects:
        other.select_set(False)
    for target in targets:
        target.select_set(True)
    context.view_layer.objects.active = targets[0]
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        yield
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


def _make_edit_bones(
    target: bpy.types.Object, armature: neutral.Armature, layout: list[Layout], plan: Plan | None
) -> list[str]:
    data: Any = target.data
    made: list[bpy.types.EditBone] = []
    for bone, place in zip(armature.bones, layout, strict=True):
        edit = data.edit_bones.new(compat.short_name(bone.name, "Bone"))
        edit.head = place.head.tolist()
        edit.tail = (place.head + place.axes[:, 1] * place.length).tolist()
        edit.align_roll(Vector(place.axes[:, 2].tolist()))
        edit.parent = made[bone.parent] if bone.parent >= 0 else None
        made.append(edit)
        if plan is not None:
            plan.add_above(data, len(made) - 1, edit)
    for number, edit in enumerate(made if plan is not None else ()):
        plan.add_below(data, number, edit)
    return [edit.name for edit in made]


# --------------------------------------------------------------------------------------------------------------- poses


def set_rest_pose(built: BuiltArmature, armature: neutral.Armature) -> None:
    """The pose the file shows when nothing animates it, where that is not the one the skin was bound in."""
    local = neutral.matrices([bone.transform for bone in armature.bones])[:, None].astype(np.float64)
    basis = basis_matrices(built.bones, local)[:, 0]
    moved = np.flatnonzero(np.abs(basis - np.eye(4)).max((1, 2), initial=0) > 1e-6)
    parts = zip(moved, *maths.decompose(basis[moved]), strict=True)
    for number, location, rotation, scale in parts:
        pose = built.object.pose.bones[built.bones[number].name]
        pose.location, pose.rotation_quaternion, pose.scale = location.tolist(), rotation.tolist(), scale.tolist()
        pose.bone.retro_meshes.pose = np.concatenate([location, rotation, scale])


def basis_matrices(bones: list[BuiltBone], local: np.ndarray) -> np.ndarray:
    """What Blender adds to the rest of these bones: (bones, frames, 4, 4)."""
    before, after = (np.array([getattr(bone, name) for bone in bones]).reshape(-1, 1, 4, 4) for name in ("before", "c"))
    held = np.array([np.eye(4) if bone.held is None else bone.held for bone in bones]).reshape(-1, 1, 4, 4)
    return before @ held @ local @ after


def simple_track(simple: Simple, track: neutral.Track) -> neutral.Track:
    """A bone's keys as Blender's pose channels, key by key."""
    found = neutral.Track()
    if track.location is not None:
        # From where the bone was bound, or numbers far from zero lose their last digits.
        offset = (track.location.values - simple.origin) @ simple.location
        found.location = neutral.Channel(track.location.frames, offset.astype(np.float32))
    if track.rotation is not None:
        values = maths.normalized(track.rotation.values, (1, 0, 0, 0)) @ simple.rotation
        found.rotation = neutral.Channel(track.rotation.frames, values.astype(np.float32))
    if track.scale is not None:
        found.scale = neutral.Channel(track.scale.frames, (track.scale.values @ simple.scale).astype(np.float32))
    return found


def sampled_tracks(
    built: list[BuiltBone],
    bones: list[neutral.Bone],
    tracks: list[neutral.Track],
    interpolation: neutral.Interpolation,
    size: float,
) -> list[neutral.Track]:
    """Of bones whose location, rotation and scale depend on each other: the keys that give back what whole frames show.

    For what is linear between them as Blender's curves are: "NLERP". All of them have keys on the same frames here, so that
    they can be worked out together.
    """
    keyed = [channel.frames for track in tracks for channel in (track.location, track.rotation, track.scale) if channel]
    frames = animation.whole_frames(np.unique(np.concatenate(keyed)))
    local = animation.many_local_matrices([bone.transform for bone in bones], tracks, frames, interpolation)
    location, rotation, scale = maths.decompose(basis_matrices(built, local.astype(np.float64)))
    rotation = maths.continuous(rotation)
    found = [neutral.Track() for _ in tracks]
    for name, values, tolerance, kind in (
        ("location", location, 2e-6 * size, ""),
        ("rotation", rotation, 1e-5, "NLERP"),
        ("scale", scale, 1e-6, ""),
    ):
        for track, value, keep in zip(found, values, maths.needed_keys(frames, values, tolerance, kind), strict=True):
            setattr(track, name, neutral.Channel(frames[keep], value[keep].astype(np.float32)))
    return found
