# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene -> document."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import numpy as np

from .... import scene as neutral
from ....scene import Floats, Ints
from ...binary import encode
from .. import tree
from ..document import (
    ANIMATED_INSTANCE,
    INSTANCE,
    LAYOUTS,
    MOST_LEVELS,
    MOST_LIGHTS,
    SKELETAL,
    Document,
    Instance,
    Layout,
    record,
)
from ..geometries import file_name
from ..options import ExportOptions
from . import lights, materials, meshes, rigs
from .colors import painted

RESOLUTION = (1920, 1080)
FPS = 24.0
NUMBERED = re.compile(r"(Mesh|Camera|Light|Empty|Material|Geometry)\.\d{3,}")  # what an import calls things without names


def from_scene(scene: neutral.Scene, options: ExportOptions | None = None) -> Document:
    options = options or ExportOptions()
    return Exporter(scene, options, Document(chosen_layout(scene, options))).document()


def chosen_layout(scene: neutral.Scene, options: ExportOptions) -> Layout:
    """The one that was asked for; else the one that was imported; else one that holds what there is."""
    if options.file_layout != "AUTO":
        return options.file_layout
    imported = scene.settings.get("bogle", {}).get("layout")
    if imported in LAYOUTS:
        return imported
    rigged = any(mesh.skin is not None for mesh in scene.meshes) or any(node.parent_bone >= 0 for node in scene.nodes)
    return "ANIM" if rigged else "SEED"


@dataclass
class _Carrier:
    """The bone that carries a node: of which armature's node, and the node's matrix in it."""

    rig: int
    bone: int
    matrix: Floats


@dataclass
class _Placed:
    """Where a node is in the file: below which object (its number, or the root), with what matrix, how deep."""

    above: int
    matrix: Floats
    level: int
    carrier: _Carrier | None = None


@dataclass
class _Rig:
    """A collection's number, from 1; the places of the armature's bones in it; and that of a bone that never moves, if any."""

    number: int
    place: Ints
    still: int = 0


