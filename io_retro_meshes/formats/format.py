# SPDX-License-Identifier: GPL-3.0-or-later
"""The face of a format: what it is called, what it can do, its functions, its options and its settings.

Each format's package makes one object of a subclass, called FORMAT, and the table in formats/__init__.py lists it. Everything
else in the project knows formats through this class alone. The methods import what they need when they are called, so that
listing a format loads none of its modules.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

from .options import ExportOptions, ImportOptions

if TYPE_CHECKING:
    from ..scene import Image, Material, Scene, Settings


class AnyDocument(Protocol):
    """What a file holds. Warnings say what was odd about it, a sentence each."""

    warnings: list[str]


Document = TypeVar("Document", bound=AnyDocument)
Import = TypeVar("Import", bound=ImportOptions)
Export = TypeVar("Export", bound=ExportOptions)


class Note(str):
    """A line among warnings that tells what is worth knowing: nothing is lost or wrong."""


class Budget(NamedTuple):
    """How much of something a file has, and what is the most that is known to work."""

    owner: str
    what: str
    used: int
    most: int


class Format(ABC, Generic[Document, Import, Export]):
    """One file format, read and written."""

    id: ClassVar[str]  # also the name of the operators: import_scene.<id>
    label: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]]
    import_extensions: ClassVar[tuple[str, ...]] = ()  # of files that lead to one of its own: imported, never written
    used_by: ClassVar[str]  # engines and games, for the README and the menus' tooltips
    import_tip: ClassVar[str]  # what the import operator does, for its tooltip
    export_tip: ClassVar[str]
    example: ClassVar[str] = ""  # a file in examples/

    # What the user may choose, and typed settings for what Blender has no field for, by the type of datablock they are on.
    ImportOptions: type[Import]
    ExportOptions: type[Export]
    settings: ClassVar[Mapping[str, type]] = {}

    in_menus: ClassVar[bool] = True  # Blender gets operators, menus and settings for it; False where it has its own

    # Traits: what a scene for this format is collected like.
    shared_extension: ClassVar[bool] = False  # other programs use the extension, too: only the bytes tell
    quads: ClassVar[bool] = False  # faces of four corners stay faces of four corners
    skin_space: ClassVar[Literal["ARMATURE", "MESH"]] = "ARMATURE"  # where vertices of a skinned mesh are
    pixels: ClassVar[bool] = False  # images come with their pixels
    texture_folder: ClassVar[str] = ""  # where the engine looks for pictures, relative to the model
    texture_extension: ClassVar[str] = ""  # of the only kind of picture that the engine reads
    masks: ClassVar[bool] = False  # the file says how the engine makes alpha of colours: pictures stay as they are
    colors_only: ClassVar[bool] = False  # textures are for the colour: there is no place for normal maps and the like
    uv_maps: ClassVar[int] = 1  # that textures of a material can choose from
    moves_textures: ClassVar[bool] = False  # textures can be moved, scaled and turned: else it goes into the UV maps
    always_colored: ClassVar[bool] = False  # colours of vertices are shown whatever the material says
    colors_replace: ClassVar[bool] = False  # ... and instead of the material's own, not times it
    glows: ClassVar[bool] = False  # materials can shine by themselves, in any colour
    embeds: ClassVar[bool] = False  # pictures go into the file, none beside it
    numbered_surfaces: ClassVar[bool] = False  # engines count textures by surface: those that look alike stay apart
    fractions: ClassVar[bool] = False  # keys may be between whole frames
    seconds: ClassVar[bool] = False  # its animations count in seconds, not in frames
    named_actions: ClassVar[bool] = False  # an action by itself is an animation under its name, not a timeline

    has_budget: ClassVar[bool] = False  # the engine has room for so much only: `budget` tells

    @abstractmethod
    def sniff(self, data: bytes) -> bool:
        """Do these first bytes look like this format?"""

    @abstractmethod
    def read(self, data: bytes) -> Document:
        """Raises FormatError and nothing else."""

    @abstractmethod
    def write(self, document: Document) -> bytes:
        """The very bytes that were read, for a document that was not changed."""

    @abstractmethod
    def to_scene(self, document: Document, options: Import | None = None, beside: Sequence[Document] = ()) -> Scene:
        """What the engine would show. `beside` are the documents of the companion files that could be read."""

    def check(self, scene: Scene) -> None:
        """Refuses, with a FormatError, a scene that can never be written: before its animation is sampled."""

    @abstractmethod
    def from_scene(self, scene: Scene, options: Export | None = None) -> Document:
        """A document that the engine draws as the scene looks."""

    @abstractmethod
    def summary(self, document: Document) -> list[str]:
        """What is in the file, a line each, for people."""

    def budget(self, document: Document) -> list[Budget]:
        """What the file takes of what the engine has room for."""
        return []

    def restyle(self, material: Material, images: list[Image]) -> None:
        """Makes a material look as its settings of this format, and those of its layers, say. May add to `images`."""

    def settle(self, material: Material, images: list[Image]) -> None:
        """The inverse: brings the settings up to what the material looks like. Those without a look stay as they are."""

    def keeps_hidden(self, settings: Settings) -> bool:
        """Is an object with these settings exported even while it is hidden?"""
        return False

    def frames_in_seconds(self, scene: Scene) -> list[Note]:
        """Where the frames of a file are found in one that counts in seconds, a line for each animation, for people."""
        return []

    def companions(self, path: Path, document: Document, options: Import | None = None) -> list[Path]:
        """Files to read beside this one."""
        return []

    def read_companion(self, path: Path, data: bytes) -> Document:
        """One of the companion files, for `to_scene`. Raises FormatError and nothing else."""
        return self.read(data)

    def companion_files(self, path: Path, document: Document) -> list[tuple[Path, bytes]]:
        """Files to write beside this one."""
        return []
