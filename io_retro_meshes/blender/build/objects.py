# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes to objects: empties, meshes, armatures, cameras and lights in their hierarchy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import bpy
import numpy as np
from mathutils import Matrix

from ... import scene as neutral
from .. import compat, properties
from .armatures import BoneStyle, BuiltArmature, BuiltBone, build_armatures, new_armature
from .meshes import build_mesh, set_weights


class ObjectBuilder:
    def __init__(
        self,
        context: bpy.types.Context,
        scene: neutral.Scene,
        collection: bpy.types.Collection,
        materials: list[bpy.types.Material],
        warnings: list[str],
        style: BoneStyle,
    ) -> None:
        self.context = context
        self.scene = scene
        self.collection = collection
        self.materials = materials
        self.warnings = warnings
        self.style = style
        self.meshes: dict[int, tuple[bpy.types.Mesh, neutral.Skin | None]] = {}
        self.shared: dict[tuple[str, int], bpy.types.ID] = {}
        self.objects: list[bpy.types.Object] = []
        self.armatures: dict[int, BuiltArmature] = {}

    def build(self) -> list[bpy.types.Object]:
        moved = {node for clip in self._clips() for node, bone in clip.tracks or {} if bone < 0}
        self.objects = [self._new_object(node) for node in self.scene.nodes]
        rigs = {index: self.objects[index] for index, node in enumerate(self.scene.nodes) if node.armature is not None}
        self.armatures = build_armatures(self.context, self.scene, rigs, self.style)
        for index, (node, made) in enumerate(zip(self.scene.nodes, self.objects, strict=True)):
            self._place(made, node, animated=index in moved)
            if made.name != node.name:
                made.retro_meshes.name = node.name
            properties.apply(made, node.settings)
        for index, node in enumerate(self.scene.nodes):
            if node.mesh >= 0:
                self._skin(self.objects[index], self.meshes[node.mesh][1])
            if node.hidden:
                self.objects[index].hide_set(True)
                self.objects[index].hide_render = True
        return self.objects

    def _clips(self) -> list[neutral.Clip]:
        return [clip for clip in [self.scene.timeline, *self.scene.clips] if clip is not None]

    def _new_object(self, node: neutral.Node) -> bpy.types.Object:
        if node.armature is not None:
            return new_armature(self.collection, node, self.style)
        data: bpy.types.ID | None = None
        if node.mesh >= 0:
            data = self._mesh(node.mesh)
        elif node.camera >= 0:
            data = self._once(("camera", node.camera), lambda: _camera(self.scene.cameras[node.camera]))
        elif node.light >= 0:
            data = self._once(("light", node.light), lambda: _light(self.scene.lights[node.light]))
        made = bpy.data.objects.new(compat.short_name(node.name, "Object"), data)
        if data is None:
            made.empty_display_size = self._empty_size
        self.collection.objects.link(made)
        if node.materials is not None:
            for slot, material in zip(made.material_slots, node.materials, strict=False):
                slot.link = "OBJECT"
                slot.material = self.materials[material] if material >= 0 else None
        if node.camera >= 0 and self.scene.cameras[node.camera].main:
            self.context.scene.camera = made
        return made

    def _once(self, key: tuple[str, int], make: Callable[[], bpy.types.ID]) -> bpy.types.ID:
        """Cameras and lights that several nodes share stay shared."""
        if key not in self.shared:
            self.shared[key] = make()
        return self.shared[key]

    def _mesh(self, index: int) -> bpy.types.Mesh:
        if index not in self.meshes:
            self.meshes[index] = build_mesh(self.scene.meshes[index], self.materials)
        return self.meshes[index][0]

    @cached_property
    def _empty_size(self) -> float:
        sizes = [float(np.ptp(mesh.positions, 0).max()) for mesh in self.scene.meshes if len(mesh.positions)]
        size = max(sizes, default=10.0) / 10
        return size if 0 < size < 1e6 else 1.0

    def _place(self, made: bpy.types.Object, node: neutral.Node, animated: bool) -> None:
        before = np.eye(4) if node.transform.prefix is None else node.transform.prefix
        if node.parent >= 0:
            made.parent = self.objects[node.parent]
            if node.parent_bone >= 0:
                bone = self.armatures[node.parent].bones[node.parent_bone]
                made.parent_type, made.parent_bone = "BONE", bone.name
                before = _from_tail(bone) @ before
        elif node.transform.prefix is not None:
            made.parent = self._helper(node)
        made.matrix_parent_inverse = Matrix(before.tolist())
        transform = node.transform
        location, rotation, scale = (part.tolist() for part in (transform.location, transform.rotation, transform.scale))
        made.location, made.scale = location, scale
        made.rotation_mode = "QUATERNION"
        made.rotation_quaternion = rotation
        made.retro_meshes.place = [*location, *rotation, *scale]
        if not animated:
            made.rotation_mode = "XYZ"  # what people edit by hand; Blender carries the rotation over
            made.rotation_euler = made.rotation_quaternion.to_euler()

    def _helper(self, node: neutral.Node) -> bpy.types.Object:
        """Only a parent can shear an object in Blender."""
        helper = bpy.data.objects.new(compat.short_name(f"{node.name} shear", "Shear"), None)
        helper.retro_meshes.helper = True
        helper.empty_display_size = self._empty_size
        self.collection.objects.link(helper)
        return helper

    def _skin(self, made: bpy.types.Object, skin: neutral.Skin | None) -> None:
        if skin is None:
            return
        built = self.armatures[skin.node]
        set_weights(made, skin, [bone.deform or bone.name for bone in built.bones])
        modifier = made.modifiers.new("Armature", "ARMATURE")
        modifier.object = built.object


def _from_tail(bone: BuiltBone) -> np.ndarray:
    """Blender hangs a child on the bone's tail, in Blender's axes; the file on its head, in the file's."""
    back = np.eye(4)
    back[1, 3] = -bone.length
    return back @ np.linalg.inv(bone.c)


def _camera(camera: neutral.Camera) -> bpy.types.Camera:
    data = bpy.data.cameras.new(compat.short_name(camera.name, "Camera"))
    data.sensor_fit = "VERTICAL"
    data.angle = min(max(camera.angle, 0.0064), 3.01)  # what Blender can show
    data.clip_start, data.clip_end = camera.clip_start, camera.clip_end
    properties.apply(data, camera.settings)
    return data


def _light(light: neutral.Light) -> bpy.types.Light:
    data = bpy.data.lights.new(compat.short_name(light.name, "Light"), light.kind)
    data.color, data.energy = light.color[:3].tolist(), light.energy
    if light.kind == "SPOT":
        data.spot_size = light.spot_angle
    if light.cutoff_distance is not None:
        data.use_custom_distance = True
        data.cutoff_distance = light.cutoff_distance
    properties.apply(data, light.settings)
    return data
