# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials, UVs and colours of faces -> ATTR of polygons."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Image, Material, Mesh, Scene, surfaces
from .. import axes, textures
from .. import document as doc
from ..face_attributes import ATTRIBUTES
from ..shading import ID, is_textured, mixed, settle
from .pictures import NEW, TextureSet, unmerged, upright

Array = npt.NDArray[Any]

# Attributes that materials have settings for.
SETTINGS = ("flag", "sort", "atrb")


def face_values(mesh: Mesh, name: str, default: int) -> Array:
    """A FACE attribute that an import left, or `default`."""
    for layer in mesh.attributes:
        if layer.name == name and layer.domain == "FACE" and layer.data.ndim == 1:
            return layer.data.astype(np.int64)
    return np.full(mesh.face_count, default, np.int64)


def polygon_attributes(
    scene: Scene,
    mesh: Mesh,
    materials: list[int],
    slots: Array,
    places: Array,
    pair: Array,
    texture_set: TextureSet,
    edited: dict[str, Array],
) -> tuple[Array, Array]:
    """ATTR of every face, and by how many corners its polygon has to be rotated so that its picture is upright.

    `edited`: the faces whose attributes of these names somebody has changed since the import.
    """
    kept = {name: face_values(mesh, name, 0) for name in ATTRIBUTES}
    known = np.isin(kept["dir"] & doc.DIR_KIND, (2, 4, 5, 6))
    attributes = np.zeros(len(slots), doc.ATTR)
    turns = np.zeros(len(slots), np.int64)
    colors = _face_colors(mesh, places)
    default = Material("")
    for slot in np.unique(slots):
        faces = np.flatnonzero(slots == slot)
        index = materials[slot] if materials else -1
        material = settled(scene.materials[index] if index >= 0 else default, scene.images)
        rows = np.zeros(len(faces), doc.ATTR)
        image, layer = _image_of(scene, mesh, material)
        derived = _derived(material, image >= 0, mesh.smooth[faces] if mesh.smooth is not None else np.ones(len(faces), bool))
        old = known[faces]
        for name in ATTRIBUTES:
            rows[name] = np.where(old & (not _set_anew(name, material)), kept[name][faces], derived[name])
        _follow_material(rows, material.settings[ID], {name: old & ~edited[name][faces] for name in ("flag", "atrb")})
        if image >= 0:
            uvs = surfaces.corner_values(mesh, mesh.uvs[layer])[places[faces]].astype(np.float64)
            opaque = ~old & (material.blend == "OPAQUE")
            wanted = np.where(old, kept["texno"][faces], NEW)
            turns[faces] = _textured(rows, image, uvs, pair[faces], opaque, wanted, texture_set)
            _warn_of_colors(material, colors is not None, texture_set.warnings)
        else:
            tint = np.clip(material.color, 0, 1) * 255
            shown = np.broadcast_to(np.rint(tint).astype(np.uint8), (len(faces), 4))
            if colors is not None and material.vertex_colors:
                whole = tint if _is_drawn(material) else np.full(4, 255)  # of a file's the color says how it is mixed
                shown = np.rint(colors[faces] * (whole / 255)).astype(np.uint8)
            unseen = old & texture_set.in_file(kept["texno"][faces], kept["dir"][faces], material)
            rows["texno"][unseen] = texture_set.add_from_file(kept["texno"][faces][unseen], material.name)
            flat = rows[~unseen]
            _flat(flat, shown[~unseen], (old & (kept["dir"][faces] & doc.DIR_KIND != doc.DIR_TEXTURED))[~unseen])
            rows[~unseen] = flat
        attributes[faces] = rows
    return attributes, turns


def _is_drawn(material: Material) -> bool:
    """Was it made here, and not imported?"""
    return "imported" not in material.settings[ID]


def _warn_of_colors(material: Material, colored: bool, warnings: list[str]) -> None:
    """A texture is shown as it is."""
    if not _is_drawn(material):
        return
    found = []
    if (material.color[:3] < 0.99).any():
        found.append(f'"{material.name}": its color is not multiplied with the texture, which is shown as it is')
    if colored and material.vertex_colors:
        found.append(f'"{material.name}": has colors of vertices beside a texture, which is shown as it is')
    warnings += [each for each in found if each not in warnings]


def _image_of(scene: Scene, mesh: Mesh, material: Material) -> tuple[int, int]:
    """The image that the material shows and the UV layer it uses; -1 for none."""
    for layer in material.layers:
        if (
            layer.use == "COLOR"
            and layer.image >= 0
            and layer.uv < len(mesh.uvs)
            and scene.images[layer.image].pixels is not None
        ):
            return layer.image, layer.uv
    return -1, 0


def _set_anew(name: str, material: Material) -> bool:
    """Does the material say something else than it did at the import? Faces may each have a value of their own until then."""
    values = material.settings[ID]
    if name not in SETTINGS:
        return False
    if "imported" not in values:  # a material that the user gave them
        return name == "flag" or bool(values["set"])
    before = int(values["imported"][SETTINGS.index(name)])
    if name == "sort" and is_textured(material):
        before |= doc.SORT_TEXTURE
    return bool(values[name] != before)


