# SPDX-License-Identifier: GPL-3.0-or-later
"""Names in files and in Blender, which cuts long ones and numbers those that are taken."""

from __future__ import annotations

import re

NUMBER = re.compile(r"\.\d{3,}$")
CUT = 55  # bytes that are left of a name, at the least, where Blender had to cut it to make room for a number


def kept_name(given: str, shown: str) -> str:
    """The name that a file gave, while Blender shows that one, cut or with a number of its own; else what it shows."""
    ours, theirs = NUMBER.sub("", shown), NUMBER.sub("", given)
    same = ours == theirs or (len(ours.encode()) >= CUT and theirs.startswith(ours))
    return given if given and same else shown
