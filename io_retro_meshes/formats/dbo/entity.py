# SPDX-License-Identifier: GPL-3.0-or-later
"""The .fpe of FPS Creator and GameGuru: a text of `name = value` lines that names a model and its texture."""

from __future__ import annotations

import ntpath
from pathlib import Path

from ...scene import Image, Scene, TextureLayer
from ..binary import decode
from ..errors import FormatError
from .document import Document, Root
from .to_scene.materials import search_names

EXTENSION = ".fpe"
MOST_BYTES = 1 << 20  # of the text; the largest known is some kilobytes


def sniff(data: bytes) -> bool:
    """No model begins so: a line of text with a `=` in it, and the word that names the model."""
    head = data[: 1 << 16]
    return b"\0" not in head and b"=" in head and _values(head).get("model") is not None


def read(data: bytes) -> Document:
    """A document without frames, that says which model and which textures are meant."""
    entity = _values(data[:MOST_BYTES])
    if not entity.get("model"):
        raise FormatError("it names no model", offset=0, field="model")
    return Document(Root(), entity=entity, text=data)


def _values(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in decode(data).splitlines():
        name, equals, value = line.partition(";")[0].partition("=")
        if equals:
            found.setdefault(name.strip().lower(), value.strip())
    return found


def companions(path: Path, document: Document) -> list[Path]:
    """The model of an entity; of a model, the entity of the same name."""
    if document.entity is None:
        return _beside(path, path.stem + EXTENSION)
    stem = ntpath.splitext(ntpath.basename(document.entity["model"]))[0]
    found = _beside(path, f"{stem}.dbo")  # a model that is named as .x has been converted
    if not found or ntpath.basename(document.entity["model"]) != document.entity["model"]:
        raise FormatError(f"its model {document.entity['model']!r} is not beside it", file=path.name, offset=0, field="model")
    return found


def _beside(path: Path, name: str) -> list[Path]:
    """The file of this name, in whatever case, in the same folder."""
    try:
        return [each for each in path.parent.iterdir() if each.name.lower() == name.lower() and each.is_file()][:1]
    except OSError:
        return []


def add_textures(scene: Scene, entity: dict[str, str]) -> None:
    """The texture that the entity names, where the model's own is not found or it has none."""
    names = [entity.get(name, "") for name in ("textured", "texturepath")]
    name = names[0] or (names[1] if ntpath.splitext(names[1])[1] else "")
    if not name:
        return
    given = search_names(name)
    for index in {layer.image for material in scene.materials for layer in material.layers if layer.use == "COLOR"}:
        image = scene.images[index]
        image.names = tuple(dict.fromkeys([*(image.names or (image.name,)), *given]))
    bare = [material for material in scene.materials if not material.layers]
    if bare:
        scene.images.append(Image(ntpath.basename(name), given))
    for material in bare:
        material.layers.append(TextureLayer(len(scene.images) - 1))
