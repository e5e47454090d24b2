# SPDX-License-Identifier: GPL-3.0-or-later
"""The neutral scene: what every format is translated to, and written from.

Blender's conventions throughout: right-handed, Z up; column vectors (`matrix @ point`); quaternions w, x, y, z; UV origin
at the lower left; counter-clockwise front faces; radians. One unit of the file is one unit here. Animation counts in frames.

References between parts are indices into the lists of `Scene`; -1 or None means none. Arrays are float32 and int32: they
go to Blender as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import maths

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

# Per-format values that Blender has no field for: {"b3d": {"fx": 16}}. They become the typed properties of the same names
# in blender/properties, and come back from them on export.
Settings = dict[str, dict[str, Any]]

Domain = Literal["POINT", "CORNER", "FACE"]
Interpolation = Literal["SLERP", "NLERP"]


# Materials find the layers of a mesh by these names, so every mesh has the same.
COLOR_NAME = "Color"


def uv_name(index: int) -> str:
    return "UVMap" if index == 0 else f"UVMap.{index:03}"


def floats(*values: float) -> Floats:
    return np.array(values, np.float32)


# ---------------------------------------------------------------------------------------------------------- transforms


@dataclass
class Transform:
    """prefix · T · R · S, relative to the parent. The prefix holds what T·R·S cannot: a shear."""

    location: Floats = field(default_factory=lambda: floats(0, 0, 0))
    rotation: Floats = field(default_factory=lambda: floats(1, 0, 0, 0))
    scale: Floats = field(default_factory=lambda: floats(1, 1, 1))
    prefix: Floats | None = None

    @property
    def matrix(self) -> Floats:
        matrix = maths.compose(self.location, self.rotation, self.scale)
        return matrix if self.prefix is None else self.prefix @ matrix

    @classmethod
    def from_matrix(cls, matrix: npt.ArrayLike, tolerance: float = 1e-4) -> Transform:
        """Splits a matrix; one that has a shear goes into the prefix whole."""
        return cls.from_matrices(np.asarray(matrix, np.float32)[None], tolerance)[0]

    @classmethod
    def from_matrices(cls, given: Floats, tolerance: float = 1e-4) -> list[Transform]:
        """Splits many at once: (n, 4, 4)."""
        given = given.astype(np.float32, copy=False)
        parts = maths.decompose(given)
        apart = np.abs(maths.compose(*parts) - given)[:, :3, :3].max((1, 2))
        size = np.maximum(np.abs(given[:, :3, :3]).max((1, 2)), 1e-12)
        sheared = (apart > tolerance * size).tolist()
        return [cls(prefix=given[i]) if sheared[i] else cls(*each) for i, each in enumerate(zip(*parts, strict=True))]


def matrices(transforms: list[Transform]) -> Floats:
    """The matrices of many transforms at once: (n, 4, 4)."""
    if not transforms:
        return np.zeros((0, 4, 4), np.float32)
    found: Floats = maths.compose(
        *(np.stack([getattr(each, name) for each in transforms]) for name in ("location", "rotation", "scale"))
    )
    for index, each in enumerate(transforms):
        if each.prefix is not None:
            found[index] = each.prefix @ found[index]
    return found


@dataclass
class Channel:
    """The keys of one of location, rotation or scale: linear between keys, constant outside them."""

    frames: Floats  # (k,) strictly ascending
    values: Floats  # (k, 3), or (k, 4) for rotations


@dataclass
class Track:
    """How one node or bone moves, in its parent's space. A channel that is None keeps the value of the transform."""

    location: Channel | None = None
    rotation: Channel | None = None
    scale: Channel | None = None


# What a track moves: (node, -1) the node itself, (node, bone) a bone of the node's armature.
Target = tuple[int, int]


