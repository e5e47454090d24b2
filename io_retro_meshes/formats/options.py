# SPDX-License-Identifier: GPL-3.0-or-later
"""Options and settings are declared once, as fields of dataclasses, with all that a person needs to be told of them.

    @choices
    class ImportOptions(options.ImportOptions):
        fps: float = option(30.0, "Frame Rate", "Frames a second: the file does not say it", minimum=1.0, panel="Animation")

Dialogs, `convert --option`, its help and the tables in docs/ are made from these fields. What every importer and every
exporter has stands in the two base classes below. Nothing here needs numpy or Blender: it is loaded when an add-on registers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, dataclass_transform

Panel = Literal["Include", "Model", "Armature", "Animation", "Textures", "Scene"]
Kind = Literal["BOOLEAN", "INT", "FLOAT", "STRING", "ENUM", "VECTOR"]
# An entry of an enumeration: its value, its label, and what it does.
Item = tuple[str, str, str]

_KEY = "option"


class Option(NamedTuple):
    """One field of an options or settings class, with its words."""

    name: str
    kind: Kind
    default: Any
    label: str
    description: str
    panel: Panel = "Model"
    minimum: float | None = None
    maximum: float | None = None
    soft_maximum: float | None = None
    precision: int | None = None
    items: tuple[Item, ...] = ()
    numbers: tuple[int, ...] = ()  # of an enumeration that is stored as a number: the number of each item
    subtype: str = "NONE"  # Blender's: DIR_PATH, FILE_PATH, COLOR, COLOR_GAMMA
    hidden: bool = False  # of the command line and scripts only
    enables: bool = False  # a switch in the header of its panel, which greys the rest out
    needs: tuple[str, tuple[Any, ...]] | None = None  # greyed out unless that other option has one of these values
    bit_of: str = ""  # a toggle for `bit` of the number `bit_of`: shown, not stored
    bit: int = 0


def option(default: Any, label: str, description: str, **words: Any) -> Any:
    """A field of an options class. The words are those of `Option`; items make it an enumeration."""
    return field(default=default, metadata={_KEY: {"label": label, "description": description, **words}})


def bit(of: str, value: int, label: str, description: str) -> Any:
    """A toggle for one bit of the number `of` in the same class. The number is what is stored: bits without a name stay."""
    return field(default=False, metadata={_KEY: {"label": label, "description": description, "bit_of": of, "bit": value}})


@dataclass_transform(frozen_default=True)
def choices(kind: type[Any]) -> type[Any]:
    """Makes a class of options: a frozen dataclass. Its methods are written here: generating them takes registration long."""
    made = settings(kind)
    for name, method in (("__init__", _fill), ("__setattr__", _refuse), ("__delattr__", _refuse)):
        setattr(made, name, method)
    return made


def _fill(chosen: Any, **values: Any) -> None:
    """The constructor of a class of options: fields by name, the others as they are by default."""
    unknown = values.keys() - type(chosen).__dataclass_fields__.keys()
    if unknown:
        raise TypeError(f"{type(chosen).__name__} has no option {', '.join(sorted(unknown))}")
    chosen.__dict__.update(values)


def _refuse(chosen: Any, name: str, *value: Any) -> None:
    raise dataclasses.FrozenInstanceError(f"options do not change: cannot set {name}")


@dataclass_transform()
def settings(kind: type[Any]) -> type[Any]:
    """Makes a class of settings: a list of fields, of which no object is ever made."""
    kind.__doc__ = kind.__doc__ or kind.__name__  # without one a signature is put together for it
    return dataclass(init=False, repr=False, eq=False, match_args=False)(kind)


def options_of(kind: type) -> Iterator[Option]:
    """Every field of an options or settings class that has words, in the order of declaration."""
    for each in dataclasses.fields(kind):
        words = each.metadata.get(_KEY)
        if words is not None:
            yield Option(name=each.name, kind=_kind(each.default, words), default=each.default, **words)


def _kind(default: Any, words: dict[str, Any]) -> Kind:
    if words.get("items"):
        return "ENUM"
    kinds: dict[type, Kind] = {bool: "BOOLEAN", int: "INT", float: "FLOAT", str: "STRING", tuple: "VECTOR"}
    return kinds[type(default)]


def make(kind: type, values: dict[str, Any]) -> Any:
    """An object of an options class from those of the values that it has fields for."""
    known = {each.name for each in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in values.items() if name in known})


def parse(option: Option, text: str) -> Any:
    """The value that a text on the command line means. Raises ValueError with the reason."""
    if option.kind == "BOOLEAN":
        words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
        if text.lower() not in words:
            raise ValueError(f"the option {option.name} is true or false, not {text}")
        return words[text.lower()]
    if option.kind == "ENUM":
        names = {item[0].lower(): item[0] for item in option.items}
        if text.lower() not in names:
            raise ValueError(f"the option {option.name} is one of {', '.join(names.values())}, not {text}")
        return names[text.lower()]
    if option.kind in ("INT", "FLOAT"):
        return _number(option, text)
    return text


def _number(option: Option, text: str) -> float:
    try:
        value = int(text) if option.kind == "INT" else float(text)
    except ValueError:
        raise ValueError(f"the option {option.name} is a number, not {text}") from None
    low, high = option.minimum, option.maximum
    if not (low is None or value >= low) or not (high is None or value <= high):
        limits = [f"{words} {limit:g}" for words, limit in (("at least", low), ("at most", high)) if limit is not None]
        raise ValueError(f"the option {option.name} is {' and '.join(limits)}, not {text}")
    return value


def split(options: Mapping[str, Any], importer: type | None, exporter: type | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of a conversion, for its importer and its exporter; one that both have goes to both, but the scale counts once.

    Values are as they should be, or texts as on a command line. Raises ValueError.
    """
    known = [{} if kind is None else {option.name: option for option in options_of(kind)} for kind in (importer, exporter)]
    for name in options:
        if not any(name in each for each in known):
            names = ", ".join(sorted({*known[0], *known[1]})) or "none"
            raise ValueError(f"there is no option {name} here; there are: {names}")
    if importer is not None:
        known[1].pop("scale", None)
    parts = [{name: parse(each[name], str(value)) for name, value in options.items() if name in each} for each in known]
    return parts[0], parts[1]


