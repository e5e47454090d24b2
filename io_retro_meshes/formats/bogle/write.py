# SPDX-License-Identifier: GPL-3.0-or-later
"""Document -> bytes."""

from __future__ import annotations

from collections.abc import Sized

from ..binary import Writer
from . import drafts
from .document import SIGNATURE, SKELETAL, VERSION, Array, Collection, Document


def write(document: Document | drafts.Draft) -> bytes:
    out = Writer()
    out.put(SIGNATURE)
    out.u8(VERSION)
    if isinstance(document, drafts.Draft):
        drafts.write(document, out)
        return bytes(out.data)
    counts: list[Sized] = [document.cameras, document.geometries, document.materials, document.lights, document.instances]
    if document.layout in SKELETAL:
        counts.insert(4, document.collections)
    for parts in counts:
        out.u32(len(parts))
    out.array(document.ambient)
    _components(document, out)
    for collection in document.collections:
        _collection(collection, out)
    for instance in document.instances:
        if document.layout != "SEED":
            _string(instance.name, out)
        out.array(instance.values)
    out.put(document.tree)
    out.put(document.ending)
    return bytes(out.data)


def _components(document: Document, out: Writer) -> None:
    named = document.layout != "SEED"
    for camera in document.cameras:
        _typed(out, [camera.type], camera.name, camera.values, named)
    for geometry in document.geometries:
        _typed(out, [0], geometry.name, None, named)
        if document.layout == "GEOMETRIES":
            _string(geometry.file, out)
            continue
        out.u32(len(geometry.vertices))
        out.u32(len(geometry.indices))
        out.array(geometry.vertices)
        out.array(geometry.indices)
    for material in document.materials:
        _typed(out, [0, material.shader], material.name, material.values, named)
        for texture in material.textures:
            _string(texture, out)
    for light in document.lights:
        _typed(out, [light.type], light.name, light.values, named)


def _typed(out: Writer, types: list[int], name: bytes, values: Array | None, named: bool) -> None:
    """Type bytes, the name where the layout has one, the record."""
    for kind in types:
        out.u8(kind)
    if named:
        _string(name, out)
    if values is not None:
        out.array(values)


def _collection(collection: Collection, out: Writer) -> None:
    out.u8(collection.type)
    _string(collection.name, out)
    out.u32(len(collection.animations))
    out.array(collection.matrix)
    out.u32(len(collection.bones))
    out.array(collection.bones)
    for animation in collection.animations:
        _string(animation.name, out)
        out.u32(len(animation.keys))
        out.array(animation.keys)


def _string(text: bytes, out: Writer) -> None:
    out.u32(len(text))
    out.put(text)
