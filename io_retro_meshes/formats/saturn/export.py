# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene -> document: the bone tree as a stream of pushes and pops, rigid parts, quads, pictures and keys."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import animation, maths
from ...scene import Armature, Bone, Clip, Node, Scene, Transform
from ..binary import FormatError
from . import axes, faces, motion
from . import document as doc
from .faces import Surface
from .options import ExportOptions
from .pictures import Book

Array = npt.NDArray[Any]

FARTHEST = 32767.0  # units that 16.16 can hold


def from_scene(scene: Scene, options: ExportOptions | None = None) -> doc.Document:
    options = options or ExportOptions()
    document = doc.Document()
    external = [clip for clip in scene.clips if clip.tracks is not None and clip.settings.get("saturn", {}).get("external")]
    if options.external != "TIMELINE":
        scene = replace(scene, clips=[clip for clip in scene.clips if not any(clip is other for other in external)])
    timeline, clips = animation.one_timeline(scene, options.first_frame)
    nodes = [index for index, node in enumerate(scene.nodes) if node.armature is not None]
    if not nodes:
        scene, nodes = _with_armature(scene)
    nodes.sort(key=lambda index: scene.nodes[index].settings.get("saturn", {}).get("character", 0))
    used: set[int] = set()
    for number, node in enumerate(nodes):
        builder = _Builder(scene, node, options, document.warnings)
        document.characters.append(builder.build(timeline, clips, external if options.external == "FILE" else [], number))
        document.segments += builder.segments
        used |= builder.used
    left = [node.name for index, node in enumerate(scene.nodes) if node.mesh >= 0 and index not in used]
    if left:
        document.warnings.append(f"Objects that belong to no armature were left out: {', '.join(left)}.")
    moved = [scene.nodes[node].name for node in nodes if timeline and (node, -1) in (timeline.tracks or {})]
    if moved:
        document.warnings.append(f"Only bones can move: the movement of {', '.join(moved)} as a whole was left out.")
    return document


def _with_armature(scene: Scene) -> tuple[Scene, list[int]]:
    """A scene without bones is a character of one bone that carries everything."""
    if not any(node.mesh >= 0 for node in scene.nodes):
        raise FormatError("there is nothing to export: a character needs meshes")
    matrices = scene.global_matrices()
    rig = Node("character", armature=Armature("character", [Bone("bone_00", -1, np.eye(4, dtype=np.float32), Transform())]))
    nodes = [rig]
    for node, matrix in zip(scene.nodes, matrices, strict=True):
        if node.mesh >= 0:
            nodes.append(Node(node.name, 0, 0, Transform(prefix=matrix), mesh=node.mesh, materials=node.materials))
    return Scene(nodes, scene.meshes, scene.materials, scene.images), [0]


@dataclass
class Part:
    """What one mesh of a list becomes: faces of one part on one bone."""

    order: int
    bone: int
    mesh: doc.Mesh
    code: int = 0