# ------------------------------------------------------------------------------------------- what all formats have


@choices
class ImportOptions:
    """What every importer can be told."""

    scale: float = option(
        1.0, "Scale", "Size of the model in Blender for one unit of the file", minimum=1e-6, soft_maximum=100.0
    )
    use_normals: str = option(
        "FILE",
        "Normals",
        "Which way surfaces face for the light",
        items=(
            ("FILE", "From File", "The file's own, or what the engine makes where it has none"),
            ("NONE", "Ignore", "As they follow from the faces: smooth wherever faces share vertices"),
        ),
    )
    merge_vertices: bool = option(
        False,
        "Merge Vertices",
        "Make vertices with the same place and normal one: old formats split them along seams. UV maps and colors stay",
    )
    use_animation: bool = option(True, "Animation", "Import the animation as actions", panel="Animation", enables=True)
    animations: str = option(
        "ALL",
        "Animations",
        "Which of the file's animations come in",
        panel="Animation",
        items=(
            ("ALL", "All", "The whole timeline, and an action for each named part of it"),
            ("TIMELINE", "Timeline", "Only the whole timeline"),
            ("PARTS", "Named Parts", "Only an action for each named part, without the timeline they are cut from"),
            ("CHOSEN", "By Name", "Only the named parts whose names are given"),
        ),
        needs=("use_animation", (True,)),
    )
    animation_names: str = option(
        "",
        "Names",
        "Names of animations with commas between them; * stands for any letters",
        panel="Animation",
        needs=("animations", ("CHOSEN",)),
    )
    scene_range: str = option(
        "AUTO",
        "Range and Rate",
        "Set the scene's first and last frame and its frame rate from the file",
        panel="Animation",
        items=(
            ("AUTO", "Automatic", "Only where they still are Blender's own (1 to 250, 24 a second) and nothing is animated"),
            ("ALWAYS", "Always", "Whatever the scene has"),
            ("NEVER", "Never", "The scene keeps its own"),
        ),
    )
    use_textures: bool = option(True, "Textures", "Look for the texture files and load them", panel="Textures", enables=True)
    texture_folder: str = option(
        "", "Texture Folder", "Also look for textures here, after the model's own folder", panel="Textures", subtype="DIR_PATH"
    )


@choices
class WindowOptions:
    """What the import dialogs ask beside: where in Blender's scene the models go."""

    bone_direction: str = option(
        "CHILDREN",
        "Direction",
        "Which way bones point in Blender. Poses and exported files are the same",
        panel="Armature",
        items=(
            ("CHILDREN", "Towards Children", "To the next bone, or to the vertices that it moves"),
            ("FILE", "As in the File", "Along the Y axis that the bone has in the file"),
        ),
    )
    bone_length: float = option(
        0.0,
        "Length",
        "How long bones are in Blender. 0 lets them reach to the next bone",
        panel="Armature",
        minimum=0.0,
        soft_maximum=10.0,
    )
    bone_shape: str = option(
        "STICK",
        "Bone Shape",
        "How bones are drawn",
        panel="Armature",
        items=(
            ("STICK", "Sticks", "Lines: the model stays in sight"),
            ("OCTAHEDRAL", "Octahedral", "As Blender draws new bones: their direction is seen"),
        ),
    )
    use_collection: str = option(
        "AUTO",
        "Collections",
        "Put each file into a new collection with its name",
        panel="Scene",
        items=(
            ("AUTO", "For Several Files", "A single file goes into the active collection"),
            ("ALWAYS", "Always", "Also a single file"),
            ("NEVER", "Never", "Everything goes into the active collection"),
        ),
    )
    placement: str = option(
        "ORIGIN",
        "Placement",
        "Where the models of several files stand",
        panel="Scene",
        items=(
            ("ORIGIN", "At the Origin", "Each where its file has it"),
            ("ROW", "Side by Side", "In a row along the X axis"),
        ),
    )
    use_assets: bool = option(
        False,
        "As Assets",
        "Mark the collection of each file as an asset with a picture of the model, for the Asset Browser",
        panel="Scene",
    )


