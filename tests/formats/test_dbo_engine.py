# SPDX-License-Identifier: GPL-3.0-or-later
"""Dark Basic Pro exports as the engine judges them (tests/engines/dbo.py), without Blender."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from io_retro_meshes.convert import convert
from io_retro_meshes.files import load_scene
from io_retro_meshes.formats import FormatError, dbo
from io_retro_meshes.formats.dbo.document import (
    ELEMENT,
    ELEMENT_COUNT,
    AnimationSet,
    Document,
    Mesh,
    Texture,
)
from io_retro_meshes.scene import Channel, Clip, Image, Material, Node, Scene, Track, Transform, floats
from io_retro_meshes.scene import Mesh as SceneMesh
from tests.builders import dbo as made
from tests.conftest import ROOT
from tests.engines import dbo as engine
from tests.formats.test_dbo_scene import apart, posed


def quarter_turns(count: int, angle: float) -> np.ndarray:
    half = np.arange(count) * angle / 2
    return np.stack([np.cos(half), np.sin(half), 0 * half, 0 * half], 1).astype(np.float32)


def spinning(first: float) -> Scene:
    """A triangle whose action begins on a frame: it goes along and turns."""
    mesh = SceneMesh("blade", np.eye(3, dtype=np.float32), np.array([0, 1, 2], np.int32))
    frames = floats(first, first + 5, first + 10)
    track = Track(
        Channel(frames, np.array([[0, 0, 0], [1, 0, 0], [1, 2, 0]], np.float32)),
        Channel(frames, quarter_turns(3, 1.0)),
        Channel(frames, np.array([[1, 1, 1], [2, 2, 2], [1, 1, 1]], np.float32)),
    )
    scene = Scene([Node("blade", mesh=0)], [mesh])
    scene.timeline = Clip("spin", first, first + 10, {(0, -1): track})
    return scene


# ------------------------------------------------------------------------------------------------- before the first key


@pytest.mark.parametrize("first", [0, 1, 10, 50])
@pytest.mark.parametrize("sheared", [False, True])
def test_an_action_that_begins_later_stands_still_until_then(first: int, sheared: bool) -> None:
    scene = spinning(first)
    if sheared:  # then the keys are matrices
        prefix = np.eye(4, dtype=np.float32)
        prefix[0, 1] = 0.5
        scene.nodes[0].transform = Transform(prefix=prefix)
    data = dbo.write(dbo.from_scene(scene))
    for frame in {0, first // 2, first, first + 3, first + 10}:
        shown = posed(scene, frame) if not sheared else posed(scene, round(frame))
        assert apart(shown, engine.pose(data, frame)) < 1e-5, frame


@pytest.mark.parametrize("kind", ["positions", "rotations", "scales", "matrices"])
def test_an_import_shows_what_the_engine_does_before_the_first_key(kind: str) -> None:
    animation = made.keys("moved", turn=2.5, scale=True) if kind != "matrices" else made.matrix_keys("moved")
    table = getattr(animation, kind).copy()
    table["time"] += 12
    setattr(animation, kind, table)
    root = made.frame("root")
    root.child = made.frame("moved", made.box(offset=(1, 0, 0)))
    data = dbo.write(made.document(root, AnimationSet(name="late", length=30, animation=animation)))
    scene = dbo.to_scene(dbo.read(data))
    assert apart(engine.pose(data, 0), engine.pose(data, 12)) > 0.02, "the engine does not stand still"
    for frame in (0, 1, 5, 11, 12, 16, 30):
        assert apart(engine.pose(data, frame), posed(scene, frame)) < 1e-4, frame
        assert apart(engine.pose(data, frame), engine.pose(dbo.write(dbo.from_scene(scene)), frame)) < 1e-4, frame


# -------------------------------------------------------------------------------------------------------------- textures


def test_stages_and_paths_of_textures_survive() -> None:
    """A cube map in stage 6 with the path of an effect's folder, between others."""
    box = made.box()
    cube = "effectbank\\reloaded\\media\\CUBE.dds"
    names = [("skin_D.dds", 0), ("skin_N.dds", 2), (cube, 6)]
    box.texture_count, box.textures = 3, [Texture(name=name, stage=stage) for name, stage in names]
    box.effect = "effectbank\\reloaded\\entity_basic.fx"
    document = dbo.read(dbo.write(made.document(made.frame("box", box))))
    scene = dbo.to_scene(document)
    for image in scene.images:  # as an export from Blender names them
        image.name = image.name.rsplit("\\", 1)[-1]
    again = dbo.read(dbo.write(dbo.from_scene(scene))).root.frame.mesh
    assert [(texture.name, texture.stage) for texture in again.textures] == names
    scene.materials[0].layers[2].image = len(scene.images)
    scene.images.append(Image("OTHER.dds"))
    again = dbo.from_scene(scene).root.frame.mesh
    assert again.textures[2].name == "OTHER.dds", "another picture is not where the old one was"


