# SPDX-License-Identifier: GPL-3.0-or-later
"""What a mesh looks like: its material, its textures by stage or slot, and its render states."""

from __future__ import annotations

import ntpath
import os
from typing import Any

import numpy as np

from ...scene import Image, Material, Scene, TextureLayer, floats
from .document import MATERIAL, Mesh, MultiMaterial, Texture

# Texture blend modes (143) that a layer can have; the others are drawn as a product.
BLENDS: dict[int, Any] = {1: "OFF", 4: "MULTIPLY", 5: "MULTIPLY_2X", 6: "MULTIPLY_2X", 7: "ADD", 8: "ADD", 11: "ADD"}
BLENDS |= {12: "ALPHA", 13: "ALPHA", 15: "ALPHA", 16: "ALPHA", 24: "DOT3", 26: "ALPHA"}
WRITTEN_BLENDS = {"OFF": 1, "MULTIPLY": 4, "MULTIPLY_2X": 5, "ADD": 7, "ALPHA": 13, "DOT3": 24}

# What textures are for, where an effect draws them: by stage, and in newer files by their place in the list.
STAGE_USES: tuple[Any, ...] = ("COLOR", "OCCLUSION", "NORMAL", "METALLIC", "ROUGHNESS")
SLOT_USES: tuple[Any, ...] = ("COLOR", "NORMAL", "METALLIC", "ROUGHNESS", "OCCLUSION", "EMISSION", "OTHER")

# What the ghost modes come nearest to.
GHOST_BLENDS: dict[int, Any] = {0: "ADD", 1: "MULTIPLY", 2: "ADD", 3: "ALPHA", 4: "ADD", 5: "MULTIPLY"}
WRITTEN_GHOSTS = {"ADD": 2, "MULTIPLY": 1}

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
UNSIGNED = 1 << 31  # Blender's integers end here


class Materials:
    """The materials of a scene as they are found: equal ones are one."""

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
            _colours(values, made)
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
        found = []
        for place, (texture, name) in enumerate(textures):
            stage = place if by_place else int(texture.stage)
            uses = SLOT_USES if by_place else STAGE_USES if mesh.effect else ()
            layer = TextureLayer(self._image(name) if name else -1, use=uses[stage] if stage < len(uses) else "COLOR")
            if uses and stage >= len(uses):
                layer.use = "OTHER"
            if layer.use == "COLOR":
                layer.blend = "MULTIPLY" if place == 0 else BLENDS.get(texture.blend_mode, "MULTIPLY")
            _coordinates(texture, layer, 0 if uses else stage, uvs)
            layer.clamp = (texture.address_u in (3, 4), texture.address_v in (3, 4))
            layer.nearest = texture.mag == 1
            layer.settings["dbo"] = changed(texture, TEXTURE_STATES)
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