@choices
class ExportOptions:
    """What every exporter can be told."""

    use_selection: bool = option(False, "Selected Objects", "Export only what is selected", panel="Include")
    use_visible: bool = option(True, "Visible Objects", "Leave out what is hidden", panel="Include")
    use_active_collection: bool = option(
        False, "Active Collection", "Export only the active collection and those inside it", panel="Include"
    )
    use_lights: bool = option(True, "Lights", "Export lights", panel="Include")
    use_cameras: bool = option(True, "Cameras", "Export cameras", panel="Include")
    collection: str = option("", "Collection", "Export only this collection and those inside it", panel="Include", hidden=True)
    scale: float = option(1.0, "Scale", "Size in the file of one unit in Blender", minimum=1e-6, soft_maximum=100.0)
    use_modifiers: bool = option(
        True, "Apply Modifiers", "Export meshes as their modifiers make them (armatures stay armatures)"
    )
    deform_bones: bool = option(
        False,
        "Deform Bones Only",
        "Leave out bones that move no vertices, as those of controls and mechanisms. What hangs on them follows the next bone "
        "above, and moves as before",
    )
    animation: str = option(
        "AUTO",
        "Animation",
        "What of the animation is exported",
        panel="Animation",
        items=(
            (
                "AUTO",
                "Automatic",
                "The timeline of an imported file with its sequences and new actions, whichever is assigned; "
                "else all actions, or the only one",
            ),
            (
                "ACTIONS",
                "All Actions",
                "Every action that fits an exported object, each under its name: behind the timeline of an imported file, "
                "or one after the other",
            ),
            ("ACTIVE", "Active Action", "Only the actions that are assigned now, at their own frames"),
            ("SCENE", "Scene Range", "What plays from the scene's first to its last frame: NLA, constraints and drivers"),
            ("NONE", "None", "No animation"),
        ),
    )
    sequence_frames: str = option(
        "KEEP",
        "Longer Parts",
        "What becomes of an imported sequence that was edited and needs more frames than the timeline has for it",
        panel="Animation",
        items=(
            ("KEEP", "To the End", "It goes behind everything else: all other frames keep their numbers, which games rely on"),
            ("MOVE", "In Place", "It stays where it is, and everything behind it moves to later frames"),
        ),
        needs=("animation", ("AUTO", "ACTIONS")),
    )
    key_tolerance: float = option(
        1e-5,
        "Key Tolerance",
        "Leave out keys that the others give back this well: a part of the model's size, or radians. 0 keeps a key "
        "on every frame",
        panel="Animation",
        minimum=0.0,
        soft_maximum=0.01,
        precision=5,
        needs=("animation", ("AUTO", "ACTIONS", "ACTIVE", "SCENE")),
    )
    textures: str = option(
        "AUTO",
        "Textures",
        "How textures are named in the file",
        panel="Textures",
        items=(
            (
                "AUTO",
                "Automatic",
                "Pictures beside or below the exported file are named as they lie; all others are copied there",
            ),
            ("BASENAME", "File Name", "Only the name: pictures that are not beside the model will not be found"),
            ("RELATIVE", "Relative Path", "The path from the exported file to the picture"),
            ("COPY", "Copy", "Only the name, and the picture is copied beside the exported file"),
            ("NONE", "None", "No textures at all"),
        ),
    )


def encoding_option() -> Any:
    """For formats whose names may be in any code page."""
    return option(
        "AUTO",
        "Text Encoding",
        "How letters beyond A to Z are stored in the names of the file",
        items=(
            ("AUTO", "Automatic", "UTF-8 where it is that, else Western European"),
            ("cp1252", "Western European", "Windows-1252"),
            ("cp1250", "Central European", "Windows-1250"),
            ("cp1251", "Cyrillic", "Windows-1251"),
            ("cp932", "Japanese", "Shift JIS"),
        ),
    )
