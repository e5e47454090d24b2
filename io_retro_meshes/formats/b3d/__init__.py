# SPDX-License-Identifier: GPL-3.0-or-later
"""Blitz3D models, .b3d."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..format import Format, Note
from .options import ExportOptions as Export
from .options import ImportOptions as Import
from .settings import SETTINGS

if TYPE_CHECKING:
    from ...scene import Image, Material, Scene
    from .document import Document


class Blitz3D(Format["Document", Import, Export]):
    id = "b3d"
    label = "Blitz3D"
    extensions = (".b3d",)
    used_by = "Blitz3D, Luanti (Minetest), Irrlicht"
    import_tip = "Open a Blitz3D model, as used by Blitz3D games, Luanti and Irrlicht"
    export_tip = "Save the scene as a Blitz3D model"
    example = "fox.b3d"
    ImportOptions = Import
    ExportOptions = Export
    settings = SETTINGS

    masks = True
    uv_maps = 2
    moves_textures = True
    colors_replace = True
    colors_only = True
    numbered_surfaces = True

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

    def frames_in_seconds(self, scene: Scene) -> list[Note]:
        from .frames import frames_in_seconds

        return frames_in_seconds(scene)

    def restyle(self, material: Material, images: list[Image]) -> None:
        from .shading import restyle

        restyle(material, images)

    def settle(self, material: Material, images: list[Image]) -> None:
        from .shading import settle

        settle(material, images)

    def summary(self, document: Document) -> list[str]:
        from .summary import summary

        return summary(document)


FORMAT = Blitz3D()
