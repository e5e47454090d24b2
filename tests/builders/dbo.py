# SPDX-License-Identifier: GPL-3.0-or-later
"""Small .dbo documents, of every kind that real files are of and of some that they are not."""

from __future__ import annotations

import numpy as np

from io_retro_meshes.formats import dbo
from io_retro_meshes.formats.dbo import vertices
from io_retro_meshes.formats.dbo.document import (
    ELEMENT,
    ELEMENT_COUNT,
    MATRIX_KEY,
    ROTATION_KEY,
    VECTOR_KEY,
    Animation,
    AnimationSet,
    Bone,
    Document,
    Frame,
    Mesh,
    MultiMaterial,
    Root,
    Texture,
)
from io_retro_meshes.formats.dbo.fields import Block

CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float32)
FACES = np.array([0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1, 2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3])


def box(fvf: int = 0x112, offset: tuple[float, float, float] = (0, 0, 0)) -> Mesh:
    rows = vertices.make(fvf, 8)
    rows["position"] = CORNERS + np.array(offset, np.float32)
    rows["normal"] = CORNERS / np.sqrt(3)
    for name in rows.dtype.names or ():
        if name.startswith("uv"):
            rows[name][:, :2] = CORNERS[:, : rows[name].shape[1]][:, :2] / 2 + 0.5
    if fvf & vertices.DIFFUSE:
        rows["diffuse"] = np.arange(32).reshape(8, 4)
    return mesh(rows, fvf, FACES)


def mesh(rows: np.ndarray, fvf: int, indices: np.ndarray, kind: int = 4) -> Mesh:
    made = Mesh(fvf=fvf, stride=rows.dtype.itemsize, vertex_count=len(rows), index_count=len(indices))
    made.vertices = rows.tobytes()
    if len(indices):
        made.indices = indices
    made.primitive_type, made.draw_vertices, made.draw_primitives = kind, len(rows), len(indices) // 3
    return made


def frame(name: str, mesh: Mesh | None = None, at: tuple[float, float, float] = (0, 0, 0), turn: float = 0.0) -> Frame:
    """A frame turned about the engine's Y."""
    matrix = np.eye(4, dtype=np.float32)
    matrix[[0, 2], [0, 2]] = np.cos(turn)
    matrix[0, 2], matrix[2, 0] = -np.sin(turn), np.sin(turn)
    matrix[3, :3] = at
    return Frame(name=name, matrix=matrix, mesh=mesh)


def document(root: Frame, animation_set: AnimationSet | None = None, version: int = 1062) -> Document:
    made = Document(Root(frame=root, animation_set=animation_set), version=version)
    made.custom_data = b""
    return made


def siblings(count: int) -> Document:
    """A chain of siblings: each lies within the one before it."""
    last: Frame | None = None
    for number in reversed(range(count)):
        made = frame(f"s{number}", at=(number, 0, 0))
        made.child, made.sibling = None, last
        last = made
    root = frame("root")
    root.child = last
    return document(root)


def keys(name: str, turn: float = 1.2, scale: bool = False) -> Animation:
    """A swing about the engine's X and a step upwards, over ten frames."""
    made = Animation(name=name, position_count=2, rotation_count=3)
    positions = np.zeros(2, VECTOR_KEY)
    positions["time"], positions["value"] = [0, 10], [(0, 2, 0), (0, 2.5, 0.5)]
    made.positions = positions
    rotations = np.zeros(3, ROTATION_KEY)
    rotations["time"] = [0, 4, 10]
    half = np.array([0, turn, -turn]) / 2
    rotations["value"] = np.stack([np.sin(half), 0 * half, 0 * half, np.cos(half)], 1)
    made.rotations = rotations
    if scale:
        scales = np.zeros(2, VECTOR_KEY)
        scales["time"], scales["value"] = [2, 8], [(1, 1, 1), (1.5, 1, 0.8)]
        made.scale_count, made.scales = 2, scales
    return made


def matrix_keys(name: str) -> Animation:
    rows = np.zeros(3, MATRIX_KEY)
    rows["time"] = [0, 5, 10]
    rows["value"] = np.eye(4)
    rows["value"][:, 3, :3] = [(0, 0, 0), (1, 2, 3), (4, 0, 0)]
    rows["value"][1, :3, :3] = np.diag([2, 2, 2])
    rows["interpolation"][:-1] = np.diff(rows["value"], axis=0) / 5
    return Animation(name=name, matrix_count=3, matrices=rows)


