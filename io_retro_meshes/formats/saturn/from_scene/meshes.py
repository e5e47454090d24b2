# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of the scene -> polygons of four corners, split into parts that are rigid on one bone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Mesh, Scene, maths
from ...errors import FormatError
from .. import axes
from .. import document as doc
from ..face_attributes import ATTRIBUTES, NO_AREA, PAIR, PART, POLYGON, REVERSED, TURNED
from .materials import face_values, polygon_attributes
from .pictures import TextureSet

Array = npt.NDArray[Any]

FARTHEST = 32767.0  # units that 16.16 can hold


@dataclass
class PolygonMesh:
    """A mesh object as polygons, in the file's axes."""

    name: str
    points: Array  # (n, 3)
    normals: Array | None
    quads: Array  # (f, 4) points
    attributes: Array  # ATTR; texno is a number of the TextureSet until `renumber_textures`
    parts: Array  # (f,)
    numbers: Array  # (f,) of the polygon in its part, in the file it came from; -1 for a new one
    turned: Array  # (f,) mask of the polygons that are wound against their normals
    spare: Array  # (n,) mask of points that exist only because a scene's mesh has no faces with two corners on one vertex
    bones: Array  # (n,) the bone that each point follows, or -1

    def renumber_textures(self, numbers: Array) -> None:
        textured = self.attributes["dir"] & doc.DIR_KIND == doc.DIR_TEXTURED
        self.attributes["texno"][textured] = numbers[self.attributes["texno"][textured]]


def polygon_mesh(
    scene: Scene, mesh: Mesh, materials: list[int], matrix: Array, textures: TextureSet, listed: list[doc.Mesh]
) -> PolygonMesh:
    """`matrix` takes the mesh to where its points belong, in the scene's axes. No point is on a bone yet.

    `listed`: the meshes of the file that it came from.
    """
    sizes = np.diff(np.append(mesh.starts, len(mesh.corners)))
    if len(sizes) and (sizes.min() < 3 or sizes.max() > 4):
        raise FormatError(f'mesh "{mesh.name}" has faces of {sizes.max()} corners: only triangles and quads can be written')
    pair = _pairs(mesh, sizes)
    places = _corner_places(mesh, sizes, pair)
    turned = face_values(mesh, TURNED, 0) == 1
    places[turned] = places[turned][:, REVERSED]
    pair = np.where(turned & (pair >= 0), 3 - pair, pair)
    slots = np.zeros(len(sizes), np.int64) if mesh.face_materials is None else mesh.face_materials
    slots = np.minimum(slots, max(len(materials) - 1, 0))
    edited = _edited_attributes(mesh, listed)
    attributes, turns = polygon_attributes(scene, mesh, materials, slots, places, pair, textures, edited)
    # A picture that lies on its side is put upright by starting at the next corner.
    places = np.take_along_axis(places, (np.arange(4) + turns[:, None]) % 4, 1)
    quads, spare = _merged(mesh, mesh.corners[places].astype(np.int64))
    return PolygonMesh(
        mesh.name,
        axes.vectors_to_file(maths.transform_points(matrix, mesh.positions.astype(np.float64))),
        _point_normals(mesh, matrix),
        quads,
        attributes,
        face_values(mesh, PART, 0),
        face_values(mesh, POLYGON, -1),
        turned,
        spare,
        np.full(len(mesh.positions), -1),
    )


def _edited_attributes(mesh: Mesh, listed: list[doc.Mesh]) -> dict[str, Array]:
    """Of each attribute the faces that have another value than their polygon has in the file."""
    parts, numbers = face_values(mesh, PART, 0), face_values(mesh, POLYGON, -1)
    counts = np.array([len(source.attributes) for source in listed], np.int64)
    there = (parts >= 0) & (parts < len(listed)) & (numbers >= 0)
    there[there] = numbers[there] < counts[parts[there]]
    rows = np.concatenate([np.zeros(0, doc.ATTR), *(source.attributes for source in listed)])
    place = (np.cumsum(counts) - counts)[parts[there]] + numbers[there]
    edited = {name: np.zeros(mesh.face_count, bool) for name in ATTRIBUTES}
    for name, changed in edited.items():
        changed[there] = face_values(mesh, name, 0)[there] != rows[name][place]
    return edited


def _pairs(mesh: Mesh, sizes: Array) -> Array:
    """Which corner of a triangle is doubled, as the file's polygon had it; -1 for quads."""
    kept = face_values(mesh, PAIR, 2)
    return np.where(sizes == 4, -1, np.where((kept >= 0) & (kept < 4), kept, 2))


def _corner_places(mesh: Mesh, sizes: Array, pair: Array) -> Array:
    """(f, 4): the mesh's corners in the order of the polygon, with one twice in a triangle."""
    order = np.array([[0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 2], [0, 1, 2, 0], [0, 1, 2, 3]])
    return mesh.starts[:, None].astype(np.int64) + order[pair]


