# SPDX-License-Identifier: GPL-3.0-or-later
"""Battle characters as they were imported, with something edited that an export has to bring into the file's own bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from io_retro_meshes.formats import saturn
from io_retro_meshes.formats.saturn.document import Document
from io_retro_meshes.scene import Channel, Clip, Image, Material, Scene, TextureLayer, Transform, animation, floats, maths
from tests.builders import saturn as made
from tests.builders import saturn_packed as later

Source = Callable[[], Scene]
Edit = Callable[[Scene], None]


def puppet() -> Scene:
    return saturn.to_scene(saturn.read(saturn.write(made.puppet(2))), None, [made.more_animations(3)])


def alone() -> Scene:
    """Without the file that its other animations are in."""
    return saturn.to_scene(saturn.read(saturn.write(made.puppet(2))))


def fighter() -> Scene:
    return saturn.to_scene(saturn.read(saturn.write(Document([later.fighter(3, damaged=1)]))))


def party() -> Scene:
    return saturn.to_scene(saturn.read(later.party()), saturn.ImportOptions(parts="EACH", images="EACH"))


def new() -> Scene:
    """The same, but of no file."""
    scene = fighter()
    for node in scene.nodes:
        node.settings = {"saturn": {k: v for k, v in node.settings.get("saturn", {}).items() if k not in ("source", "tail")}}
    return scene


# ------------------------------------------------------------------------------------------------------------ animation


def nothing(scene: Scene) -> None:
    pass


def swings(scene: Scene) -> None:
    """Every animation with keys of its own turns a bone further."""
    for clip in scene.clips:
        if (0, 2) in (clip.tracks or {}):
            later.swung(clip, 2, 30)


def moves_the_timeline(scene: Scene) -> None:
    assert scene.timeline is not None and scene.timeline.tracks is not None
    track = scene.timeline.tracks[(0, 2)]
    assert track.rotation is not None
    half = np.radians(15)
    values = track.rotation.values.copy()
    values[1:3] = maths.quaternion_multiply(floats(np.cos(half), 0, np.sin(half), 0), values[1:3])
    scene.timeline.tracks[(0, 2)] = replace(track, rotation=Channel(track.rotation.frames, values))


def stretches(scene: Scene) -> None:
    """Parts of the timeline with keys of their own; the last is longer than its place."""
    assert scene.timeline is not None
    for number, clip in enumerate(scene.clips):
        if clip.tracks is None:
            tracks = animation.cut(scene.timeline, clip.first, clip.last, "NLERP")
            scene.clips[number] = replace(clip, tracks=tracks, last=clip.last + 7 * number)


def shifts_scales(scene: Scene) -> None:
    assert scene.timeline is not None and scene.timeline.tracks is not None
    frames = floats(2, 5, 8)
    track = scene.timeline.tracks[(0, 1)]
    scene.timeline.tracks[(0, 1)] = replace(
        track,
        location=Channel(frames, np.array([[0, 0, 0], [0.5, 0.25, -1], [0, 0, 0]], np.float32)),
        scale=Channel(frames, np.array([[1, 1, 1], [1.5, 0.5, 2], [1, 1, 1]], np.float32)),
    )


def deletes_clips(scene: Scene) -> None:
    del scene.clips[::2]


def adds_clips(scene: Scene) -> None:
    assert scene.timeline is not None
    tracks = animation.cut(scene.timeline, 1, 9, "NLERP")
    scene.clips.append(Clip("special 3", 1, 9, tracks, [(3.0, "hit"), (4.0, "sound 1A"), (5.0, "no such thing")]))
    outside = {"saturn": {"external": True, "type": 0x91, "distance": 7}}
    scene.clips.append(Clip("outside", 100, 108, tracks, settings=outside))


def renames_and_marks(scene: Scene) -> None:
    for number, clip in enumerate(scene.clips):
        clip.settings.setdefault("saturn", {}).update(distance=number * 5, type=0x40 + number)
        clip.markers = [(clip.first + number, "swoosh on"), *clip.markers[:1]]


# ---------------------------------------------------------------------------------------------------------------- model


def moves_points(scene: Scene) -> None:
    for mesh in scene.meshes:
        mesh.positions[::3] += floats(0.5, -0.25, 0.125)


def turns_normals(scene: Scene) -> None:
    for mesh in scene.meshes:
        if mesh.normals is not None:
            mesh.normals.data = mesh.normals.data[:, [1, 2, 0]].copy()


def paints(scene: Scene) -> None:
    for image in scene.images:
        if image.pixels is not None:
            image.pixels[1::2, ::3] = (255, 128, 0, 255)


def other_picture(scene: Scene) -> None:
    pixels = (np.arange(16 * 24 * 4) * 11 % 256).astype(np.uint8).reshape(16, 24, 4)
    scene.images.append(Image("new.png", pixels=pixels))
    scene.materials[0].layers = [TextureLayer(len(scene.images) - 1)]


def slanted(scene: Scene) -> None:
    for mesh in scene.meshes:
        for layer in mesh.uvs:
            layer.data = layer.data + 0.011 * np.sin(np.arange(layer.data.size)).reshape(layer.data.shape).astype(np.float32)


def mirrored(scene: Scene) -> None:
    for mesh in scene.meshes:
        for layer in mesh.uvs:
            layer.data = layer.data.copy()
            layer.data[:, 0] = 1 - layer.data[:, 0]


def plain(scene: Scene) -> None:
    """No pictures: faces keep those of the file."""
    for material in scene.materials:
        material.layers = []


def other_materials(scene: Scene) -> None:
    for number, material in enumerate(scene.materials):
        kept = material.settings.setdefault("saturn", {})
        kept.update(flag=1 - kept.get("flag", 0) % 2, sort=0x40 + number)
        material.double_sided = not material.double_sided
        material.color = floats(0.5, 0.25, 0.125 * number, 1)


def fresh_materials(scene: Scene) -> None:
    for number, material in enumerate(scene.materials):
        blend = ("OPAQUE", "MASK", "ALPHA", "ADD", "MULTIPLY")[number % 5]
        scene.materials[number] = Material(
            material.name, floats(0.2, 0.4, 0.6, 0.5), material.layers[:1], blend=blend, stipple=number % 2 == 1
        )


def deletes_parts(scene: Scene) -> None:
    for node in scene.nodes:
        if node.mesh >= 0 and node.settings.get("saturn", {}).get("list", 0) > 0:
            node.mesh = -1


def moves_tags(scene: Scene) -> None:
    for node in scene.nodes:
        if node.settings.get("saturn", {}).get("is_tag"):
            turned = maths.quaternion_multiply(floats(0.8, 0.6, 0, 0), node.transform.rotation)
            node.transform = Transform(node.transform.location + floats(0, 0.5, 0), turned, node.transform.scale * 2)


def other_tags(scene: Scene) -> None:
    for node in scene.nodes:
        kept = node.settings.get("saturn", {})
        if kept.get("is_tag"):
            kept["tag"] = 17 if kept.get("tag", 9) == 9 else 16


def stands_elsewhere(scene: Scene) -> None:
    rig = scene.nodes[0]
    rig.transform = Transform(floats(1, 2, 3), floats(0.6, 0, 0, 0.8), floats(2, 2, 2))


def bones_of_their_own(scene: Scene) -> None:
    """As a person draws them: each bone has a place and a turn, and the meshes stay where they are."""
    for node in scene.nodes:
        bones = node.armature.bones if node.armature is not None else []
        binds = [maths.compose(floats(0.5 * n, 1, 2), floats(0.8, 0, 0.6, 0), floats(1, 1, 1)) for n in range(len(bones))]
        for bone, bind in zip(bones, binds, strict=True):
            above = binds[bone.parent] if bone.parent >= 0 else np.eye(4)
            bone.bind, bone.transform = bind.astype(np.float32), Transform.from_matrix(np.linalg.inv(above) @ bind)


MOTION: list[Edit] = [
    nothing,
    swings,
    adds_clips,
    renames_and_marks,
    moves_the_timeline,
    stretches,
    shifts_scales,
    deletes_clips,
]
MODEL: list[Edit] = [
    moves_points,
    turns_normals,
    paints,
    other_picture,
    slanted,
    mirrored,
    plain,
    other_materials,
    fresh_materials,
    deletes_parts,
    moves_tags,
    other_tags,
    stands_elsewhere,
    bones_of_their_own,
]


def all_edits() -> Iterator[tuple[Source, Edit, str]]:
    """Each with what becomes of the animations that are not on the timeline."""
    for source in (puppet, fighter):
        yield from ((source, edit, "FILE") for edit in MOTION)
        yield from ((source, edit, external) for edit in MOTION[:3] for external in ("PACKED", "TIMELINE", "NONE"))
    for source in (fighter, new):
        yield from ((source, edit, "FILE") for edit in MODEL)
    yield from ((alone, nothing, external) for external in ("FILE", "PACKED", "TIMELINE"))
    yield from ((party, edit, "FILE") for edit in (nothing, moves_points, deletes_parts))
    yield from ((new, edit, "PACKED") for edit in (nothing, adds_clips))
