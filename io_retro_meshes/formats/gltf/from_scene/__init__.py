# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene -> document: what every viewer shows as the engine does, and Luanti uses as it does the source."""

from __future__ import annotations

import base64
from pathlib import PurePath
from urllib.parse import quote

import numpy as np

from ....scene import Mesh, Scene
from ....scene.sanitize import sanitize
from .. import extras, lights
from ..document import BIN_CHUNK, LIGHTS, VISIBILITY, Chunk, Document, Json
from ..options import ExportOptions
from .animation import Animations
from .buffers import Buffer
from .materials import Materials
from .meshes import Meshes
from .rigs import Tree

GENERATOR = "io_retro_meshes"


def from_scene(scene: Scene, options: ExportOptions | None = None) -> Document:
    with np.errstate(all="ignore"):
        return Exporter(scene, options or ExportOptions()).document()


class Exporter:
    def __init__(self, scene: Scene, options: ExportOptions) -> None:
        self.scene = sanitize(scene)
        self.options = options
        self.binary = PurePath(options.name).suffix.lower() != ".gltf"
        pictures = options.pictures
        if pictures == "AUTO":
            pictures = "EMBED" if self.binary else "SEPARATE"
        self.inside = self.binary or pictures == "EMBED"
        self.extensions: set[str] = set()
        self.buffer = Buffer()
        self.materials = Materials(self.scene, self.buffer, pictures, self.extensions)
        self.meshes = Meshes(self.scene, self.buffer, self.materials)
        self.tree = Tree(self.scene, self.buffer)

    def document(self) -> Document:
        found: Json = {"asset": {"version": "2.0", "generator": GENERATOR}}
        shown: Json = {"nodes": self.tree.roots()} if self.tree.nodes else {}
        fps = self.scene.fps
        extras.pack(shown, self.scene.settings, fps=fps, world_color=self.scene.world_color)
        found |= {"scene": 0, "scenes": [shown], "nodes": self.tree.nodes}
        # In the order of the tree: it gives surfaces their numbers.
        for number, index in self.tree.walk():
            self.fill(self.tree.nodes[number], index)
        found["meshes"] = self.meshes.made
        found["skins"] = self.tree.skins
        found["cameras"] = [lights.camera_to_file(camera) for camera in self.scene.cameras]
        found |= self.materials.finish()
        found["animations"] = Animations(self.scene, self.tree, self.buffer).made
        if self.scene.lights and LIGHTS in self.extensions:
            found["extensions"] = {LIGHTS: {"lights": [lights.light_to_file(light) for light in self.scene.lights]}}
        document = Document(binary=self.binary, files=dict(self.materials.files))
        self.add_buffer(found, document)
        found["extensionsUsed"] = sorted(self.extensions)
        document.json = {name: value for name, value in found.items() if value != []}
        document.warnings = list(dict.fromkeys(self.scene.warnings))
        return document

    def fill(self, made: Json, index: int) -> None:
        """What the node of the scene is, besides a place."""
        node = self.scene.nodes[index]
        if 0 <= node.mesh < len(self.scene.meshes):
            self.add_mesh(made, index, self.scene.meshes[node.mesh])
        looking = self.tree.looking.get(index)
        if looking is not None:
            target = self.tree.nodes[looking]
            if 0 <= node.camera < len(self.scene.cameras):
                target["camera"] = node.camera
            if 0 <= node.light < len(self.scene.lights):
                self.extensions.add(LIGHTS)
                target.setdefault("extensions", {})[LIGHTS] = {"light": node.light}
        if index not in self.tree.shown:
            self.extensions.add(VISIBILITY)
            made.setdefault("extensions", {})[VISIBILITY] = {"visible": False}
        elif node.hidden:
            extras.pack(made, hidden=True)
            self.scene.warnings.append(f'"{node.name}" is hidden, but what is below it is not: glTF shows both.')

    def add_mesh(self, made: Json, index: int, mesh: Mesh) -> None:
        node = self.scene.nodes[index]
        slots = mesh.materials if node.materials is None else node.materials
        skin = self.tree.skin_of(index)
        number, loose = self.meshes.number(node.mesh, tuple(slots), skin is not None)
        if number >= 0:
            made["mesh"] = number
            if skin is not None:
                made["skin"] = self.tree.add_skin(index, skin, loose)

    def add_buffer(self, found: Json, document: Document) -> None:
        data = self.buffer.finish()
        if not data:
            return
        found["accessors"], found["bufferViews"] = self.buffer.accessors, self.buffer.views
        entry: Json = {"byteLength": len(data)}
        found["buffers"] = [entry]
        if self.binary:
            document.chunks = [Chunk(BIN_CHUNK, data)]
        elif self.inside:
            entry["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        else:
            entry["uri"] = quote(PurePath(self.options.name).stem + ".bin")
            document.files[entry["uri"]] = data
