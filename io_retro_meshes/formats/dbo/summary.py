# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a file, for people."""

from __future__ import annotations

from .document import Document, chain


def summary(document: Document) -> list[str]:
    frames = [frame for frame, _ in document.frames()]
    meshes = [frame.mesh for frame in frames if frame.mesh is not None]
    if document.entity is not None:
        return [f"entity of the model {document.entity['model']}", f"texture {document.entity.get('textured') or 'none'}"]
    bones = sum(len(mesh.bones) for mesh in meshes)
    lines = [
        f"Dark Basic Pro object, version {document.version}",
        f"{len(frames)} frames, {len(meshes)} meshes",
        f"{sum(mesh.vertex_count for mesh in meshes)} vertices, {sum(mesh.index_count for mesh in meshes)} indices",
        f"vertex formats: {', '.join(sorted({f'0x{mesh.fvf:X}' for mesh in meshes})) or 'none'}",
    ]
    if bones:
        lines.append(f"{bones} bones in {sum(bool(mesh.bones) for mesh in meshes)} skinned meshes")
    textures = sorted({texture.name for mesh in meshes for texture in mesh.textures if texture.name})
    lines += [f'texture "{name}"' for name in textures]
    for entry in document.animation_sets():
        span = f"{entry.start:g} to {entry.finish:g}" if entry.finish > entry.start else f"{entry.length} frames"
        moving = len(chain(entry.animation))
        lines.append(f'animation "{entry.name}": {span}, {f"{moving} frames move" if moving else "a part of the one before"}')
    if document.custom_data:
        lines.append(f"{len(document.custom_data)} bytes of custom data")
    return lines
