# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature with its meshes and tags -> one character."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Clip, Node, Scene
from .. import document as doc
from ..options import ExportOptions, ImportOptions
from ..to_scene import to_scene
from . import animation, meshes
from .keys import BoneKeyExporter
from .meshes import Part, PolygonMesh
from .original import Derived, losses, merged_model
from .pictures import TextureSet
from .rigs import Rig

Array = npt.NDArray[Any]


class CharacterExporter:
    def __init__(
        self, scene: Scene, node: int, options: ExportOptions, warnings: list[str], original: doc.Character | None = None
    ) -> None:
        self.scene = scene
        self.node = node
        self.options = options
        self.warnings = warnings
        self.original = original
        self.rig = Rig(scene, node, warnings)
        self.textures = TextureSet(scene.images, options.largest_texture, warnings, original.textures if original else None)
        self.body: list[PolygonMesh] = []
        self.lists: dict[int, list[PolygonMesh]] = {}  # mesh lists other than the body
        self.draw_codes = b""  # by number of the part, where an import left them
        self.used: set[int] = set()  # nodes whose meshes are written

    # ------------------------------------------------------------------------------------------------------------ model

    def derive(self) -> Derived:
        """The model as the scene has it."""
        self._find_meshes()
        textures, numbers = self.textures.finish()
        for mesh in [*self.body, *(mesh for listed in self.lists.values() for mesh in listed)]:
            mesh.renumber_textures(numbers)
        parts = sorted(self._parts(self.body), key=lambda part: part.order)
        commands, body, bone_order = self.rig.commands(parts)
        lists = [body]
        if self.lists:
            listed = [self.lists.get(index, []) for index in range(1, max(self.lists) + 1)]
            lists += [self._parts(polygon_meshes) for polygon_meshes in listed]
        return Derived(lists, commands, bone_order, textures)

    def model(self, derived: Derived) -> doc.Model:
        """The model to write: of an imported character what was edited of it, and the rest as it was."""
        if self.original is None:
            return doc.Model([[part.mesh for part in listed] for listed in derived.lists], derived.commands)
        scene = to_scene(doc.Document([self.original]), ImportOptions())
        before = CharacterExporter(scene, 0, ExportOptions(), [], self.original).derive()
        self.warnings += losses(self.rig.name, before, derived)
        return merged_model(self.original.model, before, derived)

    def _parts(self, polygon_meshes: list[PolygonMesh]) -> list[Part]:
        return [part for mesh in polygon_meshes for part in meshes.split_by_bone(mesh, self.draw_codes, self.options.strongest)]

    def _find_meshes(self) -> None:
        """The meshes of the body, and those that hang on tags."""
        seen: set[tuple[int, int]] = set()
        for index, node in enumerate(self.scene.nodes):
            if node.mesh < 0:
                continue
            skin = self.scene.meshes[node.mesh].skin
            skinned = skin is not None and skin.node == self.node
            if not skinned and index not in self.rig.places:
                continue
            self.used.add(index)
            listed = -1 if skinned else self.rig.mesh_list(index)
            if listed <= 0:
                self._add_to_body(index, node, skinned)
            elif (listed, node.mesh) not in seen:  # a second tag shows the same mesh again
                seen.add((listed, node.mesh))
                self.lists.setdefault(listed, []).append(self._polygon_mesh(node, self.rig.on_tag(index), listed))

    def _add_to_body(self, index: int, node: Node, skinned: bool) -> None:
        mesh = self.scene.meshes[node.mesh]
        bone, matrix = (-1, np.eye(4)) if skinned else self.rig.places[index]
        polygons = self._polygon_mesh(node, self.rig.bound(bone) @ matrix, doc.BODY)
        if skinned:
            polygons.bones = meshes.rigid_bones(mesh, self.options.strongest)
        else:
            polygons.bones = np.full(len(polygons.points), bone)
        self.draw_codes = self.draw_codes or _draw_codes(mesh.settings)
        self.body.append(polygons)

    def _polygon_mesh(self, node: Node, matrix: Array, listed: int) -> PolygonMesh:
        mesh = self.scene.meshes[node.mesh]
        materials = mesh.materials if node.materials is None else node.materials
        lists = self.original.model.lists if self.original is not None else []
        source = lists[listed] if listed < len(lists) else []
        return meshes.polygon_mesh(self.scene, mesh, materials, matrix, self.textures, source)

    # -------------------------------------------------------------------------------------------------------- animation

    def bone_keys(self, derived: Derived, size: float) -> BoneKeyExporter:
        tolerance = self.options.key_tolerance
        return BoneKeyExporter(self.scene, self.node, self.rig.to_model, derived.bone_order, size, self.warnings, tolerance)

    def run(
        self, timeline: Clip | None, clips: list[Clip], outside: dict[int, doc.Segment]
    ) -> tuple[doc.Character, list[tuple[int, doc.Segment]]]:
        """The character, and its animations for the x8an file. `outside`: what was shown that is not on the timeline."""
        derived = self.derive()
        model = self.model(derived)
        bounds, size = meshes.bounds(model.lists[0] if model.lists else [])
        keys = self.bone_keys(derived, size)
        original = self.original
        if original is None or self.options.animation == "NONE":
            if original is not None:
                bounds = original.animation.bounds
            found = animation.new_animations(clips, timeline, keys, bounds, self.options)
        else:
            found = animation.AnimationMerger(original, outside, keys, self.options).run(timeline, clips)
        made = doc.Character(derived.textures, model, found.animation, found.packed)
        if original is not None:
            made.source, made.listed = original.source, original.listed
        return made, found.segments


def _draw_codes(settings: dict[str, dict[str, Any]]) -> bytes:
    text = str(settings.get("saturn", {}).get("draw_codes", ""))
    return bytes.fromhex(text) if re.fullmatch(r"(?:[0-9a-f]{2})*", text) else b""
