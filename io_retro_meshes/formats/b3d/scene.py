# SPDX-License-Identifier: GPL-3.0-or-later
"""Document to Scene: Blitz3D's left-handed axes with Y up to Blender's, nodes to objects and bones.

Positions and scales (x, y, z) -> (x, z, y). A quaternion of the engine is the conjugate of the usual one, and exchanging two
axes conjugates once more: (w, x, y, z) -> (w, x, z, y). The exchange mirrors, so triangles are turned round; v -> 1 - v.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ... import animation, maths, surfaces
from ...scene import (
    Armature,
    Bone,
    Channel,
    Clip,
    Floats,
    Mesh,
    Node,
    Scene,
    Skin,
    Target,
    Track,
    Transform,
)
from .. import binary
from . import document as b3d
from .materials import Materials
from .meshes import MOST_WEIGHTS, QUATERNION, VECTOR, Meshes, finite
from .options import ImportOptions

DEFAULT_FPS = 60.0


def to_scene(document: b3d.Document, options: ImportOptions | None = None) -> Scene:
    options = options or ImportOptions()
    scene = Scene(warnings=list(document.warnings), settings={"b3d": {"version": document.version}})
    with np.errstate(all="ignore"):
        _Builder(document, scene, _decoder(options.encoding)).build()
    return scene


def _decoder(encoding: str) -> Callable[[bytes], str]:
    if encoding == "AUTO":
        return binary.decode
    return lambda text: text.decode(encoding, "replace")


class _Builder:
    """Nodes are numbered as `Document.walk` gives them; -1 is none."""

    def __init__(self, document: b3d.Document, scene: Scene, decode: Callable[[bytes], str]) -> None:
        self.scene = scene
        self.decode = decode
        walked = list(document.walk())
        self.nodes = [node for node, _ in walked]
        self.parents = [parent for _, parent in walked]
        self.meshes = [b3d.of_kind(node.chunks, b3d.Mesh) for node in self.nodes]
        self.weights = [b3d.of_kind(node.chunks, b3d.Bone) for node in self.nodes]
        self.locations, self.rotations, self.scales = self.transforms()
        self.owners = self.owning_meshes()
        self.mirrored = self.mirrored_nodes()
        self.bones = self.bones_of_meshes()
        self.materials = Materials(document, scene, decode)
        self.meshes_made = Meshes(self.materials)
        self.skinned: dict[int, list[Mesh]] = {}
        self.places: list[Target] = []  # the scene's node, or node and bone, of each node
        self.tracks: dict[Target, Track] = {}
        self.dropped_weights = 0

    def build(self) -> None:
        for index in range(len(self.nodes)):
            self.place(index)
        self.add_armatures()
        self.add_animation()
        self.warn()

    def transforms(self) -> tuple[Floats, Floats, Floats]:
        """Every node's location, rotation and scale in Blender's axes."""

        def table(name: str, width: int) -> Floats:
            rows = [getattr(node, name) for node in self.nodes]
            return finite(np.concatenate(rows) if rows else np.zeros(0)).reshape(-1, width)

        rotations = maths.normalized(table("rotation", 4)[:, QUATERNION], (1, 0, 0, 0))
        return table("position", 3)[:, VECTOR], rotations, table("scale", 3)[:, VECTOR]

    # ------------------------------------------------------------------------------------------------------- hierarchy

    def owning_meshes(self) -> list[int]:
        """The nearest node above each that has a mesh."""
        owners: list[int] = []
        for parent in self.parents:
            owners.append(-1 if parent < 0 else parent if self.meshes[parent] else owners[parent])
        return owners

    def mirrored_nodes(self) -> list[bool]:
        """Which nodes are mirrored in the world, by their own scale and those above."""
        mirrored: list[bool] = []
        for parent, own in zip(self.parents, (np.sign(self.scales).prod(1) < 0).tolist(), strict=True):
            mirrored.append(own != (parent >= 0 and mirrored[parent]))
        return mirrored

    def bones_of_meshes(self) -> dict[int, dict[int, int]]:
        """For each node with a skinned mesh: its bones, and the number each has in the armature, parents first.

        What lies between two bones, or between a mesh and its bones, must be a bone too.
        """
        marked = [False] * len(self.nodes)
        for index, weights in enumerate(self.weights):
            if not weights or self.meshes[index] or self.owners[index] < 0:
                continue
            above = index
            while above != self.owners[index] and not marked[above]:
                marked[above] = True
                above = self.parents[above]
        found: dict[int, dict[int, int]] = {}
        for index in np.flatnonzero(marked).tolist():
            bones = found.setdefault(self.owners[index], {})
            bones[index] = len(bones)
        return found

    def place(self, index: int) -> None:
        """Gives a node of the file its node, or its bone, in the scene."""
        bones = self.bones.get(self.owners[index])
        if bones is not None and index in bones:
            armature = self.places[self.owners[index]][0]
            self.places.append((armature, bones[index]))
            return
        parent, parent_bone = self.places[self.parents[index]] if self.parents[index] >= 0 else (-1, -1)
        name = self.decode(self.nodes[index].name)
        node = Node(name, parent, parent_bone, self.transform(index))
        number = self.add(node)
        self.places.append((number, -1))
        meshes = self.meshes[index]
        if index in self.bones:
            node.name = f"{name}_armature"
        elif meshes:
            node.mesh = self.add_mesh(meshes[0], index)
        for chunk in meshes if index in self.bones else meshes[1:]:
            mesh = self.add_mesh(chunk, index)
            self.add(Node(name, number, mesh=mesh))
            self.skinned.setdefault(index, []).append(self.scene.meshes[mesh])

    def add_mesh(self, chunk: b3d.Mesh, index: int) -> int:
        name = self.decode(self.nodes[index].name)
        self.scene.meshes.append(self.meshes_made.mesh(chunk, name, self.mirrored[index]))
        return len(self.scene.meshes) - 1

    def add(self, node: Node) -> int:
        self.scene.nodes.append(node)
        return len(self.scene.nodes) - 1

    def transform(self, index: int) -> Transform:
        return Transform(self.locations[index], self.rotations[index], self.scales[index])

    # ----------------------------------------------------------------------------------------------------------- skins

    def add_armatures(self) -> None:
        local = maths.compose(*(array.astype(np.float64) for array in (self.locations, self.rotations, self.scales)))
        for owner, bones in self.bones.items():
            number = self.places[owner][0]
            armature = Armature(self.scene.nodes[number].name, [])
            binds: list[npt.NDArray[np.float64]] = []
            for index in bones:
                parent = bones.get(self.parents[index], -1)
                binds.append(local[index] if parent < 0 else binds[parent] @ local[index])
                name = self.decode(self.nodes[index].name)
                armature.bones.append(Bone(name, parent, binds[-1].astype(np.float32), self.transform(index)))
            self.scene.nodes[number].armature = armature
            self.add_skin(number, owner)

    def add_skin(self, number: int, owner: int) -> None:
        """The engine keeps the four greatest weights of a vertex and lets them sum to one."""
        bones = self.bones[owner]
        chunks = [(bone, chunk.weights) for index, bone in bones.items() for chunk in self.weights[index]]
        rows = np.concatenate([weights for _, weights in chunks])
        bone = np.repeat(np.array([bone for bone, _ in chunks], np.int64), [len(weights) for _, weights in chunks])
        for mesh in self.skinned[owner]:
            usable = (rows["vertex"] >= 0) & (rows["vertex"] < len(mesh.positions)) & np.isfinite(rows["weight"])
            self.dropped_weights += int(np.count_nonzero(~usable))
            pairs, place = np.unique(rows["vertex"][usable] * np.int64(len(bones)) + bone[usable], return_inverse=True)
            weights = np.bincount(place.reshape(-1), rows["weight"][usable], len(pairs)).astype(np.float32)
            vertices, joints = np.divmod(pairs, len(bones))
            strongest = surfaces.strongest(vertices.astype(np.int32), joints.astype(np.int32), weights, MOST_WEIGHTS)
            mesh.skin = Skin(number, *strongest[:3])

    # ------------------------------------------------------------------------------------------------------- animation

    def add_animation(self) -> None:
        for index, node in enumerate(self.nodes):
            chunks = b3d.of_kind(node.chunks, b3d.Keys)
            track = Track(*(_channel(chunks, name) for name in ("position", "rotation", "scale")))
            if track.location or track.rotation or track.scale:
                self.tracks[self.places[index]] = track
        anims = [anim for node in self.nodes for anim in b3d.of_kind(node.chunks, b3d.Anim)]
        sequences = [sequence for node in self.nodes for sequence in b3d.of_kind(node.chunks, b3d.Sequence)]
        if anims:
            self.scene.fps = anims[0].fps if np.isfinite(anims[0].fps) and anims[0].fps > 0 else DEFAULT_FPS
        if len({anim.fps for anim in anims}) > 1:
            message = f"The file has animations of different speeds; all are shown at {self.scene.fps:g} frames a second."
            self.scene.warnings.append(message)
        first, last = animation.frame_span(self.tracks) or (1.0, 1.0)
        last = max([last, *(float(anim.frames) for anim in anims)])
        if self.tracks or last > first:
            self.scene.timeline = Clip("Animation", first, last, self.tracks)
        for sequence in sequences:
            first, last = sorted((float(sequence.first), float(sequence.last)))
            self.scene.clips.append(Clip(self.decode(sequence.name), first, last))

    def warn(self) -> None:
        warnings = self.scene.warnings + self.materials.warnings()
        loose = sum(1 for index, weights in enumerate(self.weights) if weights and self.owners[index] < 0)
        if loose:
            warnings.append(f"{loose} bones are in no mesh; they were made empties.")
        if self.meshes_made.bad_triangles:
            warnings.append(f"{self.meshes_made.bad_triangles} triangles of vertices that do not exist were left out.")
        if self.dropped_weights:
            warnings.append(f"{self.dropped_weights} weights of vertices that do not exist were left out.")
        self.scene.warnings = warnings


def _channel(chunks: list[b3d.Keys], name: str) -> Channel | None:
    """The keys of all chunks that have this channel; of those on the same frame the last one counts."""
    chunks = [chunk for chunk in chunks if name in (chunk.keys.dtype.names or ()) and len(chunk.keys)]
    if not chunks:
        return None
    frames = np.concatenate([chunk.keys["frame"] for chunk in chunks]).astype(np.float32)
    values = finite(np.concatenate([chunk.keys[name] for chunk in chunks]))
    frames, last = np.unique(frames[::-1], return_index=True)
    values = values[::-1][last]
    if name == "rotation":
        values = maths.continuous(maths.normalized(values[:, QUATERNION], (1, 0, 0, 0)))
    else:
        values = values[:, VECTOR]
    return Channel(frames, np.ascontiguousarray(values))
