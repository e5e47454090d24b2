# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of the FACE attributes that carry what a polygon says in the file through a scene; for both directions."""

from __future__ import annotations

ATTRIBUTES = ("flag", "sort", "texno", "atrb", "colno", "gstb", "dir")  # the fields of ATTR
PART = "part"  # which of the list's meshes a face belongs to
PAIR = "pair"  # which corner of the file's polygon is on the same vertex as the one after it; -1: none, all are distinct
NO_AREA = -2  # value of PAIR: so many corners are on one vertex that the polygon has no area
POLYGON = "polygon"  # the number of the face's polygon in its part, in the file it came from
TURNED = "turned"  # 1: the file winds the polygon against its normal, so that the face runs the other way round
# The corners of a polygon in the order of a turned face, and the other way.
REVERSED = (0, 3, 2, 1)
