# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects a warning is about: those it names, or those that use the material, the picture or the action it names."""

from __future__ import annotations

import re
from collections.abc import Iterable

import bpy

from .animations import owners_of

QUOTED = re.compile('"([^"]+)"')


def culprits(context: bpy.types.Context, warning: str) -> list[bpy.types.Object]:
    """Objects of the scene, those first that stand in quotes."""
    objects = list(context.scene.objects)
    quoted = set(QUOTED.findall(warning))
    for users in (_named, _using):
        found = [source for source in objects if not quoted.isdisjoint(users(source))]
        if found:
            return found
    words = re.sub(QUOTED, " ", warning)
    return [source for source in objects if any(_mentions(words, name) for name in (*_named(source), *_using(source)))]


def _mentions(text: str, name: str) -> bool:
    """As a word of its own: "Cube" is not in "Cubes"."""
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _named(source: bpy.types.Object) -> Iterable[str]:
    return (source.name,)


def _using(source: bpy.types.Object) -> Iterable[str]:
    """The names of all that an object is made of."""
    if source.data is not None:
        yield source.data.name
    for slot in source.material_slots:
        if slot.material is not None:
            yield slot.material.name
            yield from _pictures(slot.material)
    yield from (owner.action.name for owner in owners_of(source))
    if source.type == "ARMATURE":
        yield from source.data.bones.keys()


def _pictures(material: bpy.types.Material) -> Iterable[str]:
    for node in material.node_tree.nodes if material.node_tree is not None else ():
        image = node.image if isinstance(node, bpy.types.ShaderNodeTexImage) else None
        if image is not None:
            yield from {image.name, bpy.path.basename(image.filepath)} - {""}
