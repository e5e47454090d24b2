# SPDX-License-Identifier: GPL-3.0-or-later
"""Bytes -> document.

Nothing in the file says which layout it has: it is the one whose reading ends exactly where the file does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from ..binary import Reader
from ..errors import FormatError
from . import drafts, tree
from .document import (
    ANIMATED_INSTANCE,
    BONE,
    CAMERA,
    INSTANCE,
    LAYOUTS,
    LIGHT,
    MATERIAL,
    SIGNATURE,
    SKELETAL,
    SKINNED_VERTEX,
    TEXTURES,
    VERSION,
    VERTEX,
    Animation,
    Array,
    Camera,
    Collection,
    Document,
    Geometry,
    Instance,
    Layout,
    Light,
    Material,
    keyframe,
)

HEADER_SIZE = 6
NO_VERTICES = {dtype: np.zeros(0, dtype) for dtype in (VERTEX, SKINNED_VERTEX)}
NO_INDICES = np.zeros(0, "<u4")
Part = TypeVar("Part")


def sniff(data: bytes) -> bool:
    return data[:5] == SIGNATURE


def read(data: bytes) -> Document | drafts.Draft:
    """The document, of whichever layout. A file that no layout fits exactly may still be one with something after its end."""
    _check_header(data)
    found: list[Document] = []
    errors: list[tuple[int, FormatError]] = []
    for document in _attempts(data, errors):
        if isinstance(document, drafts.Draft) or document.ending == b"\0":
            return document
        found.append(document)
    if not found:
        # Of the reading that understood most of the file: what it stumbled over is what is wrong.
        raise max(errors, key=lambda error: error[0])[1]
    best = min(found, key=lambda document: len(document.ending))
    if not best.ending:
        best.warnings.append("The file ends without the NUL that closes the scene tree.")
    else:
        best.warnings.append(f"{len(best.ending) - 1} bytes follow the end of the scene; the engine refuses such a file.")
    return best


def _check_header(data: bytes) -> None:
    if len(data) < HEADER_SIZE and SIGNATURE.startswith(data[:5]):
        raise FormatError(f"the file ends too early: {len(data)} bytes are no header", offset=len(data), field="signature")
    if not sniff(data):
        raise FormatError(f"not a BOGLE file: it starts with {data[:5]!r}", offset=0, field="signature")
    if data[5] != VERSION:
        raise FormatError(f"version {data[5]} is not known, only version {VERSION}", offset=5, field="version")


def _attempts(data: bytes, errors: list[tuple[int, FormatError]]) -> Iterator[Document | drafts.Draft]:
    """What the file is under each layout it can be read in."""
    for layout in LAYOUTS:
        attempt = _Layout(data, layout)
        try:
            yield attempt.document()
        except FormatError as error:
            errors.append((attempt.parts, error))
    for draft in drafts.DRAFTS:
        try:
            yield drafts.read(data, draft)
        except FormatError:  # nobody has a broken draft: the errors that help are those of the layouts
            continue


class _Layout:
    """One reading of a file, under one layout."""

    def __init__(self, data: bytes, layout: Layout) -> None:
        self.reader = Reader(data, offset=HEADER_SIZE)
        self.layout = layout
        self.parts = 0  # read so far

    def document(self) -> Document:
        read = self.reader
        kinds = ["cameras", "geometries", "materials", "lights", "objects"]
        if self.layout in SKELETAL:
            kinds.insert(4, "animations")
        count = {kind: read.u32(f"number of {kind}") for kind in kinds}
        document = Document(self.layout, read.array("<f4", 4, "ambient light"))
        document.cameras = self.several(count["cameras"], CAMERA.itemsize + 1, "camera", self.camera)
        document.geometries = self.several(count["geometries"], 9, "geometry", self.geometry)
        document.materials = self.several(count["materials"], MATERIAL.itemsize + 34, "material", self.material)
        document.lights = self.several(count["lights"], LIGHT.itemsize + 1, "light", self.light)
        document.collections = self.several(count.get("animations", 0), 77, "animation", self.collection)
        document.instances = self.several(count["objects"], INSTANCE.itemsize, "object", self.instance)
        self.tree(document)
        return document

    def several(self, count: int, size: int, what: str, one: Callable[[str], Part]) -> list[Part]:
        """`count` parts of at least `size` bytes each: known to fit before the first is made."""
        if count * size > self.reader.remaining:
            raise self.reader.error(
                f"the file ends too early for {count} of these: {self.reader.remaining} bytes are left", what
            )
        found = []
        for number in range(1, count + 1):
            found.append(one(f"{what} {number}"))
            self.parts += 1
        return found

    def name(self, what: str) -> bytes:
        return b"" if self.layout == "SEED" else self.string(f"{what}, name")

    def string(self, field: str) -> bytes:
        return self.reader.take(self.reader.u32(field), field)

    def camera(self, what: str) -> Camera:
        kind, name = self.reader.u8(f"{what}, type"), self.name(what)
        return Camera(self.reader.array(CAMERA, 1, what), kind, name)

    def geometry(self, what: str) -> Geometry:
        kind = self.reader.u8(f"{what}, type")
        if kind:
            raise self.reader.error(f"geometries of type {kind} are not known", f"{what}, type", self.reader.offset - 1)
        name = self.name(what)
        dtype = SKINNED_VERTEX if self.layout in SKELETAL else VERTEX
        if self.layout == "GEOMETRIES":
            return Geometry(NO_VERTICES[dtype], NO_INDICES, name, self.string(f"{what}, file name"))
        vertices = self.reader.u32(f"{what}, vertlen")
        indices = self.reader.u32(f"{what}, indlen")
        if not vertices and not indices:  # a file may hold a million of these: they share their nothing
            return Geometry(NO_VERTICES[dtype], NO_INDICES, name)
        values = self.reader.array(dtype, vertices, f"{what}, vertices")
        return Geometry(values, self.reader.array("<u4", indices, f"{what}, indices"), name)

    def material(self, what: str) -> Material:
        kind = self.reader.u8(f"{what}, type")
        if kind:
            raise self.reader.error(f"materials of type {kind} are not known", f"{what}, type", self.reader.offset - 1)
        shader, name = self.reader.u8(f"{what}, shader"), self.name(what)
        values = self.reader.array(MATERIAL, 1, what)
        return Material(values, [self.string(f"{what}, {texture} texture") for texture in TEXTURES], shader, name)

    def light(self, what: str) -> Light:
        kind, name = self.reader.u8(f"{what}, type"), self.name(what)
        return Light(self.reader.array(LIGHT, 1, what), kind, name)

    def collection(self, what: str) -> Collection:
        read = self.reader
        kind, name = read.u8(f"{what}, type"), self.name(what)
        animations = read.u32(f"{what}, nanimations")
        matrix = read.array("<f4", 16, f"{what}, skeleton matrix")
        bones: Array = read.array(BONE, read.u32(f"{what}, nbones"), f"{what}, bones")
        dtype = keyframe(len(bones))
        made = self.several(animations, 8, f"{what}, animation", lambda which: self.animation(which, dtype))
        return Collection(matrix, bones, made, kind, name)

    def animation(self, what: str, dtype: np.dtype[Any]) -> Animation:
        name = self.string(f"{what}, name")
        return Animation(self.reader.array(dtype, self.reader.u32(f"{what}, nkeyframes"), f"{what}, keyframes"), name)

    def instance(self, what: str) -> Instance:
        name = self.name(what)
        return Instance(self.reader.array(ANIMATED_INSTANCE if self.layout in SKELETAL else INSTANCE, 1, what), name)

    def tree(self, document: Document) -> None:
        read = self.reader
        if document.instances and not read.remaining:
            raise read.error("the file ends too early: there is no scene tree", "scene tree")
        stop = read.data.find(b"\0", read.offset)
        document.tree = read.data[read.offset : stop if stop >= 0 else len(read.data)]
        tree.check(document.tree, read.offset)
        document.ending = read.data[stop:] if stop >= 0 else b""
