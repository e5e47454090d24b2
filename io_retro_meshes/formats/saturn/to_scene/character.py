# SPDX-License-Identifier: GPL-3.0-or-later
"""One character -> an armature with its body, its tags and what hangs on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Armature, Node, Scene, Skin
from .. import document as doc
from .. import stored
from ..options import ImportOptions
from ..skeleton import Tree
from ..write import write_character
from . import meshes, rigs
from .animation import add_clips
from .materials import Materials

Array = npt.NDArray[Any]


class CharacterImporter:
    def __init__(
        self,
        scene: Scene,
        number: int,
        name: str,
        character: doc.Character,
        tree: Tree,
        segments: dict[int, doc.Segment],  # by definition
        options: ImportOptions,
    ) -> None:
        self.scene = scene
        self.number = number
        self.name = name
        self.character = character
        self.tree = tree
        self.segments = segments
        self.options = options
        self.materials = Materials(scene, character, name, options)
        self.node = len(scene.nodes)

    def run(self) -> int:
        """Adds the character; returns its node."""
        lists = self.character.model.lists
        body = lists[doc.BODY] if lists else []
        mesh_bones = (self.tree.mesh_bones + [-1] * len(body))[: len(body)]
        animations = [self.character.animation.bones, *(segment.bones for segment in self.segments.values())]
        armature = Armature(self.name, rigs.bones(self.tree.parents, body, mesh_bones, animations))
        source = write_character(self.character)
        settings = {"character": self.number, "source": stored.encode(source)}
        self._append(Node(self.name, armature=armature, settings={"saturn": settings}))
        self._add_body(body, mesh_bones)
        self._add_tags(lists)
        bone_count = len(self.tree.parents)
        first = len(self.scene.clips)
        add_clips(self.scene, self.character.animation, self.segments, self.node, self.number, bone_count)
        for clip in self.scene.clips[first:]:
            clip.settings["saturn"]["model"] = stored.mark(source)
        return self.node

    def _append(self, node: Node) -> int:
        self.scene.nodes.append(node)
        return len(self.scene.nodes) - 1

    def _add_body(self, body: list[doc.Mesh], bones: list[int]) -> None:
        if self.options.parts == "EACH":
            for part, (mesh, bone) in enumerate(zip(body, bones, strict=True)):
                self._add_mesh(f"{self.name}_part_{part:02}", meshes.gather([mesh], part), np.full(len(mesh.points), bone))
        elif body:
            polygons = meshes.gather(body)
            self._add_mesh(f"{self.name}_body", polygons, np.array(bones)[polygons.point_parts])

    def _add_mesh(self, name: str, polygons: meshes.Polygons, bones: Array) -> None:
        """`bones`: the bone of each point."""
        mesh = meshes.scene_mesh(name, polygons, self.materials)
        moved = np.flatnonzero(bones >= 0)
        mesh.skin = Skin(self.node, moved.astype(np.int32), bones[moved].astype(np.int32), np.ones(len(moved), np.float32))
        mesh.settings = {"saturn": {"draw_codes": bytes(self.tree.draw_codes).hex()}}
        self._append(Node(name, self.node, mesh=len(self.scene.meshes)))
        self.scene.meshes.append(mesh)

    # --------------------------------------------------------------------------------------------- tags and mesh lists

    def _add_tags(self, lists: list[list[doc.Mesh]]) -> None:
        """Tags, and on them what the skeleton does not draw itself: the weapon, and what is shown instead of it."""
        held = {doc.WEAPON_TAG: doc.WEAPON, doc.UNARMED_TAG: doc.UNARMED}
        indices = {number: self._list_mesh(number, lists[number]) for number in range(1, len(lists)) if lists[number]}
        placed: set[int] = set()
        for tag in self.tree.tags:
            title = doc.TAG_NAMES.get(tag.code, f"tag_{tag.code:02X}")
            settings = {"saturn": {"tag": tag.code, "is_tag": True}}
            node = self._append(Node(title, self.node, tag.bone, rigs.tag_transform(tag), settings=settings))
            number = held.get(tag.code, -1)
            if number in indices:
                self._append(self._list_node(number, node, indices[number]))
                placed.add(number)
        for number in indices.keys() - placed:
            self._append(self._list_node(number, self.node, indices[number]))

    def _list_mesh(self, number: int, listed: list[doc.Mesh]) -> int:
        self.scene.meshes.append(meshes.scene_mesh(self._list_name(number), meshes.gather(listed), self.materials))
        return len(self.scene.meshes) - 1

    def _list_node(self, number: int, parent: int, mesh: int) -> Node:
        settings = {"saturn": {"list": number}}
        return Node(self._list_name(number), parent, mesh=mesh, hidden=number > doc.WEAPON, settings=settings)

    def _list_name(self, number: int) -> str:
        return f"{self.name}_{doc.LIST_NAMES[number] if number < len(doc.LIST_NAMES) else f'list_{number}'}"
