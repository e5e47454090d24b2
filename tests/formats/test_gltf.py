# SPDX-License-Identifier: GPL-3.0-or-later
"""glTF documents: every byte kept, nothing trusted; and scenes to glTF and back."""

from __future__ import annotations

import base64
import io
import json
import shutil
import struct
import subprocess
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.convert import convert
from io_retro_meshes.formats import FORMATS, FormatError, gltf, sniff
from io_retro_meshes.formats.gltf import beside
from io_retro_meshes.formats.gltf.from_scene.animation import as_slerp
from io_retro_meshes.formats.gltf.from_scene.materials import transform_to_file
from io_retro_meshes.pictures import png
from io_retro_meshes.pictures.stages import layer_uvs
from io_retro_meshes.scene import (
    Image,
    Material,
    Node,
    Scene,
    TextureLayer,
    animation,
    floats,
    maths,
    rest_matrices,
)
from tests.builders import gltf as made
from tests.builders.posing import told
from tests.conftest import ROOT, corpus_files
from tests.engines.gltf import Gltf

FILES = corpus_files("gltf", "*.glb")


def written(scene: Scene, **options: Any) -> bytes:
    return gltf.write(gltf.from_scene(scene, gltf.ExportOptions(**options)))


def content(data: bytes) -> dict[str, Any]:
    return Gltf(data).json


def read_scene(data: bytes) -> Scene:
    return gltf.to_scene(gltf.read(data))


