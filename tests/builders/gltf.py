# SPDX-License-Identifier: GPL-3.0-or-later
"""glTF files made by hand, with what other programs write and this project does not, and a scene with a bit of everything."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from io_retro_meshes.formats import FORMATS
from io_retro_meshes.scene import (
    Armature,
    Bone,
    Camera,
    Channel,
    Clip,
    Image,
    Layer,
    Light,
    Material,
    Mesh,
    Node,
    Scene,
    Skin,
    TextureLayer,
    Track,
    Transform,
    floats,
    maths,
)

Json = dict[str, Any]


def glb(content: Json, data: bytes = b"") -> bytes:
    """The bytes of a .glb, put together here and not by the project."""
    text = json.dumps(content).encode()
    text += b" " * (-len(text) % 4)
    data += bytes(-len(data) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text
    if data:
        body += struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


class Maker:
    """Collects arrays in a buffer."""

    def __init__(self) -> None:
        self.data = b""
        self.views: list[Json] = []
        self.accessors: list[Json] = []

    def view(self, data: bytes, **words: Any) -> int:
        self.data += bytes(-len(self.data) % 4)
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data), **words})
        self.data += data
        return len(self.views) - 1

    def add(self, values: Any, kind: str = "<f4", **words: Any) -> int:
        rows = np.asarray(values, kind)
        rows = rows.reshape(len(rows), -1)
        codes = {"i1": 5120, "u1": 5121, "<i2": 5122, "<u2": 5123, "<u4": 5125, "<f4": 5126}
        types = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
        made = {"componentType": codes[kind], "count": len(rows), "type": types[rows.shape[1]], **words}
        if "bufferView" not in words:
            made["bufferView"] = self.view(rows.tobytes())
        self.accessors.append(made)
        return len(self.accessors) - 1

    def document(self, **members: Any) -> Json:
        found = {"asset": {"version": "2.0"}, **members, "accessors": self.accessors, "bufferViews": self.views}
        return found | ({"buffers": [{"byteLength": len(self.data)}]} if self.data else {})

    def file(self, **members: Any) -> bytes:
        return glb(self.document(**members), self.data)


def odd_file() -> bytes:
    """What the format allows and few write: sparse, quantised and interleaved, a strip, lines, two scenes, splines, steps."""
    maker = Maker()
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], "<f4")
    rows = np.zeros(4, [("position", "<f4", 3), ("color", "u1", 4), ("uv", "<u2", 2)])
    rows["position"], rows["color"], rows["uv"] = corners, [[255, 128, 0, 255]] * 4, corners[:, :2] * 65535
    view = maker.view(rows.tobytes(), byteStride=rows.itemsize)
    position = maker.add(corners, bufferView=view, min=[0, 0, 0], max=[1, 1, 0])
    color = maker.add(rows["color"], "u1", bufferView=view, byteOffset=12, normalized=True)
    uv = maker.add(rows["uv"], "<u2", bufferView=view, byteOffset=16, normalized=True)
    moved = {"count": 1, "indices": {"bufferView": maker.view(b"\x03"), "componentType": 5121}}
    moved["values"] = {"bufferView": maker.view(np.array([2, 2, 1], "<f4").tobytes())}
    sparse = maker.add(corners, bufferView=view, sparse=moved, min=[0, 0, 0], max=[2, 2, 1])
    small = maker.add(
        np.array([[0, 0, 0, 0], [100, 0, 0, 0], [0, 100, 0, 0]]), "<i2", type="VEC3", min=[0, 0, 0], max=[100, 100, 0]
    )
    maker.views[-1]["byteStride"] = 8
    strip = {"attributes": {"POSITION": position, "COLOR_0": color, "TEXCOORD_0": uv}, "mode": 5, "material": 0}
    lines = {"attributes": {"POSITION": sparse}, "mode": 2}
    tiny = {"attributes": {"POSITION": small}}
    matrix = np.array([[0, -2, 0, 5], [2, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]]).T.reshape(-1).tolist()
    return maker.file(
        scene=1,
        scenes=[{"nodes": [3]}, {"nodes": [0]}],
        nodes=[
            {"name": "turned", "matrix": matrix, "children": [1, 2]},
            {"name": "strip", "mesh": 0},
            {"name": "tiny", "mesh": 1, "scale": [0.01, 0.01, 0.01]},
            {"name": "elsewhere"},
        ],
        meshes=[{"primitives": [strip, lines]}, {"primitives": [tiny]}],
        materials=[{"name": "plain", "pbrMetallicRoughness": {"baseColorFactor": [0.5, 0.25, 1, 1]}, "alphaMode": "MASK"}],
        animations=[_spline_and_step(maker, 1)],
        extensionsUsed=["KHR_mesh_quantization"],
        extensionsRequired=["KHR_mesh_quantization"],
    )


def _spline_and_step(maker: Maker, node: int) -> Json:
    times = maker.add([0, 0.5, 1.5], min=[0], max=[1.5])
    spline = maker.add(np.array([[[0, 0, 0], [i, 0, 0], [0, 1, 0]] for i in range(3)]).reshape(-1, 3))
    step = maker.add([[1, 1, 1], [2, 2, 2], [3, 3, 3]])
    ways = [("translation", "CUBICSPLINE", spline), ("scale", "STEP", step)]
    samplers = [{"input": times, "output": output, "interpolation": way} for _, way, output in ways]
    channels = [{"sampler": number, "target": {"node": node, "path": path}} for number, (path, _, _) in enumerate(ways)]
    return {"name": "spin", "channels": channels, "samplers": samplers}


def two_skins() -> bytes:
    """Two meshes on the same joints, bound in other spaces, below nodes that move; nothing in the joints' own names."""
    maker = Maker()
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0]])
    position = maker.add(points, min=[0, 0, 0], max=[1, 2, 0])
    away = maker.add(points + np.array([0, 0, 5]), min=[0, 0, 5], max=[1, 2, 5])
    joints = maker.add([[0, 1, 0, 0]] * 3, "u1")
    weights = maker.add([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 1, 0, 0]])
    binds = np.stack([np.eye(4), np.eye(4)])
    binds[1, 1, 3] = -1  # the second joint is at a height of 1
    shift = np.eye(4)
    shift[2, 3] = -5
    first = maker.add(binds.transpose(0, 2, 1).reshape(2, 16))
    second = maker.add((binds @ shift).transpose(0, 2, 1).reshape(2, 16))
    times, turns = maker.add([0, 1], min=[0], max=[1]), maker.add([[0, 0, 0, 1], [0, 0, np.sqrt(0.5), np.sqrt(0.5)]])
    bend = {
        "channels": [{"sampler": 0, "target": {"node": 3, "path": "rotation"}}],
        "samplers": [{"input": times, "output": turns}],
    }
    meshes = [{"attributes": {"POSITION": each, "JOINTS_0": joints, "WEIGHTS_0": weights}} for each in (position, away)]
    return maker.file(
        scene=0,
        scenes=[{"nodes": [0, 4]}],
        nodes=[
            {"translation": [3, 0, 0], "children": [1]},
            {"rotation": [0, 1, 0, 0], "children": [2]},
            {"children": [3], "scale": [1, 1, 2]},
            {"translation": [0, 1, 0]},
            {"mesh": 0, "skin": 0, "translation": [9, 9, 9], "children": [5]},
            {"mesh": 1, "skin": 1},
        ],
        meshes=[{"primitives": [mesh]} for mesh in meshes],
        skins=[{"joints": [2, 3], "inverseBindMatrices": first}, {"joints": [2, 3], "inverseBindMatrices": second}],
        animations=[bend],
    )