@dataclass
class _Builder:
    scene: Scene
    node: int
    options: ExportOptions
    warnings: list[str]
    parts: list[Part] = field(default_factory=list)
    lists: dict[int, list[tuple[Surface, Array]]] = field(default_factory=dict)
    definitions: list[doc.Definition] = field(default_factory=list)
    segments: list[doc.Segment] = field(default_factory=list)

    def build(self, timeline: Clip | None, clips: list[Clip], external: list[Clip], number: int) -> doc.Character:
        armature = self.scene.nodes[self.node].armature
        assert armature is not None
        self.armature = armature
        # Characters are written as they stand, wherever that is: turned and scaled, but not moved.
        self.frame = self.scene.global_matrices()[self.node].astype(np.float64)
        self.frame[:3, 3] = 0
        self.book = Book(self.scene.images, self.options.largest_texture, self.warnings)
        self.codes = b""
        self.bodies: list[tuple[Surface, Array]] = []
        self._find_tags()
        self._find_meshes()
        textures, numbers = self.book.finish()
        for surface, _ in [*self.bodies, *(entry for entries in self.lists.values() for entry in entries)]:
            textured = surface.attributes["dir"] & doc.DIR_KIND == doc.DIR_TEXTURED
            surface.attributes["texno"][textured] = numbers[surface.attributes["texno"][textured]]
        for surface, bones in self.bodies:
            self.parts += self._split(surface, bones)
        self.parts.sort(key=lambda part: part.order)
        stream, body, order = self._stream()
        lists = [body]
        if self.lists:
            named = [self.lists.get(index, []) for index in range(1, max(self.lists) + 1)]
            lists += [[part.mesh for surface, bones in entries for part in self._split(surface, bones)] for entries in named]
        bounds, size = self._bounds(body)
        self.rig = motion.Rig(self.scene, self.node, self.frame, order, size, self.warnings)
        keys = self.rig.keys(timeline)
        self._add_definitions(clips, external, timeline, number)
        return doc.Character(textures, doc.Model(lists, stream), doc.Animation(bounds, self.definitions, keys))

    def _add_definitions(self, clips: list[Clip], external: list[Clip], timeline: Clip | None, number: int) -> None:
        """The animations in the order of the file they came from; those that go to the x8an file are also its segments."""
        mine = [clip for clip in clips if motion.is_about(clip, number)]
        if not mine and not external:
            whole = timeline or Clip("idle", 0, 0)
            mine = [Clip("idle", whole.first, whole.last, markers=whole.markers)]
        outside = [clip for clip in external if motion.is_about(clip, number)]
        for clip in sorted([*mine, *outside], key=motion.place):
            definition = motion.definition(clip, self.warnings)
            if any(clip is other for other in outside):
                definition.start |= doc.EXTERNAL
                self.segments.append(doc.Segment(self.rig.keys(clip)))
            self.definitions.append(definition)

    # ------------------------------------------------------------------------------------------------------------ nodes

    def _find_tags(self) -> None:
        """Empties that are tags: their code, bone and place."""
        self.tags: dict[int, tuple[int, int, Array]] = {}
        self.places: dict[int, tuple[int, Array]] = {}  # every node of the character: the bone it is on, its matrix there
        ignored = []
        for index, node in enumerate(self.scene.nodes):
            if index == self.node:
                self.places[index] = (-1, np.eye(4))
                continue
            if node.parent not in self.places or node.armature is not None:
                continue
            bone, above = self.places[node.parent]
            bone = node.parent_bone if node.parent == self.node else bone
            matrix = above @ node.transform.matrix.astype(np.float64)
            self.places[index] = (bone, matrix)
            if node.mesh < 0 and node.camera < 0 and node.light < 0:
                code = _tag_code(node)
                if code is not None:
                    self.tags[index] = (code, bone, self._bound(bone) @ matrix)
                else:
                    ignored.append(node.name)
        if ignored:
            self.warnings.append(f"Empties that are no tags were left out: {', '.join(ignored)}.")

    def _bound(self, bone: int) -> Array:
        """Where the bone is as the model stands: a place on it, seen from the model."""
        return self.frame @ self.armature.bones[bone].bind.astype(np.float64) if bone >= 0 else self.frame

    def _find_meshes(self) -> None:
        seen: set[tuple[int, int]] = set()
        self.used: set[int] = set()
        for index, node in enumerate(self.scene.nodes):
            if node.mesh < 0:
                continue
            mesh = self.scene.meshes[node.mesh]
            materials = mesh.materials if node.materials is None else node.materials
            skinned = mesh.skin is not None and mesh.skin.node == self.node
            if not skinned and index not in self.places:
                continue
            self.used.add(index)
            listed = -1 if skinned else self._list_of(index)
            if listed > 0:
                if (listed, node.mesh) not in seen:  # a second tag shows the same mesh again
                    seen.add((listed, node.mesh))
                    surface = faces.surface(self.scene, mesh, materials, self._on_tag(index), self.book)
                    self.lists.setdefault(listed, []).append((surface, np.full(len(surface.points), -1)))
                continue
            bone, matrix = (-1, np.eye(4)) if skinned else self.places[index]
            surface = faces.surface(self.scene, mesh, materials, self._bound(bone) @ matrix, self.book)
            bones = self._rigid(node.mesh) if skinned else np.full(len(surface.points), bone)
            self.codes = self.codes or _draw_codes(mesh.settings)
            self.bodies.append((surface, bones))

    def _list_of(self, index: int) -> int:
        """The mesh list that a node belongs to: as its settings say, or by the tag that it hangs on."""
        node = self.scene.nodes[index]
        listed = node.settings.get("saturn", {}).get("list", 0)
        if listed > 0:
            return int(listed)
        code = self.tags[node.parent][0] if node.parent in self.tags else -1
        return {doc.WEAPON_TAG: doc.WEAPON, doc.UNARMED_TAG: doc.UNARMED}.get(code, -1)

    def _on_tag(self, index: int) -> Array:
        """The node's matrix, seen from the tag that it hangs on; from the model if there is none."""
        matrix = np.eye(4)
        while index != self.node and index not in self.tags:
            matrix = self.scene.nodes[index].transform.matrix.astype(np.float64) @ matrix
            index = self.scene.nodes[index].parent
        return matrix

    def _rigid(self, index: int) -> Array:
        """The one bone of every vertex of a skinned mesh."""
        mesh = self.scene.meshes[index]
        assert mesh.skin is not None
        skin = mesh.skin
        strong = skin.weights > 0.01
        counts = np.bincount(skin.vertices[strong], minlength=len(mesh.positions))
        several = int((counts > 1).sum())
        if several and not self.options.strongest:
            raise FormatError(
                f'{several} vertices of "{mesh.name}" follow several bones: every part must be rigid on one bone. '
                "Give each vertex one vertex group, or let the exporter take the strongest"
            )
        bones = np.full(len(mesh.positions), -1)
        order = np.argsort(skin.weights[strong], kind="stable")
        bones[skin.vertices[strong][order]] = skin.bones[strong][order]
        return bones

    # ------------------------------------------------------------------------------------------------------------ parts

    def _split(self, surface: Surface, bones: Array) -> list[Part]:
        """The surface's faces by part and bone; vertices that no face uses go with their bone's first part."""
        owner = bones[surface.quads]
        mixed = int((owner != owner[:, :1]).any(1).sum())
        if mixed and not self.options.strongest:
            raise FormatError(
                f'{mixed} faces of "{surface.name}" join several bones: every part must be rigid on one bone. '
                "Split the mesh there, or let the exporter take the strongest"
            )
        rows = np.stack([surface.parts, owner[:, 0]], 1) if len(owner) else np.zeros((0, 2), np.int64)
        distinct, which = np.unique(rows, axis=0, return_inverse=True)
        which = which.reshape(-1)
        loose = ~surface.spare
        loose[surface.quads] = False
        parts = []
        for number, (order, bone) in enumerate(distinct.tolist()):
            mine = which == number
            extra = np.flatnonzero(loose & (bones == bone))
            loose[extra] = False
            mesh = _mesh(surface, surface.quads[mine], surface.attributes[mine], extra)
            code = self.codes[order] if order < len(self.codes) else 0
            parts.append(Part(order, bone, mesh, code))
        return parts

    def _bounds(self, body: list[doc.Mesh]) -> tuple[Array, float]:
        """Centre and half extents, and the size."""
        points = np.concatenate([np.zeros((0, 3)), *(axes.from_fixed(mesh.points) for mesh in body)])
        if not len(points):
            return np.zeros(6, doc.FIXED), 1.0
        low, high = points.min(0), points.max(0)
        return axes.to_fixed(np.concatenate([(low + high) / 2, (high - low) / 2])), float(np.linalg.norm(high - low)) or 1.0

    # ----------------------------------------------------------------------------------------------------------- stream

    def _stream(self) -> tuple[list[doc.Command], list[doc.Mesh], list[int]]:
        """The byte-code, the meshes as it draws them, and the bones as it pushes them.

        A bone's meshes come before the bones on it, unless a part of those was numbered lower: imported parts keep their
        order.
        """
        children: dict[int, list[int]] = {}
        for index, each in enumerate(self.armature.bones):
            children.setdefault(each.parent, []).append(index)
        lowest = self._lowest_parts()
        stream: list[doc.Command] = []
        meshes: list[doc.Mesh] = []
        order: list[int] = []
        # What is still to do, last first: a bone to push, or (bone, part number) to draw up to, or None to pop.
        waiting: list[tuple[str, int, float]] = [("inside", -1, 0.0)]
        left = {index: [part for part in self.parts if part.bone == index] for index in range(-1, len(self.armature.bones))}
        while waiting:
            step, bone, limit = waiting.pop()
            if step == "draw":
                while left[bone] and left[bone][0].order <= limit:
                    part = left[bone].pop(0)
                    stream.append(doc.Command(part.code))
                    meshes.append(part.mesh)
                continue
            if step == "end":
                stream += [_tag_command(code, matrix) for code, owner, matrix in self.tags.values() if owner == bone]
                stream.append(doc.Command(doc.POP))
                continue
            if bone >= 0:
                stream.append(doc.Command(doc.PUSH))
                order.append(bone)
            waiting.append(("end", bone, 0.0))
            waiting.append(("draw", bone, np.inf))
            for child in reversed(children.get(bone, [])):
                waiting += [("inside", child, 0.0), ("draw", bone, lowest[child])]
        return stream, meshes, order

    def _lowest_parts(self) -> list[float]:
        """The lowest part number on each bone or on the bones on it."""
        lowest = [np.inf] * len(self.armature.bones)
        for part in self.parts:
            if part.bone >= 0:
                lowest[part.bone] = min(lowest[part.bone], part.order)
        for index in range(len(lowest) - 1, -1, -1):
            parent = self.armature.bones[index].parent
            if parent >= 0:
                lowest[parent] = min(lowest[parent], lowest[index])
        return lowest


