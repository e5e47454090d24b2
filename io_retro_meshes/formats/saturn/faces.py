# SPDX-License-Identifier: GPL-3.0-or-later
"""Faces of Blender -> polygons: four corners each, with attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import maths, surfaces
from ...scene import Material, Mesh, Scene
from ..binary import FormatError
from . import axes, geometry, pictures, textures
from . import document as doc
from .pictures import Book

Array = npt.NDArray[Any]

# What polygons get that no import gave anything: sorted by their centre, RGB, end codes off, gouraud.
SORT = 0xC3
TEXTURED_ATRB = 0x04AC
FLAT_ATRB = 0x04C4


@dataclass
class Surface:
    """A mesh object as polygons, in the file's axes."""

    name: str
    points: Array  # (n, 3)
    normals: Array | None
    quads: Array  # (f, 4) points
    attributes: Array  # ATTR; texno is still the Book's number
    parts: Array  # (f,)
    spare: Array  # (n,) points that were made only because Blender has no faces with two corners on one vertex


def surface(scene: Scene, mesh: Mesh, materials: list[int], matrix: Array, book: Book) -> Surface:
    """`matrix` takes the mesh to where its points belong, in Blender's axes."""
    sizes = np.diff(np.append(mesh.starts, len(mesh.corners)))
    if len(sizes) and (sizes.min() < 3 or sizes.max() > 4):
        raise FormatError(f'mesh "{mesh.name}" has faces of {sizes.max()} corners: only triangles and quads can be written')
    pair = _pairs(mesh, sizes)
    places = _corner_places(mesh, sizes, pair)
    slots = np.zeros(len(sizes), np.int64) if mesh.face_materials is None else mesh.face_materials
    slots = np.minimum(slots, max(len(materials) - 1, 0))
    attributes, turns = _attributes(scene, mesh, materials, slots, places, pair, book)
    # A picture that lies on its side is put upright by starting at the next corner.
    places = np.take_along_axis(places, (np.arange(4) + turns[:, None]) % 4, 1)
    quads, spare = _merged(mesh, mesh.corners[places].astype(np.int64))
    return Surface(
        mesh.name,
        axes.from_blender(maths.transform_points(matrix, mesh.positions.astype(np.float64))),
        _point_normals(mesh, matrix),
        quads,
        attributes,
        face_values(mesh, geometry.PART, 0),
        spare,
    )


def face_values(mesh: Mesh, name: str, default: int) -> Array:
    """A FACE attribute that an import left, or `default`."""
    for layer in mesh.attributes:
        if layer.name == name and layer.domain == "FACE" and layer.data.ndim == 1:
            return layer.data.astype(np.int64)
    return np.full(mesh.face_count, default, np.int64)


def _pairs(mesh: Mesh, sizes: Array) -> Array:
    """Which corner of a triangle is doubled, as the file's polygon had it; -1 for quads."""
    kept = face_values(mesh, geometry.PAIR, 2)
    return np.where(sizes == 4, -1, np.where((kept >= 0) & (kept < 4), kept, 2))


def _corner_places(mesh: Mesh, sizes: Array, pair: Array) -> Array:
    """(f, 4): the mesh's corners in the order of the polygon, with one twice in a triangle."""
    order = np.array([[0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 2], [0, 1, 2, 0], [0, 1, 2, 3]])
    return mesh.starts[:, None].astype(np.int64) + order[pair]


def _merged(mesh: Mesh, quads: Array) -> tuple[Array, Array]:
    """The quads, those without area on as few points again as they had in their file; and the points that leaves over."""
    lost = np.flatnonzero(face_values(mesh, geometry.PAIR, -1) == geometry.LOST)
    places = mesh.positions[quads[lost]]
    equal = (places[:, :, None] == places[:, None, :]).all(-1)
    merged = quads.copy()
    merged[lost] = np.take_along_axis(quads[lost], equal.argmax(2), 1)
    spare = np.zeros(len(mesh.positions), bool)
    spare[quads] = True
    spare[merged] = False
    return merged, spare


def _point_normals(mesh: Mesh, matrix: Array) -> Array | None:
    if mesh.normals is None:
        return None
    normals = mesh.normals.data
    if mesh.normals.domain == "CORNER":
        total = np.zeros(mesh.positions.shape)
        np.add.at(total, mesh.corners, normals)
        normals = total
    turned = maths.transform_normals(matrix, maths.normalized(normals.astype(np.float64), (0, 0, 1)))
    return axes.from_blender(turned)


