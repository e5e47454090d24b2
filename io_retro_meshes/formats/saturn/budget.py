# SPDX-License-Identifier: GPL-3.0-or-later
"""What the console has room for, and how much of it the game's own characters take."""

from __future__ import annotations

from collections.abc import Sequence

from ...scene import Scene
from ..errors import FormatError
from ..format import Budget
from .document import Document

# The video memory is 512 KiB, a polygon's draw command has 32 bytes in it.
MOST_POLYGONS = 0x80000 // 32

# The most that characters of the game have.
SEEN_POLYGONS = 507
SEEN_TEXTURES = 154
SEEN_TEXTURE_BYTES = 114 * 1024
SEEN_BYTES = 0x2B800  # of a slot of those with several characters in a file


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


def budget(document: Document, sizes: Sequence[int]) -> list[Budget]:
    """`sizes`: the bytes of every character as it is written."""
    found = []
    for number, (character, size) in enumerate(zip(document.characters, sizes, strict=True)):
        name = f"Character {number}" if len(document.characters) > 1 else "The character"
        polygons = sum(len(mesh.polygons) for listed in character.model.lists for mesh in listed)
        found += [
            Budget(name, "polygons", polygons, SEEN_POLYGONS),
            Budget(name, "textures", len(character.textures.definitions), SEEN_TEXTURES),
            Budget(name, "bytes of textures", 2 * len(character.textures.memory), SEEN_TEXTURE_BYTES),
            Budget(name, "bytes in the file", size, SEEN_BYTES),
        ]
    return found


def warnings(document: Document, sizes: Sequence[int]) -> list[str]:
    """How far characters are beyond those of the game."""
    return [
        f"{owner} has {used} {what}: those of the game have at most {most}, and more may not be shown."
        for owner, what, used, most in budget(document, sizes)
        if used > most
    ]
