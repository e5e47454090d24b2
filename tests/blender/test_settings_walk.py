# SPDX-License-Identifier: GPL-3.0-or-later
"""Every setting of every format, set on a new and on an imported thing: kept by an export and an import.

The settings come from the formats themselves, so that a new one is tried without being listed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.formats import FORMATS, AnyFormat
from io_retro_meshes.formats.options import Option, options_of
from io_retro_meshes.pictures import png

bpy = pytest.importorskip("bpy")

EXTENSIONS = {"b3d": "b3d", "bo3d": "bo3d", "bogle": "bgl", "dbo": "dbo", "saturn": "bin"}
INTEGERS = (0, 1, 5, 37, 255, 1024 + 32)
# Settings whose values mean something more than any number or text does.
VALUES: dict[tuple[str, str, str], list[Any]] = {
    ("bogle", "Action", "order"): [1, 2],  # a place among the file's animations, which are numbered without gaps
    ("bogle", "Camera", "type"): [2, 255],  # 0 and 1 are written as the layout's engine wants them
    ("bogle", "Scene", "layout"): ["SEED", "NAMES", "ANIM", "GEOMETRIES"],  # none is a choice on export: a file has one
    ("dbo", "Scene", "custom_data"): ["0102ff"],
    ("dbo", "Mesh", "levels"): ["4|500:03000000|501:000001000200"],  # of as many vertices as the square has
    ("dbo", "ShaderNodeTexImage", "path"): [r"maps\wood\picture.png"],  # of another picture it is not written
    ("saturn", "Mesh", "draw_codes"): ["80"],
    ("saturn", "Object", "tag"): ["CHEST", "WEAPON_TIP", "HAND", 0x12],  # other codes are other commands of a skeleton
    ("saturn", "Object", "is_tag"): [True],  # what is none is not written
    ("saturn", "Material", "sort"): [4, 5, 37, 255],  # with a picture always 4
    ("saturn", "Object", "list"): ["WEAPON", "UNARMED"],  # what is on no list is on the body's
    ("saturn", "Object", "character"): [0],  # characters and animations are numbered by the file, without gaps
    ("saturn", "Action", "character"): [0],
    ("saturn", "Action", "order"): [0],
    ("saturn", "Action", "external"): [False],  # the game counts what is outside: nothing can be added to it or taken away
}
CASES = [(entry, owner) for entry in FORMATS.values() for owner in entry.settings]


def values_for(entry: AnyFormat, owner: str, option: Option) -> list[Any]:
    """The values to try; of an enumeration every name, and a number without one."""
    known = VALUES.get((entry.id, owner, option.name))
    if known is not None:
        return known
    low, high = option.minimum or 0, option.maximum or 2**31
    if option.numbers:
        spare = next(number for number in range(int(high)) if number not in option.numbers)
        return [*(item[0] for item in option.items), spare]
    if option.kind == "INT":
        return [value for value in INTEGERS if low <= value <= high]
    return {
        "BOOLEAN": [True, False],
        "FLOAT": [low, 0.25, min(3.5, high)],
        "STRING": ["walnut"],
        "ENUM": [item[0] for item in option.items],
        "VECTOR": [(0.25, 0.5, 0.75, 0.5)[: len(option.default) if option.kind == "VECTOR" else 0]],
    }[option.kind]


def attempts(entry: AnyFormat, owner: str) -> Iterator[tuple[str, Any]]:
    for option in options_of(entry.settings[owner]):
        if option.hidden:  # what the project itself keeps there, which no panel shows
            continue
        for value in values_for(entry, owner, option):
            number = option.numbers and not isinstance(value, str)
            yield (f"{option.name}_number" if number else option.name), value


def same(one: Any, other: Any) -> bool:
    if isinstance(one, str) or not hasattr(one, "__len__"):
        one, other = [one], [other]
    return all(a == b if isinstance(a, str | bool) else abs(a - b) < 1e-5 for a, b in zip(one, other, strict=True))


# -------------------------------------------------------------------------------------------------------------- things


def new_thing(name: str, owner: str, folder: Path) -> None:
    """An object with all that settings can be on: a mesh, a material, a texture, a camera or a light."""
    if owner in ("Camera", "Light"):
        data = bpy.data.cameras.new(name) if owner == "Camera" else bpy.data.lights.new(name, "POINT")
    else:
        data = bpy.data.meshes.new(name)
        data.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
        data.uv_layers.new(name="UVMap")
        data.materials.append(new_material(name, folder))
    bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, data))


def new_material(name: str, folder: Path) -> Any:
    from io_retro_meshes.blender import compat

    material = bpy.data.materials.new(name)
    tree = compat.node_tree(material)
    node = tree.nodes.new("ShaderNodeTexImage")
    path = folder / "picture.png"
    if not path.exists():
        path.write_bytes(png.encode(np.arange(256).astype(np.uint8).reshape(8, 8, 4) | 3))
    node.image = bpy.data.images.load(str(path), check_existing=True)
    tree.links.new(node.outputs["Color"], tree.nodes["Principled BSDF"].inputs["Base Color"])
    return material


def new_character(folder: Path) -> None:
    """A rig of one bone with a body, a prop and a tag on it, and two animations."""
    from io_retro_meshes.blender import compat

    rig = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("bone")
    bone.tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    for name in ("body", "prop"):
        new_thing(name, "Mesh", folder)
    spot = bpy.data.objects.new("tag_hand", None)
    bpy.context.scene.collection.objects.link(spot)
    for each in (bpy.data.objects["body"], bpy.data.objects["prop"], spot):
        each.parent, each.parent_type, each.parent_bone = rig, "BONE", "bone"
    bpy.data.objects["prop"].retro_saturn.list = "WEAPON"
    for name in ("attack", "block"):
        curves = compat.ActionCurves(bpy.data.actions.new(name), rig)
        curve = curves.new('pose.bones["bone"].location', 0, "bone")
        for frame in (1, 5, 9):
            curve.keyframe_points.insert(frame, frame / 10)
        compat.assign_action(rig, curves.action, curves.slot)


def make_single_user(thing: Any) -> None:
    """Things that are equal in a file share what they are made of."""
    thing.data = thing.data.copy()
    for slot in thing.material_slots:
        slot.material = slot.material.copy()


def owner_of(name: str, owner: str) -> Any:
    """What has the settings, of an object of that name."""
    if owner == "Scene":
        return bpy.context.scene
    if owner == "Action":
        return next((action for action in bpy.data.actions if action.name == name), None)
    thing = bpy.data.objects.get(name)
    if thing is None:  # a format without names for cameras and lights
        alike = [each for each in bpy.data.objects if each.type == owner.upper()]
        thing = sorted(alike, key=lambda each: each.name)[int(name.split()[-1])]
    if owner == "Object":
        return thing
    if owner in ("Mesh", "Camera", "Light"):
        return thing.data
    material = thing.material_slots[0].material
    if owner == "Material":
        return material
    return next(node for node in material.node_tree.nodes if node.type == "TEX_IMAGE")


def saved(entry: AnyFormat, folder: Path) -> None:
    """Exports everything, and imports it into an empty file."""
    path = str(folder / f"saved.{EXTENSIONS[entry.id]}")
    assert getattr(bpy.ops.export_scene, entry.id)(filepath=path) == {"FINISHED"}
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert getattr(bpy.ops.import_scene, entry.id)(filepath=path) == {"FINISHED"}


# --------------------------------------------------------------------------------------------------------------- tests


def is_rigged(entry: AnyFormat, owner: str) -> bool:
    """Saturn characters have one mesh; animations need something to move: one at a time."""
    return entry.id == "saturn" or owner in ("Action", "Scene")


@pytest.mark.parametrize("imported", [False, True], ids=["new", "imported"])
@pytest.mark.parametrize(
    ("entry", "owner"), [case for case in CASES if not is_rigged(*case)], ids=lambda case: getattr(case, "id", str(case))
)
def test_settings_of_things(blender: Any, tmp_path: Path, entry: AnyFormat, owner: str, imported: bool) -> None:
    tried = {f"thing {number:02}": each for number, each in enumerate(attempts(entry, owner))}
    for name in tried:
        new_thing(name, owner, tmp_path)
    if imported:
        saved(entry, tmp_path)
        for name in tried:
            if owner not in ("Camera", "Light"):
                make_single_user(bpy.data.objects[name])
    for name, (setting, value) in tried.items():
        setattr(getattr(owner_of(name, owner), f"retro_{entry.id}"), setting, value)
    set_ones = {name: read(name, owner, entry, setting) for name, (setting, _) in tried.items()}
    assert not {name: each for name, each in tried.items() if not same(set_ones[name], each[1])}
    saved(entry, tmp_path)
    kept = {name: read(name, owner, entry, setting) for name, (setting, _) in tried.items()}
    assert not {tried[name]: value for name, value in kept.items() if not same(value, tried[name][1])}


def read(name: str, owner: str, entry: AnyFormat, setting: str) -> Any:
    value = getattr(getattr(owner_of(name, owner), f"retro_{entry.id}"), setting)
    return value if isinstance(value, str) or not hasattr(value, "__len__") else tuple(value)


RIGGED = [(entry, owner, *each) for entry, owner in CASES if is_rigged(entry, owner) for each in attempts(entry, owner)]
TARGETS = {"character": "rig", "is_tag": "tag_hand", "tag": "tag_hand", "tag_number": "tag_hand"}


@pytest.mark.parametrize("imported", [False, True], ids=["new", "imported"])
@pytest.mark.parametrize(("entry", "owner", "setting", "value"), RIGGED, ids=lambda case: getattr(case, "id", str(case)))
def test_settings_of_a_character(
    blender: Any, tmp_path: Path, entry: AnyFormat, owner: str, setting: str, value: Any, imported: bool
) -> None:
    new_character(tmp_path)
    if imported:
        saved(entry, tmp_path)
    if owner == "Object" and setting.startswith("tag"):
        found_owners(entry, "Object", setting)[0].retro_saturn.is_tag = True
    target = found_owners(entry, owner, setting)[0]
    setattr(getattr(target, f"retro_{entry.id}"), setting, value)
    assert same(getattr(getattr(target, f"retro_{entry.id}"), setting), value)
    saved(entry, tmp_path)
    assert any(
        same(getattr(getattr(each, f"retro_{entry.id}"), setting), value) for each in found_owners(entry, owner, setting)
    )


def found_owners(entry: AnyFormat, owner: str, setting: str) -> list[Any]:
    """All that may have a setting: files of this format give objects names of their own."""
    if owner == "Scene":
        return [bpy.context.scene]
    if owner == "Action":
        return [action for action in bpy.data.actions if action.retro_meshes.role != "TIMELINE"]
    objects = list(bpy.data.objects)
    if owner == "Object":
        kind = {"rig": "ARMATURE", "tag_hand": "EMPTY"}.get(TARGETS.get(setting, ""), "MESH")
        return [each for each in objects if each.type == kind and not each.modifiers and each.name != "body"]
    meshes = [each for each in objects if each.type == "MESH"]
    if owner == "Mesh":
        return [each.data for each in meshes]
    materials = [slot.material for each in meshes for slot in each.material_slots]
    return materials if owner == "Material" else [node for m in materials for node in m.node_tree.nodes if node.image]


def test_everything_with_settings_is_tried() -> None:
    """A format with settings on another type of datablock needs a thing of that type above."""
    owners = {owner for entry in FORMATS.values() for owner in entry.settings}
    assert owners <= {"Material", "ShaderNodeTexImage", "Object", "Mesh", "Camera", "Light", "Action", "Scene"}
