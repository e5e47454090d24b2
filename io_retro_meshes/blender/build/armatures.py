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

import bpy
import numpy as np
from mathutils import Vector

from ... import scene as neutral
from ...scene import animation, maths
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
    shape: str = "STICK"


@dataclass
class BuiltBone:
    name: str  # in Blender
    length: float
    c: np.ndarray  # C
    before: np.ndarray  # A
    held: np.ndarray | None = None  # the inverse of its transform's prefix, where a helper above it has that
    deform: str = ""  # the bone that moves the vertices, if it is not this one

    @property
    def origin(self) -> np.ndarray:
        """The place in its parent that is no location in Blender."""
        return -np.linalg.inv(self.before[:3, :3]) @ self.before[:3, 3]


@dataclass
class BuiltArmature:
    object: bpy.types.Object
    bones: list[BuiltBone]


def new_armature(collection: bpy.types.Collection, node: neutral.Node, style: BoneStyle) -> bpy.types.Object:
    """An armature without bones yet."""
    data = bpy.data.armatures.new(compat.short_name(node.armature.name, "Armature"))
    data.display_type = style.shape
    target = bpy.data.objects.new(compat.short_name(node.name, "Armature"), data)
    target.show_in_front = True
    collection.objects.link(target)
    return target


def build_armatures(
    context: bpy.types.Context, scene: neutral.Scene, objects: dict[int, bpy.types.Object], style: BoneStyle
) -> dict[int, BuiltArmature]:
    """Gives the armatures of these nodes their bones: all at once, since Blender looks at the whole scene each time."""
    binds = {
        index: np.array([_sound_bind(bone.bind) for bone in scene.nodes[index].armature.bones], np.float64).reshape(-1, 4, 4)
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
        found[index] = BuiltArmature(target, _built_bones(target.data, armature, binds[index], names[index], plan))
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
    data: bpy.types.Armature, armature: neutral.Armature, binds: np.ndarray, names: list[str], plan: Plan | None
) -> list[BuiltBone]:
    built: list[BuiltBone] = []
    rests = [np.array(data.bones[name].matrix_local, np.float64) for name in names]
    for number, (bone, bind, name) in enumerate(zip(armature.bones, binds, names, strict=True)):
        made, rest = data.bones[name], rests[number]
        c = np.linalg.inv(bind) @ rest if plan is None else plan.turn(number, rest)
        before, held = np.linalg.inv(rest), None
        if plan is not None and number in plan.above:
            before, held = plan.back(number), np.linalg.pinv(bone.transform.prefix.astype(np.float64))
        elif bone.parent >= 0:
            before = before @ rests[bone.parent] @ np.linalg.inv(built[bone.parent].c)
        built.append(BuiltBone(name, made.length, c, before, held))
        made.retro_meshes.axes = np.linalg.inv(c).astype(np.float32).reshape(-1)
        made.retro_meshes.first = name
        if name != bone.name:
            made.retro_meshes.name = bone.name
        properties.apply(made, bone.settings)
    return built


def _sound_bind(bind: np.ndarray) -> np.ndarray:
    """A bind matrix that can be inverted: a bone squashed to nothing gets its volume back."""
    if np.isfinite(bind).all() and abs(np.linalg.det(bind[:3, :3].astype(np.float64))) > 1e-18:
        return bind
    sound = np.eye(4)
    sound[:3, 3] = np.nan_to_num(bind[:3, 3])
    return sound


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
    size = float(np.linalg.norm(np.ptp(everything, 0))) if len(everything) else 1.0
    near = max(SMALLEST, 1e-6 * float(np.abs(everything).max(initial=0)))  # as far as 32 bits and Blender tell points apart
    size = size if size > near else 1.0
    layout: list[Layout] = []
    for number, bone in enumerate(bones):
        along = _direction(number, bone, heads, children, carried, layout, size)
        rotation = maths.orthonormal(binds[number][:3, :3])
        snap = uneven[number] or bone.head is not None
        length = float(np.linalg.norm(along))
        axes = rotation if style.direction == "FILE" else _axes(rotation, along / length, snap)
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

    def uneven(values: np.ndarray) -> bool:
        return bool(np.abs(np.ptp(values, -1)).max() > 1e-4 * max(float(np.abs(values).max()), 1e-12))

    found = []
    for number, bone in enumerate(scene.nodes[index].armature.bones):
        scales = [bone.transform.scale[None], maths.decompose(bone.bind)[2][None]]
        for clip in tracks:
            track = clip.get((index, number))
            if track is not None and track.scale is not None and len(track.scale.frames):
                scales.append(track.scale.values)
        found.append(uneven(np.concatenate(scales)))
    return found


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
    turn = Vector(best[:, 1]).rotation_difference(Vector(along)).to_matrix()
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
    made: list[bpy.types.EditBone] = []
    for bone, place in zip(armature.bones, layout, strict=True):
        edit = target.data.edit_bones.new(compat.short_name(bone.name, "Bone"))
        edit.head = place.head
        edit.tail = place.head + place.axes[:, 1] * place.length
        edit.align_roll(Vector(place.axes[:, 2]))
        edit.parent = made[bone.parent] if bone.parent >= 0 else None
        made.append(edit)
        if plan is not None:
            plan.add_above(target.data, len(made) - 1, edit)
    for number, edit in enumerate(made if plan is not None else ()):
        plan.add_below(target.data, number, edit)
    return [edit.name for edit in made]