def arm(bound: float = 0.3) -> Document:
    """A skinned column on two bones, bound in another pose than the one it rests in."""
    rows = vertices.make(0x112, 16)
    rows["position"] = (np.tile(CORNERS, (2, 1)) + np.repeat([[0, 1, 0], [0, 3, 0]], 8, 0)) * (0.5, 1, 0.5)
    rows["normal"] = np.tile(CORNERS / np.sqrt(3), (2, 1))
    skin = mesh(rows, 0x112, np.concatenate([FACES, FACES + 8]))
    upper = np.linalg.inv(frame("", at=(0, 2, 0), turn=bound).matrix)
    numbers, height = np.arange(16), rows["position"][:, 1]
    weight = np.clip(height / 4, 0, 1).astype(np.float32)
    bones = []
    for name, values, inverse in (("lower", 1 - weight, np.eye(4)), ("upper", weight, upper)):
        used = values > 0
        bones.append(Bone(name=name, influences=int(used.sum()), vertices=numbers[used], weights=values[used], matrix=inverse))
    skin.bone_count, skin.bones = 2, bones
    root, lower, tip = frame("root"), frame("lower", turn=0.2), frame("upper", at=(0, 2, 0))
    body, hand = frame("body", skin, at=(9, 9, 9)), frame("hand", box(offset=(0, 4, 0)), at=(0, 0.5, 0))
    root.child, lower.child, lower.sibling, tip.child = lower, tip, body, hand
    return document(root, AnimationSet(name="swing", length=10, animation=keys("upper", scale=True)))


def parts() -> Document:
    """Two materials on one mesh, and flags of every kind."""
    made = box(0x252)
    texture = Texture(name="wall.png", stage=0, blend_mode=4, address_u=3, tc_mode=11)
    made.texture_count, made.textures = 1, [texture]
    made.use_material = True
    made.use_multi_material, made.multi_material_count = True, 2
    made.multi_materials = [
        MultiMaterial(name="wall.png", material=bytes(68), start=0, count=12, polygons=4),
        MultiMaterial(name="C:\\art\\roof.tga", material=bytes(68), start=12, count=24, polygons=8),
    ]
    made.light, made.cull, made.ghost, made.ghost_mode, made.visible = False, False, True, 5, False
    made.effect, made.arbitrary_value, made.z_bias, made.z_bias_slope = "glow.fx", 7, True, 0.25
    made.blocks.append(Block(999, b"what is this"))
    made.lod_500 = bytes(4)
    return document(frame("house", made))


def declared() -> Document:
    """FVF 0: a layout of 88 bytes whose weights and bone numbers call themselves texture coordinates."""
    table = np.zeros(ELEMENT_COUNT, ELEMENT)
    layout = [(0, 0, 2, 0, 0), (0, 12, 2, 3, 0), (0, 24, 1, 5, 0), (0, 32, 2, 6, 0), (0, 44, 2, 7, 0)]
    layout += [(0, 56, 3, 5, 0), (0, 72, 3, 5, 0), (0xFF, 0, 17, 0, 0)]
    for row, (stream, offset, kind, usage, index) in zip(table, layout, strict=False):
        row["stream"], row["offset"], row["type"], row["usage"], row["index"] = stream, offset, kind, usage, index
    source = box()
    rows = np.zeros((8, 88), np.uint8)
    rows[:, :32] = np.frombuffer(source.vertices, np.uint8).reshape(8, 32)
    made = Mesh(fvf=0, stride=88, vertex_count=8, index_count=36, declaration=table, vertices=rows.tobytes(), indices=FACES)
    made.blocks[4].size = 4  # as the engine declares it
    return document(frame("declared", made))


def sub_frames() -> Document:
    made = box()
    made.sub_frames = [frame("sub", box(offset=(5, 0, 0)), at=(1, 0, 0)), frame("other")]
    made.blocks[-1].size = 4
    made.texture_count = 0
    return document(frame("holder", made, at=(0, 2, 0)))


def everything() -> list[Document]:
    return [arm(), parts(), declared(), sub_frames(), siblings(5), document(frame("v1", box(0x152)), version=1)]


def fuzz_seeds() -> list[bytes]:
    return [dbo.write(each) for each in everything()]
