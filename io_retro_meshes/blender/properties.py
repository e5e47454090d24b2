# SPDX-License-Identifier: GPL-3.0-or-later
"""Typed properties for what a format has and Blender has no field for.

Settings classes (formats/<fmt>/settings.py) become property groups: `MaterialSettings` of b3d is `material.retro_b3d`.
Their fields have the names of the keys in `scene.Settings`. `retro_meshes` holds what all formats need to know of a datablock.

A group keeps its values as JSON in `stored`; the properties of its fields read and write that. What is "" there belongs to no
format yet. For materials and image nodes the node graph has a say, too: looks.py brings both together.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..formats import MENU_FORMATS, AnyFormat
from ..formats.options import Option, options_of
from . import compat

Settings = dict[str, dict[str, Any]]


# Location, rotation and scale that do nothing.
STANDING = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0)

PROPERTIES: dict[str, Any] = {
    "BOOLEAN": BoolProperty,
    "INT": IntProperty,
    "FLOAT": FloatProperty,
    "STRING": StringProperty,
    "ENUM": EnumProperty,
    "VECTOR": FloatVectorProperty,
}


# Types of datablocks whose settings a node graph shows.
DRAWN = ("Material", "ShaderNodeTexImage")
LARGEST = 2**31 - 1  # that Blender's integers hold
GREATEST = 3.4e38  # that a float of 32 bits holds
OTHER = "OTHER"  # of an enumeration: a number that has no name
# Where options and settings are translated: what Blender says for the same English is often longer, or means something else.
CONTEXT = "Retro Meshes"


def make_property(option: Option, **access: Any) -> Any:
    """The property that an operator or a property group gets for an option. `access`: its getter and setter."""
    words: dict[str, Any] = {"name": option.label, "description": option.description, "translation_context": CONTEXT, **access}
    limits = {"min": option.minimum, "max": option.maximum, "soft_max": option.soft_maximum, "precision": option.precision}
    words |= {name: value for name, value in limits.items() if value is not None and option.kind != "ENUM"}
    words["default"] = option.default
    if option.kind == "ENUM":
        words["items"] = list(option.items)
    if option.kind == "VECTOR":
        words["size"] = len(option.default)
    if option.subtype != "NONE":
        words["subtype"] = option.subtype
    return PROPERTIES[option.kind](**words, options={"HIDDEN"} if option.hidden else {"ANIMATABLE"})


# ------------------------------------------------------------------------------------------ properties of the formats


def _settings_properties(option: Option) -> dict[str, Any]:
    """What a property group gets for a setting: a property, and for an enumeration of numbers the number as another."""
    if option.bit_of:
        words: dict[str, Any] = {"name": option.label, "description": option.description, "translation_context": CONTEXT}
        return {option.name: BoolProperty(**words | _bit(option.bit_of, option.bit), options={"SKIP_SAVE"})}
    if option.numbers:
        return {option.name: _named(option), f"{option.name}_number": _number(option)}
    if option.kind == "ENUM":
        return {option.name: make_property(option, **_by_index(option))}

    def get(group: Any) -> Any:
        return _within(option, values_of(group).get(option.name, option.default))

    def set(group: Any, value: Any) -> None:
        set_value(group, option.name, _plain(value))

    return {option.name: make_property(option, get=get, set=set)}


def _by_index(option: Option) -> dict[str, Callable[..., Any]]:
    """An enumeration that is stored by name: Blender gives and takes the index."""
    names = [item[0] for item in option.items]

    def get(group: Any) -> int:
        name = values_of(group).get(option.name, option.default)
        return names.index(name if name in names else option.default)

    def set(group: Any, index: int) -> None:
        set_value(group, option.name, names[index])

    return {"get": get, "set": set}


def _named(option: Option) -> Any:
    """An enumeration that is stored as a number. Numbers without a name are shown as another."""
    items = [(*item, index) for index, item in enumerate(option.items)]
    items.append((OTHER, "Other", "A number that has no name", len(items)))

    def get(group: Any) -> int:
        number = values_of(group).get(option.name, option.default)
        return option.numbers.index(number) if number in option.numbers else len(option.numbers)

    def set(group: Any, index: int) -> None:
        if index < len(option.numbers):
            set_value(group, option.name, option.numbers[index])
        elif get(group) != index:
            set_value(group, option.name, next(number for number in range(LARGEST) if number not in option.numbers))

    default = option.items[option.numbers.index(option.default)][0]
    words: dict[str, Any] = {"name": option.label, "description": option.description, "translation_context": CONTEXT}
    return EnumProperty(**words, items=items, default=default, get=get, set=set)


def _number(option: Option) -> Any:
    def get(group: Any) -> Any:
        return _within(option, values_of(group).get(option.name, option.default))

    def set(group: Any, value: int) -> None:
        set_value(group, option.name, value)

    low, high = int(option.minimum or 0), LARGEST if option.maximum is None else int(option.maximum)
    words: dict[str, Any] = {
        "name": f"{option.label} Number",
        "description": "As the file has it",
        "translation_context": CONTEXT,
    }
    return IntProperty(**words, default=option.default, min=low, max=high, get=get, set=set)


def _bit(of: str, bit: int) -> dict[str, Callable[..., Any]]:
    def get(group: Any) -> bool:
        return bool(getattr(group, of) & bit)

    def set(group: Any, value: bool) -> None:
        number = getattr(group, of)
        setattr(group, of, number | bit if value else number & ~bit)

    return {"get": get, "set": set}


def _within(option: Option, value: Any) -> Any:
    """A value as a property of Blender's can have it."""
    if type(option.default) is int:
        return min(max(int(value), -LARGEST - 1), LARGEST)
    if type(option.default) is tuple:
        return tuple(float(each) for each in value)
    return type(option.default)(value)