def changed(record: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The values of a record that are not the engine's defaults."""
    found = {name: getattr(record, name) for name in names}
    defaults = {name: vars(type(record))[name].default for name in names}
    return {name: value for name, value in found.items() if value != defaults[name] and _fits(value)}


def _fits(value: Any) -> bool:
    return not isinstance(value, int) or value < UNSIGNED


def _coordinates(texture: Texture, layer: TextureLayer, stage: int, uvs: int) -> None:
    mode = int(texture.tc_mode)
    if mode in (1, 2):
        layer.mapping = "SPHERE" if mode == 1 else "CUBE"
        return
    layer.uv = min(_uv_of(mode, stage), max(uvs - 1, 0))


def _uv_of(mode: int, stage: int) -> int:
    """The number of the UVs that a texture takes."""
    return mode - 10 if 10 <= mode <= 17 else 0 if mode == 3 else stage


def _colours(values: Any, made: Material) -> None:
    made.color = values["diffuse"].astype(np.float32).clip(0, 1)
    made.emission = values["emissive"][:3].astype(np.float32).clip(0, 1)
    made.specular, made.roughness = _highlight(values)
    settings = made.settings.setdefault("dbo", {})
    for name in ("ambient", "specular", "emissive"):
        settings[f"{name}_color"] = tuple(values[name].tolist())
    settings["power"] = float(values["power"])


def _highlight(values: Any) -> tuple[float, float]:
    """Strength and roughness. Phong's highlight is as wide as a roughness's when its power is 2 / roughness^4 - 2."""
    if not values["power"] > 0:
        return 0.0, 1.0
    return float(values["specular"][:3].max().clip(0, 1)), float((2 / (values["power"] + 2)) ** 0.25)


def _states(mesh: Mesh, made: Material) -> None:
    made.full_bright = not mesh.light
    made.double_sided = not mesh.cull
    made.wireframe = mesh.wireframe
    if mesh.ghost:
        made.blend = GHOST_BLENDS.get(mesh.ghost_mode, "ADD")
    elif mesh.transparency:
        made.blend = "MASK" if mesh.alpha_test else "ALPHA"
        made.threshold = min(mesh.alpha_test, 255) / 255 if mesh.alpha_test else 0.5
    made.settings["dbo"] = {"use_material": mesh.use_material, **changed(mesh, STATES)}


# -------------------------------------------------------------------------------------------------------------- writing


def write_material(material: Material | None) -> bytes:
    """126 and 162."""
    values = np.zeros(1, MATERIAL)[0]
    values["diffuse"] = values["ambient"] = 1
    if material is not None:
        settings = material.settings.get("dbo", {})
        values["diffuse"] = material.color
        values["ambient"] = settings.get("ambient_color", material.color)
        values["emissive"] = (*material.emission, settings.get("emissive_color", (0, 0, 0, 1))[3])
        values["specular"] = settings.get("specular_color", (0, 0, 0, 1))
        values["power"] = settings.get("power", 0)
        if not np.allclose(_highlight(values), (material.specular, material.roughness), atol=1e-3):
            values["specular"] = floats(material.specular, material.specular, material.specular, 1)
            values["power"] = 2 / max(material.roughness, 0.05) ** 4 - 2 if material.specular else 0
    return values.tobytes()


def write_textures(material: Material | None, scene: Scene, effect: str) -> list[Texture]:
    """By stages, one over the other; or, where they are for other things than colour, each in the slot for its use."""
    layers = [layer for layer in (material.layers if material else []) if layer.image >= 0]
    effect = material.settings.get("dbo", {}).get("effect", effect) if material else effect
    if all(layer.use == "COLOR" for layer in layers):
        return [_texture(layer, scene, place) for place, layer in enumerate(layers)]
    uses = STAGE_USES if effect else SLOT_USES
    slots: list[TextureLayer | None] = [None] * len(uses)
    for layer in layers:
        place = uses.index(layer.use) if layer.use in uses else len(uses) - 1
        if slots[place] is None:
            slots[place] = layer
        else:
            slots.append(layer)
    while slots[-1] is None:
        slots.pop()
    found = []
    for place, entry in enumerate(slots):
        # Engines go by the place in the list or by the stage: the two agree, unless all are 0.
        texture = _texture(entry or TextureLayer(-1), scene, place)
        texture.stage = place if effect else 0
        found.append(texture)
    return found


def _texture(layer: TextureLayer, scene: Scene, place: int) -> Texture:
    settings = layer.settings.get("dbo", {})
    stage = settings.get("stage", place)
    blend = settings.get("blend_mode", 4)
    if BLENDS.get(blend, "MULTIPLY") != layer.blend and place:
        blend = WRITTEN_BLENDS[layer.blend]
    mode = settings.get("tc_mode", 0)
    if layer.mapping != "UV":
        mode = 1 if layer.mapping == "SPHERE" else 2
    elif layer.use == "COLOR" and _uv_of(mode, stage) != layer.uv:
        mode = 10 + layer.uv
    texture = Texture(name=scene.images[layer.image].name if layer.image >= 0 else "", stage=stage, blend_mode=blend)
    texture.argument_1 = settings.get("argument_1", 2)
    texture.argument_2 = settings.get("argument_2", 1 if place else 0)
    texture.address_u, texture.address_v = (3 if clamp else 1 for clamp in layer.clamp)
    texture.mag = 1 if layer.nearest else settings.get("mag", 2)
    texture.min, texture.mip = settings.get("min", texture.mag), settings.get("mip", 2)
    texture.tc_mode, texture.primitive_start, texture.primitive_count = mode, 0, 0
    return texture


def write_states(mesh: Mesh, material: Material | None, hidden: bool, effect: str, extra: dict[str, Any]) -> None:
    """129 to 167, in the engine's order. Blender's own fields win over what was imported."""
    material = material or Material("")
    settings = material.settings.get("dbo", {})
    ghost = settings.get("ghost", False)
    mode = settings.get("ghost_mode", 2)
    if material.blend in ("ADD", "MULTIPLY") and not (ghost and GHOST_BLENDS.get(mode) == material.blend):
        ghost, mode = True, WRITTEN_GHOSTS[material.blend]
    elif ghost and GHOST_BLENDS.get(mode) != material.blend:
        ghost = False
    mesh.wireframe, mesh.light, mesh.cull = material.wireframe, not material.full_bright, not material.double_sided
    mesh.fog, mesh.ambient = settings.get("fog", True), settings.get("ambient", True)
    mesh.transparency = material.blend in ("ALPHA", "MASK") and not ghost
    mesh.ghost, mesh.ghost_mode, mesh.visible = ghost, mode, not hidden
    mesh.linked = extra.get("linked", False)
    if settings.get("effect", effect):
        mesh.effect = settings.get("effect", effect)
    mesh.arbitrary_value = extra.get("arbitrary_value", 0)
    mesh.z_bias = settings.get("z_bias", False)
    mesh.z_bias_slope, mesh.z_bias_depth = settings.get("z_bias_slope", 0.0), settings.get("z_bias_depth", 0.0)
    mesh.z_read, mesh.z_write = settings.get("z_read", True), settings.get("z_write", True)
    test = round(material.threshold * 255) if material.blend == "MASK" else settings.get("alpha_test", 0)
    mesh.alpha_test = max(test, 1) if material.blend == "MASK" else 0 if material.blend == "ALPHA" else test
    if "specular_override" in settings:
        mesh.specular_override = settings["specular_override"]