@dataclass
class Clip:
    """A named piece of animation. Without tracks of its own it is the part first..last of the scene's timeline."""

    name: str
    first: float
    last: float
    tracks: dict[Target, Track] | None = None
    markers: list[tuple[float, str]] = field(default_factory=list)
    settings: Settings = field(default_factory=dict)
    owner: int = -1  # a part of the timeline that is about this node (and its bones) alone


# --------------------------------------------------------------------------------------------------------------- nodes


@dataclass
class Bone:
    """A bone of an armature.

    `bind` is the bone's matrix in the armature's space in the pose the skin was made in (G0 of the algebra of poses); it
    may hold scale. `transform` is where the file puts the bone when nothing animates it, relative to its parent bone:
    most often just bind relative to the parent's bind. `head` puts Blender's bone elsewhere than at bind's origin.
    """

    name: str
    parent: int  # index in Armature.bones, before this one; -1 for a root
    bind: Floats  # (4, 4)
    transform: Transform
    head: Floats | None = None
    settings: Settings = field(default_factory=dict)
    drawn: bool = False  # by a user, in no file before: its axes are those of Blender's bone, which lies along its Y


@dataclass
class Armature:
    name: str
    bones: list[Bone]


@dataclass
class Camera:
    name: str
    angle: float = 0.8  # vertical field of view, radians
    clip_start: float = 0.1
    clip_end: float = 1000.0
    main: bool = False
    resolution: tuple[int, int] | None = None
    settings: Settings = field(default_factory=dict)


@dataclass
class Light:
    name: str
    kind: Literal["POINT", "SUN", "SPOT"] = "POINT"
    color: Floats = field(default_factory=lambda: floats(1, 1, 1))
    energy: float = 10.0
    spot_angle: float = 0.8  # the full angle of the cone
    cutoff_distance: float | None = None
    settings: Settings = field(default_factory=dict)


@dataclass
class Node:
    """An object: an empty, or what its one reference below says. Parents come before their children in Scene.nodes."""

    name: str
    parent: int = -1
    parent_bone: int = -1  # bone of the parent's armature that this node hangs on
    transform: Transform = field(default_factory=Transform)
    mesh: int = -1
    materials: list[int] | None = None  # instead of the mesh's own, where instances differ
    armature: Armature | None = None
    camera: int = -1
    light: int = -1
    hidden: bool = False
    settings: Settings = field(default_factory=dict)


# -------------------------------------------------------------------------------------------------------------- meshes


@dataclass
class Layer:
    """UV coordinates (n, 2), colours (n, 4) or any attribute, a row for each element of the domain."""

    name: str
    data: npt.NDArray[Any]
    domain: Domain = "POINT"


@dataclass
class Skin:
    """Which bone moves which vertex how much, one row an influence. Vertices without a row stay with the armature."""

    node: int  # the node whose armature it is
    vertices: Ints
    bones: Ints
    weights: Floats


@dataclass
class Mesh:
    """Polygons over vertices. With `face_starts` None every three corners are a triangle."""

    name: str
    positions: Floats  # (n, 3)
    corners: Ints  # (k,) the vertex of each corner
    face_starts: Ints | None = None  # (f,) the first corner of each face
    face_materials: Ints | None = None  # (f,) slot in `materials`
    edges: Ints | None = None  # (e, 2) lines that belong to no face
    materials: list[int] = field(default_factory=list)  # slots: index in Scene.materials, or -1
    normals: Layer | None = None  # POINT or CORNER
    smooth: npt.NDArray[np.bool_] | None = None  # (f,) None: all smooth
    uvs: list[Layer] = field(default_factory=list)
    colors: list[Layer] = field(default_factory=list)  # sRGB values 0..1 as the file has them; float32, or uint8 to keep bytes
    attributes: list[Layer] = field(default_factory=list)
    skin: Skin | None = None
    settings: Settings = field(default_factory=dict)

    @property
    def face_count(self) -> int:
        return len(self.corners) // 3 if self.face_starts is None else len(self.face_starts)

    @property
    def starts(self) -> Ints:
        """The first corner of each face, also for plain triangles."""
        if self.face_starts is not None:
            return self.face_starts
        return np.arange(0, len(self.corners), 3, dtype=np.int32)


