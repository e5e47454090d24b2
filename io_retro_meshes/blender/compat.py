# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between Blender 4.2 and 5.x. The only file that asks which Blender this is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import bpy

if TYPE_CHECKING:
    import numpy as np

# ------------------------------------------------------------------------------------------------------------- actions

# From 4.4 on, one action holds the curves of many objects, each in a slot of its own.
HAS_SLOTS = hasattr(bpy.types, "ActionSlot")


class ActionCurves:
    """A place for one object's F-curves in an action."""

    def __init__(self, action: bpy.types.Action, owner: bpy.types.ID) -> None:
        self.action = action
        self.slot: Any = None
        self.bag: Any = action
        if HAS_SLOTS:
            self.slot = action.slots.new(id_type=owner.id_type, name=owner.name)
            layer = action.layers[0] if action.layers else action.layers.new("Layer")
            strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
            self.bag = strip.channelbag(self.slot, ensure=True)
        else:
            action.id_root = owner.id_type  # says, before it is assigned to anything, what it is for

    def new(self, data_path: str, index: int, group: str) -> bpy.types.FCurve:
        if not HAS_SLOTS:
            return self.action.fcurves.new(data_path, index=index, action_group=group)
        curve = self.bag.fcurves.new(data_path, index=index)
        curve.group = self.bag.groups.get(group) or self.bag.groups.new(group)
        return curve


def assign_action(owner: bpy.types.ID, action: bpy.types.Action | None, slot: Any = None) -> None:
    data = owner.animation_data or owner.animation_data_create()
    data.action = action
    if HAS_SLOTS and action is not None:
        data.action_slot = slot  # also none: Blender has picked one by itself


def assigned_slot(owner: bpy.types.ID) -> Any:
    return owner.animation_data.action_slot if HAS_SLOTS and owner.animation_data else None


def last_slot(owner: bpy.types.ID) -> str:
    """What Blender will look for in the next action that the object gets; nothing before slots."""
    return str(owner.animation_data.last_slot_identifier) if HAS_SLOTS and owner.animation_data else ""


def set_last_slot(owner: bpy.types.ID, identifier: str) -> None:
    if HAS_SLOTS and owner.animation_data and owner.animation_data.last_slot_identifier != identifier:
        owner.animation_data.last_slot_identifier = identifier


def strip_slot(strip: bpy.types.NlaStrip) -> Any:
    return strip.action_slot if HAS_SLOTS else None


def slot_is_for(slot: Any, owner: bpy.types.ID) -> bool:
    """The slot was made for this very object."""
    return bool(slot.target_id_type == owner.id_type and slot.name_display == owner.name)


def slot_for(action: bpy.types.Action, owner: bpy.types.ID, names: list[str]) -> Any:
    """The slot for an object of one of these names, in this order; None also before slots."""
    slots = [slot for slot in action.slots if slot.target_id_type == owner.id_type] if HAS_SLOTS else []
    return next((slot for name in names if name for slot in slots if slot.name_display == name), None)


def only_slot(action: bpy.types.Action) -> Any:
    return action.slots[0] if HAS_SLOTS and len(action.slots) == 1 else None


def actions_of(owner: bpy.types.ID) -> list[tuple[bpy.types.Action, Any]]:
    """The actions that are about this object, each with its slot; before slots, the assigned one and the parts of it."""
    if HAS_SLOTS:
        return [(action, slot) for action in bpy.data.actions for slot in action.slots if slot_is_for(slot, owner)]
    assigned = owner.animation_data.action if owner.animation_data else None
    return [(action, None) for action in bpy.data.actions if assigned in (action, action.retro_meshes.timeline)]


def action_curves(action: bpy.types.Action) -> Iterator[tuple[Any, list[bpy.types.FCurve]]]:
    """The slots of an action, each with its F-curves; before slots there is one place, None."""
    if not HAS_SLOTS:
        yield None, list(action.fcurves)
        return
    for slot in action.slots:
        curves: list[bpy.types.FCurve] = []
        for layer in action.layers:
            for strip in layer.strips:
                bag = strip.channelbag(slot)
                curves.extend(bag.fcurves if bag else ())
        yield slot, curves


