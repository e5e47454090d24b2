# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a scene keep the promises that `from_scene` relies on (they stand in CONTRIBUTING.md).

What a format's `to_scene` gives is as its file is; what Blender gives is as the user left it. Both go through here, and what
is already as promised stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from . import keys, sanitize, surfaces, wearing
from .model import Clip, Layer, Mesh, Node, Scene, Settings, Skin, Target, Transform, scaled

MOST_LAYERS = 64  # textures of a material: more than any engine draws


class Format(wearing.Format, Protocol):
    """What is asked of a format: its traits, as formats/format.py declares them."""

    @property
    def quads(self) -> bool: ...
    @property
    def skin_space(self) -> str: ...
    @property
    def fractions(self) -> bool: ...
    @property
    def colors_only(self) -> bool: ...
    @property
    def glows(self) -> bool: ...
    def keeps_hidden(self, settings: Settings) -> bool: ...


class Options(Protocol):
    """What is asked of the user's choices: those that every exporter has."""

    @property
    def scale(self) -> float: ...
    @property
    def use_visible(self) -> bool: ...
    @property
    def use_lights(self) -> bool: ...
    @property
    def use_cameras(self) -> bool: ...
    @property
    def textures(self) -> str: ...
    @property
    def key_tolerance(self) -> float: ...


def prepare(scene: Scene, format: Format, options: Options) -> Scene:
    """A scene that `format` can be written from. The one that was given must not be used any more."""
    scene = sanitize.sanitize(scaled(scene, options.scale))
    hidden = _leave_out_hidden(scene, format) if options.use_visible else set()
    hidden |= _leave_out_kinds(scene, options)
    _bind_skins(scene, format.skin_space == "MESH")
    scene = _in_order(scene, hidden)
    scene.meshes = [_mesh(mesh, format.quads) for mesh in scene.meshes]
    _materials(scene, options.textures != "NONE", format)
    wearing.dress(scene, format)
    return keys.prepared(scene, options.key_tolerance, format.fractions)


def clips_of(scene: Scene) -> Iterator[Clip]:
    """Everything that may have tracks."""
    if scene.timeline is not None:
        yield scene.timeline
    yield from scene.clips


# ---------------------------------------------------------------------------------------------------- what is exported


def _leave_out_hidden(scene: Scene, format: Format) -> set[int]:
    """Hidden nodes show nothing. Returns which they are: while something hangs on them they have to stay."""
    found = {i for i, node in enumerate(scene.nodes) if node.hidden and not format.keeps_hidden(node.settings)}
    nodes = [scene.nodes[index] for index in sorted(found)]
    seen = [node.name for node in nodes if max(node.mesh, node.camera, node.light) >= 0]
    for node in nodes:
        node.mesh = node.camera = node.light = -1
    if seen:
        scene.warnings.append(f"Hidden objects were left out: {', '.join(seen)}. Without Visible Objects they are kept")
    return found


def _leave_out_kinds(scene: Scene, options: Options) -> set[int]:
    """Lights and cameras that are not wanted. Returns which nodes they are, to go like hidden ones."""
    found = set()
    for index, node in enumerate(scene.nodes):
        unwanted = (node.light >= 0 and not options.use_lights) or (node.camera >= 0 and not options.use_cameras)
        if unwanted and node.mesh < 0 and node.armature is None:
            node.light = node.camera = -1
            found.add(index)
    return found


def _needed(scene: Scene, hidden: set[int]) -> list[int]:
    """All but hidden nodes that no skin and no other node hangs on."""
    needed = [index not in hidden for index in range(len(scene.nodes))]
    for node in scene.nodes:
        skin = scene.meshes[node.mesh].skin if node.mesh >= 0 else None
        if skin is not None and 0 <= skin.node < len(needed):
            needed[skin.node] = True
    for index in range(len(needed)):
        while needed[index] and (index := scene.nodes[index].parent) >= 0 and not needed[index]:
            needed[index] = True
    return [index for index, each in enumerate(needed) if each]


# --------------------------------------------------------------------------------------------------------------- skins


@dataclass
class _Skinned:
    """A node with a skinned mesh: the node of the armature, and its own matrix in it."""

    index: int
    rig: int
    matrix: npt.NDArray[np.float64]


