# SPDX-License-Identifier: GPL-3.0-or-later
"""Renders a picture of a model for these pages, in any Python with bpy:

python docs/make_picture.py examples/fox.b3d docs/fox.png --frames 1 62 95
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by its path

import io_retro_meshes
from io_retro_meshes.files import format_of


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--frames", type=int, nargs="+", default=[1], help="one model beside the other, each at its frame")
    parser.add_argument("--action", help="what it plays; by default what it plays after an import")
    parser.add_argument("--angle", type=float, default=35.0, help="degrees the camera stands to the side of -Y")
    parser.add_argument("--height", type=float, default=20.0, help="degrees it looks down")
    parser.add_argument("--size", type=int, nargs=2, default=(1200, 600))
    parser.add_argument("--samples", type=int, default=48)
    parser.add_argument("--own", action="store_true", help="through the camera and in the lights of the file")
    arguments = parser.parse_args()
    io_retro_meshes.register()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    format = format_of(arguments.model)
    getattr(bpy.ops.import_scene, format.id)(filepath=str(arguments.model.resolve()))
    if arguments.action:
        play(arguments.action)
    scene = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y = arguments.size
    if arguments.own:
        scene.frame_set(arguments.frames[0])
    else:
        angle = math.radians(arguments.angle)
        across = Vector((math.cos(angle), math.sin(angle), 0))
        low, high = place_copies(arguments.frames, across)
        stage(low, high)
        camera(low, high, angle, math.radians(arguments.height))
    render(arguments.picture.resolve(), arguments.samples)


def play(name: str) -> None:
    """Gives the armature another of its actions."""
    rig = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    rig.animation_data.action = bpy.data.actions[name]
    rig.animation_data.action_slot = bpy.data.actions[name].slots[0]


def place_copies(frames: list[int], across: Vector) -> tuple[Vector, Vector]:
    """Freezes the model as it is on each frame, one copy beside the other, and returns the box they fill."""
    scene = bpy.context.scene
    sources = [ob for ob in scene.objects if ob.type == "MESH" and not ob.hide_render]
    copies = []
    for frame in frames:
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for ob in sources:
            evaluated = ob.evaluated_get(graph)
            copy = bpy.data.objects.new(ob.name, bpy.data.meshes.new_from_object(evaluated, depsgraph=graph))
            copy.matrix_world = evaluated.matrix_world
            copies.append((frame, copy))
    points = np.concatenate([corners(copy) for _, copy in copies])
    width = float(np.ptp(points @ np.array(across))) * 1.02
    for frame, copy in copies:
        copy.matrix_world.translation += across * width * (frames.index(frame) - (len(frames) - 1) / 2)
        scene.collection.objects.link(copy)
    for ob in list(scene.objects):
        if ob not in [copy for _, copy in copies]:
            bpy.data.objects.remove(ob)
    points = np.concatenate([corners(copy) for _, copy in copies])
    return Vector(points.min(0)), Vector(points.max(0))


def corners(ob: bpy.types.Object) -> np.ndarray:
    local = np.empty(len(ob.data.vertices) * 3, np.float32)
    ob.data.vertices.foreach_get("co", local)
    matrix = np.array(ob.matrix_world)
    return local.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def stage(low: Vector, high: Vector) -> None:
    """A floor, a sky and a sun."""
    scene = bpy.context.scene
    size = (high - low).length * 20
    floor = bpy.data.meshes.new("floor")
    floor.from_pydata([(x * size, y * size, low.z) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))], [], [(0, 1, 2, 3)])
    material = bpy.data.materials.new("floor")
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0.30, 0.42, 0.36, 1)
    material.node_tree.nodes["Principled BSDF"].inputs["Roughness"].default_value = 1
    floor.materials.append(material)
    scene.collection.objects.link(bpy.data.objects.new("floor", floor))
    scene.world = bpy.data.worlds.new("sky")
    scene.world.use_nodes = True
    background = scene.world.node_tree.nodes["Background"]
    background.inputs["Color"].default_value = (0.62, 0.76, 0.86, 1)
    background.inputs["Strength"].default_value = 0.75
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy, sun.data.angle = 3.0, 0.15
    sun.rotation_euler = (0.75, 0.15, 0.9)
    scene.collection.objects.link(sun)


def camera(low: Vector, high: Vector, angle: float, down: float) -> None:
    scene = bpy.context.scene
    view = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    view.data.lens = 70
    scene.collection.objects.link(view)
    scene.camera = view
    away = Vector((math.sin(angle) * math.cos(down), -math.cos(angle) * math.cos(down), math.sin(down)))
    view.rotation_euler = (-away).to_track_quat("-Z", "Y").to_euler()
    bpy.context.view_layer.update()
    models = [ob for ob in scene.objects if ob.type == "MESH" and ob.name != "floor"]
    points = np.concatenate([corners(ob) for ob in models]).reshape(-1)
    place, _ = view.camera_fit_coords(bpy.context.evaluated_depsgraph_get(), points.tolist())
    view.location = place + away * (high - low).length * 0.08
    view.data.clip_end = (high - low).length * 50


def render(picture: Path, samples: int) -> None:
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples = samples
    scene.cycles.use_denoising = True
    scene.view_settings.view_transform = "Standard"
    scene.render.image_settings.compression = 100
    scene.render.filepath = str(picture)
    bpy.ops.render.render(write_still=True)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
