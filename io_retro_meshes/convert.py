# SPDX-License-Identifier: GPL-3.0-or-later
"""One file into another, between any two of our formats, without Blender."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .files import format_of, load_scene, save_scene
from .formats import FORMATS, AnyFormat
from .formats.options import ExportOptions, ImportOptions, make, split
from .pictures import kinds
from .pictures.decode import FilePicture, PictureError
from .pictures.place import place_textures
from .pictures.search import Finder, missing_warning
from .scene import Scene, prepare, sanitize, scaled


def convert(
    source: Path,
    target: Path,
    *,
    to: str | None = None,
    options: Mapping[str, Any] | None = None,
    texture_folders: Sequence[Path] = (),
) -> list[str]:
    """Makes `target` out of `source` and returns the warnings, and where frames became seconds the frames of each animation.

    `to` is the format or its extension, by default that of the target. `options` are those of the importer and of the exporter.
    Raises OSError, FormatError, or ValueError where the request makes no sense.
    """
    source, target = Path(source), Path(target)
    reader, writer = format_of(source), _writer(target, to)
    if target.exists() and source.samefile(target):
        raise ValueError(f"{source} would be written over itself")
    importing, exporting = split(options or {}, reader.ImportOptions, writer.ExportOptions)
    with np.errstate(all="ignore"):  # numbers that got out of hand are dealt with as values
        usual = {"name": source.stem, "merge_surfaces": not writer.numbered_surfaces}
        chosen = make(reader.ImportOptions, {**usual, **importing})
        scene = _load(reader, source, chosen)
        pictures = _find_pictures(scene, source.parent, chosen, texture_folders)
        target.parent.mkdir(parents=True, exist_ok=True)
        wanted = make(writer.ExportOptions, {"name": target.name, **exporting})
        warnings = _save(writer, target, scene, pictures, wanted, source.stem)
        return [*warnings, *(reader.frames_in_seconds(scene) if writer.seconds and wanted.animation != "NONE" else ())]


def _writer(path: Path, to: str | None) -> AnyFormat:
    suffix = path.suffix.lower() if to is None else f".{to}"
    found = FORMATS.get(to or "") or next((entry for entry in FORMATS.values() if suffix in entry.extensions), None)
    if found is None:
        raise ValueError(f"there is no format {to or suffix}; there are: {', '.join(FORMATS)}")
    return found


def _load(reader: AnyFormat, path: Path, options: ImportOptions) -> Scene:
    scene = sanitize.sanitize(scaled(load_scene(reader, path, options), options.scale))
    if not options.use_animation:
        scene.timeline, scene.clips = None, []
    elif scene.timeline is not None and not scene.timeline.name:  # most formats have no name for it; imports call it so, too
        scene.timeline.name = path.stem
    return scene


def _save(
    writer: AnyFormat, path: Path, scene: Scene, pictures: list[FilePicture], options: ExportOptions, name: str
) -> list[str]:
    prepare.choose_animation(scene, options.animation, name)
    scene = prepare.prepare(scene, writer, options)
    if not scene.nodes:
        scene.warnings.append("Nothing was exported: there is nothing in the file")
    pictures = pictures[: len(scene.images)]  # none are left where no textures are wanted
    if writer.embeds:
        _decode(scene, pictures, writer)
    return save_scene(writer, path, scene, options, place_textures(scene, pictures, path, options.textures, writer))


# ------------------------------------------------------------------------------------------------------------ pictures


def _find_pictures(scene: Scene, folder: Path, options: ImportOptions, extra: Sequence[Path]) -> list[FilePicture]:
    """Where the scene's pictures are, and a warning about those that are nowhere."""
    if not options.use_textures:
        for material in scene.materials:
            material.layers = []
        scene.images = []
    folders = [*([Path(options.texture_folder)] if options.texture_folder else []), *map(Path, extra)]
    outside = [image for image in scene.images if image.pixels is None and not image.data]
    if outside:
        finder = Finder(folder, folders)
        for image in outside:
            image.path = str(finder.find(image.names or (image.name,)) or "")
        missing = [image.name for image in outside if not image.path]
        scene.warnings += [missing_warning(missing, finder.folders)] if missing else []
    return [FilePicture(image, Path(image.path) if image.path else None) for image in scene.images]


def _decode(scene: Scene, pictures: Sequence[FilePicture], writer: AnyFormat) -> None:
    """Gives images their pixels, for a format that has pictures inside.

    One that takes files as they are needs pixels only of other kinds of files, or where the alpha is not to be the file's own.
    """
    used = {layer.image for material in scene.materials for layer in material.layers if material.blend != "OPAQUE"}
    troubles = []
    for index, (image, picture) in enumerate(zip(scene.images, pictures, strict=True)):
        own_alpha = not (image.mask_black or image.mean_alpha) and (image.alpha or index not in used)
        try:
            if writer.pixels or not own_alpha or not _is_common(picture.encoded()):
                image.pixels = picture.pixels()
        except PictureError as error:
            troubles.append(f"The texture {picture.path.name if picture.path else image.name} was left out: {error}")
        except OSError as error:
            troubles.append(f"The texture {image.name} was left out: {error.strerror or error}")
    scene.warnings += dict.fromkeys(troubles)


def _is_common(data: bytes | None) -> bool:
    return data is None or not {".png", ".jpg"}.isdisjoint(kinds.extensions(data[: kinds.HEAD]))
