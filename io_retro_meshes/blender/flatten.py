# SPDX-License-Identifier: GPL-3.0-or-later
"""Imported looks that Blender's glTF exporter cannot find in a node graph, as ones that it can. Changes materials and meshes.

Several textures become one picture, a way of blending that glTF has not becomes the nearest that it has, a texture that is
turned and then stretched gets a UV map of its own, and a light map goes into vertex colours.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ..pictures import baking, stages
from ..pictures.baking import NO_PIXELS, Baked
from ..scene import COLOR_NAME, Image, Material, TextureLayer, maths
from . import compat
from .build.images import from_pixels
from .build.materials import fill
from .collect.images import ImageCollector
from .collect.materials import read_material
from .collect.meshes import uv_maps
from .graphs.nodes import Tree
from .pixels import image_pixels

LIGHT = "Light"  # the colours that have a light map in them
MOST_UV_MAPS = 8  # of a mesh in Blender


def flatten() -> list[str]:
    """What is only near is named in the warnings."""
    worn: dict[str, tuple[bpy.types.Material, list[bpy.types.Mesh]]] = {}
    for owner in bpy.context.scene.objects:
        for slot in owner.material_slots if owner.type == "MESH" else ():
            if slot.material is not None and slot.material.library is None:
                _, meshes = worn.setdefault(slot.material.name, (slot.material, []))
                mesh: Any = owner.data
                if mesh not in meshes:
                    meshes.append(mesh)
    return [warning for material, meshes in worn.values() for warning in Flat(material, meshes).flatten()]


class Flat:
    """A material, and what becomes of it."""

    def __init__(self, material: bpy.types.Material, meshes: list[bpy.types.Mesh]) -> None:
        self.material = material
        self.meshes = meshes
        self.uv_names = max(([layer.name for layer in uv_maps(mesh)] for mesh in meshes), key=len, default=[])
        self.images = ImageCollector()
        self.shown = read_material(material, self.images, self.uv_names)[0]

    def flatten(self) -> list[str]:
        shown = self.shown
        if not shown.settings or shown.graph or shown.lost:
            return []  # not of an old engine, or more than that: Blender's exporter does what it can
        main = baking.main_layer(shown)
        colors = [layer for layer in shown.layers if layer.use == "COLOR" and layer.blend != "OFF"]
        look = self.look(main, colors) or Baked(None, NO_PIXELS)
        warnings = baking.compromises(shown, look)
        lights = [layer for layer, _ in look.light]
        for layer in colors:
            if layer is not main and not baking.is_one_of(layer, look.inside):
                light = baking.is_one_of(layer, lights)
                warnings.append(baking.without_place(shown, layer, self.images.images, light))
        turned = main is not None and bool(main.rotation) and main.scale[0] != main.scale[1]
        patterned = shown.stipple or shown.wireframe
        if len(colors) > 1 or look.inside or turned or patterned or self.hides(main) or shown.blend in ("ADD", "MULTIPLY"):
            self.remake(look, main)
        return warnings

    def hides(self, main: TextureLayer | None) -> bool:
        """Blender's exporter loses the texture of a surface without light whose alpha is not a texture's, too."""
        if main is None or not self.shown.full_bright or self.shown.blend == "OPAQUE":
            return False
        image = self.images.images[main.image]
        return not image.alpha and not image.mask_black

    def look(self, main: TextureLayer | None, colors: list[TextureLayer]) -> Baked | None:
        if len(colors) < 2 and self.shown.blend not in ("ADD", "MULTIPLY") and (main is None or main.blend == "MULTIPLY"):
            return None  # as nearly all are
        pixels = {number: image_pixels(image) for number, image in enumerate(self.images.sources)}
        return baking.bake(self.shown, self.images.images, main, pixels)

    def remake(self, look: Baked, main: TextureLayer | None) -> None:
        made = replace(self.shown, layers=[layer for layer in self.shown.layers if layer.use != "COLOR"])
        made.stipple = made.wireframe = False
        if made.blend in ("ADD", "MULTIPLY"):
            made.blend = "ALPHA"
        if look.pixels.size:
            made.color = np.asarray(look.factor(made), np.float32)
        layer = look.layer if look.pixels.size else main
        if layer is not None:
            made.layers.insert(0, self.placed(replace(layer, blend="MULTIPLY", settings={}), made))
        pictures, images = list(self.images.images), list(self.images.sources)
        pixels = self.picture(look, main)
        if layer is not None and pixels is not None:
            made.layers[0].image = len(images)
            images.append(from_pixels(f"{made.name} baked.png", pixels))
            pictures.append(Image(images[-1].name, alpha=made.blend != "OPAQUE"))
        names = [mesh.color_attributes[0].name for mesh in self.meshes if mesh.color_attributes]
        color_name = made.color_name or (names[0] if names else "")
        if look.light:
            for mesh in self.meshes:
                self.light(mesh, look, color_name if made.vertex_colors else "")
            made.vertex_colors, color_name = True, LIGHT
        tree = Tree(compat.node_tree(self.material), self.uv_names, color_name or COLOR_NAME)
        tree.tree.nodes.clear()
        fill(self.material, tree, made, pictures, images)

    def picture(self, look: Baked, main: TextureLayer | None) -> np.ndarray | None:
        """What is to be shown instead of the main texture, if anything."""
        if look.pixels.size or main is None or not self.hides(main):
            return look.pixels if look.pixels.size else None
        pixels = image_pixels(self.images.sources[main.image])
        if pixels is not None:
            pixels[..., 3] = 255
        return pixels

    def placed(self, layer: TextureLayer, made: Material) -> TextureLayer:
        """On a UV map of its own, already moved, where the exporter's one transform is not what the layer does."""
        if not layer.rotation or layer.scale[0] == layer.scale[1] or any(len(m.uv_layers) >= MOST_UV_MAPS for m in self.meshes):
            return layer
        name = f"{made.name} moved"
        for mesh in self.meshes:
            new = mesh.uv_layers.new(name=name, do_init=False)
            new.data.foreach_set("uv", stages.layer_uvs(layer, self.uvs(mesh, layer)).astype(np.float32).reshape(-1))
        self.uv_names = [*self.uv_names, name]
        return replace(layer, uv=len(self.uv_names) - 1, offset=(0.0, 0.0), scale=(1.0, 1.0), rotation=0.0)

    def uvs(self, mesh: bpy.types.Mesh, layer: TextureLayer) -> np.ndarray:
        """Of each corner."""
        found = np.zeros((len(mesh.loops), 2), np.float32)
        name = self.uv_names[layer.uv] if layer.uv < len(self.uv_names) else ""
        if name in mesh.uv_layers:
            mesh.uv_layers[name].data.foreach_get("uv", found.reshape(-1))
        return found

    def light(self, mesh: bpy.types.Mesh, look: Baked, color_name: str) -> None:
        """The light where the faces of this material have it, times the colours that the material shows."""
        corners = self.corners(mesh)
        vertices = np.empty(len(mesh.loops), np.int32)
        mesh.loops.foreach_get("vertex_index", vertices)
        uvs = [self.uvs(mesh, layer) for layer, _ in look.light]
        keys = np.concatenate([vertices[:, None], *(each.view(np.int32) for each in uvs)], 1)
        _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        place = place.reshape(-1)
        moved = replace(look, light=[(replace(layer, uv=n), pixels) for n, (layer, pixels) in enumerate(look.light)])
        light = maths.srgb_to_linear(baking.light_of(moved, [each[first] for each in uvs], place[corners]))[place]
        rows = np.ones((len(mesh.loops), 4), np.float32)
        colors: Any = mesh.color_attributes.get(LIGHT)
        if colors is None:
            colors = mesh.color_attributes.new(LIGHT, "FLOAT_COLOR", "CORNER")
        else:
            colors.data.foreach_get("color", rows.reshape(-1))
        rows[corners] = np.c_[light[corners], np.ones(len(corners))]
        given: Any = mesh.color_attributes.get(color_name) if color_name else None
        if given is not None:
            values = np.empty((len(given.data), 4), np.float32)
            given.data.foreach_get("color", values.reshape(-1))
            rows[corners] *= (values if given.domain == "CORNER" else values[vertices])[corners]
        colors.data.foreach_set("color", rows.reshape(-1))

    def corners(self, mesh: bpy.types.Mesh) -> np.ndarray:
        """Those of the triangles that wear the material, three by three."""
        mesh.calc_loop_triangles()
        found = np.empty(3 * len(mesh.loop_triangles), np.int32)
        slots = np.empty(len(mesh.loop_triangles), np.int32)
        mesh.loop_triangles.foreach_get("loops", found)
        mesh.loop_triangles.foreach_get("material_index", slots)
        wearing = [number for number, each in enumerate(mesh.materials) if each == self.material]
        return found.reshape(-1, 3)[np.isin(slots, wearing)].reshape(-1)
