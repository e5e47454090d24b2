# SPDX-License-Identifier: GPL-3.0-or-later
"""The console's way to draw a battle character, straight from the bytes: shares nothing with the reader of the project."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np


def u32(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 4], "big")


def unpacked(chunk: bytes) -> bytes:
    """A packed animation, word by word as the notes have it."""
    count, start = u32(chunk, 0), 4 + u32(chunk, 4)
    raw = list(struct.unpack(f">{(start - 8) // 2}H", chunk[8:start]))
    bits = "".join(f"{byte:08b}" for byte in chunk[start:])
    place = 0
    lanes = [[0, 0, 65535], [0, 0, 65535]]
    words = []
    for index in range(count):
        a, b, z = lanes[index & 1]
        if z >= 585:
            z = raw.pop(0)
        else:
            k = bits.index("0", place) - place
            place += k + 1
            z = (8**k - 1) // 7 + (int(bits[place : place + 3 * k], 2) if k else 0)
            place += 3 * k
        r = -(z + 1) // 2 if z & 1 else z // 2
        word = (2 * a - b + r) & 0xFFFF
        lanes[index & 1] = [word, a, z]
        words.append(word)
    return struct.pack(f">{count}H", *words)


class Character:
    """One slot of an x8pc file."""

    def __init__(self, slot: bytes) -> None:
        entries = [struct.unpack_from(">4I", slot, 16 * index) for index in range(4)]
        self.model, self.animation = (slot[offset : offset + size] for offset, size, _, _ in entries[2:4])
        self.packed = []
        place = 0x40
        while u32(slot, place) not in (0, 0xFFFFFFFF):
            offset, size = struct.unpack_from(">2I", slot, place)
            self.packed.append(unpacked(slot[offset : offset + size]))
            place += 16
        self.parents, self.mesh_bones = self._skeleton()
        self.points = self._points()

    def _points(self) -> list[np.ndarray]:
        place = u32(self.model, u32(self.model, 0))
        found = []
        while u32(self.model, place) != 0xFFFFFFFF:
            offset, count = struct.unpack_from(">2I", self.model, place)
            numbers = struct.unpack_from(f">{3 * count}i", self.model, offset)
            found.append(np.array(numbers, float).reshape(-1, 3) / 65536)
            place += 24
        return found

    def _skeleton(self) -> tuple[list[int], list[int]]:
        place = u32(self.model, 4)
        stack, parents, mesh_bones = [-1], [], []
        while stack:
            code = self.model[place]
            place += 1
            if code == 0xFD:
                parents.append(stack[-1])
                stack.append(len(parents) - 1)
            elif code == 0xFE:
                stack.pop()
            elif code in (0, 0x80):
                mesh_bones.append(stack[-1])
            else:
                place += -place % 4 + (40 if code in (0x30, 0x81) else 12)
        return parents, mesh_bones

    def pose(self, frame: float, packed: int = -1, segment: bytes = b"") -> list[np.ndarray]:
        """The points of every part at a frame of the timeline, of a packed animation or of a segment, in Blender's axes."""
        data = segment or (self.packed[packed] if packed >= 0 else self.animation)
        table = u32(data, 0 if segment or packed >= 0 else 0x18)
        worlds: list[Any] = []
        for bone, parent in enumerate(self.parents):
            local = _matrix(data, struct.unpack_from(">16I", data, table + 64 * bone), frame)
            worlds.append(worlds[parent] @ local if parent >= 0 else local)
        posed = []
        for points, bone in zip(self.points, self.mesh_bones, strict=True):
            matrix = worlds[bone] if bone >= 0 else np.eye(4)
            moved = points @ matrix[:3, :3].T + matrix[:3, 3]
            posed.append(np.stack([moved[:, 0], moved[:, 2], -moved[:, 1]], 1))
        return posed


def _matrix(data: bytes, row: tuple[int, ...], frame: float) -> np.ndarray:
    move = _channel(data, row[0], row[3], row[6:9], "i", 65536, frame, np.zeros(3))
    turn = _channel(data, row[1], row[4], row[9:13], "h", 16384, frame, np.array([0.0, 0, 0, 1]))
    scale = _channel(data, row[2], row[5], row[13:16], "i", 65536, frame, np.ones(3))
    x, y, z, w = turn / np.linalg.norm(turn)
    matrix = np.eye(4)
    matrix[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    matrix[:3, :3] *= scale
    matrix[:3, 3] = move
    return matrix


def _channel(
    data: bytes, count: int, times: int, columns: tuple[int, ...], kind: str, one: int, frame: float, rest: np.ndarray
) -> np.ndarray:
    if not count:
        return rest
    at = struct.unpack_from(f">{count}H", data, times)
    values = np.array([struct.unpack_from(f">{count}{kind}", data, column) for column in columns], float).T / one
    if frame <= at[0]:
        return values[0]
    for index in range(1, count):
        if frame <= at[index]:
            first, second = values[index - 1], values[index]
            if kind == "h":
                first, second = first / np.linalg.norm(first), second / np.linalg.norm(second)
                second = -second if first @ second < 0 else second
            return first + (second - first) * (frame - at[index - 1]) / (at[index] - at[index - 1])
    return values[-1]
