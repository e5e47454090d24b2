# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene -> document."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from ... import maths
from ... import scene as neutral
from ...scene import Floats, Ints
from ..binary import encode
from . import geometry, lights, materials, skeletons, tree
from .document import ANIMATED_INSTANCE, INSTANCE, MOST_LEVELS, MOST_LIGHTS, Document, Instance, Layout, record

RESOLUTION = (1920, 1080)
FPS = 24.0


@dataclass(frozen=True)
class ExportOptions:
    # SEED is the published layout; NAMES adds names; ANIM adds names and skeletons.
    file_layout: Layout = "SEED"
    # How a light's power becomes its intensity: as the format's text has it, or by the original exporter's curve.
    light_formula: lights.Formula = "SPEC"
    # The original cuts texture coordinates to 0..1, although the engine repeats textures.
    clamp_uvs: bool = False
    # The engine turns a bone about its parent's place. Helper bones make it turn about its own, as in Blender.
    exact_joints: bool = False


def from_scene(scene: neutral.Scene, options: ExportOptions | None = None) -> Document:
    return _Exporter(scene, options or ExportOptions()).document()


@dataclass
class _Placed:
    """Where a node is in the file: below which object (its number, or the root), with what matrix, how deep."""

    above: int
    matrix: Floats
    level: int


