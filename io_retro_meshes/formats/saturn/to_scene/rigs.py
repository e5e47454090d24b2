# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeleton -> bones with heads at their joints; tags -> transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ....scene import Bone, Transform
from .. import axes
from ..document import BoneKeys, Mesh
from ..skeleton import Tag
from . import joints

Array = npt.NDArray[Any]


def bones(parents: list[int], body: list[Mesh], mesh_bones: list[int], animations: Sequence[Sequence[BoneKeys]]) -> list[Bone]:
    """The bones move the model as it stands, so that all bind matrices are the identity; `mesh_bones` carry the meshes."""
    points = [axes.from_fixed(mesh.points) for mesh in body]
    centroids = np.full((len(parents), 3), np.nan)
    carried: dict[int, list[Array]] = {}
    for bone, cloud in zip(mesh_bones, points, strict=True):
        if bone >= 0 and len(cloud):
            carried.setdefault(bone, []).append(cloud)
    for bone, clouds in carried.items():
        centroids[bone] = np.concatenate(clouds).mean(0)
    everything = np.concatenate([*points, np.zeros((1, 3))])
    box = np.stack([everything.min(0), everything.max(0)])
    heads = axes.vectors_to_scene(joints.fit(parents, animations, centroids, box)).astype(np.float32)
    bind = np.eye(4, dtype=np.float32)
    digits = max(2, len(str(len(parents) - 1)))
    return [
        Bone(f"bone_{index:0{digits}}", parent, bind.copy(), Transform(), head=heads[index])
        for index, parent in enumerate(parents)
    ]


def tag_transform(tag: Tag) -> Transform:
    rotation = axes.rotations_to_scene(tag.rotation)
    length = float(np.linalg.norm(rotation))
    rotation = rotation / length if length > 1e-9 else np.array([1.0, 0, 0, 0])
    return Transform(
        axes.vectors_to_scene(tag.translation).astype(np.float32),
        rotation.astype(np.float32),
        axes.scales_to_scene(tag.scale).astype(np.float32),
    )
