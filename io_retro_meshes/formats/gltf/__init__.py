# SPDX-License-Identifier: GPL-3.0-or-later
"""glTF 2.0, .glb and .gltf: what other programs read. Blender has its own for its menus; this one needs no Blender."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..format import Format
from .options import ExportOptions as Export
from .options import ImportOptions as Import

if TYPE_CHECKING:
    from ...scene import Scene
    from .document import Document


class Gltf(Format["Document", Import, Export]):
    id = "gltf"
    label = "glTF 2.0"
    extensions = (".glb", ".gltf")
    used_by = "three.js, Godot, Unity, Unreal, Luanti, Blender and most others"
    import_tip = "Open a glTF model"
    export_tip = "Save as a glTF model"
    ImportOptions = Import
    ExportOptions = Export

    in_menus = False
    embeds = True
    uv_maps = 8
    moves_textures = True
    glows = True
    numbered_surfaces = True
    fractions = True
    seconds = True

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

    def from_scene(self, scene: Scene, options: Export | None = None) -> Document:
        from .from_scene import from_scene

        return from_scene(scene, options)

    def summary(self, document: Document) -> list[str]:
        from .summary import summary

        return summary(document)

    def companions(self, path: Path, document: Document, options: Import | None = None) -> list[Path]:
        from .beside import companions

        return companions(path, document)

    def read_companion(self, path: Path, data: bytes) -> Document:
        """Buffers are no documents: plain bytes under their name."""
        from .document import Document

        return Document(files={path.as_posix(): data})

    def companion_files(self, path: Path, document: Document) -> list[tuple[Path, bytes]]:
        from .beside import companion_files

        return companion_files(path, document)


FORMAT = Gltf()
