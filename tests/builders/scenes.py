# SPDX-License-Identifier: GPL-3.0-or-later
"""Things in Blender as people make them, and the bytes of the .b3d files that they are exported to."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from io_retro_meshes.formats import b3d
from io_retro_meshes.formats.b3d.document import Document


def square(name: str = "Square", uvs: bool = True) -> Any:
    """A square of two triangles whose UV map covers the texture, in the scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [], [(0, 1, 2), (0, 2, 3)])
    if uvs:
        layer = mesh.uv_layers.new(name="UVMap")
        for loop, entry in zip(mesh.loops, layer.uv, strict=True):
            entry.vector = mesh.vertices[loop.vertex_index].co.xy
    made = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(made)
    return made


def with_nodes(owner: Any) -> Any:
    if owner.node_tree is None:
        owner.use_nodes = True
    return owner.node_tree


def textured(name: str, image: Any) -> tuple[Any, Any]:
    """A material whose colour is an image, and the image's node."""
    material = bpy.data.materials.new(name)
    tree = with_nodes(material)
    texture = tree.nodes.new("ShaderNodeTexImage")
    texture.image = image
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    tree.links.new(texture.outputs["Color"], shader.inputs["Base Color"])
    return material, texture


def picture(path: Path, color: tuple[float, ...]) -> Any:
    """An image of one colour on disk, loaded."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = bpy.data.images.new("new", 2, 2)
    image.pixels.foreach_set(np.tile(np.float32(color), 4))
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    bpy.data.images.remove(image)
    return bpy.data.images.load(str(path))


def chunks(data: bytes, tag: bytes) -> list[bytes]:
    """The chunks of a .b3d file that have this tag, wherever they are: no other bytes of the tests' files look like it."""
    places = [at for at in range(len(data)) if data[at : at + 4] == tag]
    return [data[at + 8 : at + 8 + struct.unpack_from("<i", data, at + 4)[0]] for at in places]


def textures(data: bytes) -> list[tuple[str, tuple[float, ...]]]:
    """Name, and position, scale and rotation of every texture."""
    found = []
    for rest in chunks(data, b"TEXS"):
        while rest:
            name, rest = rest.split(b"\0", 1)
            found.append((name.decode(), struct.unpack_from("<5f", rest, 8)))
            rest = rest[28:]
    return found


def names(data: bytes, tag: bytes = b"NODE") -> list[str]:
    return [chunk.split(b"\0", 1)[0].decode("cp1252") for chunk in chunks(data, tag)]


def start_over() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def load(path: Path, document: Document | None = None) -> None:
    if document is not None:
        path.write_bytes(b3d.write(document))
    assert bpy.ops.import_scene.b3d(filepath=str(path)) == {"FINISHED"}


def saved(path: Path, **options: Any) -> bytes:
    assert bpy.ops.export_scene.b3d(filepath=str(path), **options) == {"FINISHED"}
    return path.read_bytes()
