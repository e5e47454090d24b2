# SPDX-License-Identifier: GPL-3.0-or-later
"""What the console draws of a battle character: written from the notes, sharing nothing with the project but the document."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

PUSH, POP, WEAPON = 0xFD, 0xFE, 0x30


def matrix(location: Array, xyzw: Array, scale: Array) -> Array:
    x, y, z, w = xyzw / (np.linalg.norm(xyzw) or 1)
    made = np.eye(4)
    made[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    made[:3, :3] = made[:3, :3] * scale
    made[:3, 3] = location
    return made


def value(keys: Any, one: float, rest: Array, frame: float) -> Array:
    """Straight lines between keys; rotations by the shorter way."""
    if not len(keys.frames):
        return rest
    times, rows = keys.frames.astype(float), keys.values.astype(float) / one
    right = int(np.clip(np.searchsorted(times, frame, "right"), 1, max(len(times) - 1, 1)))
    a, b = rows[right - 1], rows[min(right, len(rows) - 1)]
    span = times[min(right, len(rows) - 1)] - times[right - 1]
    t = float(np.clip((frame - times[right - 1]) / span, 0, 1)) if span > 0 else 0.0
    b = -b if len(a) == 4 and a @ b < 0 else b
    return a * (1 - t) + b * t


def pose(document: Any, frame: float) -> list[Array]:
    """The body and the weapon of every character, each at its own origin, in Blender's axes."""
    found = []
    for character in document.characters:
        stack = [np.eye(4)]
        bones, body = iter(character.animation.bones), iter(character.model.lists[0])
        for command in character.model.skeleton:
            if command.code == PUSH:
                keys = next(bones)
                own = matrix(
                    value(keys.translation, 65536, np.zeros(3), frame),
                    value(keys.rotation, 16384, np.array([0, 0, 0, 1.0]), frame),
                    value(keys.scale, 65536, np.ones(3), frame),
                )
                stack.append(stack[-1] @ own)
            elif command.code == POP:
                stack.pop()
            elif command.code in (0x00, 0x80):
                found.append(moved(next(body), stack[-1]))
            elif command.code == WEAPON and len(character.model.lists) > 1:
                numbers = np.array(command.numbers, float) / 65536
                at = stack[-1] @ matrix(numbers[:3], numbers[3:7], numbers[7:10])
                found += [moved(mesh, at) for mesh in character.model.lists[1]]
    return found


def moved(mesh: Any, at: Array) -> Array:
    points = mesh.points.astype(float) / 65536 @ at[:3, :3].T + at[:3, 3]
    return np.stack([points[:, 0], points[:, 2], -points[:, 1]], 1)
