# SPDX-License-Identifier: GPL-3.0-or-later
"""What the BOGLE engine draws: written from the format's documents, and shares nothing with the project but the document."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def turn(q: Array) -> Array:
    x, y, z, w = (q / (np.linalg.norm(q) or 1)).astype(float)
    made = np.eye(4)
    made[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return made


def arc(a: Array, b: Array, t: float) -> Array:
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    b = -b if a @ b < 0 else b
    angle = np.arccos(min(float(a @ b), 1.0))
    return a if angle < 1e-6 else (np.sin((1 - t) * angle) * a + np.sin(t * angle) * b) / np.sin(angle)


def between(keys: Array, seconds: float) -> tuple[Array, Array]:
    """The offset of the root and the bones' rotations."""
    right = int(np.clip(np.searchsorted(keys["time"], seconds, "right"), 1, max(len(keys) - 1, 1)))
    a, b = keys[right - 1], keys[min(right, len(keys) - 1)]
    span = float(b["time"] - a["time"])
    t = float(np.clip((seconds - a["time"]) / span, 0, 1)) if span > 0 else 0.0
    turns = [arc(p.astype(float), q.astype(float), t) for p, q in zip(a["rotations"], b["rotations"], strict=True)]
    return a["root_offset"] * (1 - t) + b["root_offset"] * t, np.array(turns)


def bone_order(collection: Any) -> list[int]:
    """The order that the engine computes bones in. It goes over the list again and again and takes every bone whose parent it
    has, those it has taken before as well, until it has taken as many as there are bones: on a list with children before
    their parents some are taken twice, and others never."""
    count = len(collection.bones)
    taken: list[int] = []
    while len(taken) < count:
        before = len(taken)
        for number, bone in enumerate(collection.bones):
            if len(taken) < count and (bone["parent"] == 0 or int(bone["parent"]) - 1 in taken):
                taken.append(number)
        assert len(taken) > before, "the engine would go round forever"
    return taken


def bones(collection: Any, pose: tuple[Array, Array] | None) -> list[Array]:
    """Each bone's matrix: parent · rotation · translation; a key turns on top of the rotation and moves the first bone of the
    order. What the engine never computes is not a number."""
    found = [np.full((4, 4), np.nan) for _ in collection.bones]
    order = bone_order(collection)
    for number in order:
        bone = collection.bones[number]
        move = np.eye(4)
        move[:3, 3] = bone["position"] + (pose[0] if pose is not None and number == order[0] else 0)
        spin = turn(bone["rotation"]) @ (turn(pose[1][number]) if pose is not None else np.eye(4))
        parent = found[int(bone["parent"]) - 1] if bone["parent"] else collection.matrix.reshape(4, 4).T.astype(float)
        found[number] = parent @ spin @ move
    return found


CAMERA_TYPES = {"SEED": 1, "NAMES": 1, "ANIM": 0, "GEOMETRIES": 0}


def refuses(document: Any) -> list[str]:
    """What the engine of the file's layout would stop at, or never compute."""
    found = []
    for number, camera in enumerate(document.cameras):
        if camera.type != CAMERA_TYPES[document.layout]:
            found.append(f"camera {number}: type {camera.type}")
    for number, collection in enumerate(document.collections):
        missing = set(range(len(collection.bones))) - set(bone_order(collection))
        found += [f"skeleton {number}: bone {bone} is never computed" for bone in sorted(missing)]
    for number, instance in enumerate(document.instances):
        if instance.values["geometry"][0] and not instance.values["material"][0]:
            found.append(f"object {number}: no material")
    if sum(int(camera.values["main"][0]) for camera in document.cameras) < 1:
        found.append("no main camera")
    return found


def parents(text: bytes, count: int) -> list[int]:
    """A number hangs that object below the current one; { goes into the last number, } back up."""
    found, stack, current, last = [-1] * count, [], -1, -1
    for token in re.findall(rb"[0-9]+|[{}]", text):
        if token == b"{":
            stack.append(current)
            current = last
        elif token == b"}":
            current = stack.pop()
        else:
            last = int(token)
            found[last] = current
    return found


def geometry_file(folder: Path, name: bytes) -> tuple[Array, Array]:
    """Vertices of 80 bytes and indices as the newest engine reads them: counts, then all up to the end of the file."""
    data = (folder / "geometries" / f"{name.decode()}.bgg").read_bytes()
    vertices, indices = np.frombuffer(data[:8], "<u4")
    assert len(data) == 8 + 80 * vertices + 4 * indices
    rows = [("position", "<f4", 3), ("rest", "<f4", 11), ("bones", "<f4", 3), ("weights", "<f4", 3)]
    return np.frombuffer(data[8 : 8 + 80 * vertices], rows), np.frombuffer(data[8 + 80 * vertices :], "<u4")


def pose(document: Any, seconds: float | None, animation: int = 0, folder: Path | None = None) -> list[Array]:
    """The vertices of every object in the world, which has Blender's axes; None: nothing plays.

    `folder` is where the engine runs: in layout GEOMETRIES it has the vertices.
    """
    above = parents(document.tree, len(document.instances))
    own = [instance.values["matrix"][0].reshape(4, 4).T.astype(float) for instance in document.instances]
    found = []
    for index, instance in enumerate(document.instances):
        values = instance.values[0]
        if not values["geometry"]:
            continue
        matrix, parent = own[index], above[index]
        while parent >= 0:
            matrix, parent = own[parent] @ matrix, above[parent]
        shape = document.geometries[values["geometry"] - 1]
        rows = shape.vertices if folder is None else geometry_file(folder, shape.file)[0]
        points = np.c_[rows["position"], np.ones(len(rows))].astype(float)
        rig = (
            document.collections[values["animation"] - 1] if "animation" in values.dtype.names and values["animation"] else None
        )
        if rig is not None and seconds is not None and len(rig.animations) > animation:
            posed = bones(rig, between(rig.animations[animation].keys, seconds))
            moves = np.array([now @ np.linalg.inv(rest) for now, rest in zip(posed, bones(rig, None), strict=True)])
            points = np.einsum("nk,nkij,nj->ni", rows["weights"], moves[rows["bones"].astype(int)], points)
        found.append((points @ matrix.T)[:, :3])
    return found
