# SPDX-License-Identifier: GPL-3.0-or-later
"""The character that a node came from, and what of a derived one is as it was: that is written as the file had it.

What a scene does not keep (unused points, the order of tags, numbers beyond 32-bit floats) is lost from the original as well
when it is taken through a scene. So the original is exported a second time from its own bytes, and what the edited scene gives
is compared with that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....scene import Settings
from ...errors import FormatError
from .. import document as doc
from .. import read, stored
from .meshes import Part

Array = doc.Array

# Numbers of 16.16 that differ by less are the same: what 32-bit matrices do to them.
POINT_TOLERANCE = 8
SAME_NORMAL = np.cos(np.radians(3))


@dataclass
class Derived:
    """The model of a character as a scene gives it."""

    lists: list[list[Part]]
    commands: list[doc.Command]
    bone_order: list[int]
    textures: doc.Textures


def find(settings: Settings, name: str, warnings: list[str]) -> tuple[doc.Character | None, str]:
    """The character in the settings of a node, and the mark of its animations."""
    text = settings.get("saturn", {}).get("source", "")
    if not text:
        return None, ""
    data = stored.decode(text)
    try:
        return read.read(data).characters[0], stored.mark(data)
    except (FormatError, IndexError):
        warnings.append(f'The bytes that "{name}" was imported from are damaged: it was exported as a new character.')
        return None, ""


# --------------------------------------------------------------------------------------------------------------- model


def merged_model(original: doc.Model, before: Derived, now: Derived) -> doc.Model:
    """The original, with what is not as it was in `before` as it is `now`."""
    same_parts = [_drawn(listed) for listed in before.lists] == [_drawn(listed) for listed in now.lists]
    lists = []
    for number, listed in enumerate(now.lists):
        old = original.lists[number] if number < len(original.lists) else []
        known = {part.order: part for part in before.lists[number]} if number < len(before.lists) else {}
        meshes = {part.order: _merged_mesh(part, known.get(part.order), old) for part in listed}
        if same_parts:  # those that have no face that a scene could show are still there
            lists.append([meshes.get(order, mesh) for order, mesh in enumerate(old)])
        else:
            lists.append([_merged_mesh(part, known.get(part.order), old) for part in listed])
    if same_parts:
        lists += original.lists[len(lists) :]
        return doc.Model(lists, _merged_commands(original.skeleton, before.commands, now.commands), original.source)
    return doc.Model(lists, now.commands)


def losses(name: str, before: Derived, now: Derived) -> list[str]:
    """What the file has that no object of the scene is any more."""
    lost = []
    for number, listed in enumerate(before.lists):
        there = {part.order for part in now.lists[number]} if number < len(now.lists) else set()
        gone = [part.order for part in listed if part.order not in there]
        title = doc.LIST_NAMES[number] if number < len(doc.LIST_NAMES) else f"list {number}"
        if gone:
            lost.append(f"part {', '.join(map(str, gone))} of the {title}" if there else f"the whole {title}")
    if not lost:
        return []
    return [f'"{name}" is written without {" and ".join(lost)}: deleted or hidden. To keep what is hidden, show it.']


def _drawn(parts: list[Part]) -> list[tuple[int, int]]:
    return [(part.order, part.bone) for part in parts]


def _merged_mesh(part: Part, before: Part | None, old: list[doc.Mesh]) -> doc.Mesh:
    if part.order >= len(old):
        return part.mesh
    source, mesh = old[part.order], part.mesh
    if before is not None and _is_same(before.mesh, mesh):
        return source
    merged = replace(mesh, polygons=mesh.polygons.copy())
    known = np.flatnonzero((part.numbers >= 0) & (part.numbers < len(source.polygons)))
    numbers = part.numbers[known]
    usable = (source.polygons["vertices"][numbers] < len(source.points)).all(1)
    known, numbers = known[usable], numbers[usable]
    there = source.points[source.polygons["vertices"][numbers]]
    unmoved = _near(there, mesh.points[mesh.polygons["vertices"][known]]).all((1, 2))
    merged.polygons["normal"][known[unmoved]] = source.polygons["normal"][numbers[unmoved]]
    if source.normals is None:
        merged.normals = None
    elif before is not None and _same_points(before.mesh, mesh) and len(source.points) == len(mesh.points):
        kept = _near(before.mesh.points, mesh.points).all(1) & ~_turned_normals(before.mesh, mesh)
        assert mesh.normals is not None
        merged.normals = np.where(kept[:, None], source.normals, mesh.normals).astype(doc.NORMAL)
    return merged


def _near(a: Array, b: Array) -> Array:
    return np.abs(a.astype(np.int64) - b) <= POINT_TOLERANCE


def _same_points(a: doc.Mesh, b: doc.Mesh) -> bool:
    return len(a.points) == len(b.points)


def _is_same(a: doc.Mesh, b: doc.Mesh) -> bool:
    return bool(
        _same_points(a, b)
        and _near(a.points, b.points).all()
        and np.array_equal(a.polygons["vertices"], b.polygons["vertices"])
        and np.array_equal(a.attributes, b.attributes)
        and not _turned_normals(a, b).any()
    )


def _turned_normals(a: doc.Mesh, b: doc.Mesh) -> Array:
    """(n,) mask of points whose normals were edited. Points of flat and of degenerate faces do not count: they show others."""
    if a.normals is None or b.normals is None:
        return np.zeros(len(a.points), bool)
    first, second = a.normals.astype(np.float64), b.normals.astype(np.float64)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    turned = np.einsum("ij,ij->i", first, second) < SAME_NORMAL * lengths
    corners = a.points[a.polygons["vertices"]].astype(np.float64)
    area = np.linalg.norm(np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]), axis=1)
    flat = (a.attributes["atrb"] & doc.GOURAUD == 0) | (area < 1e3)
    turned[a.polygons["vertices"][flat]] = False
    return turned


def _merged_commands(original: list[doc.Command], before: list[doc.Command], now: list[doc.Command]) -> list[doc.Command]:
    """The original byte-code with the tags that were moved. Both others have the same bones and parts."""
    if [command.code for command in before] != [command.code for command in now]:
        return now
    changed = {index for index, (a, b) in enumerate(zip(before, now, strict=True)) if not _same_numbers(a, b)}
    if not changed:
        return original
    merged = list(original)
    waiting = list(enumerate(_bones_of(original)))
    for index, bone in enumerate(_bones_of(before)):
        command = before[index]
        if not command.numbers:
            continue
        for place, (number, owner) in enumerate(waiting):
            if owner == bone and original[number].code == command.code and _same_numbers(original[number], command):
                if index in changed:
                    merged[number] = now[index]
                del waiting[place]
                break
        else:
            return now
    return merged


def _same_numbers(a: doc.Command, b: doc.Command) -> bool:
    first, second = np.array(a.numbers, np.int64), np.array(b.numbers, np.int64)
    if len(first) == 10 and len(second) == 10 and np.dot(first[3:7], second[3:7]) < 0:
        second[3:7] *= -1
    return bool(len(first) == len(second) and (np.abs(first - second) <= 2 * POINT_TOLERANCE).all())


def _bones_of(commands: list[doc.Command]) -> list[Any]:
    """The bone that each command is on."""
    stack, count, found = [-1], 0, []
    for command in commands:
        if command.code == doc.PUSH:
            stack.append(count)
            count += 1
        found.append(stack[-1] if stack else -1)
        if command.code == doc.POP and stack:
            stack.pop()
    return found
