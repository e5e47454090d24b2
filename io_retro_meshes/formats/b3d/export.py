# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene to document, such that Blitz3D and Luanti can both read it.

The engine binds bones to a mesh before the mesh has a parent, so the node of a skinned mesh must not move it: the armature's
transform goes into the vertices and the bones, or into a pivot above. It gives a mesh every bone it has met before the mesh
ends, so meshes that are not part of a rig come before the rig's bones. And it keeps only one root.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ... import animation, maths, surfaces
from ...scene import Bone, Channel, Clip, Floats, Ints, Mesh, Node, Scene, Skin, Track, Transform, matrices
from ..binary import encode
from . import document as b3d
from .brushes import BrushTable
from .meshes import QUATERNION, VECTOR, mesh_chunk, weight_chunks
from .options import ExportOptions

MOST_BONES = 254
ENGINE_UV_SETS = 2
DEFAULT_FPS = 60.0


def from_scene(scene: Scene, options: ExportOptions | None = None) -> b3d.Document:
    with np.errstate(all="ignore"):
        return _Exporter(replace(scene, warnings=list(scene.warnings)), options or ExportOptions()).document()


@dataclass
class _Moving:
    """A transform and how it is animated."""

    transform: Transform
    track: Track

    def within(self, above: Transform) -> _Moving:
        """The same seen from outside a transform without shear and of even scale. Each channel stays on its own keys."""
        if self.transform.prefix is not None:
            return _Moving(replace(self.transform, prefix=above.matrix @ self.transform.prefix), self.track)
        linear = above.matrix[:3, :3]

        def each(name: str, values: Floats) -> Floats:
            if name == "location":
                return (values @ linear.T + above.location).astype(np.float32)
            if name == "rotation":
                return maths.quaternion_multiply(above.rotation, values).astype(np.float32)
            return (values * above.scale[0]).astype(np.float32)

        moved, track = Transform(), Track()
        for name in animation.CHANNELS:
            setattr(moved, name, each(name, getattr(self.transform, name)))
            channel: Channel | None = getattr(self.track, name)
            if channel is not None:
                setattr(track, name, Channel(channel.frames, each(name, channel.values)))
        return _Moving(moved, track)

    def split(self) -> tuple[Transform | None, _Moving]:
        """A shear is one transform seen from another: what has to stand above, and what is left."""
        prefix = self.transform.prefix
        if prefix is None:
            return None, self
        left, scale, right = np.linalg.svd(prefix[:3, :3].astype(np.float64))
        flips = np.sign(np.linalg.det(left)), np.sign(np.linalg.det(right))
        left, scale, right = left * flips[0], scale * flips[0] * flips[1], right * flips[1]
        turns = [maths.matrix_to_quaternion(each).astype(np.float32) for each in (left, right)]
        above = Transform(prefix[:3, 3].copy(), turns[0], scale.astype(np.float32))
        return above, replace(self, transform=replace(self.transform, prefix=None)).within(Transform(rotation=turns[1]))


