# SPDX-License-Identifier: GPL-3.0-or-later
"""BOGLE .bgl: whole scenes for an OpenGL engine, written by its own Blender exporter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..format import Format
from .options import ExportOptions as Export
from .options import ImportOptions as Import
from .settings import SETTINGS

if TYPE_CHECKING:
    from ...scene import Scene
    from .document import Document
    from .drafts import Draft


class Bogle(Format["Document | Draft", Import, Export]):
    id = "bogle"
    label = "BOGLE"
    extensions = (".bgl",)
    used_by = "the BOGLE exporter and its engine"
    import_tip = "Open a BOGLE scene"
    export_tip = "Save the scene for the BOGLE engine"
    example = "lighthouse.bgl"
    ImportOptions = Import
    ExportOptions = Export
    settings = SETTINGS

    fractions = True
    glows = True
    beside_timeline = True
    named_actions = True
    texture_folder = "textures"
    texture_extension = ".png"
    skin_space = "MESH"  # a skeleton has a matrix of its own in the object that it moves: the skin can stay as it is

    def sniff(self, data: bytes) -> bool:
        from .read import sniff

        return sniff(data)

    def read(self, data: bytes) -> Document | Draft:
        from .read import read

        return read(data)

    def write(self, document: Document | Draft) -> bytes:
        from .write import write

        return write(document)

    def to_scene(
        self, document: Document | Draft, options: Import | None = None, beside: Sequence[Document | Draft] = ()
    ) -> Scene:
        from .document import Document
        from .geometries import joined
        from .to_scene import to_scene

        if isinstance(document, Document) and document.layout == "GEOMETRIES":
            document = joined(document, [each for each in beside if isinstance(each, Document)])
        return to_scene(document, options)

    def from_scene(self, scene: Scene, options: Export | None = None) -> Document | Draft:
        from .from_scene import from_scene

        return from_scene(scene, options)

    def summary(self, document: Document | Draft) -> list[str]:
        from .summary import summary

        return summary(document)

    def companions(self, path: Path, document: Document | Draft, options: Import | None = None) -> list[Path]:
        from .document import Document
        from .geometries import companions

        return companions(path, document) if isinstance(document, Document) and document.layout == "GEOMETRIES" else []

    def read_companion(self, path: Path, data: bytes) -> Document | Draft:
        from .geometries import read

        return read(path, data)

    def companion_files(self, path: Path, document: Document | Draft) -> list[tuple[Path, bytes]]:
        from .document import Document
        from .geometries import companion_files

        return companion_files(path, document) if isinstance(document, Document) and document.layout == "GEOMETRIES" else []


FORMAT = Bogle()