# ----------------------------------------------------------------------------------------------------------- materials


@dataclass
class Image:
    """A picture: looked for on disk under `names`, or given as pixels."""

    name: str  # as the file has it
    names: tuple[str, ...] = ()  # relative or absolute paths to try, in the engine's order; empty: just `name`
    pixels: npt.NDArray[np.uint8] | None = None  # (height, width, 4) RGBA, bottom row first
    path: str = ""  # where it is on disk, when that is known (export)
    alpha: bool = True  # its alpha means something
    mask_black: bool = False  # pure black pixels are transparent
    mean_alpha: bool = False  # where it has no alpha channel, the mean of its colours is its alpha
    data: bytes = b""  # the picture's file itself, where a model has it inside: PNG or JPEG, its alpha as it is meant
    moved: bool = False  # an export names it anew: it is not where an imported file said any more


@dataclass
class TextureLayer:
    """One texture of a material, laid over the ones before it."""

    image: int
    uv: int = 0  # index in Mesh.uvs
    map_name: str = ""  # of the UV map, where meshes may have it in different places; prepare.py goes by it
    blend: Literal["OFF", "ALPHA", "MULTIPLY", "ADD", "DOT3", "MULTIPLY_2X"] = "MULTIPLY"
    mapping: Literal["UV", "SPHERE", "CUBE"] = "UV"
    offset: tuple[float, float] = (0.0, 0.0)  # uv' = scale · rotate(uv) + offset, in Blender's UV space
    scale: tuple[float, float] = (1.0, 1.0)
    rotation: float = 0.0
    matrix: tuple[tuple[float, float, float], ...] | None = None  # (2, 3) instead of these three, where they cannot say it
    clamp: tuple[bool, bool] = (False, False)
    nearest: bool = False
    # What the texture is for; anything but COLOR is kept out of the colour chain.
    use: Literal["COLOR", "NORMAL", "SPECULAR", "ROUGHNESS", "METALLIC", "EMISSION", "OCCLUSION", "ALPHA", "OTHER"] = "COLOR"
    settings: Settings = field(default_factory=dict)


@dataclass
class Material:
    """What an old engine knows of a surface, enough to look the same in the viewport."""

    name: str
    color: Floats = field(default_factory=lambda: floats(1, 1, 1, 1))  # RGBA, sRGB values as the file has them
    layers: list[TextureLayer] = field(default_factory=list)
    emission: Floats = field(default_factory=lambda: floats(0, 0, 0))  # sRGB
    specular: float = 0.0
    roughness: float = 1.0
    metallic: float = 0.0
    vertex_colors: bool = False  # multiply by the mesh's first colour layer
    vertex_alpha: bool = False  # ... and by its alpha
    lacks_colors: bool = False  # the format wants vertex colours, but the mesh has none, which counts as white
    full_bright: bool = False  # no lighting
    double_sided: bool = False
    flat: bool = False  # faceted
    # How it is laid over what is behind: OPAQUE ignores alpha, MASK cuts below `threshold`.
    blend: Literal["OPAQUE", "MASK", "ALPHA", "ADD", "MULTIPLY"] = "OPAQUE"
    threshold: float = 0.5
    stipple: bool = False  # every other pixel is missing, as in a checkerboard
    wireframe: bool = False
    color_name: str = ""  # of the colours it shows, where they are not the mesh's first
    lost: list[str] = field(default_factory=list)  # what it looks like and cannot say here, for people
    graph: str = ""  # the name of a node group that a format brings along instead of the common one ("bogle")
    settings: Settings = field(default_factory=dict)


