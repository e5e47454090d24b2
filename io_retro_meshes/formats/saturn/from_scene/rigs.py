# SPDX-License-Identifier: GPL-3.0-or-later
"""Armature and tags -> the byte-code of the skeleton, a stream of pushes and pops."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Node, Scene, maths
from .. import axes
from .. import document as doc
from .meshes import Part

Array = npt.NDArray[Any]


class Rig:
    """The nodes of one character: its armature, its tags, and on which bone everything else is."""

    def __init__(self, scene: Scene, node: int, warnings: list[str]) -> None:
        armature = scene.nodes[node].armature
        assert armature is not None
        self.scene = scene
        self.node = node
        self.warnings = warnings
        self.name = scene.nodes[node].name
        self.armature = armature
        # Armature space to model space. Characters are written as they stand, wherever that is: turned and scaled, not moved.
        self.to_model = scene.global_matrices()[node].astype(np.float64)
        self.to_model[:3, 3] = 0
        self.places: dict[int, tuple[int, Array]] = {}  # every node of the character: the bone it is on, its matrix there
        self.tags: dict[int, tuple[int, int, Array]] = {}  # nodes that are tags: code, bone, matrix in model space
        self._find_places()

    def _find_places(self) -> None:
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
                    self.tags[index] = (code, bone, self.bound(bone) @ matrix)
                else:
                    ignored.append(node.name)
        if ignored:
            self.warnings.append(f"Empties that are no tags were left out: {', '.join(ignored)}.")

    def bound(self, bone: int) -> Array:
        """Bone space to model space, as the model stands; -1 is the armature."""
        return self.to_model @ self.armature.bones[bone].bind.astype(np.float64) if bone >= 0 else self.to_model

    def mesh_list(self, index: int) -> int:
        """The mesh list that a node belongs to, as its settings say or by the tag that it hangs on; -1: the body."""
        node = self.scene.nodes[index]
        listed = node.settings.get("saturn", {}).get("list", 0)
        if listed > 0:
            return int(listed)
        code = self.tags[node.parent][0] if node.parent in self.tags else -1
        return {doc.WEAPON_TAG: doc.WEAPON, doc.UNARMED_TAG: doc.UNARMED}.get(code, -1)

    def on_tag(self, index: int) -> Array:
        """The node's matrix, seen from the tag that it hangs on; from the model if there is none."""
        matrix = np.eye(4)
        while index != self.node and index not in self.tags:
            matrix = self.scene.nodes[index].transform.matrix.astype(np.float64) @ matrix
            index = self.scene.nodes[index].parent
        return matrix

    def commands(self, parts: list[Part]) -> tuple[list[doc.Command], list[Part], list[int]]:
        """The byte-code, the parts as it draws them, and the bones as it pushes them.

        A bone's meshes come before the bones on it, unless a part of those was numbered lower: imported parts keep their
        order.
        """
        children: dict[int, list[int]] = {}
        for index, each in enumerate(self.armature.bones):
            children.setdefault(each.parent, []).append(index)
        lowest = self._lowest_parts(parts)
        stream: list[doc.Command] = []
        drawn: list[Part] = []
        order: list[int] = []
        # What is still to do, last first: a bone to push, or (bone, part number) to draw up to, or the end of a bone.
        waiting: list[tuple[str, int, float]] = [("inside", -1, 0.0)]
        left = {index: [part for part in parts if part.bone == index] for index in range(-1, len(self.armature.bones))}
        while waiting:
            step, bone, limit = waiting.pop()
            if step == "draw":
                while left[bone] and left[bone][0].order <= limit:
                    part = left[bone].pop(0)
                    stream.append(doc.Command(part.code))
                    drawn.append(part)
                continue
            if step == "end":
                mine = [_tag_command(code, matrix) for code, owner, matrix in self.tags.values() if owner == bone]
                stream += sorted(mine, key=lambda tag: (tag.code, tag.numbers))  # objects have no order of their own
                stream.append(doc.Command(doc.POP))
                continue
            if bone >= 0:
                stream.append(doc.Command(doc.PUSH))
                order.append(bone)
            waiting.append(("end", bone, 0.0))
            waiting.append(("draw", bone, np.inf))
            for child in reversed(children.get(bone, [])):
                waiting += [("inside", child, 0.0), ("draw", bone, lowest[child])]
        return stream, drawn, order

    def _lowest_parts(self, parts: list[Part]) -> list[float]:
        """The lowest part number on each bone or on the bones on it."""
        lowest = [np.inf] * len(self.armature.bones)
        for part in parts:
            if part.bone >= 0:
                lowest[part.bone] = min(lowest[part.bone], part.order)
        for index in range(len(lowest) - 1, -1, -1):
            parent = self.armature.bones[index].parent
            if parent >= 0:
                lowest[parent] = min(lowest[parent], lowest[index])
        return lowest


def _tag_code(node: Node) -> int | None:
    settings = node.settings.get("saturn", {})
    if "is_tag" in settings:  # whatever it is called
        return int(settings.get("tag", doc.CHEST_TAG)) & 0xFF if settings["is_tag"] else None
    plain = re.sub(r"\.\d{3}$", "", node.name)
    for code, name in doc.TAG_NAMES.items():
        if plain == name:
            return code
    coded = re.fullmatch(r"tag_([0-9A-Fa-f]{2})", plain)
    return int(coded[1], 16) if coded else None


def _tag_command(code: int, matrix: Array) -> doc.Command:
    location, rotation, scale = maths.decompose(matrix)
    numbers = [axes.to_fixed(axes.vectors_to_file(location))]
    if code in doc.FULL_TAGS:
        numbers += [axes.to_fixed(axes.rotations_to_file(rotation)), axes.to_fixed(axes.scales_to_file(scale))]
    return doc.Command(code, tuple(np.concatenate(numbers).tolist()))
