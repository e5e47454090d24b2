# SPDX-License-Identifier: GPL-3.0-or-later
"""The formats that Blender itself reads and writes, with the settings that keep most of a model, and what they cannot keep."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import bpy

from . import compat, gltf


def _read_fbx(path: str) -> None:
    """Animations get their own names back: Blender puts the name of the object before them, its exporter once more."""
    bpy.ops.import_scene.fbx(filepath=path)
    owners = [f"{source.name}|" for source in bpy.data.objects]
    for action in bpy.data.actions:
        name = action.name
        while found := next((owner for owner in owners if name.startswith(owner) and name != owner), None):
            name = name.removeprefix(found)
        if name not in bpy.data.actions:
            action.name = name


def _read_usd(path: str) -> None:
    bpy.ops.wm.usd_import(filepath=path)


INPUTS: dict[str, Callable[[str], object]] = {
    ".blend": lambda path: bpy.ops.wm.open_mainfile(filepath=path, load_ui=False, use_scripts=False),
    ".glb": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    ".gltf": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    ".obj": lambda path: bpy.ops.wm.obj_import(filepath=path),
    ".fbx": _read_fbx,
    ".ply": lambda path: bpy.ops.wm.ply_import(filepath=path),
    ".stl": lambda path: bpy.ops.wm.stl_import(filepath=path),
    ".usd": _read_usd,
    ".usdc": _read_usd,
    ".usdz": _read_usd,
}


def _write_blend(path: str) -> None:
    """With its pictures inside, as far as they were found: an import has already named those that were not."""
    for image in bpy.data.images:
        if image.source == "FILE" and not image.packed_file and os.path.isfile(bpy.path.abspath(image.filepath)):
            image.pack()
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=True, copy=True, relative_remap=False)


def _write_fbx(path: str) -> None:
    """Every animation once: a timeline that is all in its named parts is not written beside them."""
    told = [action for action in bpy.data.actions if _is_in_parts(action)]
    for source in bpy.data.objects:
        if source.animation_data is not None and source.animation_data.action in told:
            source.animation_data.action = None
    for action in told:  # the exporter takes every action that fits; without the action at all Blender 5.0 crashes in it
        for _, curves in compat.action_curves(action):
            for curve in curves:
                curve.data_path = "nothing"
    bpy.ops.export_scene.fbx(
        filepath=path,
        path_mode="COPY",
        embed_textures=True,
        add_leaf_bones=False,
        bake_anim_use_nla_strips=False,
        bake_anim_simplify_factor=0,
    )


def _is_in_parts(timeline: bpy.types.Action) -> bool:
    covered: set[int] = set()
    for part in bpy.data.actions:
        if part.retro_meshes.role == "SEQUENCE" and part.retro_meshes.timeline == timeline:
            covered.update(range(round(part.frame_start), round(part.frame_end) + 1))
    whole = range(round(timeline.frame_range[0]), round(timeline.frame_range[1]) + 1)
    return timeline.retro_meshes.role == "TIMELINE" and covered.issuperset(whole)


OUTPUTS: dict[str, Callable[[str], object]] = {
    "glb": lambda path: gltf.export(path, "GLB"),
    "gltf": lambda path: gltf.export(path, "GLTF_SEPARATE"),
    "obj": lambda path: bpy.ops.wm.obj_export(filepath=path, path_mode="COPY"),
    "fbx": _write_fbx,
    "ply": lambda path: bpy.ops.wm.ply_export(filepath=path),
    "stl": lambda path: bpy.ops.wm.stl_export(filepath=path),
    "usd": lambda path: bpy.ops.wm.usd_export(filepath=path, export_animation=True),
    "blend": _write_blend,
}

# ------------------------------------------------------------------------------------------------------------- losses

FLAT = ("glb", "gltf")  # have one texture for the color
STILL = ("obj", "ply", "stl")  # have neither bones nor animation
BARE = {"ply": "materials and textures", "stl": "materials, texture coordinates and colors"}


def losses(to: str) -> list[str]:
    """What the scene has and a file of this kind cannot hold, by name, and what to do instead."""
    found = []
    objects = list(bpy.context.scene.objects)
    rigs = _names(source for source in objects if source.type == "ARMATURE")
    animations = _names(action for action in bpy.data.actions if action.users)
    kind = f".{to}"
    if to in STILL and rigs:
        found.append(f"{kind} has no bones: {rigs} left out, meshes keep their first pose. .glb, .fbx and .usd have bones.")
    if to in STILL and animations:
        found.append(f"{kind} has no animation: {animations} left out. .glb and .fbx have it.")
    if to == "usd" and (parts := _names(action for action in bpy.data.actions if action.retro_meshes.role == "SEQUENCE")):
        found.append(f".usd has one animation without named parts: the names of {parts} are left out. .glb and .fbx have them.")
    if to in BARE and (materials := _names(bpy.data.materials)):
        found.append(f"{kind} has no {BARE[to]}: those of {materials} left out. .obj and .glb have them.")
    if to in STILL and (others := _names(source for source in objects if source.type in ("CAMERA", "LIGHT"))):
        found.append(f"{kind} has no cameras and lights: {others} left out. .glb and .fbx have them.")
    return found


def _names(things: Iterable[Any]) -> str:
    return ", ".join(f'"{thing.name}"' for thing in things)