def _merged(mesh: Mesh, quads: Array) -> tuple[Array, Array]:
    """The quads, those without area on as few points again as they had in their file; and the points that leaves over."""
    lost = np.flatnonzero(face_values(mesh, PAIR, -1) == NO_AREA)
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
    return axes.vectors_to_file(turned)


# --------------------------------------------------------------------------------------------------------------- parts


@dataclass
class Part:
    """One mesh of a list: the faces of one part on one bone."""

    order: int  # the number of the part, where an import left one
    bone: int
    mesh: doc.Mesh
    code: int  # that draws it
    numbers: Array  # (f,) of its polygons in the file it came from, or -1


def rigid_bones(mesh: Mesh, strongest: bool) -> Array:
    """The one bone of every vertex of a skinned mesh; -1 for none."""
    skin = mesh.skin
    assert skin is not None
    total = np.bincount(skin.vertices, skin.weights, len(mesh.positions))
    strong = skin.weights > 0.01 * total[skin.vertices]
    counts = np.bincount(skin.vertices[strong], minlength=len(mesh.positions))
    several = int((counts > 1).sum())
    if several and not strongest:
        raise FormatError(
            f'{several} vertices of "{mesh.name}" follow several bones: every part must be rigid on one bone. '
            "Give each vertex one vertex group, or let the exporter take the strongest (Strongest Bone)"
        )
    bones = np.full(len(mesh.positions), -1)
    order = np.lexsort((-skin.bones[strong], skin.weights[strong]))  # of equals the first bone
    bones[skin.vertices[strong][order]] = skin.bones[strong][order]
    return bones


def _face_bones(polygons: PolygonMesh, strongest: bool) -> Array:
    """The one bone of every face; where its corners differ the one that most of them follow."""
    owner = np.sort(polygons.bones[polygons.quads], 1)
    mixed = np.flatnonzero(owner[:, 0] != owner[:, 3]) if len(owner) else np.zeros(0, np.int64)
    if len(mixed) and not strongest:
        raise FormatError(
            f'{len(mixed)} faces of "{polygons.name}" join several bones: every part must be rigid on one bone. '
            "Split the mesh there, or let the exporter take the strongest (Strongest Bone)"
        )
    found: Array = owner[:, 0].copy() if len(owner) else np.zeros(0, np.int64)
    alike = (owner[mixed][:, :, None] == owner[mixed][:, None, :]).sum(2)
    found[mixed] = np.take_along_axis(owner[mixed], alike.argmax(1)[:, None], 1)[:, 0]
    return found


def split_by_bone(polygons: PolygonMesh, draw_codes: bytes, strongest: bool) -> list[Part]:
    """The faces by part and bone; points that no face uses go with their bone's first part."""
    rows = np.stack([polygons.parts, _face_bones(polygons, strongest)], 1)
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    which = which.reshape(-1)
    loose = ~polygons.spare
    loose[polygons.quads] = False
    parts = []
    for number, (order, bone) in enumerate(distinct.tolist()):
        mine = np.flatnonzero(which == number)
        extra = np.flatnonzero(loose & (polygons.bones == bone))
        loose[extra] = False
        code = draw_codes[order] if order < len(draw_codes) else 0
        parts.append(Part(order, bone, _part_mesh(polygons, mine, extra), code, polygons.numbers[mine]))
    return parts


def _part_mesh(source: PolygonMesh, faces: Array, extra: Array) -> doc.Mesh:
    """Some faces with just the points they use, and a few more."""
    quads = source.quads[faces]
    used = np.unique(np.concatenate([quads.reshape(-1), extra]))
    points = source.points[used]
    if len(points) > 0xFFFF:
        raise FormatError(f'a part of "{source.name}" has {len(points)} vertices: there can be 65535. Split or simplify it')
    if not np.isfinite(points).all() or np.abs(points).max(initial=0) > FARTHEST:
        raise FormatError(
            f'"{source.name}" has vertices farther than {FARTHEST:g} units from the origin. Move it there, or export at a scale'
        )
    polygons = np.zeros(len(quads), doc.POLYGON)
    polygons["vertices"] = np.searchsorted(used, quads)
    corners = source.points[quads]
    normal = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
    normal = np.where(source.turned[faces][:, None], -normal, normal)
    polygons["normal"] = axes.to_fixed(maths.normalized(normal))
    normals = None
    if source.normals is not None:
        normals = axes.to_normal_words(source.normals[used])
    return doc.Mesh(axes.to_fixed(points), polygons, source.attributes[faces], normals)


def bounds(body: list[doc.Mesh]) -> tuple[Array, float]:
    """Centre and half extents, and the size."""
    points = np.concatenate([np.zeros((0, 3)), *(axes.from_fixed(mesh.points) for mesh in body)])
    if not len(points):
        return np.zeros(6, doc.FIXED), 1.0
    low, high = points.min(0), points.max(0)
    return axes.to_fixed(np.concatenate([(low + high) / 2, (high - low) / 2])), float(np.linalg.norm(high - low)) or 1.0