# --------------------------------------------------------------------------------------------------------------- poses


def set_rest_pose(built: BuiltArmature, armature: neutral.Armature) -> None:
    """The pose the file shows when nothing animates it, where that is not the one the skin was bound in."""
    for bone, made in zip(armature.bones, built.bones, strict=True):
        basis = basis_matrices(made, bone.transform.matrix[None].astype(np.float64))
        if np.abs(basis[0] - np.eye(4)).max() > 1e-6:
            location, rotation, scale = maths.decompose(basis[0])
            pose = built.object.pose.bones[made.name]
            pose.location, pose.rotation_quaternion, pose.scale = location, rotation, scale
            pose.bone.retro_meshes.pose = np.concatenate([location, rotation, scale])


def basis_matrices(bone: BuiltBone, local: np.ndarray) -> np.ndarray:
    return bone.before @ (local if bone.held is None else bone.held @ local) @ bone.c


def pose_track(
    made: BuiltBone, bone: neutral.Bone, track: neutral.Track, interpolation: neutral.Interpolation, size: float
) -> tuple[neutral.Track, neutral.Interpolation]:
    """A bone's keys as Blender's pose channels, and what is meant between them."""
    parts = _separable(made, bone)
    if parts is None:
        return _sampled_track(made, bone, track, interpolation, size), "NLERP"
    back, turn, grown = parts
    q_back = maths.matrix_to_quaternion(back).astype(np.float32)
    q_turn = maths.matrix_to_quaternion(turn).astype(np.float32)
    found = neutral.Track()
    if track.location is not None:
        # From where the bone was bound, or numbers far from zero lose their last digits.
        offset = (track.location.values - made.origin) @ made.before[:3, :3].T
        found.location = neutral.Channel(track.location.frames, offset.astype(np.float32))
    if track.rotation is not None:
        values = maths.quaternion_multiply(q_back, maths.normalized(track.rotation.values, (1, 0, 0, 0)))
        found.rotation = neutral.Channel(track.rotation.frames, maths.quaternion_multiply(values, q_turn))
    if track.scale is not None:
        # The squares just exchange the axes where C does, and leave an even scale alone where C turns freely.
        found.scale = neutral.Channel(track.scale.frames, (track.scale.values @ turn**2 * grown).astype(np.float32))
    return found, interpolation


def _separable(made: BuiltBone, bone: neutral.Bone) -> tuple[np.ndarray, np.ndarray, float] | None:
    """The turns that A and C are, and how much they scale together, if they are so simple: then each channel depends on itself
    alone."""
    sizes = [np.cbrt(np.linalg.det(matrix[:3, :3])) for matrix in (made.before, made.c)]
    back, turn = (matrix[:3, :3] / size for matrix, size in zip((made.before, made.c), sizes, strict=True))
    plain = (
        np.abs(turn @ turn.T - np.eye(3)).max() < 1e-5
        and np.abs(back @ back.T - np.eye(3)).max() < 1e-5
        and np.abs(made.c[:3, 3]).max() < 1e-6 * (1 + np.abs(made.origin).max())
        and sizes[0] * sizes[1] > 0
        and (bone.transform.prefix is None or made.held is not None)
    )
    return (back, turn, float(sizes[0] * sizes[1])) if plain else None


def _sampled_track(
    made: BuiltBone, bone: neutral.Bone, track: neutral.Track, interpolation: neutral.Interpolation, size: float
) -> neutral.Track:
    """Location, rotation and scale depend on each other: evaluated on whole frames, without those that a line gives back."""
    keyed = [channel.frames for channel in (track.location, track.rotation, track.scale) if channel is not None]
    frames = animation.whole_frames(np.unique(np.concatenate(keyed)))
    local = animation.local_matrices(bone.transform, track, frames, interpolation)
    location, rotation, scale = maths.decompose(basis_matrices(made, local.astype(np.float64)))
    rotation = maths.continuous(rotation)

    def channel(values: np.ndarray, tolerance: float, kind: str = "") -> neutral.Channel:
        keep = maths.reduce_keys(frames, values, tolerance, kind)
        return neutral.Channel(frames[keep], values[keep].astype(np.float32))

    return neutral.Track(channel(location, 2e-6 * size), channel(rotation, 1e-5, "NLERP"), channel(scale, 1e-6))
