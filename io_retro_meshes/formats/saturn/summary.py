# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a file, for people."""

from __future__ import annotations

from . import skeleton
from .document import LIST_NAMES, TAG_NAMES, Document


def summary(document: Document) -> list[str]:
    lines = []
    for number, character in enumerate(document.characters):
        tree = skeleton.tree(character.model.skeleton)
        meshes = [mesh for meshes in character.model.lists for mesh in meshes]
        named = zip(LIST_NAMES, character.model.lists, strict=False)
        lines += [
            f"Saturn battle character {number}: {len(tree.parents)} bones",
            f"{len(meshes)} meshes ({', '.join(f'{name} {len(listed)}' for name, listed in named)}), "
            f"{sum(len(mesh.points) for mesh in meshes)} vertices, {sum(len(mesh.polygons) for mesh in meshes)} polygons",
            f"{len(character.textures.definitions)} textures in {2 * len(character.textures.memory)} bytes",
            "tags: " + (", ".join(TAG_NAMES.get(tag.code, f"tag_{tag.code:02X}") for tag in tree.tags) or "none"),
        ]
        elsewhere = " (packed)" if character.extra else " (in the x8an file)"
        lines += [
            f"animation {each.name}, frames {each.first} to {each.last}" + (elsewhere if each.external else "")
            for each in character.animation.definitions
        ]
        damaged = sum(segment.damaged for segment in character.extra)
        if character.extra:
            lines.append(f"{len(character.extra)} packed animations" + (f", {damaged} of them damaged" if damaged else ""))
    for number, segment in enumerate(document.segments):
        first, last = segment.frame_range
        lines.append(f"animation segment {number}: {len(segment.bones)} bones, frames {first} to {last}")
    return lines
