# SPDX-License-Identifier: GPL-3.0-or-later
"""Battle characters of the Sega Saturn: x8pc*.bin, and x8an*.bin with more of their animations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..format import Budget, Format
from .options import ExportOptions as Export
from .options import ImportOptions as Import
from .settings import SETTINGS

if TYPE_CHECKING:
    from ...scene import Image, Material, Scene, Settings
    from .document import Document


class SaturnBattle(Format["Document", Import, Export]):
    id = "saturn"
    label = "Saturn Character"
    extensions = (".bin",)
    used_by = "Sega Saturn discs"
    import_tip = "Open battle characters of the Sega Saturn: x8pc files, with the x8an file beside them"
    export_tip = "Save characters as battle characters of the Sega Saturn"
    example = "knight.bin"
    ImportOptions = Import
    ExportOptions = Export
    settings = SETTINGS

    shared_extension = True
    quads = True
    pixels = True
    embeds = True
    colors_only = True
    has_budget = True

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

        return to_scene(document, options, beside)

    def check(self, scene: Scene) -> None:
        from .budget import check

        check(scene)

    def from_scene(self, scene: Scene, options: Export | None = None) -> Document:
        from .from_scene import from_scene

        return from_scene(scene, options)

    def restyle(self, material: Material, images: list[Image]) -> None:
        from .shading import restyle

        restyle(material, images)

    def settle(self, material: Material, images: list[Image]) -> None:
        from .shading import settle

        settle(material, images)

    def budget(self, document: Document) -> list[Budget]:
        from .budget import budget
        from .write import write_character

        return budget(document, [len(write_character(character)) for character in document.characters])

    def summary(self, document: Document) -> list[str]:
        from .summary import summary

        return summary(document)

    def keeps_hidden(self, settings: Settings) -> bool:
        """What is shown instead of a weapon is exported even while it is hidden."""
        return settings.get("saturn", {}).get("list", 0) not in (0, 1)

    def companions(self, path: Path, document: Document, options: Import | None = None) -> list[Path]:
        from .segments import companions

        return companions(path, document, options)

    def companion_files(self, path: Path, document: Document) -> list[tuple[Path, bytes]]:
        from .segments import companion_files

        return companion_files(path, document)


FORMAT = SaturnBattle()
