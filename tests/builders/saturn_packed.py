# SPDX-License-Identifier: GPL-3.0-or-later
"""Battle characters as later games have them: packed animations, several in a file, faces wound against their normals."""

from __future__ import annotations

import numpy as np

from io_retro_meshes.formats.saturn import textures
from io_retro_meshes.formats.saturn.document import EVENT, Character, Definition, Document, PackedSegment, Segment
from io_retro_meshes.scene import Channel, Clip, maths
from tests.builders import saturn as made

FIRST, LENGTH = 40, 21  # of the packed animations
AGAINST = [[False, True, False, True, False, False], [True, False, False, False, True, True]]  # faces, of trunk and arm


def lunge(start: int, reach: float) -> Segment:
    """The trunk leans and the arm strikes, 21 frames from `start` on."""
    return Segment(
        [
            made.swing((0, 0, 0), (0, 1, 0), {start: 0, start + 9: reach, start + 20: 0}),
            made.swing((0, -2, 0), (1, 0, 0), {start: 0, start + 5: -20, start + 12: 25, start + 20: 0}),
            made.swing((1, -5, 0), (0, 0.6, 0.8), {start: 0, start + 7: -80, start + 11: 70, start + 20: 0}),
        ]
    )


def fighter(count: int = 3, damaged: int = -1) -> Character:
    """A puppet whose attacks are packed, with gloves turned inside out, an end code and a word without its highest bit."""
    [character] = made.puppet().characters
    trunk, arm = character.model.lists[0]
    for mesh, against in zip((trunk, arm), AGAINST, strict=True):
        corners = mesh.points[mesh.polygons["vertices"]].astype(float)
        around = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
        turn = (np.einsum("ij,ij->i", around, mesh.polygons["normal"].astype(float)) < 0) != against
        mesh.polygons["vertices"][turn] = mesh.polygons["vertices"][turn][:, ::-1]
    trunk.polygons["normal"][5] = (12345, 60001, 17)  # as no one would compute it
    trunk.attributes["atrb"][0] &= 0xFF7F  # heeds end codes
    words = [made.picture(8, 4), made.picture(16, 3)]
    words[0][1, 2], words[0][1, 5], words[0][2, 3] = 0x7FFF, 0x7FFF, 0x1234
    character.textures = textures.pack(words)
    for index in range(count):
        start = FIRST + 30 * index
        events = np.array([(start + 3, 0x16), (start + 11, 6), (start + 11, 0xFF30), (start + 12, 0x2B)], EVENT)
        character.animation.definitions.append(Definition(0x1000 | start, LENGTH, 0x30 + 0x10 * index, 12, events))
        character.extra.append(PackedSegment(lunge(start, 10.0 + 15 * index).bones))
    if damaged >= 0:
        character.extra[damaged] = PackedSegment(source=b"\0\0\1\0\0\0\0\x08\xff\xff\xff\xff\xff\xff\xff\xff", damaged=True)
    return character


def party(count: int = 3, slot: int = 0x5800) -> bytes:
    """Several characters in equal slots with room to spare, as bytes of a file."""
    from io_retro_meshes.formats import saturn

    found = b""
    for number in range(count):
        character = fighter(number)
        character.animation.definitions[0].distance = number
        data = saturn.write(Document([character]))
        found += data + b"\xff" * (slot - len(data))
    return found


def documents() -> list[Document]:
    return [Document([fighter(3, damaged=1)]), Document([fighter(1), fighter(2)])]


def swung(clip: Clip, bone: int, degrees: float) -> None:
    """Turns a bone further on the second key of a clip."""
    assert clip.tracks is not None
    track = clip.tracks[(0, bone)]
    assert track.rotation is not None
    half = np.radians(degrees) / 2
    values = track.rotation.values.copy()
    values[1] = maths.quaternion_multiply(np.array([np.cos(half), 0, 0, np.sin(half)], np.float32), values[1])
    track.rotation = Channel(track.rotation.frames, values)
