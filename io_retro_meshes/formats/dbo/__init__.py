# SPDX-License-Identifier: GPL-3.0-or-later
"""Dark Basic Pro .dbo: models of the engine and of its successors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import FormatError
from ..format import Format
from .options import ExportOptions as Export
from .options import ImportOptions as Import
from .settings import SETTINGS

if TYPE_CHECKING:
    from ...scene import Image, Material, Scene
    from .document import Document


class DarkBasic(Format["Document", Import, Export]):
    id = "dbo"
    label = "Dark Basic Pro"
    extensions = (".dbo",)
    import_extensions = (".fpe",)
    used_by = "DarkBASIC Professional, GameGuru"
    import_tip = "Open a model of Dark Basic Pro, FPS Creator or GameGuru"
    export_tip = "Save the scene for Dark Basic Pro, FPS Creator or GameGuru"
    example = "flower.dbo"
    ImportOptions = Import
    ExportOptions = Export
    settings = SETTINGS

    uv_maps = 8
    always_colored = True
    glows = True

    def sniff(self, data: bytes) -> bool:
        from .read import sniff

        return sniff(data)

    def read(self, data: bytes) -> Document:
        from . import entity
        from .read import read

        return entity.read(data) if entity.sniff(data) else read(data)

    def write(self, document: Document) -> bytes:
        from .write import write

        return document.text if document.entity is not None else write(document)

    def to_scene(self, document: Document, options: Import | None = None, beside: Sequence[Document] = ()) -> Scene:
        from .entity import add_textures
        from .to_scene import to_scene

        models = [each for each in (document, *beside) if each.entity is None]
        if not models:
            raise FormatError("its model could not be read", field="model")
        scene = to_scene(models[0], options)
        for each in (document, *beside):
            if each.entity is not None:
                add_textures(scene, each.entity)
        return scene

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

    def companions(self, path: Path, document: Document, options: Import | None = None) -> list[Path]:
        from .entity import companions

        return companions(path, document)

    def read_companion(self, path: Path, data: bytes) -> Document:
        from . import entity

        return entity.read(data) if path.suffix.lower() == entity.EXTENSION else self.read(data)


FORMAT = DarkBasic()
