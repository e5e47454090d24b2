# SPDX-License-Identifier: GPL-3.0-or-later
"""The skeleton's byte-code: a matrix stack's pushes and pops, with meshes drawn and places marked in between."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from . import axes
from .chunk import Chunk
from .document import DRAW, FULL_TAGS, PLAIN_TAGS, POP, PUSH, Command


@dataclass
class Tag:
    """A marked place in model space. The weapon's also has a turn and a scale."""

    code: int
    bone: int  # -1: outside every bone
    translation: npt.NDArray[np.float64]
    rotation: npt.NDArray[np.float64]  # x y z w
    scale: npt.NDArray[np.float64]


@dataclass
class Tree:
    """What the byte-code builds."""

    parents: list[int] = field(default_factory=list)  # of each bone; -1 for a root
    mesh_bones: list[int] = field(default_factory=list)  # the bone that carries each mesh of the body
    draw_codes: list[int] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)


def decode(chunk: Chunk, offset: int, warnings: list[str]) -> list[Command]:
    """The commands up to the pop of the root; what follows means nothing."""
    if offset >= len(chunk):
        raise chunk.error("offset_out_of_range", f"starts 0x{offset:X} bytes into a chunk of 0x{len(chunk):X}", 0, "skeleton")
    data = chunk.bytes
    commands: list[Command] = []
    depth = 1
    unknown: set[int] = set()
    while depth:
        if offset >= len(data):
            if depth > 1:
                raise chunk.error("skeleton_stream", f"ends with {depth - 1} bones still open", offset, "skeleton")
            warnings.append("The skeleton lacks the pop of its root (skeleton_stream); it was read to the end of the chunk.")
            break
        code = data[offset]
        offset += 1
        count = 0
        if code == PUSH:
            depth += 1
        elif code == POP:
            depth -= 1
        elif code not in DRAW:
            offset += -offset % 4
            count = 10 if code in FULL_TAGS else 3
            if code not in FULL_TAGS and code not in PLAIN_TAGS:
                unknown.add(code)
        if offset + 4 * count > len(data):
            raise chunk.error("skeleton_stream", f"the chunk ends inside tag {code:02X}", offset, "skeleton")
        chunk.spend_on("command", 1, "skeleton")
        commands.append(Command(code, struct.unpack_from(f">{count}i", data, offset)))
        offset += 4 * count
    if unknown:
        codes = ", ".join(f"{code:02X}" for code in sorted(unknown))
        warnings.append(f"The skeleton has codes of unknown meaning (skeleton_stream): {codes}. They were read as tags.")
    return commands


def encode(commands: list[Command]) -> bytes:
    """The byte-code; it has to be put at a multiple of four."""
    out = bytearray()
    for command in commands:
        out.append(command.code)
        if command.numbers:
            out += bytes(-len(out) % 4)
            out += struct.pack(f">{len(command.numbers)}i", *command.numbers)
    return bytes(out + bytes(-len(out) % 4))


def tree(commands: list[Command]) -> Tree:
    built = Tree()
    stack = [-1]
    for command in commands:
        if command.code == PUSH:
            built.parents.append(stack[-1])
            stack.append(len(built.parents) - 1)
        elif command.code == POP:
            stack.pop()
        elif command.numbers:
            numbers = axes.from_fixed(np.array(command.numbers))
            full = len(numbers) == 10
            rotation = numbers[3:7] if full else np.array([0.0, 0, 0, 1])
            built.tags.append(Tag(command.code, stack[-1], numbers[:3], rotation, numbers[7:] if full else np.ones(3)))
        else:
            built.mesh_bones.append(stack[-1])
            built.draw_codes.append(command.code)
    return built
