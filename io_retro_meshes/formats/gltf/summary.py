# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a file, for people. Says what it can of a file whose parts are not what they must be."""

from __future__ import annotations

from typing import Any

from .document import Document

KINDS = ("scenes", "nodes", "meshes", "skins", "materials", "textures", "images", "cameras", "animations")


def summary(document: Document) -> list[str]:
    found = document.json
    asset = found.get("asset")
    made_by = asset.get("generator") if isinstance(asset, dict) else None
    size = sum(len(chunk.data) for chunk in document.chunks)
    lines = [f"glTF {'binary' if document.binary else 'JSON'}" + (f", made by {made_by}" if made_by else "")]
    lines.append(", ".join(f"{len(_list(found, kind))} {kind}" for kind in KINDS))
    lines.append(f"{_count(found)} vertices in {size} bytes of buffers inside")
    lines += [f"animation {_name(each)}" for each in _list(found, "animations")]
    lines += [f"picture {_name(each)}" for each in _list(found, "images")]
    for name in ("extensionsRequired", "extensionsUsed"):
        if _list(found, name):
            lines.append(f"{name}: {', '.join(map(str, _list(found, name)))}")
    return lines


def _list(owner: Any, name: str) -> list[Any]:
    found = owner.get(name) if isinstance(owner, dict) else None
    return found if isinstance(found, list) else []


def _name(entry: Any) -> str:
    if not isinstance(entry, dict):
        return "?"
    name = str(entry.get("name") or entry.get("uri") or "without a name")
    return name if len(name) < 200 else f"{name[:50]}…"


def _count(found: dict[str, Any]) -> int:
    """The sum over the primitives' positions."""
    accessors = _list(found, "accessors")
    total = 0
    for mesh in _list(found, "meshes"):
        for primitive in _list(mesh, "primitives"):
            attributes = primitive.get("attributes") if isinstance(primitive, dict) else None
            position = attributes.get("POSITION") if isinstance(attributes, dict) else None
            if isinstance(position, int) and 0 <= position < len(accessors) and isinstance(accessors[position], dict):
                count = accessors[position].get("count")
                total += count if isinstance(count, int) else 0
    return total