class _Exporter:
    def __init__(self, scene: Scene, options: ExportOptions) -> None:
        self.scene = scene
        self.options = options
        self.warnings = scene.warnings
        self.brushes = BrushTable(scene)
        self.timeline, self.ranges, self.shift = self.one_timeline()
        self.world = scene.global_matrices()
        self.skins = self.skinned_meshes()
        self.on_bones = self.meshes_on_bones()
        self.roots: list[b3d.Node] = []
        self.files: list[b3d.Node] = []  # the node of the file that children of each node of the scene hang on
        self.bones: dict[int, list[b3d.Node]] = {}
        self.baked: dict[int, Transform] = {}  # nodes whose own transform went into what hangs on them
        self.rigs: list[tuple[b3d.Node, set[int]]] = []  # nodes of skinned meshes, and which of their chunks are bones
        self.moving_nodes = False

    def document(self) -> b3d.Document:
        for index in range(len(self.scene.nodes)):
            self.add(index)
        root = self.roots[0] if len(self.roots) == 1 else b3d.Node(b"ROOT", chunks=[*self.roots])
        for node, bones in self.rigs:
            node.chunks.sort(key=lambda chunk: id(chunk) in bones)
        self.add_anims(root)
        chunks = self.brushes.chunks() if self.options.materials else []
        document = b3d.Document(chunks=[*chunks, root] if self.roots else [*chunks])
        document.warnings = list(dict.fromkeys(self.warnings))
        return document

    def one_timeline(self) -> tuple[Clip | None, list[Clip], float]:
        """The engine knows no frames before 0."""
        timeline, ranges = animation.one_timeline(self.scene, 1)
        first = min([timeline.first if timeline else 0, *(clip.first for clip in ranges)])
        if first >= 0:
            return timeline, ranges, 0.0
        self.warnings.append(f"The animation begins before frame 0; it was moved by {1 - first:g} frames.")
        return timeline, ranges, 1 - first

    def skinned_meshes(self) -> dict[int, list[int]]:
        """The nodes of the meshes of each armature."""
        found: dict[int, list[int]] = {}
        for index, node in enumerate(self.scene.nodes):
            skin = self.scene.meshes[node.mesh].skin if node.mesh >= 0 else None
            if skin is not None and 0 <= skin.node < index and self.scene.nodes[skin.node].armature is not None:
                found.setdefault(skin.node, []).append(index)
        return found

    def meshes_on_bones(self) -> dict[int, tuple[int, int, Floats]]:
        """Nodes with meshes that stand still on a rig's bone, to be joined with its mesh: rig, bone, place on the bone."""
        places: dict[int, tuple[int, int, Floats]] = {}
        for index, node in enumerate(self.scene.nodes):
            if self.track(index, -1) != Track() or index in self.skins:
                continue
            if node.parent_bone >= 0 and node.parent in self.skins:
                places[index] = (node.parent, node.parent_bone, node.transform.matrix)
            elif node.parent in places and node.parent_bone < 0:
                rig, bone, above = places[node.parent]
                places[index] = (rig, bone, above @ node.transform.matrix)
        nodes = self.scene.nodes
        found = {index: place for index, place in places.items() if nodes[index].mesh >= 0}
        if found and not self.options.join_on_bones:
            names = ", ".join(f'"{nodes[index].name}"' for index in found)
            self.warnings.append(
                f"Blitz3D itself cannot read meshes that hang on bones, other engines can: {names}. "
                "Join Meshes on Bones makes them part of the rig's mesh."
            )
        return found if self.options.join_on_bones else {}

    # ----------------------------------------------------------------------------------------------------------- nodes

    def add(self, index: int) -> None:
        node = self.scene.nodes[index]
        skin = self.scene.meshes[node.mesh].skin if node.mesh >= 0 else None
        if skin is not None and index in self.skins.get(skin.node, ()):
            self.files.append(self.files[skin.node])  # part of the rig's one mesh
            if skin.node in self.baked:
                self.baked[index] = self.baked[skin.node]
            return
        moving = _Moving(node.transform, self.track(index, -1))
        if node.parent_bone < 0 and node.parent in self.baked:
            moving = moving.within(self.baked[node.parent])
        holder = self.holder(node)
        if index in self.skins:
            self.add_rig(index, moving, holder)
            return
        made = self.node(node.name, moving, holder)
        self.files.append(made)
        if node.mesh >= 0 and index not in self.on_bones:
            mesh = self.part(index)
            made.chunks.insert(0, mesh_chunk(mesh, self.brush, self.options, self.mirrored(index))[0])
        if node.armature is not None:
            self.add_bones(index, made, None)

    def holder(self, node: Node) -> list[b3d.Node] | b3d.Node:
        if node.parent < 0:
            return self.roots
        bones = self.bones.get(node.parent, [])
        return bones[node.parent_bone] if 0 <= node.parent_bone < len(bones) else self.files[node.parent]

    def node(self, name: str, moving: _Moving, holder: list[b3d.Node] | b3d.Node, bone: bool = False) -> b3d.Node:
        above, moving = moving.split()
        if above is not None:
            holder = self.node(f"{name}_shear", _Moving(above, Track()), holder, bone)
        transform = moving.transform
        made = b3d.Node(
            encode(name).replace(b"\0", b""),
            transform.location[VECTOR].astype("<f4"),
            transform.scale[VECTOR].astype("<f4"),
            transform.rotation[QUATERNION].astype("<f4"),
        )
        made.chunks += self.keys(moving.track)
        self.moving_nodes |= bool(made.chunks) and not bone
        chunks = holder.chunks if isinstance(holder, b3d.Node) else holder
        chunks.append(made)
        return made

    def mirrored(self, index: int) -> bool:
        """Blender turns the faces of mirrored objects round when it draws them; the engine does not."""
        return bool(np.linalg.det(self.world[index][:3, :3]) < 0)

    def brush(self, material: int) -> int:
        return self.brushes.number(material) if self.options.materials else -1

    def part(self, index: int) -> Mesh:
        node = self.scene.nodes[index]
        mesh = surfaces.triangulated(self.scene.meshes[node.mesh])
        if len(mesh.uvs) > ENGINE_UV_SETS and self.options.uv_sets > ENGINE_UV_SETS:
            self.warnings.append(f'"{node.name}" has {len(mesh.uvs)} UV maps; Blitz3D and Luanti read {ENGINE_UV_SETS}.')
        return mesh if node.materials is None else replace(mesh, materials=node.materials)

    # ------------------------------------------------------------------------------------------------------------ rigs

    def add_rig(self, index: int, moving: _Moving, holder: list[b3d.Node] | b3d.Node) -> None:
        """An armature and its meshes as one skinned mesh, whose node does not move it."""
        node = self.scene.nodes[index]
        name = self.scene.nodes[self.skins[index][0]].name
        baked = moving.transform if _is_plain(moving) else None
        if baked is None:
            pivot = f"{name}_root" if node.name == f"{name}_armature" else node.name
            holder = self.node(pivot, moving, holder)
        made = self.node(name, _Moving(Transform(), Track()), holder)
        self.files.append(made)
        if baked is not None:
            self.baked[index] = baked
        parts = [surfaces.moved(self.part(part), self.placed(part, index, baked)) for part in self.skins[index]]
        parts += [self.joined(part, baked) for part, (rig, _, _) in self.on_bones.items() if rig == index]
        mesh = surfaces.joined(parts)
        chunk, sources = mesh_chunk(mesh, self.brush, self.options, self.mirrored(index))
        made.chunks.insert(0, chunk)
        bones = len(node.armature.bones) if node.armature else 0
        if bones > MOST_BONES:
            self.warnings.append(f'"{node.name}" has {bones} bones, more than the {MOST_BONES} that Blitz3D takes.')
        if mesh.skin is not None and bones:
            weights, lost = weight_chunks(mesh.skin, sources, bones)
            if lost:
                self.warnings.append(f'{lost} vertices of "{name}" have more than 4 weights; the greatest were kept.')
            self.rigs.append((made, self.add_bones(index, made, weights)))

    def placed(self, part: int, rig: int, baked: Transform | None) -> Floats:
        """From a mesh's own space to that of the rig's node in the file."""
        matrix = np.linalg.pinv(self.world[rig].astype(np.float64)) @ self.world[part]
        if np.abs(matrix - np.eye(4)).max() < 1e-6:
            matrix = np.eye(4)
        return np.asarray(matrix if baked is None else baked.matrix @ matrix, np.float32)

    def joined(self, part: int, baked: Transform | None) -> Mesh:
        """A mesh that hangs on a bone as a piece of the rig's mesh that only this bone moves."""
        rig, number, matrix = self.on_bones[part]
        armature, mesh = self.scene.nodes[rig].armature, self.part(part)
        matrix = armature.bones[number].bind @ matrix if armature else matrix
        count = len(mesh.positions)
        skin = Skin(rig, np.arange(count, dtype=np.int32), np.full(count, number, np.int32), np.ones(count, np.float32))
        return surfaces.moved(replace(mesh, skin=skin), matrix if baked is None else baked.matrix @ matrix)

    def add_bones(self, index: int, made: b3d.Node, weights: list[b3d.Bone] | None) -> set[int]:
        """The armature's bones below a node; returns which of its chunks they are."""
        armature = self.scene.nodes[index].armature
        bones = self.bones.setdefault(index, [])
        before = {id(chunk) for chunk in made.chunks}
        binds = _local_binds(armature.bones if armature else [])
        for number, bone in enumerate(armature.bones if armature else []):
            moving = self.bone(index, number, bone, binds[number])
            if bone.parent < 0 and index in self.baked:
                moving = moving.within(self.baked[index])
            holder = bones[bone.parent] if bone.parent >= 0 else made
            bones.append(self.node(bone.name, moving, holder, weights is not None))
            if weights is not None:
                bones[-1].chunks.insert(0, weights[number])
        return {id(chunk) for chunk in made.chunks} - before

    def bone(self, index: int, number: int, bone: Bone, bind: Floats | None) -> _Moving:
        """The file's own transform of a bone is the one it was bound in; where it rests elsewhere, a key says so."""
        track = self.track(index, number)
        if bind is None:
            return _Moving(bone.transform, track)
        bound = Transform.from_matrix(bind)
        if bound.prefix is not None:
            bound = Transform(*maths.decompose(bind))
            self.warnings.append(f'The bone "{bone.name}" was bound with a shear, which was left out.')
        frame = np.array([self.timeline.first if self.timeline else 1.0], np.float32)
        for name in animation.CHANNELS:
            if getattr(track, name) is None:
                setattr(track, name, Channel(frame, getattr(bone.transform, name)[None]))
        return _Moving(bound, track)

    # ------------------------------------------------------------------------------------------------------- animation

    def track(self, node: int, bone: int) -> Track:
        tracks = self.timeline.tracks if self.timeline else None
        return replace((tracks or {}).get((node, bone), Track()))

    def keys(self, track: Track) -> list[b3d.Keys]:
        """Channels with keys on the same frames share a chunk."""
        groups: dict[bytes, dict[str, Floats]] = {}
        frames: dict[bytes, Ints] = {}
        for name, flag in (("location", "position"), ("scale", "scale"), ("rotation", "rotation")):
            channel: Channel | None = getattr(track, name)
            if channel is None or not len(channel.frames):
                continue
            whole, first = np.unique(self.whole(channel.frames), return_index=True)
            values = channel.values[first][:, QUATERNION if name == "rotation" else VECTOR]
            groups.setdefault(whole.tobytes(), {})[flag] = values
            frames[whole.tobytes()] = whole
        return [_keys_chunk(frames[key], values) for key, values in groups.items()]

    def whole(self, frames: Floats | float) -> Ints:
        """The frames of the file."""
        return np.clip(np.rint(np.asarray(frames, np.float64) + self.shift), -(2**31), 2**31 - 1).astype("<i4")

    def add_anims(self, root: b3d.Node) -> None:
        """The engine looks for an animation's length in the node of each rig, and above everything else that moves."""
        found = b3d.Document(chunks=[root])
        chunks = [chunk for node, _ in found.walk() for chunk in b3d.of_kind(node.chunks, b3d.Keys)]
        ends = [int(chunk.keys["frame"].max()) for chunk in chunks]
        if self.timeline is not None:
            ends.append(int(self.whole(np.ceil(self.timeline.last))))
        if not ends:
            return
        anim = b3d.Anim(0, max(ends), self.scene.fps or DEFAULT_FPS)
        rigs = [node for node, _ in self.rigs]
        holders = [root, *(node for node in rigs if node is not root)] if self.moving_nodes or not rigs else rigs
        for holder in holders:
            _before_children(holder, [replace(anim)])
        sequences = [
            b3d.Sequence(encode(clip.name).replace(b"\0", b""), int(self.whole(clip.first)), int(self.whole(clip.last)))
            for clip in self.ranges
        ]
        _before_children(holders[0], sequences)