def set_alpha(layer: TextureLayer, images: list[Image], **alpha: bool) -> None:
    """Gives a layer an image like its own, but with these of `alpha`, `mask_black` and `mean_alpha`: added where it is new."""
    wanted = replace(images[layer.image], **alpha)  # type: ignore[arg-type]
    if any(getattr(images[layer.image], name) != value for name, value in alpha.items()):
        layer.image = len(images)
        images.append(wanted)


# --------------------------------------------------------------------------------------------------------------- scene


@dataclass
class Scene:
    nodes: list[Node] = field(default_factory=list)
    meshes: list[Mesh] = field(default_factory=list)
    materials: list[Material] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    cameras: list[Camera] = field(default_factory=list)
    lights: list[Light] = field(default_factory=list)
    timeline: Clip | None = None  # everything that moves, in the file's frames
    clips: list[Clip] = field(default_factory=list)  # named parts of it, or animations of their own
    interpolation: Interpolation = "SLERP"  # between rotation keys
    fps: float | None = None
    first_frame: float | None = None  # where Blender's scene begins; None where the frames are those of a file
    world_color: Floats | None = None  # RGB, linear
    settings: Settings = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def global_matrices(self) -> list[Floats]:
        """The world matrix of every node at rest."""
        found: list[Floats] = []
        bones: dict[int, list[Floats]] = {}
        for node, matrix in zip(self.nodes, matrices([node.transform for node in self.nodes]), strict=True):
            if node.parent >= 0:
                parent = self.nodes[node.parent]
                above = found[node.parent]
                if node.parent_bone >= 0 and parent.armature is not None:
                    if node.parent not in bones:
                        bones[node.parent] = rest_matrices(parent.armature)
                    above = above @ bones[node.parent][node.parent_bone]
                matrix = above @ matrix
            found.append(matrix)
        return found


def rest_matrices(armature: Armature) -> list[Floats]:
    """Where nothing animates them, the bones' matrices in the armature's space."""
    found: list[Floats] = []
    for bone, matrix in zip(armature.bones, matrices([bone.transform for bone in armature.bones]), strict=True):
        found.append(found[bone.parent] @ matrix if bone.parent >= 0 else matrix)
    return found


def scaled(scene: Scene, factor: float) -> Scene:
    """The scene `factor` times as large. The arrays that do not change are shared."""
    if factor == 1:
        return scene

    def location(channel: Channel | None) -> Channel | None:
        return None if channel is None else Channel(channel.frames, channel.values * np.float32(factor))

    def clip(source: Clip) -> Clip:
        if source.tracks is None:
            return source
        tracks = {target: replace(track, location=location(track.location)) for target, track in source.tracks.items()}
        return replace(source, tracks=tracks)

    return replace(
        scene,
        nodes=[_scaled_node(node, factor) for node in scene.nodes],
        meshes=[replace(mesh, positions=mesh.positions * np.float32(factor)) for mesh in scene.meshes],
        cameras=[replace(c, clip_start=c.clip_start * factor, clip_end=c.clip_end * factor) for c in scene.cameras],
        timeline=None if scene.timeline is None else clip(scene.timeline),
        clips=[clip(source) for source in scene.clips],
    )


def _scaled_matrix(matrix: Floats, factor: float) -> Floats:
    moved = matrix.copy()
    moved[:3, 3] *= factor
    return moved


def _scaled_node(node: Node, factor: float) -> Node:
    armature = node.armature
    if armature is not None:
        bones = [
            replace(
                bone,
                bind=_scaled_matrix(bone.bind, factor),
                transform=_scaled_transform(bone.transform, factor),
                head=None if bone.head is None else bone.head * np.float32(factor),
            )
            for bone in armature.bones
        ]
        armature = replace(armature, bones=bones)
    return replace(node, transform=_scaled_transform(node.transform, factor), armature=armature)


def _scaled_transform(transform: Transform, factor: float) -> Transform:
    prefix = None if transform.prefix is None else _scaled_matrix(transform.prefix, factor)
    return replace(transform, location=transform.location * np.float32(factor), prefix=prefix)
