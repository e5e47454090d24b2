# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects to nodes: which ones, in what hierarchy, with what data."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import bpy
import numpy as np

from ... import scene as neutral
from ...formats import AnyFormat, FormatError
from ...formats.options import ExportOptions
from ...scene import maths, surfaces
from ...scene.prepare import strays_warning
from .. import compat, properties
from .armatures import bone_numbers, collect_armature, kept_bone
from .images import ImageCollector
from .materials import collect_material
from .meshes import collect_mesh
from .skins import Rig, collect_skin
from .visibility import is_blinking

SURFACES = {"MESH", "CURVE", "SURFACE", "FONT", "META"}
OTHERS = {"EMPTY", "ARMATURE", "CAMERA", "LIGHT"}

MOVEMENT = ("location", "rotation", "scale", "delta")  # how data paths of what moves an object begin

NO_NUMBER = 2**31 - 1  # in DepsgraphObjectInstance.persistent_id


class ObjectCollector:
    def __init__(self, context: bpy.types.Context, options: ExportOptions, format: AnyFormat) -> None:
        self.context = context
        self.options = options
        self.format = format
        self.scene = neutral.Scene()
        self.objects: list[bpy.types.Object | None] = []  # by node; None for instances
        self.index: dict[bpy.types.Object, int] = {}
        self.materials: dict[bpy.types.Material, int] = {}  # those that are used, with their numbers
        self.pictures: list[bpy.types.Image] = []  # by image of the scene
        self.shared: dict[Any, int] = {}
        self.paused: list[bpy.types.Modifier] = []  # while meshes are collected as they were bound
        self.rigs: dict[bpy.types.Object, bpy.types.Object] = {}  # the armature of each rigged mesh
        self._bone_places: dict[bpy.types.Object, dict[str, int]] = {}

    def choose(self) -> None:
        """Decides which objects are exported: a node each."""
        for source in _parents_first(self._chosen()):
            self.index[source] = len(self.objects)
            self.objects.append(source)
            self.scene.nodes.append(neutral.Node(properties.file_name(source)))

    def collect(self) -> neutral.Scene:
        chosen = list(self.index)
        with self._without_armature_modifiers(chosen):
            depsgraph = self.context.evaluated_depsgraph_get()
            self._place(depsgraph)
            for index in range(len(self.objects)):
                self._fill(index, depsgraph)
        self._instances(self.context.evaluated_depsgraph_get())
        self._materials()
        return self.scene

    def _materials(self) -> None:
        images = ImageCollector(self.format.pixels)
        maps = self._uv_names()
        self.scene.materials = [collect_material(source, images, maps.get(i, [])) for source, i in self.materials.items()]
        if self.options.textures == "NONE":
            for material in self.scene.materials:
                material.layers = []
            return
        self.scene.images, self.pictures = images.images, images.sources

    def _uv_names(self) -> dict[int, list[str]]:
        """The UV maps of the meshes that use each material: those of the first that has most."""
        users = {(i, number): None for i, mesh in enumerate(self.scene.meshes) for number in mesh.materials}
        users |= {(node.mesh, number): None for node in self.scene.nodes for number in node.materials or () if node.mesh >= 0}
        found: dict[int, list[str]] = {}
        for i, number in sorted(users):
            uvs = self.scene.meshes[i].uvs
            if len(uvs) > len(found.get(number, ())):
                found[number] = [layer.name for layer in uvs]
        return found

    # ------------------------------------------------------------------------------------------------- which objects

    def _chosen(self) -> list[bpy.types.Object]:
        layer = self.context.view_layer
        pool = list(layer.objects)
        if self.options.collection:
            collection: bpy.types.Collection | None = bpy.data.collections.get(self.options.collection)
            if collection is None:
                raise FormatError(f'there is no collection "{self.options.collection}"')
            pool = list(collection.all_objects)
        elif self.options.use_active_collection:
            pool = list(layer.active_layer_collection.collection.all_objects)
        known = set(layer.objects)
        chosen = []
        for source in pool:
            if source.type not in SURFACES | OTHERS or source.retro_meshes.helper:
                continue
            if self.options.use_visible and not (source in known and self._shown(source)):
                continue
            if self.options.use_selection and not (source in known and source.select_get()):
                continue
            chosen.append(source)
        # A rigged mesh without its rig would lose its animation: the armature comes along, chosen or not.
        rigs = [rig for source in chosen if (rig := self.armature_of(source)) is not None]
        return list(dict.fromkeys([*chosen, *rigs]))

    def _shown(self, source: bpy.types.Object) -> bool:
        """Visible, or on another frame, or hidden because the format hides it too."""
        return source.visible_get() or is_blinking(source) or self.format.keeps_hidden(properties.collect(source))

    @staticmethod
    def armature_of(source: bpy.types.Object) -> bpy.types.Object | None:
        if source.type != "MESH":
            return None
        for modifier in source.modifiers:
            if modifier.type == "ARMATURE" and modifier.object is not None and modifier.show_viewport:
                return modifier.object
        return source.parent if source.parent_type == "ARMATURE" else None  # a way of old files, without a modifier

    @contextlib.contextmanager
    def _without_armature_modifiers(self, chosen: list[bpy.types.Object]) -> Iterator[None]:
        """While it lasts, rigged meshes are evaluated as they were bound."""
        paused = [
            modifier
            for source in chosen
            if self.armature_of(source) in self.index
            for modifier in source.modifiers
            if modifier.type == "ARMATURE" and modifier.show_viewport
        ]
        # Remembered before any is switched off: armature_of() sees only modifiers that are on.
        self.paused = paused
        self.rigs = {source: rig for source in chosen if (rig := self.armature_of(source)) in self.index}
        deformed = [source for source in self.rigs if source.parent_type == "ARMATURE"]
        try:
            for modifier in paused:
                modifier.show_viewport = False
            for source in deformed:
                source.parent_type = "OBJECT"
            if self.rigs:
                self.context.view_layer.update()
            yield
        finally:
            for modifier in paused:
                modifier.show_viewport = True
            for source in deformed:
                source.parent_type = "ARMATURE"
            if self.rigs:
                self.context.view_layer.update()

    # ----------------------------------------------------------------------------------------------------- hierarchy

    def _parent(self, source: bpy.types.Object) -> tuple[int, int]:
        """The exported object this one follows, and the bone if it hangs on one."""
        rig = self.rigs.get(source)
        if rig is not None:
            return self.index[rig], -1
        child, parent = source, source.parent
        while parent is not None and (parent not in self.index or _leads_to(parent, source, self.rigs.get)):
            child, parent = parent, parent.parent
        if parent is None:
            return -1, -1
        bone = -1
        if child.parent_type == "BONE" and parent.type == "ARMATURE":
            bone = kept_bone(parent.data.bones.get(child.parent_bone), self.bone_places(parent))
        return self.index[parent], bone

    def bone_places(self, rig: bpy.types.Object) -> dict[str, int]:
        if rig not in self._bone_places:
            self._bone_places[rig] = bone_numbers(rig, self.options.deform_bones)
        return self._bone_places[rig]

    def holder(self, index: int) -> int:
        """The node whose space a node's children are in: a rigged mesh has given its own up to its armature's."""
        rig = None if self.format.skin_space == "MESH" else self.rigs.get(self.objects[index])
        return index if rig is None else self.index[rig]

    def _place(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Gives every node its parent and its place there; and armatures their bones, since things may hang on them."""
        shown = [source.evaluated_get(depsgraph) for source in self.objects]
        worlds = maths.bounded(np.array([source.matrix_world for source in shown], np.float32).reshape(-1, 4, 4))
        above = np.tile(np.eye(4, dtype=np.float32), (len(shown), 1, 1))
        rests: dict[int, list[neutral.Floats]] = {}
        for index, (source, node) in enumerate(zip(self.objects, self.scene.nodes, strict=True)):
            node.parent, node.parent_bone = self._parent(source)
            if source.type == "ARMATURE":
                node.armature = collect_armature(source, shown[index], self.options.deform_bones)
            if node.parent >= 0:
                above[index] = worlds[self.holder(node.parent)]
            if node.parent_bone >= 0:
                if node.parent not in rests:
                    rests[node.parent] = neutral.rest_matrices(self.scene.nodes[node.parent].armature)
                above[index] = maths.bounded(above[index] @ rests[node.parent][node.parent_bone])
        places = neutral.Transform.from_matrices(np.linalg.pinv(above) @ worlds)
        for node, place in zip(self.scene.nodes, places, strict=True):
            node.transform = place

    def _fill(self, index: int, depsgraph: bpy.types.Depsgraph) -> None:
        source, node = self.objects[index], self.scene.nodes[index]
        node.settings = properties.collect(source)
        node.hidden = not source.visible_get()
        if source.type in SURFACES:
            self._surface(index, source, source.evaluated_get(depsgraph))
        elif source.type == "CAMERA":
            key = (source.data, source == self.context.scene.camera)
            if key not in self.shared:
                self.shared[key] = len(self.scene.cameras)
                self.scene.cameras.append(_camera(source, self.context.scene))
            node.camera = self.shared[key]
        elif source.type == "LIGHT":
            if source.data not in self.shared:
                self.shared[source.data] = len(self.scene.lights)
                self.scene.lights.append(_light(source))
            node.light = self.shared[source.data]

    # -------------------------------------------------------------------------------------------------------- meshes

    def _surface(self, index: int, source: bpy.types.Object, evaluated: bpy.types.Object) -> None:
        node = self.scene.nodes[index]
        slots = [slot.material for slot in source.material_slots] or [None]
        rigged = source in self.rigs
        plain = source.type == "MESH" and not source.modifiers and not rigged
        key = (source.data, source.data.shape_keys) if plain and source.data.shape_keys is None else source
        if source.type == "MESH" and source.data.shape_keys is not None:
            self.scene.warnings.append(
                f'"{source.name}" has shape keys, which the format does not: the shape of the current frame was exported'
            )
        if key not in self.shared:
            self.shared[key] = self._add_mesh(source, evaluated, slots)
        node.mesh = self.shared[key]
        mesh = self.scene.meshes[node.mesh]
        wanted = [self._material(slot) for slot in slots]
        if wanted != mesh.materials:
            node.materials = wanted
        if rigged and self.format.skin_space != "MESH":
            self._bind(index, source)

    def _add_mesh(self, source: bpy.types.Object, evaluated: bpy.types.Object, slots: list[Any]) -> int:
        with _evaluated_mesh(source, evaluated, self.options.use_modifiers) as data:
            mesh = collect_mesh(data, self.format.quads)
            if source in self.rigs:
                mesh.skin = collect_skin(source, data, self._rig(self.rigs[source], evaluated))
        mesh.name = source.data.name
        mesh.materials = [self._material(slot) for slot in slots]
        if mesh.face_materials is not None:
            mesh.face_materials = np.clip(mesh.face_materials, 0, len(slots) - 1)
        self.scene.meshes.append(mesh)
        return len(self.scene.meshes) - 1

    def _rig(self, rig: bpy.types.Object, mesh: bpy.types.Object) -> Rig:
        from_mesh = np.linalg.pinv(np.array(rig.matrix_world)) @ np.array(mesh.matrix_world)
        on = [each for each in self.paused if each.id_data == mesh.original and each.object == rig]
        return Rig(rig, self.index[rig], self.bone_places(rig), from_mesh, on)

    def _bind(self, index: int, source: bpy.types.Object) -> None:
        """Brings a rigged mesh into its armature's space, where its node then has nothing left to do."""
        node = self.scene.nodes[index]
        rig = self.rigs[source]
        if any(_moves(each) for each in {source, *ancestors(source)} ^ {rig, *ancestors(rig)}):
            self.scene.warnings.append(strays_warning(source.name, rig.name))
        self.scene.meshes[node.mesh] = surfaces.moved(self.scene.meshes[node.mesh], node.transform.matrix)
        node.transform = neutral.Transform()

    def _material(self, material: bpy.types.Material | None) -> int:
        if material is None:
            return -1
        return self.materials.setdefault(material, len(self.materials))

    def _instances(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Collection instances and what geometry nodes scatter, as nodes below the object that makes them."""
        still: dict[str, None] = {}
        for instance in depsgraph.object_instances:
            if not instance.is_instance or instance.parent is None:
                continue
            maker = self.index.get(instance.parent.original)
            evaluated = instance.object  # not `instance_object`: that has not what geometry nodes made
            if maker is None or evaluated.type != "MESH" or _is_own_surface(instance):
                continue
            above = np.array(self.objects[self.holder(maker)].evaluated_get(depsgraph).matrix_world, np.float32)
            node = neutral.Node(evaluated.name, parent=maker)
            node.transform = neutral.Transform.from_matrix(np.linalg.pinv(above) @ np.array(instance.matrix_world, np.float32))
            slots = [slot.material.original if slot.material else None for slot in evaluated.material_slots] or [None]
            key = ("instance", evaluated.data.as_pointer(), *slots)
            if key not in self.shared:
                self.shared[key] = self._add_mesh(evaluated, evaluated, slots)
            node.mesh = self.shared[key]
            self.scene.nodes.append(node)
            self.objects.append(None)
            original = instance.instance_object.original
            if self.armature_of(original) is not None or _moves(original):
                still[original.name] = None
        if still:
            self.scene.warnings.append(f"Instances do not move: they are as on the current frame ({', '.join(still)})")


def why_nothing(context: bpy.types.Context, options: ExportOptions) -> str:
    """Of a scene in which no object is chosen: what the user can do about it."""
    known = [source for source in context.view_layer.objects if source.type in SURFACES | OTHERS]
    start = "there is nothing to export: "
    if not known:
        return start + "the scene has no objects of a kind that can be exported"
    if options.collection or options.use_active_collection:
        name = options.collection or context.view_layer.active_layer_collection.name
        return f'{start}the collection "{name}" has no objects that are shown'
    if options.use_selection and not any(source.select_get() for source in known):
        return start + "nothing is selected, and Selected Objects is on"
    if options.use_selection:
        return start + "what is selected is hidden, and Visible Objects is on"
    return f"{start}all {len(known)} objects are hidden, and Visible Objects is on"


def _is_own_surface(instance: bpy.types.DepsgraphObjectInstance) -> bool:
    """Blender lists the surface of a curve or a text as an instance of it, without a number of its own."""
    return instance.instance_object == instance.parent and instance.persistent_id[1] == NO_NUMBER


def _moves(source: bpy.types.Object) -> bool:
    """The object itself, whatever its bones do."""
    data = source.animation_data
    if source.constraints or (data and data.nla_tracks):
        return True
    action = data.action if data else None
    curves = [] if action is None else [curve for _, found in compat.action_curves(action) for curve in found]
    return any(curve.data_path.startswith(MOVEMENT) for curve in (*curves, *(data.drivers if data else ())))


def ancestors(source: bpy.types.Object) -> list[bpy.types.Object]:
    found = []
    while (source := source.parent) is not None:
        found.append(source)
    return found


def _leads_to(start: bpy.types.Object, end: bpy.types.Object, rig_of: Callable[[bpy.types.Object], Any]) -> bool:
    """Is an object carried by the other? A rigged mesh follows its armature, which may itself be a child of the mesh."""
    seen = set()
    while start is not None and start not in seen:
        seen.add(start)
        start = rig_of(start) or start.parent
        if start == end:
            return True
    return False


def _parents_first(chosen: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """Also armatures before the meshes they move, even where those are their parents."""
    rig_of = ObjectCollector.armature_of
    wanted = dict.fromkeys(chosen)
    ordered: dict[bpy.types.Object, None] = {}
    for source in chosen:
        chain, seen = [source], {source}
        while chain:
            last = chain[-1]
            parent = None if last.parent is None or _leads_to(last.parent, last, rig_of) else last.parent
            above = [o for o in (parent, rig_of(last)) if o is not None and o not in ordered and o not in seen]
            if above:
                seen.update(above)
                chain += above
            else:
                ordered[chain.pop()] = None
    return [source for source in ordered if source in wanted]


@contextlib.contextmanager
def _evaluated_mesh(source: bpy.types.Object, evaluated: bpy.types.Object, modifiers: bool) -> Iterator[bpy.types.Mesh | None]:
    """None: a curve of which geometry nodes leave no surface."""
    if source.type == "MESH":
        yield evaluated.data if modifiers else source.data
        return
    used = evaluated if modifiers else source
    try:
        yield used.to_mesh()
    finally:
        used.to_mesh_clear()


def _camera(source: bpy.types.Object, scene: bpy.types.Scene) -> neutral.Camera:
    data = source.data
    size = (scene.render.resolution_x, scene.render.resolution_y)
    return neutral.Camera(
        data.name, data.angle, data.clip_start, data.clip_end, scene.camera == source, size, properties.collect(data)
    )


def _light(source: bpy.types.Object) -> neutral.Light:
    data = source.data
    kind = data.type if data.type in ("SUN", "SPOT") else "POINT"
    found = neutral.Light(data.name, kind, neutral.floats(*data.color), data.energy, settings=properties.collect(data))
    if data.type == "SPOT":
        found.spot_angle = data.spot_size
    found.cutoff_distance = data.cutoff_distance if data.use_custom_distance else None
    return found
