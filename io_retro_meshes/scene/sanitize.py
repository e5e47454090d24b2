# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers that can be used: no NaN, no infinity, nothing so large that its square is none, no frame that no timeline reaches.

A file may say anything, and what moves in Blender can get out of hand. Readers clean arrays with `finite` where they compute
with them; `sanitize` cleans a whole scene, and shares with it all that was good.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import animation
from .maths import FARTHEST
from .model import (
    Armature,
    Bone,
    Camera,
    Channel,
    Clip,
    Layer,
    Light,
    Material,
    Mesh,
    Node,
    Scene,
    TextureLayer,
    Track,
    Transform,
)

LARGEST_SCALE = 1e9
LAST_FRAME = 1_048_574  # Blender's timeline ends here
FASTEST = 32767.0

Kind = TypeVar("Kind", Camera, Light, Material, TextureLayer)


# -------------------------------------------------------------------------------------------------------------- arrays


def within(values: npt.NDArray[Any], limit: float = FARTHEST) -> bool:
    """Are all numbers usable? Without a copy: large arrays are most often good. NaN is within nothing."""
    return not values.size or bool(values.min() >= -limit and values.max() <= limit)


def usable(values: npt.NDArray[Any], limit: float = FARTHEST) -> npt.NDArray[np.bool_]:
    """Which of the numbers are."""
    found: npt.NDArray[np.bool_] = np.abs(values) <= limit
    return found


def finite(values: npt.NDArray[Any], fill: Any = 0, limit: float = FARTHEST) -> npt.NDArray[Any]:
    """The array with `fill` for numbers that cannot be used; the array itself where there are none."""
    if within(values, limit):
        return values
    return np.where(usable(values, limit), values, np.asarray(fill, values.dtype))


def number(value: float, instead: float = 0.0) -> float:
    """The number, or the other one where it cannot be used."""
    return float(value) if abs(value) <= FARTHEST else instead


# --------------------------------------------------------------------------------------------------------------- scene


def sanitize(scene: Scene) -> Scene:
    """A scene that can be shown and written, with warnings about what was left out."""
    warnings = list(scene.warnings)
    clean = replace(
        scene,
        nodes=[_node(node, warnings) for node in scene.nodes],
        meshes=[_mesh(mesh, warnings) for mesh in scene.meshes],
        materials=[_material(material) for material in scene.materials],
        cameras=[_numbers(camera, Camera(""), "angle", "clip_start", "clip_end") for camera in scene.cameras],
        lights=[_light(light) for light in scene.lights],
        world_color=None if scene.world_color is None else finite(scene.world_color),
        warnings=warnings,
    )
    return _animation(clean)


def _numbers(owner: Kind, fresh: Kind, *names: str) -> Kind:
    """Numbers that cannot be used become what they are in a fresh object."""
    bad = [name for name in names if (value := getattr(owner, name)) is not None and not abs(value) <= FARTHEST]
    return replace(owner, **{name: getattr(fresh, name) for name in bad}) if bad else owner


def _light(light: Light) -> Light:
    light = _numbers(light, Light(""), "energy", "spot_angle", "cutoff_distance")
    return light if within(light.color) else replace(light, color=finite(light.color, 1))


def _node(node: Node, warnings: list[str]) -> Node:
    transform = _transform(node.transform)
    armature = None if node.armature is None else _armature(node.armature)
    bad = int(transform is not node.transform)
    if node.armature is not None and armature is not None:
        bad += sum(old is not new for old, new in zip(node.armature.bones, armature.bones, strict=True))
    if not bad:
        return node
    warnings.append(f'"{node.name}": {bad} transforms have numbers that cannot be shown; those were left out')
    return replace(node, transform=transform, armature=armature)


def _armature(armature: Armature) -> Armature:
    bones = [_bone(bone) for bone in armature.bones]
    return replace(armature, bones=bones) if any(a is not b for a, b in zip(bones, armature.bones, strict=True)) else armature


def _bone(bone: Bone) -> Bone:
    transform = _transform(bone.transform)
    bind = bone.bind if within(bone.bind) else np.eye(4, dtype=np.float32)
    head = bone.head if bone.head is None else finite(bone.head)
    if transform is bone.transform and bind is bone.bind and head is bone.head:
        return bone
    return replace(bone, transform=transform, bind=bind, head=head)