def everything() -> Scene:
    """A scene with one of each."""
    turn = floats(np.sqrt(0.5), np.sqrt(0.5), 0, 0)
    shear = np.eye(4, dtype=np.float32)
    shear[0, 1] = 0.5
    bind = maths.compose(floats(0, 0, 1), turn, floats(1, 1, 1))
    bones = [
        Bone("root", -1, np.eye(4, dtype=np.float32), Transform(), settings={"b3d": {"a": 1}}),
        Bone("tip", 0, bind, Transform.from_matrix(bind), head=floats(0, 0, 0.5)),
        Bone("bent", 1, bind @ shear, Transform(prefix=shear)),
    ]
    cube = quad_mesh("cube")
    cube.materials, cube.face_materials = [0, 1, 0], np.array([0, 1, 2], np.int32)
    skinned = quad_mesh("skinned")
    skinned.materials = [2]
    skinned.skin = Skin(0, np.array([0, 1, 1, 2], np.int32), np.array([0, 0, 1, 2], np.int32), floats(1, 0.25, 0.75, 1))
    loose = Mesh("loose", np.array([[0, 0, 0], [0, 0, 1], [5, 5, 5]], np.float32), np.zeros(0, np.int32))
    loose.edges = np.array([[0, 1]], np.int32)
    nodes = [
        Node("rig", transform=Transform(floats(1, 2, 3), turn, floats(2, 2, 2)), armature=Armature("rig", bones)),
        Node("skinned", 0, mesh=1),
        Node("cube", 0, 1, Transform(prefix=shear, location=floats(0, 1, 0)), mesh=0, settings={"b3d": {"id": 7}}),
        Node("eye", 0, 2, Transform(floats(0, 0, 2), turn), camera=0),
        Node("lamp", 2, light=0, hidden=True),
        Node("points", 4, mesh=2),
        Node("spot", transform=Transform(rotation=turn, scale=floats(1, 2, 3)), light=1),
    ]
    scene = Scene(nodes, [cube, skinned, loose], fps=25.0)
    scene.cameras = [Camera("eye", 0.7, 0.5, 50, main=True, resolution=(320, 200))]
    scene.lights = [Light("lamp", energy=40, cutoff_distance=7.0), Light("spot", "SPOT", floats(2, 1, 0), 5, 0.6)]
    scene.settings, scene.world_color = {"b3d": {"version": 1}}, floats(0.1, 0.2, 0.3)
    _add_materials(scene)
    _add_animation(scene)
    return scene