def stored(group: Any) -> dict[str, Any]:
    """What a group keeps, whatever the graph says."""
    values = json.loads(group.stored) if group.stored else _kept_one_by_one(group)
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _kept_one_by_one(group: Any) -> dict[str, Any]:
    """The settings in a .blend file of version 1.0, where each was a property that Blender kept by itself."""
    raw = compat.raw_properties(group)
    known = [name for name in group.__annotations__ if raw is not None and name in raw and name not in ("stored", "owner_type")]
    return {name: raw[name].to_list() if hasattr(raw[name], "to_list") else raw[name] for name in known}


def store(group: Any, values: dict[str, Any]) -> None:
    """Numbers are kept within what files and Blender's properties can hold."""
    group.stored = json.dumps({name: _bounded(value) for name, value in values.items()})


def values_of(group: Any) -> dict[str, Any]:
    """The settings as they are: those that were stored, and what the material looks like."""
    if group.owner_type not in DRAWN:
        return stored(group)
    from . import looks

    return looks.settings_of(group)


def set_value(group: Any, name: str, value: Any) -> None:
    """Sets one of the settings; a material gets the look of it."""
    if group.owner_type not in DRAWN:
        store(group, {**stored(group), name: value})
        return
    from . import looks

    looks.change(group, name, value)


