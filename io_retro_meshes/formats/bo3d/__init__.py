# SPDX-License-Identifier: GPL-3.0-or-later
"""BO3D, the format of the bOGL engine for BlitzPlus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..format import Format
from .options import ExportOptions as Export
from .options import ImportOptions as Import
from .settings import SETTINGS

if TYPE_CHECKING:
    from ...scene import Image, Material, Scene
    from .document import Document


class BO3D(Format["Document", Import, Export]):
    id = "bo3d"
    label = "BO3D"
    extensions = (".bo3d",)
    used_by = "bOGL 2"
    import_tip = "Open a model of bOGL, the 3D engine for BlitzPlus"
    export_tip = "Save the scene as a model of bOGL, the 3D engine for BlitzPlus"
    example = "robot.bo3d"
    ImportOptions = Import
    ExportOptions = Export
    settings = SETTINGS

    colors_only = True
    always_colored = True

    def sniff(self, data: bytes) -> bool:
        from .read import sniff

        return sniff(data)

    def read(self, data: bytes) -> Document:
        from .read import read

        return read(data)

    def write(self, document: Document) -> bytes:
        from .write import write

        return write(document)

    def to_scene(self, document: Document, options: Import | None = None, beside: Sequence[Document] = ()) -> Scene:
        from .to_scene import to_scene

        return to_scene(document, options)

    def from_scene(self, scene: Scene, options: Export | None = None) -> Document:
        from .from_scene import from_scene

        return from_scene(scene, options)

    def restyle(self, material: Material, images: list[Image]) -> None:
        from .shading import restyle

        restyle(material, images)

    def settle(self, material: Material, images: list[Image]) -> None:
        from .shading import settle

        settle(material, images)

    def summary(self, document: Document) -> list[str]:
        from .summary import summary

        return summary(document)


FORMAT = BO3D()