def _add_materials(scene: Scene) -> None:
    layers = [
        TextureLayer(0, settings={"b3d": {"flags": 9}}, clamp=(True, False), nearest=True),
        TextureLayer(1, uv=1, blend="MULTIPLY_2X"),
    ]
    turned = [TextureLayer(1, rotation=0.5, scale=(2, 3), offset=(0.1, 0.2))]
    scene.materials = [
        Material("skin", floats(0.5, 0.25, 1, 0.75), layers, blend="ALPHA", double_sided=True, settings={"b3d": {"fx": 16}}),
        Material("glow", full_bright=True, vertex_colors=True, emission=floats(0.5, 0, 0), flat=True),
        Material("turned", layers=turned, blend="MASK", threshold=0.3),
    ]
    pixels = np.arange(64, dtype=np.uint8).reshape(4, 4, 4)
    scene.images = [Image("skin.bmp", pixels=pixels), Image("light.png", pixels=pixels[::-1].copy(), mask_black=True)]


def _add_animation(scene: Scene) -> None:
    turns = Channel(floats(2, 12), np.array([[1, 0, 0, 0], [0.6, 0.8, 0, 0]], np.float32))
    places = Channel(floats(0, 6, 24), np.array([[0, 0, 0], [1, 2, 3], [0, 0, 4]], np.float32))
    tracks = {
        (0, 0): Track(places),
        (0, 1): Track(rotation=turns),
        (0, 2): Track(places, turns),
        (2, -1): Track(places),
        (3, -1): Track(rotation=turns),
    }
    scene.timeline = Clip("all", 0, 24, tracks)
    grows = Channel(floats(10, 34), np.array([[1, 1, 1], [1, 4, 9]], np.float32))
    scene.clips = [
        Clip("part", 4, 9, markers=[(5.0, "step")], settings={"dbo": {"footfall_1": 6}}),
        Clip("own", 10, 34, {(6, -1): Track(scale=grows)}, owner=0),
    ]


def quad_mesh(name: str) -> Mesh:
    """A quad and two triangles, with two UV maps, colours as bytes and corner normals."""
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 2]], np.float32)
    corners = np.array([0, 1, 2, 3, 0, 1, 4, 1, 2, 4], np.int32)
    mesh = Mesh(name, points, corners, np.array([0, 4, 7], np.int32))
    mesh.uvs = [Layer("UVMap", points[corners, :2].copy(), "CORNER"), Layer("UVMap.001", points[:, 1:3].copy())]
    mesh.colors = [Layer("Color", np.arange(20, dtype=np.uint8).reshape(5, 4) * 12)]
    mesh.normals = Layer("normal", maths.normalized(points[corners] + np.float32(0.1)), "CORNER")
    mesh.settings = {"dbo": {"linked": True}}
    return mesh


def fuzz_seeds() -> list[bytes]:
    text = FORMATS["gltf"].from_scene(everything(), FORMATS["gltf"].ExportOptions(name="a.gltf", pictures="EMBED"))
    return [odd_file(), two_skins(), FORMATS["gltf"].write(text)]