@dataclass
class Exporter:
    scene: neutral.Scene
    options: ExportOptions
    made: Document
    parents: list[int] = field(default_factory=list)
    placed: dict[int, _Placed] = field(default_factory=dict)  # of nodes
    shapes: dict[tuple[int, int], int] = field(default_factory=dict)  # (mesh, slot) -> geometry, from 1
    left_behind: list[str] = field(default_factory=list)  # what hangs on bones and cannot follow them
    pieces: dict[int, dict[int, neutral.Mesh]] = field(default_factory=dict)
    rigs: dict[tuple[int, bytes], _Rig] = field(default_factory=dict)  # (armature's node, the skin's matrix in it)
    plain: int = 0  # the default material, from 1
    deep: int = 0

    def document(self) -> Document:
        made = self.made
        made.warnings = list(self.scene.warnings)
        scene = self.scene = painted(self.scene, made.warnings)
        color = made.ambient[:3] if scene.world_color is None else scene.world_color[:3]
        made.ambient = np.array([*color, scene.settings.get("bogle", {}).get("ambient_alpha", 1.0)], "<f4")
        made.materials = [materials.from_material(each, scene.images, made.warnings) for each in scene.materials]
        self.cameras()
        made.lights = [lights.from_light(light, self.options.light_formula) for light in scene.lights]
        if len(made.lights) > MOST_LIGHTS:
            made.warnings.append(f"{len(made.lights)} lights; the engine takes {MOST_LIGHTS}.")
        for index, node in enumerate(scene.nodes):
            self.node(index, node)
        if self.deep:
            made.warnings.append(f"{self.deep} objects are deeper than the {MOST_LEVELS} levels of the engine; hung higher up.")
        self.watched()
        self.tell_losses()
        made.tree = tree.write(self.parents)
        return made

    @property
    def skeletal(self) -> bool:
        return self.made.layout in SKELETAL

    def tell_losses(self) -> None:
        """What the layout, or the engine, has no place for."""
        scene, made = self.scene, self.made
        if not self.skeletal and any(mesh.skin for mesh in scene.meshes):
            made.warnings.append(f"Layout {made.layout} has no skeletons: skinned meshes stand still. Layout ANIM has.")
        if self.left_behind:
            names = ", ".join(self.left_behind[:5])
            made.warnings.append(
                f"Only meshes follow bones in the engine: {len(self.left_behind)} others stay behind ({names})."
            )
        moved = {node for clip in [scene.timeline, *scene.clips] if clip for node, bone in clip.tracks or {} if bone < 0}
        if moved:
            names = ", ".join(sorted(scene.nodes[node].name for node in moved)[:5])
            made.warnings.append(f"Only bones move in the engine: {len(moved)} objects stand still that move here ({names}).")
        self.tell_mirrored()
        if made.layout == "SEED":
            given = [scene.nodes, scene.meshes, scene.materials, scene.cameras, scene.lights]
            named = {part.name for parts in given for part in parts if not NUMBERED.fullmatch(part.name)}  # type: ignore[attr-defined]
            if named:
                some = ", ".join(sorted(named)[:3])
                made.warnings.append(f"Layout SEED has no names: {len(named)} were left out ({some}). Layout NAMES has.")

    def tell_mirrored(self) -> None:
        """Release builds of the engine hide the backs of faces, and do not know that a scale below 0 turns them round."""
        held = {index for index, place in self.placed.items() if place.carrier is not None}
        names = [
            node.name
            for index, (node, world) in enumerate(zip(self.scene.nodes, self.scene.global_matrices(), strict=True))
            if node.mesh >= 0 and index not in held and np.linalg.det(world[:3, :3].astype(np.float64)) < 0
        ]
        if names:
            self.made.warnings.append(
                f"{len(names)} objects are mirrored by a scale below 0 ({', '.join(names[:5])}): release builds of the engine "
                "show them inside out. Apply their scale in Blender."
            )

    # ---------------------------------------------------------------------------------------------------------- objects

    def node(self, index: int, node: neutral.Node) -> None:
        """Armatures are no objects of the engine: what hangs on one hangs on its parent instead; and so does what hangs on
        something that a bone carries, as objects do not follow bones."""
        place = self.place(node)
        self.placed[index] = place
        if place.carrier is not None and (node.camera >= 0 or node.light >= 0 or node.armature is not None):
            self.left_behind.append(node.name)
        if node.armature is not None:
            return
        level = place.level + 1
        parts = {"camera": node.camera + 1, "light": node.light + 1}
        number = len(self.parents)
        if node.mesh < 0:
            self.instance(node.name, place, **parts)
        else:
            self.mesh_objects(node, place, parts)
        if level >= MOST_LEVELS or place.carrier is not None:  # what is below goes beside it
            self.placed[index] = place
        else:
            self.placed[index] = _Placed(number, np.eye(4, dtype=np.float32), level)

    def place(self, node: neutral.Node) -> _Placed:
        matrix = node.transform.matrix
        if node.parent < 0:
            return _Placed(tree.ROOT, matrix, 0)
        above = self.placed[node.parent]
        parent = self.scene.nodes[node.parent]
        carrier = None
        if above.carrier is not None and self.skeletal:
            carrier = replace(above.carrier, matrix=above.carrier.matrix @ matrix)
        if parent.armature is not None and node.parent_bone >= 0:
            carrier = _Carrier(node.parent, node.parent_bone, matrix) if self.skeletal else None
            matrix = neutral.rest_matrices(parent.armature)[node.parent_bone] @ matrix
        if parent.armature is None and above.level + 1 == MOST_LEVELS:
            self.deep += 1
        return _Placed(above.above, (above.matrix @ matrix).astype(np.float32), above.level, carrier)

    def instance(self, name: str, place: _Placed, **parts: int) -> None:
        dtype = ANIMATED_INSTANCE if self.skeletal else INSTANCE
        if dtype is INSTANCE:
            parts.pop("animation", None)
        values = record(dtype, matrix=place.matrix.T.reshape(-1), **parts)
        self.made.instances.append(Instance(values, encode(name)))
        self.parents.append(place.above)

    def mesh_objects(self, node: neutral.Node, place: _Placed, parts: dict[str, int]) -> None:
        """An object for the mesh; where it has several materials, one more for each of the others, beside it."""
        index, mesh = node.mesh, self.scene.meshes[node.mesh]
        skinned = self.skeletal and mesh.skin is not None and 0 <= mesh.skin.node < len(self.scene.nodes)
        if place.carrier is not None and not skinned:
            index, mesh, place = self.carried(mesh, place, place.carrier)
        elif index not in self.pieces and not self.skeletal:
            mesh = rigs.posed(mesh, self.scene, node.transform.matrix)
        if index not in self.pieces:
            self.pieces[index] = meshes.split(mesh)
        rig = self.rig(mesh, node) if self.skeletal and mesh.skin is not None else None
        slots = mesh.materials if node.materials is None else node.materials
        for count, (slot, piece) in enumerate(self.pieces[index].items()):
            material = slots[slot] if slot < len(slots) else -1
            shape = self.geometry(index, slot, piece, rig)
            what = {"geometry": shape, "material": material + 1 if material >= 0 else self.default_material()}
            what["animation"] = rig.number if rig is not None else 0
            self.instance(node.name if not count else f"{node.name}.{count:03}", place, **what, **(parts if not count else {}))

    def carried(self, mesh: neutral.Mesh, place: _Placed, carrier: _Carrier) -> tuple[int, neutral.Mesh, _Placed]:
        """A mesh on a bone as one that is skinned to it, in the armature's place: a number for it, itself, and that place."""
        armature = self.scene.nodes[carrier.rig].armature
        assert armature is not None
        matrix = (armature.bones[carrier.bone].bind @ carrier.matrix).astype(np.float32)
        made = meshes.rigid(mesh, carrier.rig, carrier.bone, matrix)
        number = len(self.scene.meshes) + len(self.pieces)  # its own: the vertices are elsewhere than those of its twins
        return number, made, replace(place, above=self.placed[carrier.rig].above, matrix=self.placed[carrier.rig].matrix)

    def geometry(self, mesh: int, slot: int, piece: neutral.Mesh, rig: _Rig | None) -> int:
        if (mesh, slot) not in self.shapes:
            name = piece.name if not self.shapes or slot == min(self.pieces[mesh]) else f"{piece.name}.{slot:03}"
            made, source = meshes.from_mesh(replace(piece, name=name), self.options.clamp_uvs, self.made.warnings)
            if self.skeletal:
                order, still = (rig.place, rig.still) if rig is not None else (np.zeros(0, np.int32), 0)
                skin = piece.skin if rig is not None else None
                made = meshes.skinned(made, source, skin, order, still, self.made.warnings)
            if self.made.layout == "GEOMETRIES":
                made.file = file_name(made)
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

    def rig(self, mesh: neutral.Mesh, node: neutral.Node) -> _Rig:
        """The collection of an armature: its skeleton's matrix is the armature's, seen from the skin that hangs on it."""
        skin = mesh.skin
        assert skin is not None
        matrix = node.transform.matrix if node.parent == skin.node and node.parent_bone < 0 else np.eye(4, dtype=np.float32)
        key = skin.node, matrix.tobytes()
        if key not in self.rigs:
            fps, exact = self.scene.fps or FPS, self.options.exact_joints
            collection, place = rigs.from_armature(self.scene, skin.node, fps, exact, self.made.warnings)
            collection.matrix = np.linalg.pinv(matrix.astype(np.float64)).astype("<f4").T.reshape(-1)
            self.made.collections.append(collection)
            self.rigs[key] = _Rig(len(self.made.collections), place)
        found = self.rigs[key]
        if not found.still and meshes.free_vertices(mesh):
            found.still = rigs.add_still_bone(self.made.collections[found.number - 1])
        return found

    # ---------------------------------------------------------------------------------------------------------- cameras

    def cameras(self) -> None:
        resolution = next((each.resolution for each in self.scene.cameras if each.resolution), RESOLUTION)
        self.made.cameras = [lights.from_camera(camera, resolution, self.made.layout) for camera in self.scene.cameras]

    def watched(self) -> None:
        """The engine must have one camera to look through."""
        made = self.made
        if made.cameras:
            if not any(camera.values["main"][0] for camera in made.cameras):
                made.cameras[0].values["main"] = 1
            return
        made.warnings.append("The scene has no camera: one was added that sees all of it, as the engine needs one.")
        camera = neutral.Camera("Camera", main=True)
        place = lights.overview(self.scene, camera)
        made.cameras.append(lights.from_camera(camera, RESOLUTION, made.layout))
        self.instance("Camera", _Placed(tree.ROOT, place, 0), camera=1)
