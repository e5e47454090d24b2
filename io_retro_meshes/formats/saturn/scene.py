# SPDX-License-Identifier: GPL-3.0-or-later
"""Document -> Scene: an armature, its body, its weapon and its tags for each character."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...scene import Armature, Bone, Clip, Node, Scene, Skin, Target, Track, Transform
from ..binary import FormatError
from . import axes, events, geometry, joints, keys, segments, skeleton
from . import document as doc
from .materials import Looks
from .options import ImportOptions

Array = npt.NDArray[Any]


def to_scene(document: doc.Document, options: ImportOptions | None = None, beside: Sequence[doc.Document] = ()) -> Scene:
    """`beside`: the x8an files that belong to the document."""
    options = options or ImportOptions()
    if not document.characters:
        raise FormatError("an x8an file holds animations only: import the x8pc file that they belong to")
    scene = Scene(interpolation="NLERP", fps=options.fps, warnings=list(document.warnings))
    trees = [skeleton.tree(character.model.skeleton) for character in document.characters]
    more = [*document.segments, *(segment for other in beside for segment in other.segments)]
    scene.warnings += [warning for other in beside for warning in other.warnings]
    matches = segments.match(document, more, [len(tree.parents) for tree in trees], scene.warnings)
    built = []
    for number, (character, tree) in enumerate(zip(document.characters, trees, strict=True)):
        name = options.name if len(trees) == 1 else f"{options.name}_{number}"
        own = {index: segment for (owner, index), segment in matches.items() if owner == number}
        built.append(_Builder(scene, number, name, character, tree, own, options).build())
    _line_up(scene, built, options.spacing)
    _add_timeline(scene)
    return scene


@dataclass
class _Builder:
    scene: Scene
    number: int
    name: str
    character: doc.Character
    tree: skeleton.Tree
    segments: dict[int, doc.Segment]  # by definition
    options: ImportOptions

    def build(self) -> int:
        """Adds the character; returns its node."""
        lists = self.character.model.lists
        body = lists[doc.BODY] if lists else []
        self.looks = Looks(self.scene, self.character, self.name, self.options)
        self.node = len(self.scene.nodes)
        bones = (self.tree.mesh_bones + [-1] * len(body))[: len(body)]
        armature = Armature(self.name, self._bones(body, bones))
        settings = {"saturn": {"character": self.number}}
        self.scene.nodes.append(Node(self.name, armature=armature, settings=settings))
        self._add_body(body, bones)
        self._add_tags(lists)
        self._add_clips()
        return self.node

    def _bones(self, body: list[doc.Mesh], mesh_bones: list[int]) -> list[Bone]:
        parents = self.tree.parents
        points = [axes.from_fixed(mesh.points) for mesh in body]
        centroids = np.full((len(parents), 3), np.nan)
        carried: dict[int, list[Array]] = {}
        for bone, cloud in zip(mesh_bones, points, strict=True):
            if bone >= 0 and len(cloud):
                carried.setdefault(bone, []).append(cloud)
        for bone, clouds in carried.items():
            centroids[bone] = np.concatenate(clouds).mean(0)
        everything = np.concatenate([*points, np.zeros((1, 3))])
        size = float(np.linalg.norm(np.ptp(everything, 0))) or 1.0
        animations = [self.character.animation.bones, *(segment.bones for segment in self.segments.values())]
        heads = axes.to_blender(joints.fit(parents, animations, centroids, size)).astype(np.float32)
        bind = np.eye(4, dtype=np.float32)
        digits = max(2, len(str(len(parents) - 1)))
        return [
            Bone(f"bone_{index:0{digits}}", parent, bind.copy(), Transform(), head=heads[index])
            for index, parent in enumerate(parents)
        ]

    def _add_body(self, body: list[doc.Mesh], bones: list[int]) -> None:
        if self.options.parts == "EACH":
            for part, (mesh, bone) in enumerate(zip(body, bones, strict=True)):
                self._add_mesh(f"{self.name}_part_{part:02}", geometry.gather([mesh], part), np.full(len(mesh.points), bone))
        elif body:
            polygons = geometry.gather(body)
            self._add_mesh(f"{self.name}_body", polygons, np.array(bones)[polygons.point_parts])

    def _add_mesh(self, name: str, polygons: geometry.Polygons, bones: Array) -> None:
        mesh = geometry.build(name, polygons, self.looks)
        moved = np.flatnonzero(bones >= 0)
        mesh.skin = Skin(self.node, moved.astype(np.int32), bones[moved].astype(np.int32), np.ones(len(moved), np.float32))
        mesh.settings = {"saturn": {"draw_codes": bytes(self.tree.draw_codes).hex()}}
        self._append(Node(name, self.node, mesh=len(self.scene.meshes)))
        self.scene.meshes.append(mesh)

    def _add_tags(self, lists: list[list[doc.Mesh]]) -> None:
        """Tags, and on them what the skeleton does not draw itself: the weapon, and what is shown instead of it."""
        held = {doc.WEAPON_TAG: doc.WEAPON, doc.UNARMED_TAG: doc.UNARMED}
        indices = {number: self._list_mesh(number, lists[number]) for number in range(1, len(lists)) if lists[number]}
        placed: set[int] = set()
        for tag in self.tree.tags:
            title = doc.TAG_NAMES.get(tag.code, f"tag_{tag.code:02X}")
            node = self._append(
                Node(title, self.node, tag.bone, _tag_transform(tag), settings={"saturn": {"tag": tag.code, "is_tag": True}})
            )
            number = held.get(tag.code, -1)
            if number in indices:
                self._append(self._list_node(number, node, indices[number]))
                placed.add(number)
        for number in indices.keys() - placed:
            self._append(self._list_node(number, self.node, indices[number]))

    def _list_mesh(self, number: int, meshes: list[doc.Mesh]) -> int:
        self.scene.meshes.append(geometry.build(self._list_name(number), geometry.gather(meshes), self.looks))
        return len(self.scene.meshes) - 1

    def _list_node(self, number: int, parent: int, mesh: int) -> Node:
        settings = {"saturn": {"list": number}}
        return Node(self._list_name(number), parent, mesh=mesh, hidden=number > doc.WEAPON, settings=settings)

    def _list_name(self, number: int) -> str:
        return f"{self.name}_{doc.LIST_NAMES[number] if number < len(doc.LIST_NAMES) else f'list_{number}'}"

    def _append(self, node: Node) -> int:
        self.scene.nodes.append(node)
        return len(self.scene.nodes) - 1

    def _add_clips(self) -> None:
        """The character's part of the timeline, and its definitions: parts of it, or of an x8an file."""
        tracks = self._tracks(self.character.animation.bones)
        timeline = self.scene.timeline or Clip("timeline", 0, 0, {})
        self.scene.timeline = timeline
        assert timeline.tracks is not None
        timeline.tracks |= tracks
        for index, definition in enumerate(self.character.animation.definitions):
            own = self._tracks(self.segments[index].bones) if index in self.segments else None
            if definition.external and own is None:
                continue
            settings = {"type": definition.type, "distance": definition.distance, "character": self.number, "order": index}
            if definition.external:
                settings["external"] = True
            clip = Clip(definition.name, definition.first, definition.last, own, settings={"saturn": settings}, owner=self.node)
            clip.markers = events.markers(definition.events)
            self.scene.clips.append(clip)

    def _tracks(self, bones: list[doc.BoneKeys]) -> dict[Target, Track]:
        count = len(self.tree.parents)
        return {(self.node, bone): keys.track(channels) for bone, channels in enumerate(bones[:count])}


