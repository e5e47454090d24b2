# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may choose about battle characters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class ImportOptions:
    name: str = "character"  # the files hold none
    fps: float = 20.0  # what viewers play; the true rate is not known
    parts: Literal["ONE", "EACH"] = "ONE"  # the body as one mesh, or a mesh a part
    images: Literal["EACH", "ATLAS"] = "EACH"  # an image a texture, or one for all
    spacing: float = 1.25  # between characters, times the width of the widest; 0 leaves all at the origin
    animation_file: str = ""  # the x8an file; empty: the one beside the model


@dataclass(frozen=True)
class ExportOptions:
    first_frame: int = 1  # where animations of their own begin, laid end to end
    largest_texture: int = 64  # pixels, for pictures that have to be drawn anew because a face shows a slanted part of one
    external: Literal["FILE", "TIMELINE", "NONE"] = "FILE"  # where animations go that came from an x8an file
    strongest: bool = False  # vertices of several bones go with the strongest, instead of being an error
