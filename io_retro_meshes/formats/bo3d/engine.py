# SPDX-License-Identifier: GPL-3.0-or-later
"""How the bOGL engine reads a document: the parent of each entity, and what a list of keys shows on a frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...scene.sanitize import finite
from .document import Document, Entity

Array = npt.NDArray[Any]

REST_FRAME = -1  # the engine puts the rest pose before an entity's keys, on this frame
LAST_FRAME = 1048574  # Blender's
SMALLEST_HALF = 2.0**-14  # the loader reads smaller 16-bit floats as 0
# How many whole frames may be sampled where interpolation between the keys would be wrong: in all, and for each key.
ADDED_FRAMES = 1024
ADDED_FRAMES_PER_KEY = 8


def parents(document: Document) -> list[int]:
    """The engine's parents: one that does not come before its child is no parent, and who has none hangs on entity 0."""
    return [
        entity.parent if 0 <= entity.parent < index else min(index, 1) - 1 for index, entity in enumerate(document.entities)
    ]


def playback(document: Document) -> int:
    """The last frame that is played."""
    moving = [entity.keys for entity in document.entities if len(entity.keys)]
    length = document.length
    # With more keys than frames the engine takes the wrong length; what was meant are the keys.
    if any(len(keys) + 1 > length for keys in moving):
        length = max([length, *(int(keys["frame"].max()) + 1 for keys in moving)])
    return min(max(length - 1, 0), LAST_FRAME)


# ---------------------------------------------------------------------------------------------------------------- keys


def at_frames(frames: Array, values: Array, at: Array) -> Array:
    """What the engine shows on whole frames: it goes from the last key that is not after, to the first that is not before.

    "Last" and "first" are places in the list, whatever the order of the frame numbers in it. Rotations mix like
    everything else, without a look at their signs.
    """
    before = np.searchsorted(np.minimum.accumulate(frames[::-1])[::-1], at, "right") - 1
    after = np.searchsorted(np.maximum.accumulate(frames), at, "left")
    before, after = np.maximum(before, 0), np.minimum(after, len(frames) - 1)
    span = np.abs(frames[after] - frames[before]).astype(np.float64)
    part = np.where(span > 0, np.abs(at - frames[before]) / np.where(span > 0, span, 1), 0).clip(0, 1)[:, None]
    mixed: Array = values[before] * (1 - part) + values[after] * part
    return mixed


def track(entity: Entity) -> tuple[Array, Array]:
    """Frames, strictly ascending, and values (n, 10: position, scale, rotation) between which straight lines are right."""
    rest = np.concatenate([entity.position, entity.scale, entity.rotation]).astype(np.float64)
    keys = entity.keys
    frames = np.concatenate([[REST_FRAME], keys["frame"].astype(np.int64)])
    values = np.concatenate([rest[None], np.concatenate([keys["position"], keys["scale"], keys["rotation"]], 1)])
    values = finite(values, rest)
    steps = np.diff(frames)
    if (steps > 0).all():
        # Between opposite signs the engine takes the long way round, between lengths it goes at a speed of its own.
        a, b = values[:-1, 6:], values[1:, 6:]
        lengths = np.linalg.norm(values[:, 6:], axis=1)
        odd = np.flatnonzero((np.sum(a * b, 1) < 0) | (np.abs(np.diff(lengths)) > 1e-3 * lengths[1:]))
        at = np.union1d(frames, _frames_between(frames[odd], frames[odd + 1], len(frames)))
    else:
        # After all the keys, the last of the list holds, which may not be the one with the greatest number.
        ordered = np.unique([*frames[frames >= REST_FRAME], frames.max() + 1])
        at = np.union1d(ordered, _frames_between(ordered[:-1], ordered[1:], len(frames)))
    values = at_frames(frames, values, at) if len(at) != len(frames) or (steps <= 0).any() else values
    if len(at) > 1 and at[1] <= 0:
        at, values = at[1:], values[1:]  # nothing that is played comes from the rest pose
    return at, values


def _frames_between(starts: Array, stops: Array, keys: int) -> Array:
    """The whole frames between each start and stop; where that is too many, the first and the last of each."""
    counts = stops - starts - 1
    if counts.sum() > ADDED_FRAMES + ADDED_FRAMES_PER_KEY * keys:
        return np.unique(np.concatenate([starts + 1, stops - 1]))
    first = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) - np.repeat(first, counts) + np.repeat(starts + 1, counts)


# ------------------------------------------------------------------------------------------------------------ warnings


def oddities(document: Document) -> list[str]:
    """What a document has that the engine stumbles over, and what is made of it."""
    entities = document.entities
    found = []
    wrong = [index for index, entity in enumerate(entities) if index and not -1 <= entity.parent < index]
    if wrong or entities[0].parent >= 0:
        found.append(f"{_named(document, wrong or [0])}: the parent does not come before it; it was hung on entity 0.")
    frames = [entity.keys["frame"] for entity in entities]
    unsorted = [index for index, numbers in enumerate(frames) if (numbers[1:] <= numbers[:-1]).any()]
    if unsorted:
        found.append(
            f"{_named(document, unsorted)}: frame numbers are repeated or out of order; each frame is as the engine shows it."
        )
    names = [entity.name for entity in entities]
    if len(set(names)) < len(names):
        found.append("Several entities have the same name: the engine gives the animation of all of them to one.")
    if b"" in names:
        found.append("There are entities without a name: the engine cannot animate them.")
    if any(entity.keys.size and entity.parent < 0 for entity in entities[:1]):
        found.append("The first entity has keys: the engine can only animate what is below it.")
    return found + [message for index in range(len(entities)) for message in _mesh_oddities(document, index)]


def _mesh_oddities(document: Document, index: int) -> list[str]:
    mesh = document.entities[index].mesh
    if mesh is None:
        return []
    found, who, count = [], _named(document, [index]), len(mesh.vertices)
    if len(mesh.colors) and not mesh.has_colors:
        found.append(f"{who}: {len(mesh.colors)} colours for {count} vertices; the engine uses none, and none were taken.")
    if (mesh.triangles >= count).any():
        found.append(f"{who}: triangles use vertices that do not exist; they were left out.")
    bones = mesh.bones
    held = bones["last"] >= bones["first"]
    if (held & ((bones["first"] < 0) | (bones["last"] >= count))).any():
        found.append(f"{who}: bones move vertices that do not exist; those were left out.")
    if ((bones["entity"] < 0) | (bones["entity"] >= len(document.entities))).any():
        found.append(f"{who}: bones name entities that do not exist; their vertices stay with the mesh.")
    return found


def _named(document: Document, indices: list[int]) -> str:
    """'"Joint1"', or '"Joint1" and 3 others'."""
    first = f'"{document.entities[indices[0]].text}"'
    return first if len(indices) == 1 else f"{first} and {len(indices) - 1} others"