def _is_plain(moving: _Moving) -> bool:
    """Does it stand still, without shear or mirror, with the same scale on all axes?"""
    track, transform = moving.track, moving.transform
    if track.location or track.rotation or track.scale or transform.prefix is not None:
        return False
    scale = transform.scale
    return bool(scale[0] > 0 and np.ptp(scale) <= 1e-5 * scale[0])


def _local_binds(bones: list[Bone]) -> list[Floats | None]:
    """The matrix each bone was bound in, seen from its parent's; None where that is the one it rests in."""
    if not bones:
        return []
    binds = np.stack([bone.bind for bone in bones]).astype(np.float64)
    parents = np.array([bone.parent for bone in bones])
    above = np.where((parents >= 0)[:, None, None], binds[parents], np.eye(4))
    local = np.linalg.pinv(above) @ binds
    size = np.maximum(np.abs(local).max((1, 2)), 1e-6)
    differs = np.abs(local - matrices([bone.transform for bone in bones])).max((1, 2)) > 1e-4 * size
    return [bind if differ else None for bind, differ in zip(local.astype(np.float32), differs, strict=True)]


def _keys_chunk(frames: Ints, channels: dict[str, Floats]) -> b3d.Keys:
    bits = {"position": b3d.POSITION, "scale": b3d.SCALE, "rotation": b3d.ROTATION}
    flags = sum(bits[name] for name in channels)
    keys = np.empty(len(frames), b3d.key_dtype(flags))
    keys["frame"] = frames
    for name, values in channels.items():
        keys[name] = values
    return b3d.Keys(flags, keys)


def _before_children(node: b3d.Node, chunks: list[b3d.Anim] | list[b3d.Sequence]) -> None:
    place = next((i for i, chunk in enumerate(node.chunks) if isinstance(chunk, b3d.Node)), len(node.chunks))
    node.chunks[place:place] = chunks