def _bind_skins(scene: Scene, own_space: bool) -> None:
    """Hangs every skinned mesh on its armature, and brings it into the armature's space unless it may keep its own."""
    moved = {target for clip in clips_of(scene) for target in clip.tracks or {}}
    found = _skinned(scene, own_space, moved)
    if not found:
        return
    parents = {node.parent for node in scene.nodes}
    users = np.bincount([node.mesh for node in scene.nodes if node.mesh >= 0], minlength=len(scene.meshes))
    for skinned in found:
        node = scene.nodes[skinned.index]
        still = (skinned.index, -1) not in moved
        if _strays(scene, skinned.index, skinned.rig, moved):
            scene.warnings.append(strays_warning(node.name, scene.nodes[skinned.rig].name))
        plain = bool(np.array_equal(skinned.matrix, np.eye(4)))
        if skinned.index in parents and not (plain and still and skinned.index not in _line(scene, skinned.rig)):
            node = _part_from(scene, node)  # what hangs on it stays where it is
        elif not still:
            for clip in clips_of(scene):
                (clip.tracks or {}).pop((skinned.index, -1), None)
        node.parent, node.parent_bone, node.transform = skinned.rig, -1, Transform()
        if own_space:
            node.transform = Transform.from_matrix(skinned.matrix)
        elif not plain:
            mesh = surfaces.moved(scene.meshes[node.mesh], skinned.matrix.astype(np.float32))
            if users[node.mesh] > 1:
                users[node.mesh] -= 1
                scene.meshes.append(mesh)
                node.mesh = len(scene.meshes) - 1
            else:
                scene.meshes[node.mesh] = mesh


def strays_warning(name: str, rig: str) -> str:
    return (
        f'"{name}" does not go where its armature "{rig}" goes as an object: it moves by itself, or is not parented to it. '
        "It was exported as if it were its child, at rest"
    )


def _skinned(scene: Scene, own_space: bool, moved: set[Target]) -> list[_Skinned]:
    """The nodes with skins that are not yet as they should be."""
    found = []
    world: list[Any] = []
    for index, node in enumerate(scene.nodes):
        skin: Skin | None = scene.meshes[node.mesh].skin if node.mesh >= 0 else None
        if skin is None or not 0 <= skin.node < len(scene.nodes) or scene.nodes[skin.node].armature is None:
            continue
        placed = node.parent == skin.node and node.parent_bone < 0 and (own_space or _is_nothing(node.transform))
        if placed and (index, -1) not in moved:
            continue
        world = world or scene.global_matrices()
        matrix = np.linalg.pinv(world[skin.node].astype(np.float64)) @ world[index].astype(np.float64)
        same = np.abs(matrix - np.eye(4)).max() < 1e-6
        found.append(_Skinned(index, skin.node, np.eye(4) if same else matrix))
    return found


def _is_nothing(transform: Transform) -> bool:
    if transform.prefix is not None or transform.location.any():
        return False
    return bool((transform.scale == 1).all() and not transform.rotation[1:].any())


def _strays(scene: Scene, index: int, rig: int, moved: set[Target]) -> bool:
    """Does anything move that carries one of the two and not the other?"""
    for node in _line(scene, index) ^ _line(scene, rig):
        on_bone = scene.nodes[node].parent_bone >= 0
        if (node, -1) in moved or (on_bone and any(owner == scene.nodes[node].parent and bone >= 0 for owner, bone in moved)):
            return True
    return False


def _line(scene: Scene, index: int) -> set[int]:
    """A node and all above it."""
    found: set[int] = set()
    while index >= 0 and index not in found:
        found.add(index)
        index = scene.nodes[index].parent
    return found


def _part_from(scene: Scene, node: Node) -> Node:
    """Takes the mesh off a node, and gives it a new one."""
    made = Node(node.name, mesh=node.mesh, materials=node.materials, hidden=node.hidden, settings=node.settings)
    node.mesh, node.materials = -1, None
    scene.nodes.append(made)
    return made


# --------------------------------------------------------------------------------------------------------------- order