def test_weights_in_a_declaration_are_not_coordinates() -> None:
    """64 bytes: position, normal, coordinates, and four weights and four bone numbers as coordinates 1 and 2."""
    table = np.zeros(ELEMENT_COUNT, ELEMENT)
    layout = [(0, 0, 2, 0, 0), (0, 12, 2, 3, 0), (0, 24, 1, 5, 0), (0, 32, 3, 5, 1), (0, 48, 3, 5, 2), (0xFF, 0, 17, 0, 0)]
    for row, (stream, offset, kind, usage, index) in zip(table, layout, strict=False):
        row["stream"], row["offset"], row["type"], row["usage"], row["index"] = stream, offset, kind, usage, index
    rows = np.zeros((8, 64), np.uint8)
    rows[:, :32] = np.frombuffer(made.box().vertices, np.uint8).reshape(8, 32)
    mesh = Mesh(
        fvf=0, stride=64, vertex_count=8, index_count=36, declaration=table, vertices=rows.tobytes(), indices=made.FACES
    )
    (found,) = dbo.to_scene(made.document(made.frame("box", mesh))).meshes
    assert [layer.name for layer in found.uvs] == ["UVMap"]


# --------------------------------------------------------------------------------------------------------------- mirrors


def engine_sees(data: bytes) -> list[bool]:
    """Of each mesh, whether the engine draws its outside: in its left-handed world it culls counter-clockwise triangles."""
    root, found = engine.Loader(data).root, []
    stack = [(root[1], np.eye(4))]
    while stack:
        here, above = stack.pop()
        if not here:
            continue
        world = engine.user_matrix(here) @ here[102].reshape(4, 4).astype(float) @ above
        stack += [(here.get(105, {}), above), (here.get(104, {}), world)]
        if not here.get(103):
            continue
        mesh = here[103]
        points = np.frombuffer(mesh[115], "u1").reshape(-1, mesh[112])[:, :12].copy().view("<f4").astype(float)
        points = (np.c_[points, np.ones(len(points))] @ world)[:, :3]
        a, b, c = points[mesh[116].astype(int)].reshape(-1, 3, 3).transpose(1, 0, 2)
        outward = np.einsum("ij,ij->i", np.cross(b - a, c - a), (a + b + c) / 3 - points.mean(0))
        found.append(bool((outward > 0).all()))
    return found


@pytest.mark.parametrize("double_sided", [False, True])
def test_a_mirrored_child_is_drawn_right_side_out(double_sided: bool) -> None:
    scene = dbo.to_scene(made.document(made.frame("box", made.box())))
    assert engine_sees(dbo.write(dbo.from_scene(scene))) == [True], "as it is when nothing is mirrored"
    scene.materials[0].double_sided = double_sided
    scene.nodes.append(Node("mirrored", 0, transform=Transform(floats(4, 0, 0), scale=floats(-1, 1, 1)), mesh=0))
    scene.nodes.append(Node("mirrored twice", 1, transform=Transform(floats(4, 0, 0), scale=floats(1, -1, 1)), mesh=0))
    data = dbo.write(dbo.from_scene(scene))
    assert sorted(engine_sees(data)) == ([True, True, True] if not double_sided else [False, True, True])
    again = dbo.to_scene(dbo.read(data))
    for mesh in again.meshes:
        assert np.array_equal(mesh.corners, scene.meshes[0].corners)


# -------------------------------------------------------------------------------------------------------------- GameGuru


def meshes_of(document: Document) -> list[Mesh]:
    return [frame.mesh for frame, _ in document.frames() if frame.mesh is not None]


