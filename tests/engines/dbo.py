# SPDX-License-Identifier: GPL-3.0-or-later
"""Dark Basic Pro's own ways with a .dbo, written down a second time: nothing here is shared with the project.

`load` reads by counts and terminators as the engine does, `pose` draws with row vectors in a left-handed world, and
`walk` is the opposite of the engine: it believes in declared sizes and in nothing else.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

FRAME, MESH, SET, ANIMATION = {1, 104, 105}, {103}, {2, 205}, {203, 220}
COUNTS = {122: 121, 128: 127, 139: 124}
KEYS = {213: (212, 28), 215: (214, 20), 217: (216, 28), 219: (218, 132)}
TEXTS = {101, 141, 161, 201, 211, 301}
BYTES = {125, 123, 129, 130, 131, 132, 133, 134, 135, 137, 140, 156, 159, 160}
MATRICES, VECTORS = {102: 64, 305: 64, 126: 68, 162: 68}, {106, 107, 108}


class Loader:
    def __init__(self, data: bytes) -> None:
        assert struct.unpack_from("<I", data)[0] == 8 and data[4:12].upper() == b"MAGICDBO"
        self.data, self.at = data, 24
        self.root: dict[int, Any] = {}
        while self.at < len(data):
            code, size = self.code()
            if code == 0:
                break
            self.root[code] = self.value(code, size, {}, "root")

    def code(self) -> tuple[int, int]:
        self.at += 8
        return struct.unpack_from("<II", self.data, self.at - 8)

    def take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def dword(self) -> int:
        return int.from_bytes(self.take(4), "little")

    def record(self, where: str) -> dict[int, Any]:
        found: dict[int, Any] = {}
        while True:
            code, size = self.code()
            if code == 0:
                return found
            found[code] = self.value(code, size, found, where)

    def value(self, code: int, size: int, above: dict[int, Any], where: str) -> Any:
        if code in FRAME | MESH | SET | ANIMATION:
            return self.record({103: "mesh"}.get(code, ""))
        if code in COUNTS:
            found = [self.record("entry") for _ in range(above.get(COUNTS[code], 0))]
            assert self.code()[0] == 0
            return found
        if code == 138:
            return [self.record("") for _ in range(self.dword())]
        if code in TEXTS or (code == 154 and where == "mesh"):
            return self.take(self.dword())
        if code in KEYS:
            return self.take(above[KEYS[code][0]] * KEYS[code][1])
        if code in MATRICES or code in VECTORS:
            return np.frombuffer(self.take(MATRICES.get(code, 12)), "<f4")
        if code in BYTES or code == 154:
            return self.take(1)[0]
        if code == 115:
            return self.take(above.get(112, 0) * above.get(113, 0))
        if code == 116:
            return np.frombuffer(self.take(2 * above[114]), "<u2") if above.get(114) else self.take(size)
        if code in (303, 304):
            return np.frombuffer(self.take(4 * above[302]), "<u4" if code == 303 else "<f4")
        if code == 120:
            return self.take(520)
        if (110 < code < 220 and code not in (157, 158, 167, 206, 207)) or code == 302:
            return self.dword()
        return self.take(size)


def key_table(data: bytes, width: int) -> tuple[np.ndarray, np.ndarray]:
    times = np.frombuffer(data, "<u4").reshape(-1, width)[:, 0].astype(float)
    return times, np.frombuffer(data, "<f4").reshape(-1, width)[:, 1:].astype(float)


def at_key(times: np.ndarray, frame: float) -> tuple[int, int, float]:
    """The keys around a frame, and how far it is between them. Before the first key the engine goes on backwards along the
    first interval; after the last it stays."""
    if frame < times[0] and len(times) > 1:
        return 0, 1, (frame - times[0]) / (times[1] - times[0])
    right = int(np.clip(np.searchsorted(times, frame, "right"), 0, len(times) - 1))
    left = max(int(np.searchsorted(times, frame, "right")) - 1, 0)
    span = times[right] - times[left]
    return left, right, (frame - times[left]) / span if span > 0 else 0.0


def rotation_matrix(q: np.ndarray) -> np.ndarray:
    x, y, z, w = q / np.linalg.norm(q)
    found = np.eye(4)
    found[0, :3] = 1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)
    found[1, :3] = 2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)
    found[2, :3] = 2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)
    return found


def arc(a: np.ndarray, b: np.ndarray, t: float) -> np.ndarray:
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    dot = a @ b
    if dot < 0:
        b, dot = -b, -dot
    if dot > 0.99999:
        return a + (b - a) * t
    angle = np.arccos(dot)
    return (np.sin((1 - t) * angle) * a + np.sin(t * angle) * b) / np.sin(angle)


def animated(animation: dict[int, Any], frame: float) -> np.ndarray:
    """Scale, rotation, position, and then the matrix; what has no keys does nothing."""
    found = np.eye(4)
    if animation.get(217):
        times, rows = key_table(animation[217], 7)
        left, right, t = at_key(times, frame)
        found = found @ np.diag([*(rows[left, :3] + (rows[right, :3] - rows[left, :3]) * t), 1])
    if animation.get(215):
        times, rows = key_table(animation[215], 5)
        left, right, t = at_key(times, frame)
        found = found @ rotation_matrix(arc(rows[left], rows[right], t))
    if animation.get(213):
        times, rows = key_table(animation[213], 7)
        left, right, t = at_key(times, frame)
        moved = np.eye(4)
        moved[3, :3] = rows[left, :3] + (rows[right, :3] - rows[left, :3]) * t
        found = found @ moved
    if animation.get(219):
        times, rows = key_table(animation[219], 33)
        left, right, t = at_key(times, frame)
        slope = rows[left, 16:].reshape(4, 4) * (frame - times[left] if right > left else 0)
        found = found @ (rows[left, :16].reshape(4, 4) + slope)
    return found


def user_matrix(frame: dict[int, Any]) -> np.ndarray:
    x, y, z = np.radians(frame.get(107, np.zeros(3)).astype(float))
    turn_x = np.array([[1, 0, 0], [0, np.cos(x), np.sin(x)], [0, -np.sin(x), np.cos(x)]])
    turn_y = np.array([[np.cos(y), 0, -np.sin(y)], [0, 1, 0], [np.sin(y), 0, np.cos(y)]])
    turn_z = np.array([[np.cos(z), np.sin(z), 0], [-np.sin(z), np.cos(z), 0], [0, 0, 1]])
    found = np.eye(4)
    found[:3, :3] = np.diag(frame.get(108, np.ones(3))) @ turn_x @ turn_y @ turn_z
    found[3, :3] = frame.get(106, np.zeros(3))
    return found


def pose(data: bytes, frame: float | None) -> list[np.ndarray]:
    """The vertices of every mesh in the world, in Blender's axes (Y and Z exchanged); frame None: nothing animates."""
    root = Loader(data).root
    moves: dict[bytes, dict[int, Any]] = {}
    animation = root.get(2, {}).get(203)
    while animation and frame is not None:
        moves[animation[211]] = animation
        animation = animation.get(220)
    frames: list[tuple[dict[int, Any], np.ndarray]] = []
    by_name: dict[bytes, np.ndarray] = {}
    stack = [(root[1], np.eye(4))]
    while stack:
        here, above = stack.pop()
        if not here:
            continue
        own = here.get(102, np.eye(4).reshape(-1)).reshape(4, 4).astype(float)
        own = own + np.diag([0, 0, 0, float(own[3, 3] == 0)])
        name = here.get(101, b"")
        if name in moves and name not in by_name:
            own = animated(moves[name], frame or 0.0)
        combined = user_matrix(here) @ own @ above
        by_name.setdefault(name, combined)
        frames.append((here, combined))
        stack += [(here.get(105, {}), above), (here.get(104, {}), combined)]
    return [posed_mesh(here[103], combined, by_name) for here, combined in frames if here.get(103)]


