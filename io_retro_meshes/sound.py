# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes that can be shown: without numbers that are none, places beyond all measure, and frames that never come.

A file may say anything, and what moves in Blender can get out of hand. Only what is bad is touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import animation
from .maths import FARTHEST
from .scene import Camera, Channel, Clip, Layer, Light, Material, Mesh, Node, Scene, Track, Transform

LARGEST_SCALE = 1e9
LAST_FRAME = 1_048_574  # Blender's timeline ends here
FASTEST = 32767.0


def sound(scene: Scene) -> Scene:
    """Mends the scene itself, and adds to its warnings."""
    for node in scene.nodes:
        _node(node, scene.warnings)
    for mesh in scene.meshes:
        _mesh(mesh, scene.warnings)
    for material in scene.materials:
        _material(material)
    for camera in scene.cameras:
        _plain(camera, Camera(""), "angle", "clip_start", "clip_end")
    for light in scene.lights:
        light.color = _finite(light.color, FARTHEST, 1)
        _plain(light, Light(""), "energy", "spot_angle", "cutoff_distance")
    if scene.world_color is not None:
        scene.world_color = _finite(scene.world_color, FARTHEST, 0)
    _animation(scene)
    return scene


def _finite(values: Any, limit: float, fill: Any) -> Any:
    """The array with `fill` where a number is none, or beyond the limit."""
    if _within(values, limit):
        return values
    return np.where(np.abs(values) <= limit, values, np.asarray(fill, values.dtype))


def _within(values: Any, limit: float) -> bool:
    """Without a copy: large arrays are most often good. NaN is within nothing."""
    return not values.size or bool(values.min() >= -limit and values.max() <= limit)


def _plain(owner: Any, fresh: Any, *names: str) -> None:
    """Numbers that are none become what they are in a fresh object."""
    for name in names:
        value = getattr(owner, name)
        if value is not None and not abs(value) <= FARTHEST:
            setattr(owner, name, getattr(fresh, name))


# --------------------------------------------------------------------------------------------------------------- nodes


def _node(node: Node, warnings: list[str]) -> None:
    bad = _transform(node.transform)
    for bone in node.armature.bones if node.armature else ():
        bad += _transform(bone.transform)
        if not (np.abs(bone.bind) <= FARTHEST).all():
            bone.bind = np.eye(4, dtype=np.float32)
            bad += 1
        if bone.head is not None:
            bone.head = _finite(bone.head, FARTHEST, 0)
    if bad:
        warnings.append(f'"{node.name}": {bad} transforms have numbers that cannot be shown; those were left out')


def _transform(transform: Transform) -> int:
    """1 if anything was wrong with it."""
    before = (transform.location, transform.rotation, transform.scale, transform.prefix)
    transform.location = _finite(transform.location, FARTHEST, 0)
    transform.rotation = _finite(transform.rotation, LARGEST_SCALE, (1, 0, 0, 0))
    transform.scale = _finite(transform.scale, LARGEST_SCALE, 1)
    if transform.prefix is not None and not (np.abs(transform.prefix) <= FARTHEST).all():
        transform.prefix = None
    after = (transform.location, transform.rotation, transform.scale, transform.prefix)
    return int(any(old is not new for old, new in zip(before, after, strict=True)))


# ------------------------------------------------------------------------------------------------- meshes and materials


def _mesh(mesh: Mesh, warnings: list[str]) -> None:
    if not _within(mesh.positions, FARTHEST):
        bad = np.flatnonzero(~(np.abs(mesh.positions) <= FARTHEST).all(1))
        warnings.append(f'mesh "{mesh.name}": {len(bad)} vertices are not at a finite place; they were put at the origin')
        mesh.positions = mesh.positions.copy()
        mesh.positions[bad] = 0
    for layer in _layers(mesh):
        if layer.data.dtype.kind == "f":
            layer.data = _finite(layer.data, FARTHEST, 0)
    if mesh.skin is not None:
        mesh.skin.weights = _finite(mesh.skin.weights, FARTHEST, 0)


def _layers(mesh: Mesh) -> Iterator[Layer]:
    if mesh.normals is not None:
        yield mesh.normals
    yield from mesh.uvs
    yield from mesh.colors
    yield from mesh.attributes


def _material(material: Material) -> None:
    material.color = _finite(material.color, FARTHEST, 1)
    material.emission = _finite(material.emission, FARTHEST, 0)
    _plain(material, Material(""), "specular", "roughness", "metallic", "threshold")
    for layer in material.layers:
        _plain(layer, layer.__class__(-1), "rotation")
        layer.offset = tuple(value if abs(value) <= FARTHEST else 0.0 for value in layer.offset)  # type: ignore[assignment]
        layer.scale = tuple(value if abs(value) <= FARTHEST else 1.0 for value in layer.scale)  # type: ignore[assignment]


# ----------------------------------------------------------------------------------------------------------- animation


def _animation(scene: Scene) -> None:
    if scene.fps is not None and not 1e-3 <= scene.fps <= FASTEST:
        scene.warnings.append(f"The file plays {scene.fps:g} frames a second, which cannot be; the scene's own rate was kept.")
        scene.fps = None
    lost = 0
    for clip in [*([scene.timeline] if scene.timeline else []), *scene.clips]:
        lost += sum(_track(track) for track in (clip.tracks or {}).values())
        _frames(clip)
    if lost:
        scene.warnings.append(f"{lost} keys were left out: their numbers cannot be shown, or no timeline reaches their frames.")


def _frames(clip: Clip) -> None:
    """Where a clip begins and ends: with its keys, if what the file says of it cannot be."""
    first, last = animation.frame_span(clip.tracks or {}) or (0.0, 0.0)
    clip.first = clip.first if abs(clip.first) <= LAST_FRAME else first
    clip.last = max(clip.last if abs(clip.last) <= LAST_FRAME else last, clip.first)
    clip.markers = [(frame, name) for frame, name in clip.markers if abs(frame) <= LAST_FRAME]


def _track(track: Track) -> int:
    """How many keys it lost."""
    before = sum(len(channel.frames) for channel in (track.location, track.rotation, track.scale) if channel is not None)
    track.location = _channel(track.location, FARTHEST)
    track.rotation = _channel(track.rotation, LARGEST_SCALE)
    track.scale = _channel(track.scale, LARGEST_SCALE)
    return before - sum(len(channel.frames) for channel in (track.location, track.rotation, track.scale) if channel is not None)


def _channel(channel: Channel | None, limit: float) -> Channel | None:
    if channel is None:
        return None
    good = (np.abs(channel.frames) <= LAST_FRAME) & (np.abs(channel.values) <= limit).all(1)
    if good.all():
        return channel
    return Channel(channel.frames[good], channel.values[good]) if good.any() else None