def two_materials() -> Scene:
    scene = dbo.to_scene(made.arm())
    scene.materials += [Material("red", floats(1, 0, 0, 1)), Material("blue", floats(0, 0, 1, 1))]
    for mesh in scene.meshes:
        count = len(mesh.corners) // 3
        mesh.materials, mesh.face_materials = [0, 1, 2], (np.arange(count) % 3).astype(np.int32)
    return scene


def preset() -> dict[str, Any]:
    """The lines of the shipped preset, as Blender runs them."""
    operator = SimpleNamespace()
    bpy = SimpleNamespace(context=SimpleNamespace(active_operator=operator))
    source = (ROOT / "io_retro_meshes/presets/operator/export_scene.dbo/GameGuru.py").read_text()
    exec(source.replace("import bpy", ""), {"bpy": bpy})
    return vars(operator)


def test_the_gameguru_preset_gives_each_material_a_mesh_and_skins_their_shader() -> None:
    document = dbo.from_scene(two_materials(), dbo.ExportOptions(**preset()))
    found = meshes_of(dbo.read(dbo.write(document)))
    assert len(found) == 6 and not any(mesh.use_multi_material for mesh in found)
    names = {bool(mesh.bones): mesh.effect.rsplit("\\", 1)[-1] for mesh in found}
    assert names == {True: "apbr_anim.fx", False: "apbr_basic.fx"}
    assert len(meshes_of(dbo.from_scene(two_materials()))) == 2, "without it parts of one mesh"


@pytest.mark.parametrize(("count", "told"), [(60, []), (61, ["60"]), (171, ["170", "60"])])
def test_more_bones_than_engines_take_are_told(count: int, told: list[str]) -> None:
    scene = dbo.to_scene(made.arm())
    armature = scene.nodes[0].armature
    for number in range(len(armature.bones), count):
        armature.bones.append(replace(armature.bones[1], name=f"control {number}"))
    warnings = dbo.from_scene(scene).warnings
    assert [warning.split("takes ")[1].split(".")[0] for warning in warnings if "takes" in warning] == told
    document = dbo.from_scene(scene, dbo.ExportOptions(deforming_only=True))
    assert not [warning for warning in document.warnings if "takes" in warning]
    names = {frame.name for frame, _ in document.frames()}
    assert {"root", "lower", "upper", "hand"} <= names and not any(name.startswith("control") for name in names)
    for frame in (0, 6):
        assert apart(engine.pose(dbo.write(made.arm()), frame), engine.pose(dbo.write(document), frame)) < 1e-5


# ----------------------------------------------------------------------------------------------------------------- rates


def test_frames_are_kept_and_told_or_sampled_at_the_rate_that_is_wanted() -> None:
    scene = spinning(0)
    scene.fps, scene.clips = 24.0, [Clip("half", 0, 5)]
    kept = dbo.from_scene(scene)
    assert any("for 24 a second" in warning for warning in kept.warnings)
    document = dbo.from_scene(scene, dbo.ExportOptions(fps=30.0))
    assert not document.warnings
    data = dbo.write(document)
    for frame in (0, 2, 4, 5, 8, 10):
        at = frame * 30 / 24
        near = 1e-5 if at == round(at) else 0.15  # keys are on whole frames
        assert apart(posed(scene, frame), engine.pose(data, at)) < near, frame
    assert [(each.start, each.finish) for each in dbo.read(data).animation_sets()[1:]] == [(0, 7)]
    scene.fps = 30.0
    assert not dbo.from_scene(scene).warnings


# ------------------------------------------------------------------------------------------------------------------ .fpe


FPE = b";header\r\ndesc = Barrel\r\n\r\n;visualinfo\r\ntextured = barrel_D.dds ; worn\r\nmodel = Barrel.x\r\nscale = 100\r\n"


