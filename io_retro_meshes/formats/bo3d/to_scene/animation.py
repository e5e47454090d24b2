# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of an entity to a track of the scene."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Channel, Floats, Track, Transform, maths
from .. import axes, engine
from ..document import Entity

Array = npt.NDArray[Any]


def track(entity: Entity, rest: Transform) -> Track | None:
    """None if the keys never leave the rest pose, or if there are none."""
    if not len(entity.keys):
        return None
    frames, values = engine.track(entity)
    numbers, first = np.unique(frames.astype(np.float32), return_index=True)
    values = values[first]
    rotation = maths.normalized(axes.rotations_to_scene(values[:, 6:]), (1, 0, 0, 0))

    def channel(rows: Array, still: Floats) -> Channel | None:
        rows = rows.astype(np.float32)
        return None if (np.abs(rows - still) < 1e-7).all() else Channel(numbers, rows)

    found = Track(
        channel(axes.vectors_to_scene(values[:, :3]), rest.location),
        channel(maths.continuous(rotation), rest.rotation),
        channel(axes.scales_to_scene(values[:, 3:6]), rest.scale),
    )
    return found if found.location or found.rotation or found.scale else None