def hold_links(action: bpy.types.Action) -> None:
    """For an action whose settings name other actions. Blender 5.0 and 5.1 clear such a link when the other one is removed only
    where there is a custom property as well: without it the link leads nowhere, and following it ends Blender."""
    if (5, 0, 0) <= bpy.app.version < (5, 2, 0):
        action["retro_meshes_links"] = True


# -------------------------------------------------------------------------------------------------------------- meshes

# A plain vector attribute `custom_normal` is taken as the normals from 4.5 on. It does not follow an armature.
HAS_FREE_NORMALS = bpy.app.version >= (4, 5, 0)


def set_free_normals(
    mesh: bpy.types.Mesh, normals: np.ndarray, domain: Literal["POINT", "CORNER", "FACE"], deformed: bool
) -> bool:
    """Custom normals as they are, a row for each vertex (POINT) or corner (CORNER). False where that cannot be."""
    if not HAS_FREE_NORMALS or deformed:
        return False
    attribute = mesh.attributes.new("custom_normal", "FLOAT_VECTOR", domain)
    attribute.data.foreach_set("vector", normals.astype("f4").reshape(-1))
    return True


def set_split_normals(mesh: bpy.types.Mesh, normals: np.ndarray, domain: str) -> None:
    """Custom normals relative to the faces around them: they follow an armature. A list is faster here than an array."""
    if domain == "POINT":
        mesh.normals_split_custom_set_from_vertices(normals.tolist())
    else:
        mesh.normals_split_custom_set(normals.tolist())


# ---------------------------------------------------------------------------------------------------------------- names


def short_name(name: str, fallback: str) -> str:
    """A name Blender can hold: at most 63 bytes of UTF-8. A longer UV name crashes 5.0.1."""
    return name.encode("utf-8", "replace")[:63].decode("utf-8", "ignore") or fallback


# ----------------------------------------------------------------------------------------------------------- materials


def node_tree(owner: bpy.types.Material | bpy.types.World) -> bpy.types.ShaderNodeTree:
    """The nodes of a material or a world; up to 4.5 a new one has none until it is asked for."""
    if not has_nodes(owner):
        owner.use_nodes = True
    return owner.node_tree


def has_nodes(owner: bpy.types.Material | bpy.types.World) -> bool:
    """Is it made of nodes? From 5.0 on it always is."""
    return owner.node_tree is not None and (bpy.app.version >= (5, 0, 0) or owner.use_nodes)


def set_blended(material: bpy.types.Material, blended: bool) -> None:
    """Sorted and blended, or drawn into the depth buffer with holes."""
    material.surface_render_method = "BLENDED" if blended else "DITHERED"
    material.use_transparency_overlap = True


def is_blended(material: bpy.types.Material) -> bool:
    return material.surface_render_method == "BLENDED"


# ---------------------------------------------------------------------------------------------------------- properties


def raw_properties(group: bpy.types.PropertyGroup, create: bool = False) -> Any:
    """What a group holds by name, whether or not there is a property that reads it. Since 5.0 that is kept apart."""
    return group.bl_system_properties_get(do_create=create) if bpy.app.version >= (5, 0, 0) else group


# ------------------------------------------------------------------------------------------------------------- presets


def register_presets(folder: str) -> None:
    """Operator presets that come with the add-on. Before 4.3 Blender asks for no such folder: the search is given it."""
    if hasattr(bpy.utils, "register_preset_path"):
        bpy.utils.register_preset_path(folder)
        return
    if not hasattr(bpy.utils.preset_paths, "folders"):
        bpy.utils.preset_paths = _PresetPaths(bpy.utils.preset_paths)
    bpy.utils.preset_paths.folders.append(folder)


def unregister_presets(folder: str) -> None:
    if hasattr(bpy.utils, "unregister_preset_path"):
        bpy.utils.unregister_preset_path(folder)
        return
    found = bpy.utils.preset_paths
    found.folders.remove(folder)
    if not found.folders:
        bpy.utils.preset_paths = found.search


class _PresetPaths:
    """Blender's own search for presets, and the folders that add-ons have beside it."""

    def __init__(self, search: Callable[[str], list[str]]) -> None:
        self.search = search
        self.folders: list[str] = []

    def __call__(self, subdir: str) -> list[str]:
        own = [os.path.join(folder, "presets", subdir) for folder in self.folders]
        return [*self.search(subdir), *(folder for folder in own if os.path.isdir(folder))]
