# SPDX-License-Identifier: GPL-3.0-or-later
"""What the console, and the game's own characters, have room for."""

from __future__ import annotations

from ....scene import Scene
from ...errors import FormatError
from .. import document as doc

# The video memory is 512 KiB, a polygon's draw command has 32 bytes in it.
MOST_POLYGONS = 0x80000 // 32

# The most that characters of the game have.
SEEN_POLYGONS = 507
SEEN_TEXTURES = 154
SEEN_TEXTURE_BYTES = 114 * 1024


def check(scene: Scene) -> None:
    """Refuses what can never be a character, before any of the work is done."""
    counts = [(scene.meshes[node.mesh].face_count, node.name) for node in scene.nodes if node.mesh >= 0]
    total = sum(count for count, _ in counts)
    if total > MOST_POLYGONS:
        most, name = max(counts)
        raise FormatError(
            f'the scene has {total} polygons ("{name}" alone {most}): the console has memory for {MOST_POLYGONS}, and '
            f"the game's characters have up to {SEEN_POLYGONS}. Simplify it (Decimate), or export a part (Selected Objects)"
        )


def warnings(document: doc.Document) -> list[str]:
    """How far characters are beyond those of the game."""
    found = []
    for number, character in enumerate(document.characters):
        name = f"Character {number}" if len(document.characters) > 1 else "The character"
        polygons = sum(len(mesh.polygons) for listed in character.model.lists for mesh in listed)
        for word, count, seen in (
            ("polygons", polygons, SEEN_POLYGONS),
            ("textures", len(character.textures.definitions), SEEN_TEXTURES),
            ("bytes of textures", 2 * len(character.textures.memory), SEEN_TEXTURE_BYTES),
        ):
            if count > seen:
                found.append(f"{name} has {count} {word}: those of the game have at most {seen}, and more may not be shown.")
    return found
