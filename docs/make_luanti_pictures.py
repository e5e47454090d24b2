# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the pictures of docs/luanti.md in the real game, in any Python with bpy:

python docs/make_luanti_pictures.py SHOT

SHOT is a program that takes OUT.png and SCENE.json, shows the entities of the scene in Luanti and takes a picture of them. The
keys of an entity are below: animation is for set_animation, bones for set_bone_override, attachments for set_attach. Without
textures each slot has a checker in a hue of its own.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run by its path

import io_retro_meshes
from io_retro_meshes.batch import profiles
from io_retro_meshes.batch.plan import Plan
from io_retro_meshes.batch.worker import convert_one
from io_retro_meshes.formats import b3d

ROOT = Path(__file__).resolve().parents[1]
PRESETS = ROOT / "io_retro_meshes" / "presets" / "operator"
EXAMPLES = ROOT / "examples"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("shot", help="the program that takes a picture in the game")
    arguments = parser.parse_args()
    io_retro_meshes.register()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "fox.png").write_bytes((EXAMPLES / "fox.png").read_bytes())
        (folder / "fox.b3d").write_bytes((EXAMPLES / "fox.b3d").read_bytes())
        again(folder / "fox.b3d", folder / "fox_again.b3d")
        converted(folder / "fox.b3d", folder / "fox.glb")
        for extension in ("b3d", "glb"):
            converted(EXAMPLES / "robot.bo3d", folder / f"robot.{extension}")
        converted(EXAMPLES / "flower.dbo", folder / "flower.b3d")
        scenes = {"luanti_fox": foxes(folder), "luanti_slots": robots(folder)}
        for picture, scene in scenes.items():
            path = folder / f"{picture}.json"
            path.write_text(json.dumps(scene))
            subprocess.run([arguments.shot, "--log", str(ROOT / "docs" / f"{picture}.png"), str(path)], check=True)


def again(source: Path, target: Path) -> None:
    """Through Blender and back, with both presets."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.import_scene.b3d(filepath=str(source), **preset("import_scene.b3d"))
    bpy.ops.export_scene.b3d(filepath=str(target), **preset("export_scene.b3d"))


def preset(operator: str) -> dict[str, Any]:
    """The values that the preset Luanti gives an operator."""
    lines = [line for line in ast.parse((PRESETS / operator / "Luanti.py").read_text()).body if isinstance(line, ast.Assign)]
    targets = [(line.targets[0], line.value) for line in lines]
    return {target.attr: ast.literal_eval(value) for target, value in targets if isinstance(target, ast.Attribute)}


def converted(source: Path, target: Path) -> None:
    """As `convert --profile luanti` does it."""
    usual = profiles.load("luanti")
    for job in Plan([str(source)], str(target), target.suffix[1:], usual=usual.options, via=usual.via).jobs():
        convert_one(job)


def foxes(folder: Path) -> dict[str, Any]:
    """A frame of the walk, the head and a front leg turned by overrides, and a flower on the tail."""
    entity = {
        "textures": [str(EXAMPLES / "fox.png")],
        "x": 0.15,
        "y": -0.55,
        "yaw": 105,
        "size": 8,
        "bones": [{"name": "head", "rotation": [25, 0, 25]}, {"name": "front.1.L", "rotation": [60, 0, 0]}],
        "attachments": [{"model": "flower.b3d", "bone": "tail.3", "position": [0, 0, 0.3], "size": 0.3}],
    }
    return row(folder, ["fox.b3d", "fox_again.b3d", "fox.glb"], 55, entity, 2, [1080, 310], 5.2)


def robots(folder: Path) -> dict[str, Any]:
    """Two slots, and an override of the head."""
    entity = {"y": -0.9, "yaw": 200, "size": 8, "bones": [{"name": "head", "rotation": [0, 30, 20]}]}
    return row(folder, ["robot.b3d", "robot.glb"], 20, entity, 1.9, [800, 520], 6.6)


def row(folder: Path, names: list[str], frame: int, entity: dict[str, Any], gap: float, screen: list[int], fov: float) -> Any:
    """Models beside one another on a frame of the API. The camera is far away, so that all are seen from one side."""
    fps = b3d.to_scene(b3d.read((folder / names[0]).read_bytes())).fps or 60.0
    entities = []
    for number, name in enumerate(names):
        first = (frame + 1) / fps if name.endswith(".glb") else frame
        x = gap * (number - (len(names) - 1) / 2) + entity.get("x", 0)
        entities.append({"model": name, **entity, "x": x, "animation": {"first": first}})
    return {"camera": {"distance": 20, "fov": fov}, "screen": screen, "entities": entities}


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