@dataclass
class _Exporter:
    scene: neutral.Scene
    options: ExportOptions
    made: Document = field(default_factory=Document)
    parents: list[int] = field(default_factory=list)
    placed: dict[int, _Placed] = field(default_factory=dict)  # of nodes
    shapes: dict[tuple[int, int], int] = field(default_factory=dict)  # (mesh, slot) -> geometry, from 1
    pieces: dict[int, dict[int, neutral.Mesh]] = field(default_factory=dict)
    sources: list[Ints] = field(default_factory=list)  # the mesh's vertices behind each geometry's
    # (armature's node, the skin's matrix in it) -> collection, from 1, and the places of its bones
    rigs: dict[tuple[int, bytes], tuple[int, Ints]] = field(default_factory=dict)
    plain: int = 0  # the default material, from 1
    deep: int = 0

    def document(self) -> Document:
        scene, made = self.scene, self.made
        made.layout = self.options.file_layout
        made.warnings = list(scene.warnings)
        if scene.world_color is not None:
            alpha = scene.settings.get("bogle", {}).get("ambient_alpha", 1.0)
            made.ambient = np.array([*scene.world_color[:3], alpha], "<f4")
        made.materials = [materials.from_scene(each, scene.images, made.warnings) for each in scene.materials]
        self.cameras()
        made.lights = [lights.light_from_scene(light, self.options.light_formula) for light in scene.lights]
        if len(made.lights) > MOST_LIGHTS:
            made.warnings.append(f"{len(made.lights)} lights; the engine takes {MOST_LIGHTS}.")
        for index, node in enumerate(scene.nodes):
            self.node(index, node)
        if self.deep:
            made.warnings.append(f"{self.deep} objects are deeper than the {MOST_LEVELS} levels of the engine; hung higher up.")
        self.watched()
        if self.options.file_layout != "ANIM" and any(mesh.skin for mesh in scene.meshes):
            made.warnings.append(
                f"Layout {self.options.file_layout} has no skeletons: skinned meshes stand still. Layout ANIM has."
            )
        moved = {node for clip in [scene.timeline, *scene.clips] if clip for node, bone in clip.tracks or {} if bone < 0}
        if moved:
            names = ", ".join(sorted(scene.nodes[node].name for node in moved)[:5])
            made.warnings.append(f"Only bones move in the engine: {len(moved)} objects stand still that move here ({names}).")
        made.tree = tree.write(self.parents)
        return made

    # ---------------------------------------------------------------------------------------------------------- objects

    def node(self, index: int, node: neutral.Node) -> None:
        """Armatures are no objects of the engine: what hangs on one hangs on its parent instead."""
        place = self.place(node)
        self.placed[index] = place
        if node.armature is not None:
            return
        level = place.level + 1
        parts = {"camera": node.camera + 1, "light": node.light + 1}
        number = len(self.parents)
        if node.mesh < 0:
            self.instance(node.name, place, **parts)
        else:
            self.mesh_objects(node, place, parts)
        if level >= MOST_LEVELS:  # what is below goes beside it
            self.placed[index] = place
        else:
            self.placed[index] = _Placed(number, np.eye(4, dtype=np.float32), level)

    def place(self, node: neutral.Node) -> _Placed:
        matrix = node.transform.matrix
        if node.parent < 0:
            return _Placed(tree.ROOT, matrix, 0)
        above = self.placed[node.parent]
        parent = self.scene.nodes[node.parent]
        if parent.armature is not None and node.parent_bone >= 0:
            matrix = neutral.rest_matrices(parent.armature)[node.parent_bone] @ matrix
        if parent.armature is None and above.level + 1 == MOST_LEVELS:
            self.deep += 1
        return _Placed(above.above, (above.matrix @ matrix).astype(np.float32), above.level)

    def instance(self, name: str, place: _Placed, **parts: int) -> None:
        dtype = ANIMATED_INSTANCE if self.options.file_layout == "ANIM" else INSTANCE
        if dtype is INSTANCE:
            parts.pop("animation", None)
        values = record(dtype, matrix=place.matrix.T.reshape(-1), **parts)
        self.made.instances.append(Instance(values, encode(name)))
        self.parents.append(place.above)

    def mesh_objects(self, node: neutral.Node, place: _Placed, parts: dict[str, int]) -> None:
        """An object for the mesh; where it has several materials, one more for each of the others, beside it."""
        mesh = self.scene.meshes[node.mesh]
        if node.mesh not in self.pieces:
            if self.options.file_layout != "ANIM":
                mesh = skeletons.posed(mesh, self.scene, node.transform.matrix)
            self.pieces[node.mesh] = geometry.split(mesh)
        rig, bones = self.rig(mesh.skin, node) if mesh.skin is not None and self.options.file_layout == "ANIM" else (0, None)
        slots = mesh.materials if node.materials is None else node.materials
        for count, (slot, piece) in enumerate(self.pieces[node.mesh].items()):
            material = slots[slot] if slot < len(slots) else -1
            shape = self.geometry(node.mesh, slot, piece, bones)
            what = {"geometry": shape, "material": material + 1 if material >= 0 else self.default_material(), "animation": rig}
            self.instance(node.name if not count else f"{node.name}.{count:03}", place, **what, **(parts if not count else {}))

    def geometry(self, mesh: int, slot: int, piece: neutral.Mesh, bones: Ints | None) -> int:
        if (mesh, slot) not in self.shapes:
            name = piece.name if not self.shapes or slot == min(self.pieces[mesh]) else f"{piece.name}.{slot:03}"
            made, source = geometry.from_mesh(replace(piece, name=name), self.options.clamp_uvs, self.made.warnings)
            if self.options.file_layout == "ANIM":
                order = bones if bones is not None else np.zeros(0, np.int32)
                made = geometry.skinned(made, source, piece.skin if bones is not None else None, order, self.made.warnings)
            self.made.geometries.append(made)
            self.shapes[mesh, slot] = len(self.made.geometries)
        return self.shapes[mesh, slot]

    def default_material(self) -> int:
        if not self.plain:
            self.made.materials.append(materials.default())
            self.plain = len(self.made.materials)
            self.made.warnings.append(
                "Some meshes have no material: they got a plain one, without which the engine cannot draw."
            )
        return self.plain

    def rig(self, skin: neutral.Skin, node: neutral.Node) -> tuple[int, Ints]:
        """The collection of an armature: its skeleton's matrix is the armature's, seen from the skin that hangs on it."""
        matrix = node.transform.matrix if node.parent == skin.node else np.eye(4, dtype=np.float32)
        key = skin.node, matrix.tobytes()
        if key not in self.rigs:
            fps, exact = self.scene.fps or FPS, self.options.exact_joints
            collection, place = skeletons.from_armature(self.scene, skin.node, fps, exact, self.made.warnings)
            collection.matrix = np.linalg.pinv(matrix.astype(np.float64)).astype("<f4").T.reshape(-1)
            self.made.collections.append(collection)
            self.rigs[key] = len(self.made.collections), place
        return self.rigs[key]

    # ---------------------------------------------------------------------------------------------------------- cameras

    def cameras(self) -> None:
        resolution = next((each.resolution for each in self.scene.cameras if each.resolution), RESOLUTION)
        self.made.cameras = [lights.camera_from_scene(camera, resolution) for camera in self.scene.cameras]

    def watched(self) -> None:
        """The engine must have one camera to look through."""
        made = self.made
        if made.cameras:
            if not any(camera.values["main"][0] for camera in made.cameras):
                made.cameras[0].values["main"] = 1
            return
        made.warnings.append("The scene has no camera: one was added that sees all of it, as the engine needs one.")
        camera = neutral.Camera("Camera", main=True)
        place = _overview(self.scene, camera)
        made.cameras.append(lights.camera_from_scene(camera, RESOLUTION))
        self.instance("Camera", _Placed(tree.ROOT, place, 0), camera=1)


def _overview(scene: neutral.Scene, camera: neutral.Camera) -> Floats:
    """Where a camera sees all meshes: in front of them and somewhat above."""
    globals_ = scene.global_matrices()
    boxes = [
        maths.transform_points(globals_[index], scene.meshes[node.mesh].positions)
        for index, node in enumerate(scene.nodes)
        if node.mesh >= 0 and len(scene.meshes[node.mesh].positions)
    ]
    corners = np.array([[points.min(0), points.max(0)] for points in boxes] or [[[-1] * 3, [1] * 3]], np.float32).reshape(-1, 3)
    low, high = corners.min(0), corners.max(0)
    radius = max(float(np.linalg.norm(high - low)) / 2, 1e-3)
    distance = radius / math.sin(camera.angle / 2)
    camera.clip_start, camera.clip_end = distance / 1000, distance * 10
    tilt = math.radians(70)
    matrix = np.eye(4, dtype=np.float32)
    matrix[1:3, 1:3] = [[math.cos(tilt), -math.sin(tilt)], [math.sin(tilt), math.cos(tilt)]]
    matrix[:3, 3] = (low + high) / 2 + matrix[:3, 2] * distance
    return matrix
