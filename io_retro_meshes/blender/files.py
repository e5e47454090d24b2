# SPDX-License-Identifier: GPL-3.0-or-later
"""From a path to Blender data and back: what the operators and the command line call."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from .. import scene as neutral
from ..files import file_contents, load_scene, save_scene
from ..files import format_of as format_of
from ..formats import AnyFormat
from ..formats.format import Budget
from ..formats.options import WindowOptions, make
from ..pictures.place import place_textures
from . import assets, compat, properties
from .build import Place, active_collection, build
from .build.armatures import BoneStyle
from .collect import collect
from .collect.images import BlenderPicture

GAP = 0.25  # between models that stand side by side, as a part of a model's width


def import_file(context: bpy.types.Context, format: AnyFormat, path: Path, **options: Any) -> list[str]:
    """Imports a file into the active collection and returns the warnings."""
    batch = Batch(context, options)
    batch.add(format, path)
    return batch.warnings


class Batch:
    """Files that are imported together: their collections and places, and the frames that cover all of them."""

    def __init__(
        self,
        context: bpy.types.Context,
        options: dict[str, Any],
        count: int = 1,
        folders: Sequence[Path] = (),
        progress: Callable[[float], None] = lambda part: None,
    ) -> None:
        self.context = context
        self.options = options
        self.window: WindowOptions = make(WindowOptions, options)
        self.several = count > 1
        self.folders = folders
        self.progress = progress  # is told which part of a file is done, 0 to 1
        self.catalog = ""  # that the assets of the next file go into
        self.parent = active_collection(context)
        self.framed = False
        self.edge: float | None = None  # where the last model of the row ends
        self.warnings: list[str] = []
        self.lines: list[str] = []  # what came in, a line a file
        self.objects: list[bpy.types.Object] = []

    @np.errstate(all="ignore")  # numbers that got out of hand are dealt with as values
    def add(self, format: AnyFormat, path: Path) -> None:
        chosen = make(format.ImportOptions, {"name": path.stem, **self.options})
        self.progress(0.0)
        scene = load_scene(format, path, chosen)
        self.progress(0.3)
        properties.mark(scene, format)
        name_rig(scene, path.stem)
        bones = BoneStyle(self.window.bone_direction, self.window.bone_length, self.window.bone_shape)
        with nothing_left_behind():
            place = Place(self._collection(path.stem), self.folders, bones, self.framed, self.progress)
            built = build(self.context, scene, path, chosen, place)
            if self.window.use_assets:
                assets.mark(place.collection, format, scene, path, self.folders, self.catalog)
            if self.window.placement == "ROW":
                self.edge = _stand_beside(self.context, built.objects, self.edge)
        self.framed = self.framed or built.framed
        self.objects += built.objects
        self.warnings += [f"{path.name}: {warning}" if self.several else warning for warning in built.warnings]
        self.lines.append(f"{path.name}: {contents(scene, chosen.use_animation)}")
        self.progress(1.0)

    def _collection(self, name: str) -> bpy.types.Collection:
        choice = self.window.use_collection
        wanted = choice == "ALWAYS" or (choice == "AUTO" and self.several) or self.window.use_assets
        if not wanted:
            return self.parent
        made = bpy.data.collections.new(compat.short_name(name, "Model"))
        self.parent.children.link(made)
        return made


def name_rig(scene: neutral.Scene, stem: str) -> None:
    """The only rig of a file that has no node for it is called after the file: the node's name was made up."""
    rigs = [node for node in scene.nodes if node.armature is not None]
    names = {node.name for node in scene.nodes}
    if len(rigs) != 1:
        return
    made_up = rigs[0].name.endswith("_armature") and rigs[0].name.removesuffix("_armature") in names
    if made_up or rigs[0].name == "Armature":
        rigs[0].name = rigs[0].armature.name = f"{stem}_armature" if stem in names else stem