def reach(points: np.ndarray, others: np.ndarray) -> float:
    """How far any of the first lies from all of the second, in sizes of the second."""
    size = float(np.linalg.norm(np.ptp(others, 0))) or 1.0
    return max(float(np.linalg.norm(others - point, axis=1).min()) for point in points[:: max(len(points) // 100, 1)]) / size


# ------------------------------------------------------------------------------------------------------------ documents


@pytest.mark.parametrize("path", FILES)
def test_files_come_back_byte_for_byte(path: Path) -> None:
    data = path.read_bytes()
    document = gltf.read(data)
    assert gltf.write(document) == data and document.warnings == [] and sniff(data) is gltf
    assert gltf.summary(document)


def test_text_comes_back_byte_for_byte_until_it_is_changed() -> None:
    text = b'{ "asset" :\t{"version": "2.0"},\r\n "scenes": [ ], "extras": {"b": 1.0e0, "a": "\\u00e4\xc3\xa4"}}\n\n'
    document = gltf.read(text)
    assert gltf.write(document) == text and sniff(text) is gltf
    document.json["scene"] = 0
    assert json.loads(gltf.write(document)) == {**json.loads(text), "scene": 0}


def test_other_chunks_and_bytes_behind_them_stay() -> None:
    data = bytearray(made.odd_file())
    data += struct.pack("<I4s", 3, b"XTRA") + b"abc"
    struct.pack_into("<I", data, 8, len(data))
    document = gltf.read(bytes(data))
    assert document.chunks[1].data == b"abc" and document.warnings == [] and gltf.write(document) == data
    longer = bytes(data) + b"behind"
    document = gltf.read(longer)
    assert len(document.warnings) == 1 and gltf.write(document) == longer


# -------------------------------------------------------------------------------------------------------- hostile files


def spoiled(change: Any) -> bytes:
    document = gltf.read(made.two_skins())
    change(document.json)
    return gltf.write(document)


def nowhere(value: dict[str, Any]) -> None:
    value["accessors"][0] |= {"count": 4_000_000_000, "sparse": value["accessors"][0].pop("bufferView")}
    value["accessors"][0]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": 0, "componentType": 5125},
        "values": {"bufferView": 0},
    }


def again_and_again(value: dict[str, Any]) -> None:
    primitive = value["meshes"][0]["primitives"][0]
    value["accessors"][0] |= {"count": 30_000}
    value["accessors"][0].pop("bufferView")
    value["extras"] = "x" * 30_000
    value["meshes"] = [
        {"primitives": [{"attributes": {"POSITION": 0, f"_{i}": 0}} for i in range(3000)]},
        {"primitives": [primitive]},
    ]


def no_texture(value: dict[str, Any]) -> None:
    value["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {}}}]
    value["textures"] = [{"source": 0}]
    value["images"] = [{"uri": "data:image/png;base64,AAAA"}]
    for mesh in value["meshes"]:
        mesh["primitives"][0]["material"] = 0


def draco_without_a_copy(value: dict[str, Any]) -> None:
    """Not required by what the file says, and yet there are no vertices but those."""
    primitive = value["meshes"][0]["primitives"][0]
    primitive["extensions"] = {"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {}}}
    value["accessors"][primitive["attributes"]["POSITION"]].pop("bufferView")
    value["extensionsUsed"] = ["KHR_draco_mesh_compression"]


SPOILED = {
    "sparse": (nowhere, "no bytes"),
    "again": (again_and_again, "too many"),
    "draco": (lambda value: value.update(extensionsRequired=["KHR_draco_mesh_compression"]), "KHR_draco_mesh_compression"),
    "draco inside": (draco_without_a_copy, "Draco .* without compression"),
    "meshopt": (lambda value: value["bufferViews"][0].update(extensions={"EXT_meshopt_compression": {}}), "meshopt"),
    "new meshopt": (lambda value: value["bufferViews"][0].update(extensions={"KHR_meshopt_compression": {}}), "meshopt"),
    "stride": (lambda value: value["bufferViews"][0].update(byteStride=2), "byteStride"),
    "count": (lambda value: value["accessors"][0].update(count=999), "count"),
    "view": (lambda value: value["bufferViews"][0].update(byteLength=99999), "buffer"),
    "beside": (lambda value: value["buffers"][0].update(uri="../../etc/passwd"), "not beside"),
    "base64": (lambda value: value["buffers"][0].update(uri="data:;base64,%%%"), "base64"),
    "type": (lambda value: value["nodes"][0].update(translation=["a", 0, 0]), "translation"),
    "infinite": (lambda value: value["nodes"][0].update(scale=[1, 1, 10**400]), "scale"),
    "index": (lambda value: value["skins"][0].update(joints=[2, 77]), "joints"),
    "binds": (lambda value: value["accessors"][4].update(count=1), "matrices"),
    "no sampler": (lambda value: value["animations"][0]["channels"][0].pop("sampler"), "sampler"),
    "no texture": (no_texture, "index"),
    "keys": (lambda value: value["accessors"][6].update(count=1), "2 values for 1 keys"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_what_cannot_be_read_is_refused_with_the_place(name: str) -> None:
    change, message = SPOILED[name]
    data = spoiled(change)
    tracemalloc.start()
    with pytest.raises(FormatError, match=message):
        read_scene(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 << 20


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"glTF",
        b"[]",
        b"{",
        b'{"asset": {"version": "1.0"}}',
        b'{"asset": {"version": "2.0"}, "nodes": NaN}',
        b'{"asset": {"version": "2.0"}, "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"asset": {"version": "2.0"}, "x": 1' + b"0" * 5000 + b"}",
        made.odd_file()[:100],
        made.odd_file().replace(b"JSON", b"json"),
    ],
)
def test_bad_bytes(data: bytes) -> None:
    with pytest.raises(FormatError):
        gltf.read(data)


def test_what_is_left_out_of_a_file_is_named() -> None:
    """Extensions that a file can be shown without; those that are read, or only say the same in fewer bytes, are not."""

    def use(value: dict[str, Any]) -> None:
        value["extensionsUsed"] = ["EXT_mesh_gpu_instancing", "KHR_draco_mesh_compression", "KHR_materials_unlit"]
        value["materials"] = [
            {
                "name": "shiny",
                "extensions": {"KHR_materials_specular": {"specularTexture": {"index": 0}}},
                "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}},
            }
        ]
        value["textures"] = [{"extensions": {"KHR_texture_basisu": {"source": 0}}}]
        value["images"] = [{"uri": "a.ktx2"}]
        value["meshes"][0]["primitives"][0] |= {"material": 0, "targets": [{"POSITION": 0}]}

    scene = read_scene(spoiled(use))
    words = ["What the file says with EXT_mesh_gpu_instancing was left out", "morph into", "highlights", "a picture of a kind"]
    assert len(scene.warnings) == len(words) and all(any(word in text for text in scene.warnings) for word in words)


def test_webp_pictures_are_read(tmp_path: Path) -> None:
    """As Blender writes them, with another kind to fall back on or without."""
    pytest.importorskip("PIL.features").check("webp") or pytest.skip("Pillow has no WebP here")
    pillow = pytest.importorskip("PIL.Image")
    pixels = np.array([[(255, 0, 0), (0, 255, 0)]], np.uint8)
    pillow.fromarray(pixels).save(tmp_path / "new.webp", lossless=True)

    def use(value: dict[str, Any]) -> None:
        value["extensionsRequired"] = ["EXT_texture_webp"]
        value["images"] = [{"uri": "old.png"}, {"uri": "new.webp", "mimeType": "image/webp"}]
        value["textures"] = [{"source": 0, "extensions": {"EXT_texture_webp": {"source": 1}}}]
        value["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
        value["meshes"][0]["primitives"][0]["material"] = 0

    (tmp_path / "model.glb").write_bytes(spoiled(use))
    assert convert(tmp_path / "model.glb", tmp_path / "again.glb") == []
    file = Gltf(tmp_path / "again.glb")
    (image,) = file.json["images"]
    view = file.json["bufferViews"][image["bufferView"]]
    inside = file.inside[view.get("byteOffset", 0) :][: view["byteLength"]]
    assert image["mimeType"] == "image/png"
    assert (np.asarray(pillow.open(io.BytesIO(inside)).convert("RGB")) == pixels).all()


def test_a_tree_that_bites_its_tail_ends() -> None:
    scene = read_scene(spoiled(lambda value: value["nodes"][3].update(children=[0, 2])))
    assert len(scene.nodes) == 5 and any("more than one place" in warning for warning in scene.warnings)


def test_names_lead_nowhere_else(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    (inside / "deep").mkdir(parents=True)
    for name in ("deep/a b.bin", "../out.bin"):
        (inside / name).write_bytes(b"1234")
    (inside / "link.bin").symlink_to(tmp_path / "out.bin")
    uris = ["deep/a%20b.bin", "../out.bin", "%2e%2e/out.bin", str(tmp_path / "out.bin"), "file:///etc/passwd", "link.bin"]
    uris += ["C:\\x", "..\\out.bin", "a\0b", "https://example.com/a.bin", "missing.bin", "", "."]
    document = gltf.read(json.dumps({"asset": {"version": "2.0"}, "buffers": [{"uri": uri} for uri in uris]}).encode())
    assert gltf.companions(inside / "a.gltf", document) == [(inside / "deep/a b.bin").resolve()]
    found = gltf.read_companion(inside / "deep/a b.bin", b"1234")
    assert beside.find("deep/a%20b.bin", [found]) == b"1234" and beside.find("b.bin", [found]) is None


# -------------------------------------------------------------------------------------------------------------- reading


@pytest.mark.parametrize("path", FILES)
def test_scenes_pose_as_their_files(path: Path) -> None:
    before = Gltf(path)
    scene = read_scene(path.read_bytes())
    after = Gltf(written(scene))
    for seconds in (None, 0, 0.3, 0.77, 1.6):
        old, new = np.concatenate(before.pose(seconds)), np.concatenate(after.pose(seconds))
        assert max(reach(old, new), reach(new, old)) < 1e-5


@pytest.mark.parametrize("data", [made.odd_file(), made.two_skins()], ids=["odd", "two_skins"])
def test_what_few_write_is_read(data: bytes) -> None:
    before, after = Gltf(data), Gltf(written(read_scene(data)))
    for seconds in (None, 0, 0.25, 11 / 24, 0.5, 1, 1.5, 3):
        old, new = np.concatenate(before.pose(seconds)), np.concatenate(after.pose(seconds))
        assert len(old) == len(new) and max(reach(old, new), reach(new, old)) < 1e-6


def test_skins_on_the_same_joints_are_one_armature() -> None:
    """Each mesh was bound in a space of its own, below nodes that count for nothing: both come out right, bones as bound."""
    scene = read_scene(made.two_skins())
    rigs = [node.armature for node in scene.nodes if node.armature is not None]
    assert scene.warnings == [] and len(rigs) == 1 and [bone.parent for bone in rigs[0].bones] == [-1, 0]
    assert np.allclose(rigs[0].bones[0].bind, rest_matrices(rigs[0])[0])


def test_layers_of_a_file_that_few_write() -> None:
    scene = read_scene(made.odd_file())
    mesh = scene.meshes[0]
    assert len(mesh.corners) == 6 and mesh.edges is not None and len(mesh.edges) == 4
    assert mesh.uvs[0].data[:4].tolist() == [[0, 1], [1, 1], [0, 0], [1, 0]]
    shown = maths.srgb_to_linear(mesh.colors[0].data[0, :3])
    assert np.allclose(shown, [1, 128 / 255, 0], atol=1e-5) and (mesh.colors[0].data[4:] == 1).all()
    assert mesh.smooth is not None and not mesh.smooth.any()
    material = scene.materials[0]
    assert material.blend == "MASK" and material.vertex_colors and material.vertex_alpha and material.metallic == 1
    assert np.allclose(maths.srgb_to_linear(material.color[:3]), [0.5, 0.25, 1], atol=1e-6)
    assert "2 scenes" in scene.warnings[0]
    assert scene.timeline is not None and [(clip.name, clip.tracks) for clip in scene.clips] == [("spin", None)]


# -------------------------------------------------------------------------------------------------------------- writing


def test_a_scene_comes_back() -> None:
    before, after = made.everything(), read_scene(written(made.everything()))
    rest = dict(zip([node.name for node in before.nodes], before.global_matrices(), strict=True))
    again = list(zip(after.nodes, after.global_matrices(), strict=True))
    for node, world in again:  # the lamp, which something hangs on, has one more node to look the right way
        looks = node.light >= 0 or node.camera >= 0 or node.name != "lamp"
        assert not looks or np.allclose(world, rest[node.name], atol=1e-5), node.name
    assert {name: node for node, _ in again for name in [node.name] if node.settings}.keys() == {"cube"}
    bones = [scene.nodes[0].armature.bones for scene in (before, after)]
    for old, new in zip(*bones, strict=True):
        assert (old.name, old.parent, old.settings) == (new.name, new.parent, new.settings)
        assert np.allclose(old.bind, new.bind, atol=1e-6) and np.allclose(old.transform.matrix, new.transform.matrix, atol=1e-6)
        assert (old.head is None) == (new.head is None) and (old.head is None or np.allclose(old.head, new.head))
    for old, new in zip(before.cameras + before.lights, after.cameras + after.lights, strict=True):
        for name, value in vars(old).items():
            if name not in ("color", "energy"):
                assert value == pytest.approx(getattr(new, name)) if isinstance(value, float) else value == getattr(new, name)
    assert np.allclose(after.lights[1].color * after.lights[1].energy, floats(10, 5, 0))
    assert (after.fps, after.settings) == (25, before.settings) and np.allclose(after.world_color, before.world_color)
    hidden = {node.name for node in after.nodes if node.hidden}
    assert hidden == {"lamp"}


def test_skins_pose_as_in_the_scene() -> None:
    """With vertices of several bones, of one, and of none, which stay with the armature."""
    scene = made.everything()
    file = Gltf(written(scene))
    for frame in (0, 5, 9.5, 24):
        ours = {file.nodes[number]["name"]: points for number, points in file.posed(frame / 25)}
        theirs = told(scene, scene.timeline, frame)
        for name in ("skinned", "cube", "points"):
            assert reach(ours[name], theirs[name]) < 1e-6, name


def test_materials_come_back() -> None:
    before, after = made.everything(), read_scene(written(made.everything()))
    found = {material.name: material for material in after.materials}
    assert list(found) == ["turned", "skin", "glow"]  # in the order of the surfaces
    for old in before.materials:
        new = found[old.name]
        names = (
            "blend",
            "double_sided",
            "full_bright",
            "flat",
            "vertex_colors",
            "settings",
            "specular",
            "roughness",
            "metallic",
        )
        assert old.full_bright or [getattr(old, name) for name in names] == [getattr(new, name) for name in names]
        assert np.allclose(old.color, new.color, atol=1e-6) and np.allclose(old.emission, new.emission, atol=1e-5)
        assert [before.images[layer.image].name for layer in old.layers] == [
            after.images[layer.image].name for layer in new.layers
        ]
    first, second = found["skin"].layers
    assert (first.clamp, first.nearest, first.settings) == ((True, False), True, {"b3d": {"flags": 9}})
    assert (second.blend, second.uv) == ("MULTIPLY_2X", 1)
    images = {image.name: image for image in after.images}
    assert images["skin.bmp"].data.startswith(png.MAGIC) and images["light.png"].mask_black


def test_animations_come_back() -> None:
    before, after = made.everything(), read_scene(written(made.everything()))
    assert after.timeline is not None and (after.timeline.name, after.timeline.first, after.timeline.last) == ("all", 0, 24)
    for old, new in zip(before.clips, after.clips, strict=True):
        assert (old.name, old.first, old.last, old.markers, old.settings) == (
            new.name,
            new.first,
            new.last,
            new.markers,
            new.settings,
        )
        assert old.owner == new.owner and (old.tracks is None) == (new.tracks is None)
    frames = np.linspace(-1, 30, 12, dtype=np.float32)
    for clips in ((before.timeline, after.timeline), (before.clips[1], after.clips[1])):
        moves = [
            dict(zip([n.name for n in scene.nodes], animation.node_matrices(scene, clip.tracks or {}, frames), strict=True))
            for scene, clip in zip((before, after), clips, strict=True)
            if clip is not None
        ]
        for name in ("cube", "eye", "points", "spot"):
            assert np.allclose(moves[0][name], moves[1][name], atol=1e-5), name


def test_keys_stay_and_parts_start_at_zero() -> None:
    scene = made.everything()
    file = Gltf(written(scene))
    assert [each["name"] for each in file.json["animations"]] == ["all", "part", "own"]
    times = [
        {tuple(np.round(file.array(sampler["input"])[:, 0] * 25, 3)) for sampler in each["samplers"]}
        for each in file.json["animations"]
    ]
    assert times == [{(2, 12), (0, 6, 24)}, {(0, 5), (0, 2, 5)}, {(10, 34)}]
    for animation_number, (first, last) in enumerate(((0, 24), (4, 9))):
        for frame in np.linspace(first, last, 5):
            old = np.concatenate(file.pose(frame / 25))
            assert reach(old, np.concatenate(file.pose((frame - first) / 25, animation_number))) < 1e-6


def test_a_part_that_is_the_whole_is_not_written_twice() -> None:
    """One that starts later is: it is at zero there."""
    for first, names in ((0, ["all"]), (1, ["all", "all"])):
        scene = made.everything()
        assert scene.timeline is not None
        scene.timeline.first = first
        scene.clips = [replace(scene.timeline, tracks=None)]
        data = written(scene)
        assert [each["name"] for each in content(data)["animations"]] == names
        (clip,) = read_scene(data).clips
        assert (clip.name, clip.first, clip.last, clip.tracks) == ("all", first, scene.timeline.last, None)


def test_frames_before_zero_are_cut_where_they_are() -> None:
    scene = made.everything()
    clip = scene.timeline
    assert clip is not None and clip.tracks is not None
    clip.first = -6
    for track in clip.tracks.values():
        for name in animation.CHANNELS:
            channel = getattr(track, name)
            if channel is not None and channel.frames[0] >= 0:
                channel.frames = channel.frames - 6
    document = gltf.from_scene(scene)
    assert any("before frame 0" in warning for warning in document.warnings)
    after = read_scene(gltf.write(document))
    for frame in (0.0, 1.0, 7.0):
        at = floats(frame)
        old, new = (animation.node_matrices(s, s.timeline.tracks, at) for s in (scene, after) if s.timeline is not None)
        assert np.allclose(old[2][0], new[2][0], atol=1e-5)


def test_straight_lines_are_made_of_arcs_where_they_differ() -> None:
    wide = np.array([[1, 0, 0, 0], [0.1, 0.995, 0, 0], [0.05, 0.9987, 0, 0]], np.float32)
    frames = floats(0, 30, 40)
    at, values = as_slerp(frames, wide)
    assert len(at) > 4 and set(frames) <= set(at) and np.count_nonzero(at > 30) == 1  # nothing between near keys
    every = np.linspace(0, 40, 400)
    near = maths.key_error(maths.sample(at, values, every, "SLERP"), maths.sample(frames, wide, every, "NLERP"), "SLERP")
    far = maths.key_error(maths.sample(frames, wide, every, "SLERP"), maths.sample(frames, wide, every, "NLERP"), "SLERP")
    assert near.max() < 2e-4 < 0.05 < far.max()


def test_slots_are_the_surfaces() -> None:
    """One texture for each primitive, in the order of the tree, so that numbers of surfaces and of textures agree."""
    for mode in ("EMBED", "NONE"):
        found = content(written(made.everything(), pictures=mode))
        order = [
            primitive.get("material")
            for name in ("skinned", "cube", "points")
            for primitive in found["meshes"][next(n["mesh"] for n in found["nodes"] if n["name"] == name and "mesh" in n)][
                "primitives"
            ]
        ]
        used = [
            found["materials"][number]["pbrMetallicRoughness"].get("baseColorTexture", {}).get("index")
            if number is not None
            else None
            for number in order
        ]
        assert used == [0, 1, 2 if mode == "NONE" else None, 3, None] and len(found["textures"]) == 5
        assert [texture.get("name") for texture in found["textures"]] == ["light.png", "skin.bmp", None, "skin.bmp", None]
        assert all(("source" in texture) == (mode == "EMBED") for texture in found["textures"])
        assert ("images" in found) == (mode == "EMBED")
    after = read_scene(written(made.everything(), pictures="NONE"))
    assert len(after.materials) == 3 and [image.name for image in after.images] == ["light.png", "skin.bmp"]


def test_vertex_colors_show_only_where_the_engine_shows_them() -> None:
    scene = made.everything()
    file = Gltf(written(scene))
    for mesh in file.json["meshes"]:
        for primitive in mesh["primitives"]:
            name = file.json["materials"][primitive["material"]]["name"] if "material" in primitive else ""
            assert ("COLOR_0" in primitive["attributes"]) == (name in ("glow", "skin"))  # the skin has a light map
    colors = read_scene(written(scene)).meshes[0].colors[0].data * 255
    assert np.abs(colors - np.rint(colors)).max() < 2e-2
    kept = {tuple(row) for row in np.rint(colors).astype(int).tolist()}
    assert kept == {tuple(row) for row in scene.meshes[0].colors[0].data.tolist()}


@pytest.mark.parametrize(("scale", "angle"), [((2, 2), 0.7), ((2, -2), 0.7), ((-3, 5), 0.0), ((2, 3), 0.4), ((1, 1), 0.0)])
def test_moved_textures_are_where_the_engine_has_them(scale: tuple[float, float], angle: float) -> None:
    layer = TextureLayer(0, scale=scale, rotation=angle, offset=(0.3, -0.2))
    uvs = np.random.default_rng(1).random((9, 2))
    wanted = layer_uvs(layer, uvs) * (1, -1) + (0, 1)
    moved = transform_to_file(layer)
    assert (moved is None) == (scale == (2, 3))  # the format scales before it turns: that one needs a UV map of its own
    if moved is None:
        return
    x, y = moved.get("offset", (0, 0))
    (u, v), (c, s) = (uvs * (1, -1) + (0, 1)).T, (np.cos(moved.get("rotation", 0)), np.sin(moved.get("rotation", 0)))
    u, v = np.stack([u, v]) * np.array(moved.get("scale", (1, 1)))[:, None]
    assert np.allclose(np.stack([c * u + s * v + x, -s * u + c * v + y], 1), wanted)
    scene = Scene([Node("a", mesh=0)], [made.quad_mesh("a")], [Material("m", layers=[layer])], [Image("a.png", pixels=PIXELS)])
    scene.meshes[0].materials = [0]
    after = read_scene(written(scene)).materials[0].layers[0]
    assert np.allclose(layer_uvs(after, uvs), layer_uvs(layer, uvs), atol=1e-6)


PIXELS = np.full((2, 2, 4), 200, np.uint8)


def test_a_turned_texture_of_uneven_scale_has_coordinates_of_its_own() -> None:
    file = Gltf(written(made.everything()))
    primitive = next(m for m in file.json["meshes"] if m["name"] == "skinned")["primitives"][0]
    info = file.json["materials"][primitive["material"]]["pbrMetallicRoughness"]["baseColorTexture"]
    assert info["texCoord"] == 2 and "extensions" not in info
    uvs = [file.array(primitive["attributes"][f"TEXCOORD_{number}"]) * (1, -1) + (0, 1) for number in (0, 2)]
    assert np.allclose(layer_uvs(made.everything().materials[2].layers[0], uvs[0]), uvs[1], atol=1e-6)


# ------------------------------------------------------------------------------------------------------------- pictures


def test_pictures_are_taken_as_they_are_or_made_png(tmp_path: Path) -> None:
    path = tmp_path / "own.png"
    path.write_bytes(png.encode(PIXELS))
    images = [
        Image("own.png", path=str(path)),
        Image("masked.png", path=str(path), mask_black=True, pixels=PIXELS),
        Image("solid.png", path=str(path), alpha=False, pixels=PIXELS),
        Image("gone.png"),
    ]
    materials = [Material(image.name, layers=[TextureLayer(index)], blend="ALPHA") for index, image in enumerate(images)]
    scene = Scene([Node(str(i), mesh=i) for i in range(4)], [made.quad_mesh(str(i)) for i in range(4)], materials, images)
    for index, mesh in enumerate(scene.meshes):
        mesh.materials = [index]
    document = gltf.from_scene(scene, gltf.ExportOptions(name="a.gltf"))
    assert document.files["own.png"] == path.read_bytes()
    assert document.files["masked.png"] == png.encode(PIXELS) != document.files["solid.png"]
    assert set(document.files) == {"own.png", "masked.png", "solid.png", "a.bin"}
    assert [warning for warning in document.warnings if "gone.png" in warning]
    after = gltf.to_scene(gltf.read(gltf.write(document)), None, [document])
    assert [after.images[material.layers[0].image].name for material in after.materials] == [image.name for image in images]


def test_files_beside_are_never_written_over_others(tmp_path: Path) -> None:
    (tmp_path / "skin.png").write_bytes(b"somebody's")
    (tmp_path / "a.bin").write_bytes(b"a console's model")
    path = tmp_path / "a.gltf"
    for _ in range(2):  # the second time over its own
        document = gltf.from_scene(made.everything(), gltf.ExportOptions(name="a.gltf"))
        for target, data in gltf.companion_files(path, document):
            target.write_bytes(data)
        path.write_bytes(gltf.write(document))
    assert (tmp_path / "skin.png").read_bytes() == b"somebody's" and (tmp_path / "a.bin").read_bytes() == b"a console's model"
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "a.bin",
        "a.gltf",
        "a_1.bin",
        "light.png",
        "skin.png",
        "skin_1.png",
    ]
    read = gltf.read(path.read_bytes())
    assert gltf.companions(path, read) == [tmp_path.resolve() / "a_1.bin"]
    scene = gltf.to_scene(read, None, [gltf.read_companion(each, each.read_bytes()) for each in gltf.companions(path, read)])
    assert {image.names for image in scene.images} == {("skin_1.png",), ("light.png",)}
    assert reach(np.concatenate(Gltf(path).pose(0.2)), np.concatenate(Gltf(written(made.everything())).pose(0.2))) < 1e-6


def test_one_file_has_it_all_inside() -> None:
    data = written(made.everything(), name="a.gltf", pictures="EMBED")
    found = json.loads(data)
    assert all("bufferView" in image for image in found["images"])
    assert base64.b64decode(found["buffers"][0]["uri"].partition(",")[2])
    assert len(read_scene(data).images) == 2


def test_what_gltf_cannot_say_is_named() -> None:
    scene = made.everything()
    scene.materials[1].blend = "ADD"
    scene.materials[1].stipple = True
    scene.materials[2].layers.append(TextureLayer(0, mapping="SPHERE", blend="ADD"))
    text = "\n".join(gltf.from_scene(scene).warnings)
    for words in (
        '"glow" adds',
        '"glow" has every other pixel',
        '"turned": the texture "skin.bmp" (color, add)',
        '"light.png"',
    ):
        assert words in text
    found = {material.name: material for material in read_scene(written(scene)).materials}
    assert (found["glow"].blend, found["glow"].stipple, found["turned"].layers[1].mapping) == ("ADD", True, "SPHERE")


# ------------------------------------------------------------------------------------------------------------ validator


def validate(paths: list[Path]) -> list[dict[str, Any]]:
    """What Khronos's validator says: the package gltf-validator of npm, found by NODE_PATH."""
    node = shutil.which("node")
    if node is None or subprocess.run([node, "-e", "require('gltf-validator')"], capture_output=True).returncode:
        pytest.skip("no node with gltf-validator: npm install gltf-validator, and set NODE_PATH to its node_modules")
    script = ROOT / "tests" / "engines" / "validate.js"
    done = subprocess.run([node, str(script), *map(str, paths)], capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def test_the_validator_finds_no_error(tmp_path: Path) -> None:
    ways = [("a.glb", "AUTO"), ("b.glb", "NONE"), ("c.gltf", "AUTO"), ("d.gltf", "EMBED"), ("e.gltf", "NONE")]
    for name, mode in ways:
        document = gltf.from_scene(made.everything(), gltf.ExportOptions(name=name, pictures=mode))
        for target, data in [*gltf.companion_files(tmp_path / name, document), (tmp_path / name, gltf.write(document))]:
            target.write_bytes(data)
    for number, data in enumerate((made.odd_file(), made.two_skins())):
        (tmp_path / f"{number}.glb").write_bytes(data)
        (tmp_path / f"{number}_again.glb").write_bytes(written(read_scene(data)))
    for report in validate(sorted(tmp_path.glob("*.gl*"))):
        assert report["errors"] == 0, (report["file"], report["messages"])


def test_views_say_what_they_are_for_or_nothing() -> None:
    """The targets of OpenGL for vertices and indices; pictures, keys and matrices have none."""
    found = content(written(made.everything()))
    targets = {view.get("target", 0) for view in found["bufferViews"]}
    assert targets == {0, 34962, 34963}
    assert all("target" not in found["bufferViews"][image["bufferView"]] for image in found["images"])


def test_the_summary_names_what_a_file_needs() -> None:
    document = gltf.read(spoiled(lambda value: value.update(extensionsUsed=["KHR_lights_punctual", "EXT_other"])))
    lines = FORMATS["gltf"].summary(document)
    assert "extensionsUsed: KHR_lights_punctual, EXT_other" in lines
    assert not any(line.startswith("extensionsRequired") for line in lines)


def test_a_camera_on_a_node_with_a_mesh_gets_a_node_of_its_own() -> None:
    def add(value: dict[str, Any]) -> None:
        value["cameras"] = [{"type": "perspective", "perspective": {"yfov": 0.5, "znear": 0.1}}]
        next(node for node in value["nodes"] if "mesh" in node)["camera"] = 0

    scene = read_scene(spoiled(add))
    camera = next(node for node in scene.nodes if node.camera == 0)
    assert camera.mesh < 0 and not np.allclose(camera.transform.rotation, (1, 0, 0, 0))
    assert any(node.mesh >= 0 for node in scene.nodes)


def test_a_rig_without_size_is_written() -> None:
    """A scale of 0 has no inverse; the best there is will do."""
    scene = made.everything()
    scene.nodes[0].armature.bones[0].bind = np.zeros((4, 4), np.float32)  # type: ignore[union-attr]
    assert read_scene(written(scene)).meshes


def test_the_table_has_it_but_the_menus_do_not() -> None:
    assert (
        FORMATS["gltf"] is gltf and not gltf.in_menus and all(entry.in_menus for entry in FORMATS.values() if entry is not gltf)
    )
