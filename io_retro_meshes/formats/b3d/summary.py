# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a file, for people."""

from __future__ import annotations

from ..binary import decode
from .document import Anim, Bone, Document, Keys, Mesh, Sequence, Unknown, of_kind


def summary(document: Document) -> list[str]:
    nodes = [node for node, _ in document.walk()]
    chunks = [chunk for node in nodes for chunk in node.chunks]
    meshes = of_kind(chunks, Mesh)
    keys = of_kind(chunks, Keys)
    vertices = sum(len(mesh.vertices.rows) for mesh in meshes if mesh.vertices)
    surfaces = [triangles for mesh in meshes for triangles in mesh.triangles]
    triangles = sum(len(surface.vertex_ids) for surface in surfaces)
    lines = [
        f"Blitz3D model, version {document.version / 100:.2f}",
        f"{len(nodes)} nodes, {len(of_kind(chunks, Bone))} of them bones",
        f"{len(meshes)} meshes, {len(surfaces)} surfaces, {vertices} vertices, {triangles} triangles",
        f"{len(document.brushes)} brushes, {len(document.textures)} textures",
    ]
    lines += [f"texture {decode(texture.file)}, flags {texture.flags}, blend {texture.blend}" for texture in document.textures]
    if keys:
        lines.append(f"{sum(len(chunk.keys) for chunk in keys)} animation keys")
    lines += [f"animation of {anim.frames} frames at {anim.fps:g} a second" for anim in of_kind(chunks, Anim)]
    lines += [f"sequence {decode(each.name)}, frames {each.first} to {each.last}" for each in of_kind(chunks, Sequence)]
    unknown = of_kind(chunks, Unknown) + of_kind(document.chunks, Unknown)
    lines += sorted({f"unknown chunk {chunk.tag.decode('latin-1')!r}" for chunk in unknown})
    return lines
