# SPDX-License-Identifier: GPL-3.0-or-later
"""Material, textures and render states of a mesh block -> materials of the scene."""

from __future__ import annotations

import ntpath
import os
from typing import Any

import numpy as np

from ....scene import Image, Material, Scene, TextureLayer
from ..document import MATERIAL, Mesh, MultiMaterial, Texture
from ..shading import SLOT_USES, STAGE_USES, restyle, uv_of
from .settings import changed

# Names of a mesh's flags and numbers that travel with its materials, beside what a material says of itself.
STATES = (
    "fog",
    "ambient",
    "ghost",
    "ghost_mode",
    "effect",
    "z_bias",
    "z_bias_slope",
    "z_bias_depth",
    "z_read",
    "z_write",
    "alpha_test",
    "specular_override",
)
TEXTURE_STATES = ("stage", "blend_mode", "argument_1", "argument_2", "mag", "min", "mip", "tc_mode", "channel_mask")


class Materials:
    """Adds materials and images to the scene; equal ones only once."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.known: dict[Any, int] = {}
        self.images: dict[str, int] = {}

    def of_mesh(self, mesh: Mesh, name: str, uvs: int, colors: bool) -> list[int]:
        """The mesh's materials: its own, or one for each of its parts."""
        parts: list[MultiMaterial | None] = list(mesh.multi_materials) if mesh.use_multi_material else []
        return [self._one(mesh, part, name, uvs, colors) for part in parts or [None]]

    def _one(self, mesh: Mesh, part: MultiMaterial | None, name: str, uvs: int, colors: bool) -> int:
        values = material_values(part.material if part else mesh.material)
        textures = [(texture, texture.name) for texture in mesh.textures]
        if part is not None:
            # The part's name is that of its texture, which takes the place of the first.
            textures = [(textures[0][0] if textures else Texture(), part.name), *textures[1:]]
        made = Material("", layers=self._layers(mesh, textures, uvs), vertex_colors=colors, vertex_alpha=colors)
        _states(mesh, made)
        if values is not None and (mesh.use_material or part is not None):
            _colors(values, made)
            if not mesh.use_material:
                made.settings["dbo"]["part"] = True
        restyle(made, self.scene.images)
        key = repr(made)
        if key not in self.known:
            first = next((name for _, name in textures if name), "")
            made.name = os.path.splitext(ntpath.basename(first))[0] or name or "Material"
            self.known[key] = len(self.scene.materials)
            self.scene.materials.append(made)
        return self.known[key]

    def _layers(self, mesh: Mesh, textures: list[tuple[Texture, str]], uvs: int) -> list[TextureLayer]:
        """Without an effect the stages are drawn one over the other; an effect has a use for each."""
        by_place = len(textures) > 1 and not any(texture.stage for texture, _ in textures)
        found: list[TextureLayer] = []
        for place, (texture, name) in enumerate(textures):
            stage = place if by_place else int(texture.stage)
            uses = SLOT_USES if by_place else STAGE_USES if mesh.effect else ()
            layer = TextureLayer(self._image(name) if name else -1, use=uses[stage] if stage < len(uses) else "COLOR")
            if uses and stage >= len(uses):
                layer.use = "OTHER"
            layer.clamp = (texture.address_u in (3, 4), texture.address_v in (3, 4))
            layer.settings["dbo"] = changed(texture, TEXTURE_STATES)
            _coordinates(texture, layer, 0 if uses else stage, uvs, len(found))
            if ntpath.basename(name) != name:
                layer.settings["dbo"]["path"] = name
            if layer.image >= 0:
                found.append(layer)
        return found

    def _image(self, name: str) -> int:
        if name not in self.images:
            self.images[name] = len(self.scene.images)
            self.scene.images.append(Image(name, search_names(name)))
        return self.images[name]


def search_names(name: str) -> tuple[str, ...]:
    """Where the engine looks: beside the model by the bare name, as .dds and as _D.dds, then where the file says."""
    bare = ntpath.basename(name)
    stem, path = os.path.splitext(bare)[0], os.path.splitext(name)[0]
    return tuple(dict.fromkeys([bare, f"{stem}.dds", f"{stem}_D.dds", name, f"{path}.dds"]))


def material_values(data: bytes) -> Any:
    """A record of MATERIAL, if it is there and made of numbers."""
    if len(data) < MATERIAL.itemsize:
        return None
    values = np.frombuffer(data, MATERIAL, 1)[0]
    return values if np.isfinite(np.frombuffer(data, "<f4", 17)).all() else None


def _coordinates(texture: Texture, layer: TextureLayer, stage: int, uvs: int, place: int) -> None:
    mode = int(texture.tc_mode)
    if mode in (1, 2):
        return
    layer.uv = min(uv_of(mode, stage), max(uvs - 1, 0))
    if layer.uv != uv_of(mode, layer.settings["dbo"].get("stage", place)):
        layer.settings["dbo"]["shown_uv"] = layer.uv


def _colors(values: Any, made: Material) -> None:
    made.color = values["diffuse"].astype(np.float32).clip(0, 1)
    settings = made.settings.setdefault("dbo", {})
    for name in ("ambient", "specular", "emissive"):
        settings[f"{name}_color"] = tuple(values[name].tolist())
    settings["power"] = float(values["power"])


def _states(mesh: Mesh, made: Material) -> None:
    made.full_bright = not mesh.light
    made.double_sided = not mesh.cull
    made.wireframe = mesh.wireframe
    made.settings["dbo"] = {"use_material": mesh.use_material, **changed(mesh, STATES), "transparency": mesh.transparency}