def indices(data: bytes) -> list[np.ndarray]:
    """Of the meshes that `pose` has, in its order: the vertices of their triangles."""
    found, stack = [], [Loader(data).root[1]]
    while stack:
        here = stack.pop()
        if here:
            found += [here[103][116]] if here.get(103) else []
            stack += [here.get(105, {}), here.get(104, {})]
    return found


def posed_mesh(mesh: dict[int, Any], combined: np.ndarray, by_name: dict[bytes, np.ndarray]) -> np.ndarray:
    stride = mesh[112]
    rows = np.frombuffer(mesh[115], "u1").reshape(-1, stride)[:, :12].copy().view("<f4").astype(float)
    rows = np.c_[rows, np.ones(len(rows))]
    if mesh.get(122):
        found = np.zeros_like(rows)
        for bone in mesh[122]:
            if bone.get(302):
                matrix = bone[305].reshape(4, 4).astype(float) @ by_name[bone[301]]
                np.add.at(found, bone[303], bone[304][:, None] * (rows[bone[303]] @ matrix))
        rows = found
    else:
        rows = rows @ combined
    return rows[:, [0, 2, 1]]


# ------------------------------------------------------------------------------------------------------- declared sizes

CONTAINERS = FRAME | MESH | SET | ANIMATION
FIXED = {102: 64, 305: 64, 126: 68, 162: 68, 106: 12, 107: 12, 108: 12} | dict.fromkeys(BYTES, 1)


def walk(data: bytes) -> list[int]:
    """All codes in order, by declared sizes alone. Every container must end in a terminator exactly where its size says."""
    codes: list[int] = []
    stack = [(24, len(data), 0)]  # from, to, and 0 for a record or 1 for a table of records
    while stack:
        at, end, table = stack.pop()
        ended = False
        depth = 0
        while at < end:
            assert not ended, f"more at {at} after the terminator"
            assert end - at >= 8, f"half a header at {at}"
            code, size = struct.unpack_from("<II", data, at)
            at += 8
            if code == 0:
                assert size == 0, f"a terminator with a size at {at - 8}"
                ended = depth == 0
                depth = 0
                continue
            depth = table
            codes.append(code)
            assert at + size <= end, f"block {code} at {at - 8} leaves its container"
            if code in FIXED:
                assert size == FIXED[code], f"block {code} at {at - 8} declares {size}"
            if code in TEXTS:
                assert size == 4 + struct.unpack_from("<I", data, at)[0]
            if code in CONTAINERS or code in COUNTS:
                stack.append((at, at + size, int(code in COUNTS)))
            at += size
        assert at == end and ended, f"no terminator before {end}"
    return codes
