# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a .bgl file, for people."""

from __future__ import annotations

from ..binary import decode
from .document import Document, Geometry
from .drafts import Draft, Object


def summary(document: Document | Draft) -> list[str]:
    if isinstance(document, Draft):
        lines = [f"draft {document.layout}"]
        lines += [f"object {decode(each.name.split(bytes(1))[0])}: {_size(each)}" for each in document.objects]
        return [*lines, f"{len(document.cameras)} cameras, {len(document.lights)} lights"]
    lines = [f"layout {document.layout}, {len(document.instances)} objects"]
    for kind, parts in (("cameras", document.cameras), ("materials", document.materials), ("lights", document.lights)):
        lines.append(f"{len(parts)} {kind}" + _names([part.name for part in parts]))
    for number, geometry in enumerate(document.geometries, 1):
        lines.append(f"geometry {number}{_names([geometry.name])}: {_size(geometry)}")
    for collection in document.collections:
        lines.append(f"skeleton{_names([collection.name])}: {len(collection.bones)} bones")
        for animation in collection.animations:
            lines.append(f"animation{_names([animation.name])}: {len(animation.keys)} keys")
    return lines


def _size(shape: Geometry | Object) -> str:
    return f"{len(shape.vertices)} vertices, {len(shape.indices) // 3} triangles"


def _names(names: list[bytes]) -> str:
    known = ", ".join(decode(name) for name in names if name)
    return f" ({known})" if known else ""
