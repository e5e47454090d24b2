# SPDX-License-Identifier: GPL-3.0-or-later
"""A toy format, for the walk-through in CONTRIBUTING.md: triangles, and nothing else.

    bytes 0-3   TOY1
    u32         number of triangles
    9 floats    a triangle: three corners of x, y, z, in Blender's axes

The test copies this folder to io_retro_meshes/formats/toy and adds one line to the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..format import Format
from .options import ExportOptions as Export
from .options import ImportOptions as Import

if TYPE_CHECKING:
    from ...scene import Scene
    from .document import Document


class Toy(Format["Document", Import, Export]):
    id = "toy"
    label = "Toy Triangles"
    extensions = (".toy",)
    used_by = "nobody"
    import_tip = "Open triangles"
    export_tip = "Save triangles"
    ImportOptions = Import
    ExportOptions = Export

    def sniff(self, data: bytes) -> bool:
        return data[:4] == b"TOY1"

    def read(self, data: bytes) -> Document:
        from .read import read

        return read(data)

    def write(self, document: Document) -> bytes:
        from .write import write

        return write(document)

    def to_scene(self, document: Document, options: Import | None = None, beside: Sequence[Document] = ()) -> Scene:
        from .to_scene import to_scene

        return to_scene(document)

    def from_scene(self, scene: Scene, options: Export | None = None) -> Document:
        from .from_scene import from_scene

        return from_scene(scene, options or Export())

    def summary(self, document: Document) -> list[str]:
        return [f"{len(document.triangles)} triangles"]


FORMAT = Toy()
