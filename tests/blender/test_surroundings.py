# SPDX-License-Identifier: GPL-3.0-or-later
"""Exports from whatever state a user leaves Blender in: what is seen is what is written, and all stays as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.blender.test_collect import rig, swing
from tests.builders.posing import shown


def link(bpy: Any, name: str, data: Any) -> Any:
    made = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(made)
    return made


def plate(bpy: Any, name: str = "Plate") -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
    return link(bpy, name, mesh)


def again(bpy: Any, path: Path, frame: int = 1) -> np.ndarray:
    """The distinct vertices of a file in the world, sorted."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    getattr(bpy.ops.import_scene, path.suffix[1:])(filepath=str(path))
    return distinct(shown(bpy, frame))


def distinct(meshes: dict[str, np.ndarray]) -> np.ndarray:
    points = np.concatenate([points.reshape(-1, 3) for points in meshes.values()])
    return np.unique(np.round(points, 3) + 0.0, axis=0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.b3d"


# ------------------------------------------------------------------------------------------------------------ edit mode


def test_edits_of_every_edited_mesh_are_exported_and_the_mode_stays(blender: Any, path: Path) -> None:
    import bmesh

    first, second, other = (plate(blender, name) for name in ("First", "Second", "Other"))
    first.modifiers.new("Bevel", "SUBSURF")
    second.location = (5, 0, 0)
    for source in (first, second):
        source.select_set(True)
    blender.context.view_layer.objects.active = second
    blender.ops.object.mode_set(mode="EDIT")
    other.select_set(True)
    for source in (first, second):
        bmesh.from_edit_mesh(source.data).verts.ensure_lookup_table()
        for vertex in bmesh.from_edit_mesh(source.data).verts:
            vertex.co *= 4
        bmesh.update_edit_mesh(source.data)
    assert blender.ops.export_scene.b3d(filepath=str(path)) == {"FINISHED"}
    assert [source.mode for source in (first, second, other)] == ["EDIT", "EDIT", "OBJECT"]
    assert all(source.select_get() for source in (first, second, other))
    assert blender.context.view_layer.objects.active == second
    points = again(blender, path)
    assert points[:, 0].max() == 9  # the second
    assert np.abs(points[:, 1]).max() == 4
    assert len(points) > 8 + 4  # the first is smoothed


def test_an_armature_that_is_edited_is_exported_with_its_new_bone_and_its_animation(blender: Any, path: Path) -> None:
    target = rig(blender)
    swing(target, "swing", "upper", 1.2)
    expected = distinct(shown(blender, 13))
    blender.context.view_layer.objects.active = target
    blender.ops.object.mode_set(mode="EDIT")
    bone = target.data.edit_bones.new("tip")
    bone.head, bone.tail, bone.parent = (0, 1, 2), (0, 2, 2), target.data.edit_bones["upper"]
    blender.ops.export_scene.b3d(filepath=str(path))
    assert target.mode == "EDIT" and "tip" in target.data.edit_bones
    assert np.allclose(again(blender, path, 13), expected, atol=2e-3)
    assert any("tip" in source.data.bones for source in blender.data.objects if source.type == "ARMATURE")


# ----------------------------------------------------------------------------------------------------------- instances


def scatter(bpy: Any) -> Any:
    """Geometry nodes: a small sphere on every vertex, and nothing else."""
    tree = bpy.data.node_groups.new("Scatter", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    names = ("NodeGroupInput", "GeometryNodeMeshIcoSphere", "GeometryNodeInstanceOnPoints", "NodeGroupOutput")
    given, ball, place, result = (tree.nodes.new(name) for name in names)
    ball.inputs["Radius"].default_value = 0.25
    tree.links.new(given.outputs[0], place.inputs["Points"])
    tree.links.new(ball.outputs[0], place.inputs["Instance"])
    tree.links.new(place.outputs[0], result.inputs[0])
    return tree


def test_what_geometry_nodes_scatter(blender: Any, path: Path) -> None:
    plate(blender).modifiers.new("Scatter", "NODES").node_group = scatter(blender)
    blender.ops.export_scene.b3d(filepath=str(path))
    points = again(blender, path)
    assert len(points) == 4 * 12
    assert np.allclose(points[:, 2].max(), 0.25) and np.allclose(points[:, 0].max(), 1.25, atol=0.05)


def test_curves_and_texts_are_there_once_also_within_instances(blender: Any, path: Path) -> None:
    text = blender.data.curves.new("Text", "FONT")
    text.body = "I"
    inside = blender.data.objects.new("Text", text)
    collection = blender.data.collections.new("Texts")
    collection.objects.link(inside)
    maker = link(blender, "Maker", None)
    maker.instance_type, maker.instance_collection, maker.location = "COLLECTION", collection, (0, 0, 3)
    link(blender, "Plain", text)
    blender.ops.export_scene.b3d(filepath=str(path))
    points = again(blender, path)
    low, high = points[points[:, 2] == 0], points[points[:, 2] == 3]
    assert len(low) + len(high) == len(points) > 6
    assert np.allclose(low[:, :2], high[:, :2])
    assert sum(source.type == "MESH" for source in blender.data.objects) == 2


def test_meshes_without_vertices(blender: Any, path: Path) -> None:
    link(blender, "Nothing", blender.data.meshes.new("Nothing"))
    curve = link(blender, "Curve", blender.data.curves.new("Curve", "CURVE"))
    curve.modifiers.new("Scatter", "NODES").node_group = scatter(blender)
    for _ in range(2):  # the first metaball has the surface of both
        blender.ops.object.metaball_add(type="BALL")
    for name, extension in (("b3d", "b3d"), ("bo3d", "bo3d"), ("bogle", "bgl"), ("dbo", "dbo")):
        target = path.with_suffix(f".{extension}")
        assert getattr(blender.ops.export_scene, name)(filepath=str(target)) == {"FINISHED"}
    assert len(again(blender, path)) > 100


def test_a_collection_that_is_not_there(blender: Any, path: Path) -> None:
    with pytest.raises(RuntimeError, match='no collection "Nowhere"'):
        blender.ops.export_scene.b3d(filepath=str(path), collection="Nowhere")
    assert not path.exists()


def test_an_export_of_nothing_says_so(blender: Any, path: Path) -> None:
    plate(blender).select_set(False)
    with pytest.raises(RuntimeError, match="nothing is selected"):
        blender.ops.export_scene.b3d(filepath=str(path), use_selection=True)
    assert not path.exists()


# ----------------------------------------------------------------------------------------------------------- animation


def test_a_child_moves_with_a_parent_that_is_not_exported(blender: Any, path: Path) -> None:
    parent, child = link(blender, "Parent", None), plate(blender)
    child.parent = parent
    for frame, place in ((1, 0), (10, 9)):
        parent.location = (place, 0, 0)
        parent.keyframe_insert("location", frame=frame)
    blender.context.scene.frame_end = 10
    child.select_set(True)
    parent.select_set(False)
    blender.ops.export_scene.b3d(filepath=str(path), use_selection=True)
    assert again(blender, path, 10)[:, 0].max() == 10
    assert shown(blender, 1)["Plate"][:, 0].max() == 1


def played(target: Any) -> tuple[Any, ...]:
    data = target.animation_data
    bones = [tuple(map(tuple, (bone.location, bone.rotation_euler, bone.rotation_quaternion))) for bone in target.pose.bones]
    return data.action, getattr(data, "action_slot", None), data.use_tweak_mode, data.use_nla, bones


def test_tweak_mode_of_the_nla_and_an_action_without_a_slot_stay(blender: Any, path: Path) -> None:
    target = rig(blender)
    nod = swing(target, "nod", "upper", 1.0)
    swing(target, "bow", "lower", 0.5)
    if hasattr(target.animation_data, "action_slot"):
        target.animation_data.action_slot = None
        before = played(target)
        blender.ops.export_scene.b3d(filepath=str(path))
        assert played(target) == before
    target.animation_data.action = None
    track = target.animation_data.nla_tracks.new()
    track.strips.new("strip", 5, nod).select = True
    target.animation_data.nla_tracks.active = track
    target.animation_data.use_tweak_mode = True
    blender.context.scene.frame_set(9)
    before = played(target)
    assert blender.ops.export_scene.b3d(filepath=str(path)) == {"FINISHED"}
    assert played(target) == before


def test_bones_with_quotes_in_their_names(blender: Any, path: Path) -> None:
    target = rig(blender)
    target.data.bones["upper"].name = name = 'up"p\\er'
    swing(target, "nod", name, 1.0)
    swing(target, "bow", "lower", 0.5)
    blender.ops.export_scene.b3d(filepath=str(path))
    again(blender, path)
    assert {"nod", "bow"} <= set(blender.data.actions.keys())


# ------------------------------------------------------------------------------------------------------------ warnings


def log(bpy: Any) -> str:
    return bpy.data.texts["Retro Meshes Log"].as_string()


def test_what_a_format_cannot_hold_is_told(blender: Any, path: Path) -> None:
    moving = plate(blender, "Moving")
    for frame in (1, 10):
        moving.location = (frame, 0, 0)
        moving.keyframe_insert("location", frame=frame)
    blender.ops.export_scene.bogle(filepath=str(path.with_suffix(".bgl")))
    assert "1 objects stand still that move here (Moving)" in log(blender)


def test_a_picture_that_is_lost_cannot_be_copied(blender: Any, path: Path) -> None:
    from io_retro_meshes.blender import compat

    image = blender.data.images.new("lost", 4, 4)
    image.source, image.filepath = "FILE", "/nowhere/lost.png"
    material = blender.data.materials.new("Material")
    nodes = compat.node_tree(material).nodes
    texture = nodes.new("ShaderNodeTexImage")
    texture.image = image
    shader = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    material.node_tree.links.new(texture.outputs["Color"], shader.inputs["Base Color"])
    plate(blender).data.materials.append(material)
    blender.ops.export_scene.b3d(filepath=str(path), textures="COPY")
    assert "cannot be found: lost.png" in log(blender)


# --------------------------------------------------------------------------------------------------------------- spaces


def compare(bpy: Any, path: Path, frames: tuple[int, ...] = (1, 7, 20), tolerance: float = 2e-3) -> None:
    """What an import of the export shows is what is shown now."""
    expected = [distinct(shown(bpy, frame)) for frame in frames]
    bpy.context.scene.frame_set(3)
    assert getattr(bpy.ops.export_scene, path.suffix[1:])(filepath=str(path)) == {"FINISHED"}
    again(bpy, path)
    for frame, points in zip(frames, expected, strict=True):
        found = distinct(shown(bpy, frame))
        gaps = np.linalg.norm(points[:, None] - found[None], axis=2)
        assert max(gaps.min(0).max(), gaps.min(1).max()) < tolerance, frame


def test_what_hangs_on_a_rigged_mesh_stays_where_it_is(blender: Any, path: Path) -> None:
    target = rig(blender)
    target.location = (1, 2, 3)
    swing(target, "swing", "upper", 1.0)
    body, eye, lid = blender.data.objects["Rig Tube"], plate(blender, "Eye"), plate(blender, "Lid")
    eye.parent, eye.location, eye.scale = body, (0, 0, 3), (0.2, 0.2, 0.2)
    lid.parent = body
    for frame in (1, 20):
        lid.location = (frame / 10, 0, 4)
        lid.keyframe_insert("location", frame=frame)
    compare(blender, path)


@pytest.mark.parametrize("extension", ["b3d", "dbo"])
def test_a_sheared_child_that_moves(blender: Any, path: Path, extension: str) -> None:
    from mathutils import Matrix

    parent, child = plate(blender, "Parent"), plate(blender, "Child")
    child.parent = parent
    child.matrix_parent_inverse = Matrix.Rotation(0.5, 4, "X") @ Matrix.Scale(3, 4, (1, 1, 0))
    for frame in (1, 20):
        child.location, child.rotation_euler = (frame / 5, 0, 0), (0, frame / 20, 0)
        child.keyframe_insert("location", frame=frame)
        child.keyframe_insert("rotation_euler", frame=frame)
    compare(blender, path.with_suffix(f".{extension}"))


@pytest.mark.parametrize("extension", ["b3d", "dbo"])
def test_a_bone_that_is_sheared_now_and_then_is_right_where_it_is_not(blender: Any, path: Path, extension: str) -> None:
    target = rig(blender)
    target.data.bones["upper"].inherit_scale = "NONE"
    target.data.bones["upper"].use_inherit_rotation = False
    swing(target, "swing", "lower", 1.0)
    for frame, scale in ((1, 1), (20, 2)):
        target.pose.bones["lower"].scale = (1, scale, 1)
        target.pose.bones["lower"].keyframe_insert("scale", frame=frame)
    expected = distinct(shown(blender, 1))
    blender.context.scene.frame_set(15)
    path = path.with_suffix(f".{extension}")
    getattr(blender.ops.export_scene, extension)(filepath=str(path))
    assert '"upper" is sheared as it moves' in log(blender)
    assert np.allclose(again(blender, path), expected, atol=2e-3)


def test_a_rig_in_a_collection_that_is_switched_off(blender: Any, path: Path) -> None:
    target = rig(blender)
    swing(target, "swing", "upper", 1.0)
    collection = blender.data.collections.new("Off")
    blender.context.scene.collection.children.link(collection)
    collection.objects.link(target)
    blender.context.scene.collection.objects.unlink(target)
    blender.context.view_layer.layer_collection.children["Off"].exclude = True
    compare(blender, path)


def test_a_mesh_deformed_by_its_parent_without_a_modifier(blender: Any, path: Path) -> None:
    target = rig(blender)
    swing(target, "swing", "upper", 1.0)
    body = blender.data.objects["Rig Tube"]
    body.modifiers.clear()
    body.parent_type = "ARMATURE"
    compare(blender, path, tolerance=0.06)  # the envelopes of the bones count there, too
    assert any(source.modifiers for source in blender.data.objects)


def test_a_rigged_mesh_that_goes_its_own_way_is_told(blender: Any, path: Path) -> None:
    target = rig(blender)
    swing(target, "swing", "upper", 1.0)
    body = blender.data.objects["Rig Tube"]
    body.parent = None
    blender.ops.export_scene.b3d(filepath=str(path))
    assert "Retro Meshes Log" not in blender.data.texts  # only bones move
    for frame in (1, 20):
        body.location = (frame, 0, 0)
        body.keyframe_insert("location", frame=frame)
    blender.ops.export_scene.b3d(filepath=str(path))
    assert '"Rig Tube" does not go where its armature "Rig" goes' in log(blender)
    assert body.modifiers[0].show_viewport


def test_an_instance_of_a_rigged_mesh_is_as_it_is_shown(blender: Any, path: Path) -> None:
    target = rig(blender)
    swing(target, "swing", "upper", 1.0)
    collection = blender.data.collections.new("Person")
    for source in blender.context.scene.objects:
        collection.objects.link(source)
    maker = link(blender, "Maker", None)
    maker.instance_type, maker.instance_collection, maker.location = "COLLECTION", collection, (0, 5, 0)
    expected = shown(blender, 14)["Rig Tube"]
    blender.ops.export_scene.b3d(filepath=str(path))
    assert "Instances do not move: they are as on the current frame (Rig Tube)" in log(blender)
    again(blender, path, 14)
    both = {name: points for name, points in shown(blender, 14).items() if len(points)}
    assert sorted(round(float(points[:, 1].mean())) for points in both.values()) == [0, 5]
    both = [points - (0, 5, 0) if points[:, 1].mean() > 3 else points for points in both.values()]
    for points in both:
        gaps = np.linalg.norm(points[:, None] - expected[None], axis=2)
        assert max(gaps.min(0).max(), gaps.min(1).max()) < 2e-3