# ---------------------------------------------------------------------------------------------------------- attributes


def _attributes(
    scene: Scene, mesh: Mesh, materials: list[int], slots: Array, places: Array, pair: Array, book: Book
) -> tuple[Array, Array]:
    """ATTR of every face, and by how many corners its polygon is turned."""
    kept = {name: face_values(mesh, name, 0) for name in geometry.ATTRIBUTES}
    known = np.isin(kept["dir"] & doc.DIR_KIND, (2, 4, 5, 6))
    attributes = np.zeros(len(slots), doc.ATTR)
    turns = np.zeros(len(slots), np.int64)
    colors = _face_colors(mesh, places)
    default = Material("")
    for slot in np.unique(slots):
        faces = np.flatnonzero(slots == slot)
        index = materials[slot] if materials else -1
        material = scene.materials[index] if index >= 0 else default
        rows = np.zeros(len(faces), doc.ATTR)
        image, layer = _image_of(scene, mesh, material)
        derived = _derived(material, image >= 0, mesh.smooth[faces] if mesh.smooth is not None else np.ones(len(faces), bool))
        old = known[faces]
        for name in geometry.ATTRIBUTES:
            rows[name] = np.where(old, kept[name][faces], derived[name])
        rows["flag"] = rows["flag"] & ~np.uint8(1) | (doc.DOUBLE_SIDED if material.double_sided else 0)
        if image >= 0:
            uvs = surfaces.corner_values(mesh, mesh.uvs[layer])[places[faces]].astype(np.float64)
            opaque = ~old & (material.blend == "OPAQUE")
            turns[faces] = _textured(rows, image, uvs, pair[faces], opaque, np.where(old, kept["texno"][faces], 1 << 16), book)
        else:
            tint = np.rint(np.clip(material.color, 0, 1) * 255).astype(np.uint8)
            shown = colors[faces] if colors is not None and material.vertex_colors else np.broadcast_to(tint, (len(faces), 4))
            _flat(rows, shown, old & (kept["dir"][faces] & doc.DIR_KIND != doc.DIR_TEXTURED))
        attributes[faces] = rows
    return attributes, turns


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


def _derived(material: Material, textured: bool, smooth: Array) -> Array:
    """The attributes of faces that have none from a file: the material's own, or what it looks like."""
    settings = material.settings.get("saturn", {})
    rows = np.zeros(len(smooth), doc.ATTR)
    rows["flag"] = settings.get("flag", 0)
    rows["sort"] = settings.get("sort", SORT) | (doc.SORT_TEXTURE if textured else 0)
    atrb = TEXTURED_ATRB if textured else FLAT_ATRB
    atrb |= (doc.STIPPLE if material.stipple else 0) | (doc.TRANSLUCENT if material.blend == "ALPHA" else 0)
    rows["atrb"] = settings["atrb"] if "atrb" in settings else np.where(smooth, atrb, atrb & ~doc.GOURAUD)
    rows["dir"] = doc.DIR_TEXTURED if textured else doc.DIR_POLYGON
    return rows


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


def _textured(rows: Array, image: int, uvs: Array, pair: Array, opaque: Array, wanted: Array, book: Book) -> Array:
    """Fills texno and dir from what the faces show of the image; returns by how many corners each is turned."""
    pixels = book.images[image].pixels
    assert pixels is not None
    height, width = pixels.shape[:2]
    corners = np.stack([uvs[..., 0] * width, (1 - uvs[..., 1]) * height], -1)
    for which in range(4):
        mine = pair == which
        full = pictures.opened(corners[mine], which)
        corners[mine] = np.where(pictures.upright(full)[:, None, None], full, corners[mine])
    exact = pictures.upright(corners)
    turned = np.roll(corners, -1, 1)
    turns = (~exact & pictures.upright(turned)).astype(np.int64)
    corners = np.where(turns[:, None, None] == 1, turned, corners)
    exact |= turns == 1
    rows["texno"] = book.add(image, corners, exact, opaque, wanted)
    flip_h = exact & (corners[:, 0, 0] > corners[:, 1, 0])
    flip_v = exact & (corners[:, 0, 1] > corners[:, 3, 1])
    others = rows["dir"] & ~np.uint16(doc.DIR_KIND | doc.FLIP_H | doc.FLIP_V)
    rows["dir"] = others | doc.DIR_TEXTURED | np.where(flip_h, doc.FLIP_H, 0) | np.where(flip_v, doc.FLIP_V, 0)
    rows["sort"] |= doc.SORT_TEXTURE
    return turns