@pytest.mark.parametrize("chosen", ["barrel.dbo", "barrel.fpe", "entity.fpe"])
def test_an_entity_file_names_the_textures_of_its_model(tmp_path: Path, chosen: str) -> None:
    """Beside the model under its name, or chosen itself under another."""
    box = made.box()
    box.texture_count, box.textures = 1, [Texture(name="lost.tga")]
    root = made.frame("barrel", box)
    root.child = made.frame("lid", made.box())
    (tmp_path / "barrel.dbo").write_bytes(dbo.write(made.document(root)))
    (tmp_path / ("entity.fpe" if chosen == "entity.fpe" else "Barrel.fpe")).write_bytes(FPE)
    if chosen == "barrel.fpe":
        chosen = "Barrel.fpe"
    scene = load_scene(dbo, tmp_path / chosen, dbo.ImportOptions())
    assert [node.name for node in scene.nodes] == ["barrel", "lid"]
    names = [[scene.images[layer.image].names for layer in material.layers] for material in scene.materials]
    assert [("barrel_D.dds" in found, "lost.tga" in found) for material in names for found in material] == [
        (True, True),
        (True, False),
    ]
    assert names[0][0].index("lost.tga") < names[0][0].index("barrel_D.dds"), "the model's own comes first"


def test_entity_files_that_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "up.dbo").write_bytes(dbo.write(made.document(made.frame("up", made.box()))))
    inner = tmp_path / "inner"
    inner.mkdir()
    for text in (b"model = ..\\up.x", b"model =", b"nothing", b"model = gone.dbo"):
        (inner / "entity.fpe").write_bytes(text)
        with pytest.raises(FormatError):
            load_scene(dbo, inner / "entity.fpe", dbo.ImportOptions())
    with pytest.raises(ValueError, match="no format"):
        convert(tmp_path / "up.dbo", tmp_path / "made.fpe")


# ------------------------------------------------------------------------------------------------------- levels of detail


def with_levels() -> Mesh:
    """A box with two coarser ones over its vertices: one of eight triangles and one of two."""
    box = made.box()
    for count, indices, values in ((500, 501, made.FACES[:24]), (502, 503, made.FACES[6:12])):
        setattr(box, f"lod_{count}", len(values).to_bytes(4, "little"))
        setattr(box, f"lod_{indices}", values.astype("<u2").tobytes())
    return box


def level_triangles(data: bytes) -> list[np.ndarray]:
    """Where the triangles of the levels of the first mesh are, in the file's own axes, by its bytes alone."""
    mesh = engine.Loader(data).root[1][103]
    points = np.frombuffer(mesh[115], "u1").reshape(-1, mesh[112])[:, :12].copy().view("<f4")
    return [points[np.frombuffer(mesh[code], "<u2")] for code in (501, 503)]


def test_levels_of_detail_are_kept_and_shown_on_request() -> None:
    data = dbo.write(made.document(made.frame("box", with_levels())))
    scene = dbo.to_scene(dbo.read(data))
    assert [node.name for node in scene.nodes] == ["box"] and not scene.warnings
    shuffled = scene.meshes[0]
    shuffled.uvs[0].data = shuffled.uvs[0].data[shuffled.corners]  # as Blender has them: vertices may change order
    shuffled.uvs[0].domain = "CORNER"
    again = dbo.write(dbo.from_scene(scene))
    for before, after in zip(level_triangles(data), level_triangles(again), strict=True):
        assert np.array_equal(before, after)
    scene = dbo.to_scene(dbo.read(data), dbo.ImportOptions(levels=True))
    assert [(node.name, node.parent, node.hidden) for node in scene.nodes] == [
        ("box", -1, False),
        ("box LOD 1", 0, True),
        ("box LOD 2", 0, True),
    ]
    assert [len(scene.meshes[node.mesh].corners) for node in scene.nodes] == [36, 24, 6]


def test_levels_of_a_mesh_that_was_edited_are_told() -> None:
    scene = dbo.to_scene(made.document(made.frame("box", with_levels())))
    scene.meshes[0].positions = np.concatenate([scene.meshes[0].positions, np.ones((1, 3), np.float32)])
    scene.meshes[0].uvs, scene.meshes[0].normals = [], None
    document = dbo.from_scene(scene)
    assert any("levels of detail were left out" in warning for warning in document.warnings)
    assert 501 not in engine.Loader(dbo.write(document)).root[1][103]


def test_a_model_in_a_folder_that_cannot_be_listed_has_no_entity(tmp_path: Path) -> None:
    document = dbo.read((ROOT / "examples" / "flower.dbo").read_bytes())
    assert dbo.companions(tmp_path / "nowhere" / "barrel.dbo", document) == []
