# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user wants of a scene that was read: which animations, whose normals, and vertices that are one."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from . import animation
from .model import Clip, Ints, Layer, Mesh, Scene, Skin
from .surfaces import corner_values


def choose_animations(scene: Scene, choice: str, names: str) -> None:
    """ALL, only the whole TIMELINE, only its PARTS and clips, or those of them that are CHOSEN by name."""
    if choice == "TIMELINE" and scene.timeline is not None:
        scene.clips = []
    if choice not in ("PARTS", "CHOSEN") or not scene.clips:
        return
    clips = scene.clips
    if choice == "CHOSEN":
        wanted = [name.strip().lower() for name in names.split(",") if name.strip()]
        clips = [clip for clip in clips if any(fnmatchcase(clip.name.lower(), each) for each in wanted)]
        if not clips:
            known = ", ".join(f'"{clip.name}"' for clip in scene.clips[:20])
            scene.warnings.append(f'No animation is called "{names}", so that none came in. There are: {known}.')
    scene.clips = [_by_itself(scene, clip) for clip in clips]
    scene.timeline = None


def _by_itself(scene: Scene, clip: Clip) -> Clip:
    """A part of the timeline with keys of its own."""
    if clip.tracks is not None or scene.timeline is None:
        return clip
    tracks = animation.cut(scene.timeline, clip.first, clip.last, scene.interpolation)
    return replace(clip, tracks={target: track for target, track in tracks.items() if clip.owner in (-1, target[0])})


def merged(mesh: Mesh) -> Mesh:
    """Vertices with one place, normal and weights become one; what else they had of their own goes to the corners."""
    keys = [mesh.positions + np.float32(0)]
    keys += [layer.data.reshape(len(mesh.positions), -1) for layer in mesh.attributes if layer.domain == "POINT"]
    if mesh.normals is not None and mesh.normals.domain == "POINT":  # the two sides of a leaf stay two
        keys.append(np.round(mesh.normals.data, 3) + np.float32(0))
    if mesh.skin is not None:
        keys.append(_signatures(mesh.skin, len(mesh.positions)))
    rows = np.ascontiguousarray(np.concatenate([np.asarray(key, np.float64) for key in keys], 1))
    _, first, number = np.unique(rows.view(f"V{rows.shape[1] * 8}")[:, 0], return_index=True, return_inverse=True)
    order = np.argsort(first)  # vertices stay in the order of the file
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    new: Ints = place[number.reshape(-1)].astype(np.int32)
    first = first[order]
    if len(first) == len(mesh.positions):
        return mesh

    def on_corners(layer: Layer) -> Layer:
        return replace(layer, data=corner_values(mesh, layer), domain="CORNER") if layer.domain == "POINT" else layer

    return replace(
        mesh,
        positions=mesh.positions[first],
        corners=new[mesh.corners],
        edges=_edges(mesh.edges, new),
        normals=on_corners(mesh.normals) if mesh.normals else None,
        uvs=[on_corners(layer) for layer in mesh.uvs],
        colors=[on_corners(layer) for layer in mesh.colors],
        attributes=[replace(layer, data=layer.data[first]) if layer.domain == "POINT" else layer for layer in mesh.attributes],
        skin=None if mesh.skin is None else _kept(mesh.skin, first, new),
    )


def _signatures(skin: Skin, count: int) -> np.ndarray:
    """Numbers that are the same for vertices with the same weights: sums with a random number for each bone."""
    bones = int(skin.bones.max(initial=0)) + 1
    random = np.random.default_rng(1).uniform(1, 2, (2, bones))
    sums = [np.bincount(skin.vertices, skin.weights * each[skin.bones], count) for each in random]
    return np.round(np.stack(sums, 1), 6) + 0.0


def _edges(edges: Ints | None, number: Ints) -> Ints | None:
    if edges is None:
        return None
    moved: Ints = number[edges]
    return moved[moved[:, 0] != moved[:, 1]]


def _kept(skin: Skin, first: np.ndarray, number: Ints) -> Skin:
    rows = np.isin(skin.vertices, first)
    return replace(skin, vertices=number[skin.vertices[rows]], bones=skin.bones[rows], weights=skin.weights[rows])