def _tag_transform(tag: skeleton.Tag) -> Transform:
    rotation = axes.rotation_to_blender(tag.rotation)
    length = float(np.linalg.norm(rotation))
    rotation = rotation / length if length > 1e-9 else np.array([1.0, 0, 0, 0])
    return Transform(
        axes.to_blender(tag.translation).astype(np.float32),
        rotation.astype(np.float32),
        axes.scale_to_blender(tag.scale).astype(np.float32),
    )


def _line_up(scene: Scene, nodes: list[int], spacing: float) -> None:
    """Several characters stand side by side, as far apart as the widest needs."""
    widths = [float(np.ptp(mesh.positions[:, 0])) for mesh in scene.meshes if mesh.skin is not None and len(mesh.positions)]
    step = spacing * max(widths, default=0.0)
    for number, node in enumerate(nodes):
        scene.nodes[node].transform.location[0] = number * step


def _add_timeline(scene: Scene) -> None:
    """The timeline spans all keys and all definitions that are parts of it."""
    timeline = scene.timeline
    if timeline is None or timeline.tracks is None:
        return
    channels = [c for t in timeline.tracks.values() for c in (t.location, t.rotation, t.scale) if c is not None]
    ranges = [(float(channel.frames[0]), float(channel.frames[-1])) for channel in channels]
    ranges += [(clip.first, clip.last) for clip in scene.clips if clip.tracks is None]
    if not channels:
        scene.timeline, scene.clips = None, [clip for clip in scene.clips if clip.tracks is not None]
        return
    timeline.first, timeline.last = min(r[0] for r in ranges), max(r[1] for r in ranges)
    names: dict[str, int] = {}
    for clip in scene.clips:
        names[clip.name] = names.get(clip.name, 0) + 1
        if names[clip.name] > 1:
            clip.name = f"{clip.name}.{names[clip.name] - 1:03}"