def _transform(transform: Transform) -> Transform:
    location = finite(transform.location)
    rotation = finite(transform.rotation, (1, 0, 0, 0), LARGEST_SCALE)
    scale = finite(transform.scale, 1, LARGEST_SCALE)
    prefix = None if transform.prefix is not None and not within(transform.prefix) else transform.prefix
    new, old = (location, rotation, scale, prefix), (transform.location, transform.rotation, transform.scale, transform.prefix)
    return transform if all(a is b for a, b in zip(new, old, strict=True)) else Transform(*new)


# ------------------------------------------------------------------------------------------------- meshes and materials


def _mesh(mesh: Mesh, warnings: list[str]) -> Mesh:
    positions = mesh.positions
    if not within(positions):
        good = np.asarray(usable(positions).all(1, keepdims=True))
        warnings.append(
            f'mesh "{mesh.name}": {int((~good).sum())} vertices are not at a finite place; they were put at the origin'
        )
        positions = np.where(good, positions, np.float32(0))
    skin = mesh.skin
    if skin is not None and not within(skin.weights):
        skin = replace(skin, weights=finite(skin.weights))
    return replace(
        mesh,
        positions=positions,
        normals=None if mesh.normals is None else _layer(mesh.normals),
        uvs=[_layer(layer) for layer in mesh.uvs],
        colors=[_layer(layer) for layer in mesh.colors],
        attributes=[_layer(layer) for layer in mesh.attributes],
        skin=skin,
    )


def _layer(layer: Layer) -> Layer:
    good = layer.data.dtype.kind != "f" or within(layer.data)
    return layer if good else replace(layer, data=finite(layer.data))


def _material(material: Material) -> Material:
    numbers = _numbers(material, Material(""), "specular", "roughness", "metallic", "threshold")
    return replace(
        numbers,
        color=finite(material.color, 1),
        emission=finite(material.emission),
        layers=[_texture_layer(layer) for layer in material.layers],
    )


def _texture_layer(layer: TextureLayer) -> TextureLayer:
    layer = _numbers(layer, TextureLayer(-1), "rotation")
    offset = (number(layer.offset[0]), number(layer.offset[1]))
    scale = (number(layer.scale[0], 1.0), number(layer.scale[1], 1.0))
    return layer if (offset, scale) == (layer.offset, layer.scale) else replace(layer, offset=offset, scale=scale)


# ----------------------------------------------------------------------------------------------------------- animation


def _animation(scene: Scene) -> Scene:
    warnings = scene.warnings
    fps = scene.fps
    if fps is not None and not 1e-3 <= fps <= FASTEST:
        warnings.append(f"The file plays {fps:g} frames a second, which cannot be; the scene's own rate was kept.")
        fps = None
    timeline = None if scene.timeline is None else _clip(scene.timeline)
    clips = [_clip(clip) for clip in scene.clips]
    lost = _key_count([scene.timeline, *scene.clips]) - _key_count([timeline, *clips])
    if lost:
        warnings.append(f"{lost} keys were left out: their numbers cannot be shown, or no timeline reaches their frames.")
    return replace(scene, fps=fps, timeline=timeline, clips=clips)


def _key_count(clips: list[Clip | None]) -> int:
    tracks = [track for clip in clips if clip is not None for track in (clip.tracks or {}).values()]
    channels = [channel for track in tracks for channel in (track.location, track.rotation, track.scale)]
    return sum(len(channel.frames) for channel in channels if channel is not None)


def _clip(clip: Clip) -> Clip:
    """With usable keys. Where a clip cannot begin or end where the file says, it does with its keys."""
    tracks = None if clip.tracks is None else {target: _track(track) for target, track in clip.tracks.items()}
    first, last = animation.frame_span(tracks or {}) or (0.0, 0.0)
    first = clip.first if abs(clip.first) <= LAST_FRAME else first
    last = max(clip.last if abs(clip.last) <= LAST_FRAME else last, first)
    markers = [(frame, name) for frame, name in clip.markers if abs(frame) <= LAST_FRAME]
    return replace(clip, first=first, last=last, tracks=tracks, markers=markers)


def _track(track: Track) -> Track:
    return Track(
        _channel(track.location, FARTHEST), _channel(track.rotation, LARGEST_SCALE), _channel(track.scale, LARGEST_SCALE)
    )


def _channel(channel: Channel | None, limit: float) -> Channel | None:
    if channel is None:
        return None
    good = usable(channel.frames, LAST_FRAME) & usable(channel.values, limit).all(1)
    if good.all():
        return channel
    return Channel(channel.frames[good], channel.values[good]) if good.any() else None
