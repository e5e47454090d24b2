# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a file, for people."""

from __future__ import annotations

from ..binary import decode
from .document import Document


def summary(document: Document) -> list[str]:
    """What is in the file, a line each."""
    frames = f", {document.length} frames" if document.length else ""
    lines = [
        f"BO3D version {document.version / 100:.2f}, {document.vfloat}-bit vertices, {len(document.entities)} entities{frames}"
    ]
    for index, entity in enumerate(document.entities):
        facts = [f'{index}: {"mesh" if entity.mesh else "pivot"} "{entity.text}"']
        if entity.parent >= 0:
            facts.append(f"below {entity.parent}")
        if entity.mesh:
            facts.append(f"{len(entity.mesh.vertices)} vertices")
            facts.append(f"{len(entity.mesh.triangles)} triangles")
            facts += [f"{len(entity.mesh.bones)} bones"] * bool(len(entity.mesh.bones))
            facts += [f"FX {entity.mesh.fx}"] * bool(entity.mesh.fx)
            facts += [f"texture {decode(entity.mesh.texture)!r}"] * bool(entity.mesh.texture)
        facts += [f"{len(entity.keys)} keys"] * bool(len(entity.keys))
        lines.append(", ".join(facts))
    return lines
