# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene -> Document: a character for each armature, or one of a single bone for a scene that has none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ....scene import Armature, Bone, Clip, Node, Scene, Transform
from ....scene.animation import one_timeline
from ...errors import FormatError
from .. import document as doc
from .. import read, segments, skeleton, stored
from ..budget import check
from ..options import ExportOptions
from .animation import belongs_to, is_external
from .character import CharacterExporter
from .original import find


def from_scene(scene: Scene, options: ExportOptions | None = None) -> doc.Document:
    check(scene)
    return Exporter(scene, options or ExportOptions()).run()


class Exporter:
    def __init__(self, scene: Scene, options: ExportOptions) -> None:
        self.options = options
        self.document = doc.Document(keep_room=options.keep_room)
        self.nodes = [index for index, node in enumerate(scene.nodes) if node.armature is not None]
        self.moved = _moved_objects(scene)
        if not self.nodes:
            scene, self.nodes = _with_armature(scene)
        self.nodes.sort(key=lambda index: scene.nodes[index].settings.get("saturn", {}).get("character", 0))
        self.scene = scene
        numbers = [scene.nodes[node].settings.get("saturn", {}).get("character", -1) for node in self.nodes]
        self.document.equal_slots = numbers != list(range(len(numbers)))
        warnings = self.document.warnings
        found = [find(scene.nodes[node].settings, scene.nodes[node].name, warnings) for node in self.nodes]
        self.originals = [character for character, _ in found]
        self.marks = [mark for _, mark in found]
        self._read_companions()

    def _read_companions(self) -> None:
        """The x8an files that were imported along, one behind the other, and which animation is where in them."""
        self.matches: segments.Matches = {}
        self.companion: list[doc.Segment] = []
        stores = [self.scene.nodes[node].settings.get("saturn", {}) for node in self.nodes]
        self.document.tail = next((data for each in stores if (data := stored.decode(each.get("tail", "")))), b"")
        files: dict[str, list[int]] = {}
        for number, (store, original) in enumerate(zip(stores, self.originals, strict=True)):
            text = store.get("companion", "")
            if text and original is not None:
                files.setdefault(text, []).append(number)
        for text, numbers in files.items():
            self._read_companion(stored.decode(text), numbers, stores)
        if self.companion:
            self.document.replaced = list(range(len(self.companion))) if len(files) > 1 else []
        self.written = list(self.companion)
        self.edited: dict[int, str] = {}  # the segments that are not as they were, and by whom

    def _read_companion(self, data: bytes, numbers: list[int], stores: list[dict[str, Any]]) -> None:
        """One x8an file, and the characters that need it."""
        try:
            found = read.read(data).segments if data else []
        except FormatError as error:
            found = error.partial.segments if error.partial is not None else []
        before = len(self.companion)
        self.companion += found
        for number in numbers:
            for index, place in segments.places(stores[number].get("segments"), len(found)):
                self.matches[(number, index)] = before + place

    # --------------------------------------------------------------------------------------------------------------- run

    def run(self) -> doc.Document:
        used: set[int] = set()
        for number, node in enumerate(self.nodes):
            original = self.originals[number]
            exporter = CharacterExporter(self.scene, node, self.options, self.document.warnings, original)
            timeline, clips = self._animation_of(number)
            character, outside = exporter.run(timeline, clips, self._outside(number))
            self.document.characters.append(character)
            self._add_segments(number, outside)
            used |= exporter.used
        if self.document.replaced is not None:
            self.document.segments = self.written
        self._warn_of_losses(used)
        return self.document

    def _outside(self, number: int) -> dict[int, doc.Segment]:
        """By definition, the animations of an original that are not on its timeline, and could be shown."""
        original = self.originals[number]
        if original is None:
            return {}
        bones = len(skeleton.tree(original.model.skeleton).parents)
        found = {index: self.companion[place] for (owner, index), place in self.matches.items() if owner == number}
        packed = segments.packed_matches(original, bones, [])
        return found | {index: original.extra[place] for index, place in packed.items()}

    def _animation_of(self, number: int) -> tuple[Clip | None, list[Clip]]:
        """The timeline and the clips of a character; of a new one all but the external ones on one timeline."""
        node, mark = self.nodes[number], self.marks[number]
        mine = [clip for clip in self.scene.clips if belongs_to(clip, node, number, mark)]
        if self.originals[number] is not None and self.options.animation != "NONE":
            return self.scene.timeline, mine
        outside = [clip for clip in mine if is_external(clip)] if self.options.external != "TIMELINE" else []
        inside = [clip for clip in mine if not any(clip is other for other in outside)]
        timeline, ranges = one_timeline(replace(self.scene, clips=inside), self.options.first_frame)
        return timeline, [*ranges, *(outside if self.options.external != "NONE" else [])]

    def _add_segments(self, number: int, outside: list[tuple[int, doc.Segment]]) -> None:
        """Puts the animations that belong into the x8an file into their places in it."""
        document = self.document
        name = self.scene.nodes[self.nodes[number]].name
        for index, segment in outside:
            place = self.matches.get((number, index), -1)
            if place >= 0 and document.replaced is not None:
                if not doc.same(segment.bones, self.companion[place].bones):
                    self._replace_segment(place, segment, name)
                    document.replaced.append(place)
            elif document.replaced is None and self.originals[number] is None:
                document.segments.append(segment)
            else:
                raise FormatError(
                    f'an animation of "{name}" cannot be added to its x8an file: the game '
                    "counts the animations in it. Switch Outside the Timeline off in the settings of the action"
                )

    def _replace_segment(self, place: int, segment: doc.Segment, name: str) -> None:
        """Characters may share a segment."""
        other = self.edited.setdefault(place, name)
        if other != name and not doc.same(segment.bones, self.written[place].bones):
            self.document.warnings.append(
                f'"{other}" and "{name}" share an animation of their x8an file, and it was edited for both: the file has that '
                f'of "{name}". Export them one by one, each into a folder of its own, to keep both.'
            )
        self.written[place] = segment

    def _warn_of_losses(self, used: set[int]) -> None:
        nodes = self.scene.nodes
        left = [node.name for index, node in enumerate(nodes) if node.mesh >= 0 and index not in used]
        if left:
            self.document.warnings.append(f"Objects that belong to no armature were left out: {', '.join(left)}.")
        if self.moved:
            names = ", ".join(self.moved)
            self.document.warnings.append(f"Only bones can move: the movement of {names} as a whole was left out.")


def _moved_objects(scene: Scene) -> list[str]:
    """The names of the objects that move by themselves, not by bones."""
    clips = [*scene.clips, *([scene.timeline] if scene.timeline is not None else [])]
    moved = {node for clip in clips for node, bone in clip.tracks or {} if bone < 0}
    return [scene.nodes[node].name for node in sorted(moved)]


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