def _follow_material(rows: Array, settings: dict[str, Any], unedited: dict[str, Array]) -> None:
    """What all polygons of an imported material have in common, for faces that came to it from another one."""
    if "imported" not in settings:
        return
    flag, atrb = rows["flag"], rows["atrb"]
    flag[:] = np.where(unedited["flag"], flag & ~np.uint8(doc.DOUBLE_SIDED) | settings["flag"] & doc.DOUBLE_SIDED, flag)
    wanted = np.where(atrb & doc.STIPPLE != settings["atrb"] & doc.STIPPLE, atrb ^ doc.STIPPLE, atrb)
    mix = int(mixed(np.array(settings["atrb"])))
    smooth = 0 if mix == doc.SHADOW else wanted & doc.GOURAUD
    wanted = np.where(mixed(wanted) != mix, wanted & ~np.uint16(doc.DRAW_MODE) | smooth | mix, wanted)
    heeds_ends = wanted & doc.END_CODE_OFF == 0  # these have holes even where transparent pixels are drawn
    if settings.get("cut_out"):
        wanted = np.where(heeds_ends, wanted, wanted & ~np.uint16(doc.TRANSPARENT_PIXEL_OFF))
    elif settings.get("holes"):
        wanted = wanted | doc.TRANSPARENT_PIXEL_OFF
    atrb[:] = np.where(unedited["atrb"], wanted, atrb)


def _derived(material: Material, textured: bool, smooth: Array) -> Array:
    """The attributes of faces that have none from a file: those of the material's settings, or by how it is drawn."""
    settings = material.settings[ID]
    rows = np.zeros(len(smooth), doc.ATTR)
    rows["flag"] = settings["flag"] & 0xFF
    rows["sort"] = settings["sort"] & 0xFF
    atrb = settings["atrb"] & 0xFFFF
    rows["atrb"] = atrb if settings["set"] else np.where(smooth, atrb, atrb & ~doc.GOURAUD)
    rows["dir"] = doc.DIR_TEXTURED if textured else doc.DIR_POLYGON
    return rows


def settled(material: Material, images: list[Image]) -> Material:
    """The material with settings that say all it shows; `set` among them tells whether `atrb` was one before."""
    made = copy.deepcopy(material)
    given = "atrb" in made.settings.get(ID, {})
    settle(made, images)
    made.settings[ID]["set"] = given
    return made


def _face_colors(mesh: Mesh, places: Array) -> Array | None:
    """(f, 4) bytes: the colour of a face is the mean of its corners'."""
    if not mesh.colors:
        return None
    corners = surfaces.corner_values(mesh, mesh.colors[0])[places].astype(np.float64)
    if mesh.colors[0].data.dtype != np.uint8:
        corners = corners * 255
    return np.clip(np.rint(corners.mean(1)), 0, 255).astype(np.uint8)


def _flat(rows: Array, colors: Array, old: Array) -> None:
    """Fills colno and dir; `old` polygons were flat in their file, and keep their word where it is the same colour."""
    opaque = np.uint16(textures.OPAQUE)
    words = textures.words(colors) | opaque
    before = textures.words(textures.rgba(rows["colno"])) | opaque
    rows["colno"] = np.where(old & (words == before), rows["colno"], words)
    rows["dir"] = np.where(old, rows["dir"], doc.DIR_POLYGON)
    rows["sort"] = np.where(old, rows["sort"], rows["sort"] & ~np.uint8(doc.SORT_TEXTURE))


def _textured(rows: Array, image: int, uvs: Array, pair: Array, opaque: Array, wanted: Array, texture_set: TextureSet) -> Array:
    """Fills texno and dir from what the faces show of the image; returns by how many corners each is turned."""
    pixels = texture_set.images[image].pixels
    assert pixels is not None
    height, width = pixels.shape[:2]
    corners = axes.flip_v(uvs) * np.array([width, height])
    for which in range(4):
        mine = pair == which
        full = unmerged(corners[mine], which)
        corners[mine] = np.where(upright(full)[:, None, None], full, corners[mine])
    exact = upright(corners)
    turned = np.roll(corners, -1, 1)
    turns = (~exact & upright(turned)).astype(np.int64)
    corners = np.where(turns[:, None, None] == 1, turned, corners)
    exact |= turns == 1
    rows["texno"] = texture_set.add(image, corners, exact, opaque, wanted)
    flip_h = exact & (corners[:, 0, 0] > corners[:, 1, 0])
    flip_v = exact & (corners[:, 0, 1] > corners[:, 3, 1])
    others = rows["dir"] & ~np.uint16(doc.DIR_KIND | doc.FLIP_H | doc.FLIP_V)
    rows["dir"] = others | doc.DIR_TEXTURED | np.where(flip_h, doc.FLIP_H, 0) | np.where(flip_v, doc.FLIP_V, 0)
    rows["sort"] |= doc.SORT_TEXTURE
    return turns