def _bounded(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()  # of numpy
    if isinstance(value, bool | str):
        return value
    if hasattr(value, "__len__"):
        return [_bounded(each) for each in value]
    if isinstance(value, int):
        return min(max(value, -LARGEST - 1), LARGEST)
    return min(max(float(value), -GREATEST), GREATEST) if value == value else 0.0


# --------------------------------------------------------------------------------------------- what all formats have


class BoneSettings(bpy.types.PropertyGroup):
    """How the file's bone lies in Blender's, which points at its child."""

    axes: FloatVectorProperty(
        name="File Axes",
        description="The bone's matrix in its file, seen from Blender's bone. Exporting gives the file its own axes back",
        size=16,
        default=[float(i % 5 == 0) for i in range(16)],
    )
    name: StringProperty(name="File Name", description="The bone's name in its file, where Blender had to change it")
    first: StringProperty(name="First Name", description="The bone's name when it was imported, whatever it is called now")
    helper: BoolProperty(name="Helper", description="Made on import to hold a shear; not exported as a bone of its own")
    pose: FloatVectorProperty(
        name="File Pose",
        description="Location, rotation and scale of the pose that the file shows where nothing moves the bone",
        size=10,
        default=STANDING,
    )


class ActionLink(bpy.types.PropertyGroup):
    """One of a list of actions."""

    action: PointerProperty(name="Action", description="An animation of the same file", type=bpy.types.Action)


class ObjectSettings(bpy.types.PropertyGroup):
    """What an imported object was in its file."""

    name: StringProperty(name="File Name", description="The object's name in its file, where Blender had to change it")
    helper: BoolProperty(name="Helper", description="Made on import to hold a shear; not exported as an object of its own")
    model: StringProperty(name="Model", description="The same text for everything that one import has made")
    slot: StringProperty(name="Slot", description="The object's name when it was imported, which slots of actions are called")
    timeline: PointerProperty(
        name="Timeline",
        description="The action with all that the object does in its file, whichever is assigned",
        type=bpy.types.Action,
    )
    clips: CollectionProperty(
        name="Clips",
        description="Actions of their own that the file has for the object: they come along into other .blend files",
        type=ActionLink,
    )
    place: FloatVectorProperty(
        name="File Place", description="Location, rotation and scale in the file", size=10, default=STANDING
    )


class ActionSettings(bpy.types.PropertyGroup):
    """What an imported action is to its file."""

    role: EnumProperty(
        name="Role",
        description="What the action is to the file it came from",
        items=[
            ("ACTION", "Action", "An animation of its own: exported as a sequence"),
            ("TIMELINE", "Whole Timeline", "Everything the file plays: exported as it is, with its sequences as named ranges"),
            (
                "SEQUENCE",
                "Sequence",
                "A named range of the timeline: exported as one, with its own keys once it was edited",
            ),
        ],
        default="ACTION",
    )
    timeline: PointerProperty(name="Timeline", description="The action that this one is a range of", type=bpy.types.Action)
    parts: CollectionProperty(
        name="Parts",
        description="The actions that are ranges of this one: they come along into other .blend files",
        type=ActionLink,
    )
    name: StringProperty(name="File Name", description="The animation's name in its file")
    model: StringProperty(name="Model", description="The same text for everything that one import has made")
    owner: StringProperty(name="Owner", description="The object it moves, by its name when it was imported")
    place: IntProperty(name="Place", description="Which of the file's animations it is; -1 is the whole timeline", default=-1)
    frames: FloatVectorProperty(name="File Frames", description="The first and the last frame in the file", size=2)
    keyed: FloatVectorProperty(name="Keyed Frames", description="The first and the last key that the file has", size=2)
    fingerprint: StringProperty(name="Fingerprint", description="Of the keys as they were imported: others were edited")
    source: StringProperty(name="Source", description="Fingerprint of the timeline's keys on the frames of the sequence")


class TextureSettings(bpy.types.PropertyGroup):
    """What a texture that is not linked to anything is for."""

    use: StringProperty(name="Use", description="What the texture is for in its file: COLOR, NORMAL, OCCLUSION, ...")
    blend: StringProperty(name="Blend", description="How the file lays the texture over the ones before it")


class ImageSettings(bpy.types.PropertyGroup):
    """What an imported image is to its file."""

    name: StringProperty(name="File Name", description="What the model's file calls the image")
    source: StringProperty(
        name="Made From",
        description="The file whose colors gave the image its alpha on import",
        subtype="FILE_PATH",
    )
    mask_black: BoolProperty(name="Black Is Transparent", description="Pure black pixels were made transparent on import")
    mean_alpha: BoolProperty(name="Dark Is Transparent", description="The mean of the colors was made the alpha on import")


COMMON: dict[str, type] = {
    "Bone": BoneSettings,
    "Object": ObjectSettings,
    "Action": ActionSettings,
    "ShaderNodeTexImage": TextureSettings,
    "Image": ImageSettings,
}


def apply(owner: Any, settings: Settings) -> None:
    """Stores a Scene's settings on a datablock, without a look at the graph. What has no group is left out."""
    for format_id, values in settings.items():
        group = getattr(owner, f"retro_{format_id}", None)
        if group is not None:
            store(group, values)


def collect(owner: Any) -> Settings:
    """The settings that were stored, by an import or by hand."""
    groups = {format_id: getattr(owner, f"retro_{format_id}", None) for format_id in MENU_FORMATS}
    found = {format_id: stored(group) for format_id, group in groups.items() if group is not None}
    return {format_id: values for format_id, values in found.items() if values or getattr(owner, f"retro_{format_id}").stored}


def has_settings(owner: Any, format_id: str) -> bool:
    """Is the datablock one of this format's: imported from a file of it, or given settings for it by the user?"""
    group = getattr(owner, f"retro_{format_id}")
    return bool(group.stored) or bool(_kept_one_by_one(group))


def add_settings(owner: Any, format_id: str) -> None:
    """Settings of a format for a datablock that has none, all as they are by default or as the graph has them."""
    group = getattr(owner, f"retro_{format_id}")
    if not group.stored:
        store(group, {})


def mark(scene: Any, entry: AnyFormat) -> None:
    """Gives all that was read from a file settings of its format, empty where there are none: panels go by that."""
    layers = [layer for material in scene.materials for layer in material.layers]
    clips = [*scene.clips, *([scene.timeline] if scene.timeline is not None else [])]
    owners = {"Material": scene.materials, "ShaderNodeTexImage": layers, "Object": scene.nodes, "Mesh": scene.meshes}
    owners |= {"Camera": scene.cameras, "Light": scene.lights, "Action": clips, "Scene": [scene]}
    for owner in entry.settings:
        for each in owners[owner]:
            each.settings.setdefault(entry.id, {})


def file_name(source: Any, title: str = "") -> str:
    """The name a file had for it, unless somebody has renamed it since; `title`: what is shown of it, if not its name."""
    from ..scene.names import kept_name  # with it numpy is loaded, which registering the add-on should not wait for

    return kept_name(source.retro_meshes.name, title or source.name)


def _plain(value: Any) -> Any:
    """Arrays and colors as tuples."""
    return value if isinstance(value, str) or not hasattr(value, "__len__") else tuple(value)


def _format_group(kind: type, format_id: str, owner_type: str) -> type:
    annotations: dict[str, Any] = {
        "stored": StringProperty(name="Stored", description="The settings as JSON", options={"HIDDEN"})
    }
    for option in options_of(kind):
        annotations |= _settings_properties(option)
    own = {"__doc__": kind.__doc__, "__annotations__": annotations, "format_id": format_id, "owner_type": owner_type}
    return type(kind.__name__, (bpy.types.PropertyGroup,), own)


# (type of datablock, attribute, group) for every group there is, while the add-on is registered.
_attached: list[tuple[str, str, type]] = []


def register() -> None:
    """Once is enough: a conversion registers them, too, without the rest of the add-on."""
    if _attached:
        return
    ActionLink.__name__ = "RETRO_PG_action_link"
    bpy.utils.register_class(ActionLink)
    _attached.extend((owner, "retro_meshes", group) for owner, group in COMMON.items())
    for entry in MENU_FORMATS.values():
        groups = entry.settings.items()
        _attached.extend((owner, f"retro_{entry.id}", _format_group(kind, entry.id, owner)) for owner, kind in groups)
    for owner, attribute, group in _attached:
        group.__name__ = f"RETRO_PG_{attribute}_{owner}"  # Blender knows a class by this name alone: it must be nobody else's
        bpy.utils.register_class(group)
        setattr(getattr(bpy.types, owner), attribute, PointerProperty(type=group))


def unregister() -> None:
    while _attached:
        owner, attribute, group = _attached.pop()
        if not group.is_registered:  # another copy of the add-on has taken its place
            continue
        kind = getattr(bpy.types, owner)
        attached = kind.bl_rna.properties.get(attribute)
        if attached is not None and attached.fixed_type == group.bl_rna:
            delattr(kind, attribute)
        bpy.utils.unregister_class(group)
    if ActionLink.is_registered:
        bpy.utils.unregister_class(ActionLink)