def _in_order(scene: Scene, hidden: set[int]) -> Scene:
    """Parents before their children, without hidden nodes that are not needed. Indices follow."""
    above = [node.parent for node in scene.nodes]
    if not hidden and all(parent < index for index, parent in enumerate(above)):
        return scene
    order: dict[int, None] = {}
    for index in _needed(scene, hidden):
        chain: dict[int, None] = {}
        while index >= 0 and index not in order and index not in chain:
            chain[index] = None
            index = above[index]
        order |= dict.fromkeys(reversed(chain))
    place = {old: new for new, old in enumerate(order)} | {-1: -1}

    def clip(source: Clip) -> Clip:
        tracks = source.tracks
        if tracks is not None:
            tracks = {(place[node], bone): track for (node, bone), track in tracks.items() if node in place}
        return replace(source, tracks=tracks, owner=place.get(source.owner, -1))

    return replace(
        scene,
        nodes=[replace(scene.nodes[index], parent=place.get(above[index], -1)) for index in order],
        meshes=[_skin_on(mesh, place) for mesh in scene.meshes],
        timeline=clip(scene.timeline) if scene.timeline is not None else None,
        clips=[clip(each) for each in scene.clips],
    )


def _skin_on(mesh: Mesh, place: dict[int, int]) -> Mesh:
    return mesh if mesh.skin is None else replace(mesh, skin=replace(mesh.skin, node=place.get(mesh.skin.node, -1)))


# -------------------------------------------------------------------------------------------------- meshes, materials


def _mesh(mesh: Mesh, quads: bool) -> Mesh:
    """Triangles, or quads as well; colours as floats; flat faces with normals that say so; and a material for every face."""
    made = _with_flat_normals(surfaces.triangulated(mesh, quads))
    slots = made.materials or [-1]
    faces = made.face_materials
    if faces is not None and len(faces) and not 0 <= int(faces.min()) <= int(faces.max()) < len(slots):
        faces = np.clip(faces, 0, len(slots) - 1)
    return replace(made, materials=slots, face_materials=faces, colors=[_as_floats(layer) for layer in made.colors])


def _as_floats(layer: Layer) -> Layer:
    return replace(layer, data=layer.data.astype(np.float32) / 255) if layer.data.dtype == np.uint8 else layer


def _with_flat_normals(mesh: Mesh) -> Mesh:
    if mesh.smooth is None or mesh.smooth.all():
        return mesh
    sizes = np.diff(np.append(mesh.starts, len(mesh.corners)))
    flat = np.repeat(~mesh.smooth, sizes)
    own = np.repeat(surfaces.face_normals(mesh), sizes, 0)
    return replace(mesh, normals=Layer("normal", np.where(flat[:, None], own, surfaces.corner_normals(mesh)), "CORNER"))


def _materials(scene: Scene, textures: bool, format: Format) -> None:
    if not textures:
        scene.images = []
    for material in scene.materials:
        scene.warnings += [f'The material "{material.name}": {each}' for each in material.lost]
        if not format.glows and material.emission.any() and not material.full_bright:
            scene.warnings.append(
                f'The material "{material.name}" glows in a color, which the format does not have: it is dark without light. '
                "An Emission shader alone is shown in full, whatever the light"
            )
        if len(material.layers) > MOST_LAYERS and textures:
            scene.warnings.append(f'"{material.name}" has {len(material.layers)} textures; the first {MOST_LAYERS} are kept')
        material.layers = material.layers[:MOST_LAYERS] if textures else []
        for layer in material.layers:
            if format.colors_only and layer.use != "COLOR" and 0 <= layer.image < len(scene.images):
                scene.warnings.append(
                    f'"{material.name}": the texture "{scene.images[layer.image].name}" ({layer.use.lower()}) was left out: '
                    "the format has textures for the color only. Bake what it shows into that one."
                )


# ----------------------------------------------------------------------------------------------------------- animation


def choose_animation(scene: Scene, mode: str, name: str) -> None:
    """What of a file's animation is written: the choices of an exporter's dialog, for a scene that no Blender has played."""
    own = [clip for clip in scene.clips if clip.tracks is not None]
    timeline = scene.timeline
    if mode == "NONE":
        scene.timeline, scene.clips = None, []
    elif mode == "ACTIONS":
        whole = [replace(timeline, name=name)] if timeline is not None and timeline.tracks else []
        scene.timeline, scene.clips = None, [*whole, *own]
    elif timeline is None and own and (mode != "AUTO" or len(scene.clips) == 1):
        scene.timeline = own[0]  # the only one, or the one that would be assigned, on its own frames
        scene.clips = [replace(own[0], tracks=None)]
    elif mode != "AUTO":
        scene.clips = [clip for clip in scene.clips if clip.tracks is None]
    if mode == "SCENE":
        scene.clips = []