def _mesh(surface: Surface, quads: Array, attributes: Array, extra: Array) -> doc.Mesh:
    """Some faces with just the points they use, and a few more."""
    used = np.unique(np.concatenate([quads.reshape(-1), extra]))
    points = surface.points[used]
    if len(points) > 0xFFFF:
        raise FormatError(f'a part of "{surface.name}" has {len(points)} vertices: there can be 65535')
    if not np.isfinite(points).all() or np.abs(points).max(initial=0) > FARTHEST:
        raise FormatError(f'"{surface.name}" has vertices farther than {FARTHEST:g} units from the origin')
    polygons = np.zeros(len(quads), doc.POLYGON)
    polygons["vertices"] = np.searchsorted(used, quads)
    corners = surface.points[quads]
    normal = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
    polygons["normal"] = axes.to_fixed(maths.normalized(normal))
    normals = None
    if surface.normals is not None:
        normals = np.rint(np.clip(surface.normals[used], -7.9, 7.9) * doc.NORMAL_ONE).astype(doc.NORMAL)
    return doc.Mesh(axes.to_fixed(points), polygons, attributes, normals)


def _draw_codes(settings: dict[str, dict[str, Any]]) -> bytes:
    text = str(settings.get("saturn", {}).get("draw_codes", ""))
    return bytes.fromhex(text) if re.fullmatch(r"(?:[0-9a-f]{2})*", text) else b""


def _tag_code(node: Node) -> int | None:
    settings = node.settings.get("saturn", {})
    if settings.get("is_tag"):
        return int(settings.get("tag", 0)) & 0xFF
    plain = re.sub(r"\.\d{3}$", "", node.name)
    for code, name in doc.TAG_NAMES.items():
        if plain == name:
            return code
    coded = re.fullmatch(r"tag_([0-9A-Fa-f]{2})", plain)
    return int(coded[1], 16) if coded else None


def _tag_command(code: int, matrix: Array) -> doc.Command:
    location, rotation, scale = maths.decompose(matrix)
    numbers = [axes.to_fixed(axes.from_blender(location))]
    if code in doc.FULL_TAGS:
        numbers += [axes.to_fixed(axes.rotation_from_blender(rotation)), axes.to_fixed(axes.scale_from_blender(scale))]
    return doc.Command(code, tuple(np.concatenate(numbers).tolist()))
