# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials of the scene -> material, textures and render states of a mesh block."""

from __future__ import annotations

import copy
import ntpath
from dataclasses import replace
from typing import Any

import numpy as np

from ....scene import Material, Scene, TextureLayer
from ..document import MATERIAL, Mesh, Texture
from ..shading import SLOT_USES, STAGE_USES, settle


def settled(scene: Scene) -> Scene:
    """The scene with materials whose settings say all that they show: the functions below go by those."""
    materials = copy.deepcopy(scene.materials)
    for material in materials:
        settle(material, scene.images)
        scene.warnings += [
            f'"{material.name}": the alpha in the texture "{scene.images[layer.image].name}" is not seen: the engine takes the '
            "alpha of the picture with the color. Put it in there"
            for layer in material.layers
            if layer.use == "ALPHA" and 0 <= layer.image < len(scene.images)
        ]
    return replace(scene, materials=materials)


def material_block(material: Material | None) -> bytes:
    """The bytes of blocks 126 and 162."""
    values = np.zeros(1, MATERIAL)[0]
    values["diffuse"] = values["ambient"] = 1
    if material is not None:
        settings = material.settings["dbo"]
        values["diffuse"] = settings.get("diffuse", material.color)
        values["ambient"] = settings.get("ambient_color", (1, 1, 1, 1))
        for name in ("specular", "emissive"):
            values[name] = settings.get(f"{name}_color", (0, 0, 0, 1))
        values["power"] = settings.get("power", 0)
    return values.tobytes()


def forget_paths(scene: Scene) -> Scene:
    """Pictures that are copied, or named by their place on disk, are not where an imported file said any more."""

    def layer(source: TextureLayer) -> TextureLayer:
        own = source.settings.get("dbo", {})
        if "path" not in own or source.image < 0 or not scene.images[source.image].moved:
            return source
        return replace(source, settings={**source.settings, "dbo": {**own, "path": ""}})

    materials = [replace(each, layers=[layer(one) for one in each.layers]) for each in scene.materials]
    return replace(scene, materials=materials)


def texture_records(material: Material | None, scene: Scene, effect: str) -> list[Texture]:
    """By stages, one over the other; or, where they are for other things than colour, each in the slot for its use."""
    layers = [layer for layer in (material.layers if material else []) if layer.image >= 0]
    effect = material.settings.get("dbo", {}).get("effect", effect) if material else effect
    if all(layer.use == "COLOR" for layer in layers):
        return [_texture(layer, scene, place) for place, layer in enumerate(layers)]
    if effect and any(_stage(layer) for layer in layers):
        return _staged(layers, scene)
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


def _stage(layer: TextureLayer) -> int:
    """The stage of an imported texture, while it is for what that stage is for; else 0."""
    stage = layer.settings.get("dbo", {}).get("stage", 0)
    return int(stage) if layer.use == (STAGE_USES[stage] if stage < len(STAGE_USES) else "OTHER") else 0


def _staged(layers: list[TextureLayer], scene: Scene) -> list[Texture]:
    """Textures as they were imported, each in its stage; those that were not, in the stage for their use or a free one."""
    taken = {_stage(layer) for layer in layers}
    found: list[Texture] = []
    for layer in layers:
        stage = _stage(layer)
        if not stage and layer.use != "COLOR":
            stage = STAGE_USES.index(layer.use) if layer.use in STAGE_USES else len(STAGE_USES)
            while stage in taken:
                stage += 1
            taken.add(stage)
        texture = _texture(layer, scene, len(found))
        texture.stage = stage
        found.append(texture)
    return found


def _name(layer: TextureLayer, scene: Scene) -> str:
    """Where the imported file said that the picture is, unless it is another one now."""
    if layer.image < 0:
        return ""
    image = scene.images[layer.image]
    path = str(layer.settings.get("dbo", {}).get("path", ""))
    same = ntpath.basename(path).lower() == ntpath.basename(image.name).lower()
    return path if path and same else image.name


def _texture(layer: TextureLayer, scene: Scene, place: int) -> Texture:
    settings = layer.settings.get("dbo") or {"stage": place, "blend_mode": 4, "tc_mode": 0, "mag": 2, "min": 2, "mip": 2}
    texture = Texture(name=_name(layer, scene), stage=settings["stage"])
    texture.blend_mode = settings["blend_mode"]
    texture.argument_1 = settings.get("argument_1", 2)
    texture.argument_2 = settings.get("argument_2", 1 if place else 0)
    texture.address_u, texture.address_v = (3 if clamp else 1 for clamp in layer.clamp)
    texture.mag, texture.min, texture.mip = settings["mag"], settings["min"], settings["mip"]
    texture.tc_mode, texture.primitive_start, texture.primitive_count = settings["tc_mode"], 0, 0
    if settings.get("channel_mask", False):
        texture.channel_mask = True
    return texture


def set_render_states(mesh: Mesh, material: Material | None, hidden: bool, effect: str, extra: dict[str, Any]) -> None:
    """Blocks 129 to 167, in the engine's order."""
    material = material or Material("")
    settings = material.settings.get("dbo", {})
    mesh.wireframe, mesh.light, mesh.cull = material.wireframe, not material.full_bright, not material.double_sided
    mesh.fog, mesh.ambient = settings.get("fog", True), settings.get("ambient", True)
    mesh.transparency = settings.get("transparency", False)
    mesh.ghost, mesh.ghost_mode, mesh.visible = settings.get("ghost", False), settings.get("ghost_mode", 2), not hidden
    mesh.linked = extra.get("linked", False)
    if settings.get("effect", effect):
        mesh.effect = settings.get("effect", effect)
    mesh.arbitrary_value = extra.get("arbitrary_value", 0)
    mesh.z_bias = settings.get("z_bias", False)
    mesh.z_bias_slope, mesh.z_bias_depth = settings.get("z_bias_slope", 0.0), settings.get("z_bias_depth", 0.0)
    mesh.z_read, mesh.z_write = settings.get("z_read", True), settings.get("z_write", True)
    mesh.alpha_test = settings.get("alpha_test", 0)
    if "specular_override" in settings:
        mesh.specular_override = settings["specular_override"]