def contents(scene: neutral.Scene, animated: bool) -> str:
    """What came in, for people: "1 mesh, 12 bones, 4 animations"."""
    bones = sum(len(node.armature.bones) for node in scene.nodes if node.armature is not None)
    moving = len(scene.clips) or int(scene.timeline is not None and bool(scene.timeline.tracks))
    counts = [
        (sum(node.mesh >= 0 for node in scene.nodes), "mesh", "meshes"),
        (bones, "bone", "bones"),
        (moving if animated else 0, "animation", "animations"),
        (sum(node.light >= 0 for node in scene.nodes), "light", "lights"),
        (sum(node.camera >= 0 for node in scene.nodes), "camera", "cameras"),
    ]
    words = [f"{count:,} {one if count == 1 else many}" for count, one, many in counts if count]
    return ", ".join(words) or f"{len(scene.nodes):,} empties"


def _stand_beside(context: bpy.types.Context, objects: list[bpy.types.Object], edge: float | None) -> float | None:
    """Moves a model to the right of the one before it, and returns where it ends. Keys of its own stay as they are."""
    context.view_layer.update()
    graph = context.evaluated_depsgraph_get()
    shown = [made.evaluated_get(graph) for made in objects if made.type == "MESH"]
    places = [(each.matrix_world @ Vector(corner)).x for each in shown for corner in each.bound_box]
    if not places:
        return edge
    low, high = min(places), max(places)
    shift = 0.0 if edge is None else edge + GAP * (high - low) - low
    for root in {_root(made) for made in objects}:
        root.delta_location.x += shift
    return high + shift


def _root(made: bpy.types.Object) -> bpy.types.Object:
    while made.parent is not None:
        made = made.parent
    return made


@contextlib.contextmanager
def nothing_left_behind() -> Iterator[None]:
    """Whatever fails within takes its data blocks along."""
    before = {block.session_uid for blocks in _all_blocks() for block in blocks}
    try:
        yield
    except BaseException:
        fresh = [block for blocks in _all_blocks() for block in blocks if block.session_uid not in before]
        bpy.data.batch_remove(fresh)
        raise


def _all_blocks() -> list[Any]:
    """Every collection of data blocks that an import may add to."""
    return [
        *(bpy.data.objects, bpy.data.meshes, bpy.data.armatures, bpy.data.materials, bpy.data.images, bpy.data.actions),
        *(bpy.data.cameras, bpy.data.lights, bpy.data.collections, bpy.data.node_groups, bpy.data.worlds, bpy.data.texts),
        *(bpy.data.curves, bpy.data.textures),
    ]


@np.errstate(all="ignore")
def export_file(context: bpy.types.Context, format: AnyFormat, path: Path, **options: Any) -> list[str]:
    """Exports the scene, or the part the options say, and returns the warnings. The scene stays as it was."""
    chosen = make(format.ExportOptions, options)
    scene, images = collect(context, chosen, format)
    pictures = [BlenderPicture(image) for image in images]
    return save_scene(format, path, scene, chosen, place_textures(scene, pictures, path, chosen.textures, format))


@np.errstate(all="ignore")
def check_export(context: bpy.types.Context, format: AnyFormat, path: Path, **options: Any) -> list[str]:
    """The warnings that `export_file` would give. Everything is done but for the writing; raises what it would raise."""
    chosen = make(format.ExportOptions, options)
    scene, images = collect(context, chosen, format)
    place_textures(scene, [BlenderPicture(image) for image in images], path, chosen.textures, format)
    return file_contents(format, path, scene, chosen)[1]


@np.errstate(all="ignore")
def measure(context: bpy.types.Context, format: AnyFormat) -> list[Budget]:
    """What an export of the scene would take of what the engine has room for. Nothing is written."""
    chosen = make(format.ExportOptions, {})
    scene, _ = collect(context, chosen, format)
    return format.budget(format.from_scene(scene, chosen))
