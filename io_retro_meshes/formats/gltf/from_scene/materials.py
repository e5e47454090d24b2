# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials, textures and pictures. What glTF cannot say is named in a warning, and kept in extras for the way back.

Luanti numbers texture slots by the `textures` array, or where a surface has no texture by the surface. Both agree here: the
first entries of `textures` are one for each primitive, in the order of the tree, and materials with textures are not shared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ....pictures.baking import NO_PIXELS, Baked, Decoded, bake, compromises, is_one_of, main_layer, without_place
from ....pictures.decode import PictureError
from ....scene import Image, Material, Scene, TextureLayer, maths
from .. import extras
from ..document import (
    CLAMP_TO_EDGE,
    EMISSIVE_STRENGTH,
    LINEAR,
    LINEAR_MIPMAP_LINEAR,
    NEAREST,
    REPEAT,
    SPECULAR,
    TEXTURE_TRANSFORM,
    UNLIT,
    Json,
)
from .buffers import Buffer
from .pictures import Pictures, image_flags

ALPHA_MODES = {"MASK": "MASK", "ALPHA": "BLEND", "ADD": "BLEND", "MULTIPLY": "BLEND"}
# What a texture is for that has a place of its own; the colour has rules of its own.
PLACES = {"NORMAL": "normalTexture", "OCCLUSION": "occlusionTexture", "EMISSION": "emissiveTexture"}
PLAIN_SPECULAR = 0.5  # of Blender, for what glTF draws by itself


@dataclass
class Surface:
    """What a primitive must know of its material."""

    number: int = -1  # of the file's material; -1 for none
    material: Material | None = None
    uv_sets: int = 0  # that it looks up
    baked: list[TextureLayer] = field(default_factory=list)  # layers whose coordinates are one more set each, already moved
    look: Baked | None = None  # of several textures, or of a blend that glTF has not


class Materials:
    def __init__(self, scene: Scene, buffer: Buffer, mode: str, extensions: set[str]) -> None:
        self.scene = scene
        self.pictures = Pictures(scene, buffer, mode)
        self.mode = mode
        self.extensions = extensions
        self.made: list[Json] = []
        self.known: dict[tuple[int, int], Surface] = {}  # materials without a texture for the colour
        self.looks: dict[int, Baked | None] = {}
        self.decoded: Decoded = {}
        self.samplers: list[Json] = []
        self.base: list[Json | None] = []  # the texture of each primitive
        self.others: list[Json] = []
        self.later: list[tuple[Json, int]] = []  # uses of the others, whose numbers are not known yet

    @property
    def files(self) -> dict[str, bytes]:
        return self.pictures.files

    def surface(self, index: int, uv_sets: int) -> Surface:
        """The material of the next primitive, whose mesh has so many UV sets."""
        self.base.append(None)
        if not 0 <= index < len(self.scene.materials):
            return self.slot(uv_sets)
        if (index, uv_sets) in self.known:
            return self.known[index, uv_sets]
        material = self.scene.materials[index]
        used = [layer.uv + 1 for layer in material.layers if layer is main_layer(material) or layer.use in PLACES]
        surface = Surface(len(self.made), material, max([uv_sets, *used]), look=self.look(index))
        self.made.append(self.material(surface))
        if self.base[-1] is None and not self.add_slot(self.made[-1], uv_sets):
            self.known[index, uv_sets] = surface
        return surface

    def look(self, index: int) -> Baked | None:
        """What its textures and its blend are together. Where they cannot be had, the main texture is shown alone."""
        if index not in self.looks and self.mode != "NONE":
            material = self.scene.materials[index]
            self.looks[index] = None
            try:
                self.looks[index] = found = bake(material, self.scene.images, main_layer(material), self.decoded)
            except (PictureError, OSError) as error:
                reason = str(error) if isinstance(error, PictureError) else error.strerror
                self.scene.warnings.append(f'The material "{material.name}": its textures are not one picture: {reason}.')
                return None
            if found is not None and found.inside:
                picture = Image(f"{material.name} baked.png", pixels=found.pixels)
                found.source = self.pictures.add(picture, False, material.name)
        return self.looks.get(index)

    def skip(self) -> None:
        """A surface without faces has no primitive, and in Luanti a slot all the same."""
        self.base.append(None)

    def slot(self, uv_sets: int) -> Surface:
        """What a primitive without a material has: nothing, or what gives it its slot."""
        made: Json = {"pbrMetallicRoughness": {"metallicFactor": 0}}
        if not self.add_slot(made, uv_sets):
            return Surface(uv_sets=uv_sets)
        self.made.append(made)
        return Surface(len(self.made) - 1, uv_sets=uv_sets)

    def add_slot(self, made: Json, uv_sets: int) -> bool:
        """A texture without a picture, for a material that has none, so that the primitive's slot is certain."""
        if self.mode != "NONE" or not uv_sets:
            return False
        self.base[-1] = {}
        made["pbrMetallicRoughness"]["baseColorTexture"] = {"index": len(self.base) - 1}
        return True

    def finish(self) -> Json:
        """The members of the file."""
        self.pictures.warn()
        if self.mode == "NONE":
            textures = [entry or {} for entry in self.base]
        elif any(self.base):
            stand_in = next((entry for entry in self.base if entry), {})
            textures = [
                entry or {key: stand_in[key] for key in ("sampler", "source") if key in stand_in} for entry in self.base
            ]
        else:
            textures = []
        for info, number in self.later:
            info["index"] = len(textures) + number
        return {
            "materials": self.made,
            "textures": textures + self.others,
            "images": self.pictures.made,
            "samplers": self.samplers,
        }

    # ------------------------------------------------------------------------------------------------------- materials

    def material(self, surface: Surface) -> Json:
        material = surface.material
        assert material is not None
        color = material.color if surface.look is None else surface.look.factor(material)
        red, green, blue = _linear(color[:3])
        alpha = float(np.clip(color[3], 0, 1))
        pbr: Json = {
            "baseColorFactor": [red, green, blue, alpha],
            "metallicFactor": _unit(material.metallic),
            "roughnessFactor": _unit(material.roughness),
        }
        made: Json = {"name": material.name, "pbrMetallicRoughness": pbr}
        mode = ALPHA_MODES.get(material.blend)
        if mode is not None:
            made["alphaMode"] = mode
        if mode == "MASK":
            made["alphaCutoff"] = max(material.threshold, 0.0)
        if material.double_sided:
            made["doubleSided"] = True
        self.set_light(made, material)
        left = self.set_textures(made, pbr, surface)
        self.scene.warnings += compromises(material, surface.look)
        extras.pack(
            made,
            material.settings,
            color=None if surface.look is None else material.color,
            blend=material.blend if material.blend in ("ADD", "MULTIPLY") else None,
            vertex_colors=material.vertex_colors,  # also where the mesh has none
            flat=material.flat,
            stipple=material.stipple,
            wireframe=material.wireframe,
            graph=material.graph,
            layers=left or None,
        )
        return made

    def set_light(self, made: Json, material: Material) -> None:
        """How it is lit: not at all, with a highlight, by itself."""
        found: Json = {}
        if material.full_bright:
            found[UNLIT] = {}
        elif abs(material.specular - PLAIN_SPECULAR) > 1e-6:
            strength = max(2 * material.specular, 0.0)
            found[SPECULAR] = {"specularFactor": min(strength, 1.0)}
            if strength > 1:
                found[SPECULAR]["specularColorFactor"] = [strength] * 3
        glow = maths.srgb_to_linear(np.clip(material.emission[:3].astype(np.float64), 0, None))
        strength = max(float(glow.max()), 1.0)
        if glow.any():
            made["emissiveFactor"] = [float(f"{value:.6g}") for value in (glow / strength).tolist()]
        if strength > 1:
            found[EMISSIVE_STRENGTH] = {"emissiveStrength": strength}
        if found:
            made["extensions"] = found
            self.extensions |= set(found)

    # -------------------------------------------------------------------------------------------------------- textures

    def set_textures(self, made: Json, pbr: Json, surface: Surface) -> list[Json]:
        """Returns the layers that the file cannot say, for the extras."""
        material = surface.material
        assert material is not None
        main, look = main_layer(material), surface.look or Baked(None, NO_PIXELS)
        lights = [layer for layer, _ in look.light]
        if look.inside:
            self.use_baked(pbr, surface)
        left: list[Json] = []
        for place, layer in enumerate(material.layers):
            if not 0 <= layer.image < len(self.scene.images):
                continue
            name = PLACES.get(layer.use, "") if layer.mapping == "UV" else ""
            kept = is_one_of(layer, [*look.inside, *lights])
            fits = not kept and (layer is main or (name and name not in made))
            if fits and (self.use_main(pbr, layer, surface) if layer is main else self.use(made, name, layer, surface)):
                continue
            left.append(self.describe(layer, place))
            if kept:
                self.pictures.number(layer.image, False, material.name)  # for the way back
            if layer.blend != "OFF" and not fits and not is_one_of(layer, look.inside):
                words = without_place(material, layer, self.scene.images, is_one_of(layer, lights))
                self.scene.warnings.append(words)
        return left

    def use_baked(self, pbr: Json, surface: Surface) -> None:
        """The picture that was made of several textures. What it was made of is described beside it."""
        look = surface.look
        assert look is not None and look.layer is not None
        layer = replace(look.layer, blend="MULTIPLY", settings={})
        self.base[-1] = self.texture(layer, look.source)
        pbr["baseColorTexture"] = self.info(layer, surface, len(self.base) - 1)
        extras.pack(pbr["baseColorTexture"], baked=True)

    def use_main(self, pbr: Json, layer: TextureLayer, surface: Surface) -> bool:
        material = surface.material
        assert material is not None
        image = self.scene.images[layer.image]
        opaque = material.blend != "OPAQUE" and not (image.alpha or image.mask_black)
        source = self.pictures.number(layer.image, opaque, material.name)
        if source < 0 and self.mode != "NONE":
            return False
        self.base[-1] = self.texture(layer, source)
        pbr["baseColorTexture"] = self.info(layer, surface, len(self.base) - 1)
        if layer.blend != "MULTIPLY" and self.mode != "NONE":  # it could not be baked
            self.scene.warnings.append(f'The material "{material.name}": its texture is multiplied: glTF has nothing else.')
        return True

    def use(self, made: Json, name: str, layer: TextureLayer, surface: Surface) -> bool:
        assert surface.material is not None
        source = self.pictures.number(layer.image, False, surface.material.name)
        if source < 0:
            return False
        entry = self.texture(layer, source)
        if entry not in self.others:
            self.others.append(entry)
        made[name] = self.info(layer, surface, -1)
        if name == "emissiveTexture":
            made.setdefault("emissiveFactor", [1, 1, 1])
        self.later.append((made[name], self.others.index(entry)))
        return True

    def texture(self, layer: TextureLayer, source: int) -> Json:
        sampler = {
            "magFilter": NEAREST if layer.nearest else LINEAR,
            "minFilter": NEAREST if layer.nearest else LINEAR_MIPMAP_LINEAR,
            "wrapS": CLAMP_TO_EDGE if layer.clamp[0] else REPEAT,
            "wrapT": CLAMP_TO_EDGE if layer.clamp[1] else REPEAT,
        }
        if sampler not in self.samplers:
            self.samplers.append(sampler)
        made: Json = {"name": self.scene.images[layer.image].name, "sampler": self.samplers.index(sampler)}
        if source >= 0:
            made["source"] = source
        return made

    def info(self, layer: TextureLayer, surface: Surface, index: int) -> Json:
        """A use of a texture: by which coordinates, and how they are moved."""
        made: Json = {"index": index}
        moved = transform_to_file(layer)
        if moved is None:
            surface.baked.append(layer)
            made["texCoord"] = surface.uv_sets + len(surface.baked) - 1
        elif layer.uv:
            made["texCoord"] = layer.uv
        if moved:
            self.extensions.add(TEXTURE_TRANSFORM)
            made["extensions"] = {TEXTURE_TRANSFORM: moved}
        extras.pack(made, layer.settings, blend=layer.blend if layer.blend != "MULTIPLY" else None)
        return made

    def describe(self, layer: TextureLayer, place: int) -> Json:
        """A layer in words, for the extras."""
        image = self.scene.images[layer.image]
        made: Json = {"place": place, "image": image.name, "use": layer.use, "blend": layer.blend}
        made |= {name: True for name, is_so in image_flags(image).items() if is_so}
        made |= {"mapping": layer.mapping, "uv": layer.uv, "offset": layer.offset, "scale": layer.scale}
        made |= {"rotation": layer.rotation, "clamp": layer.clamp, "nearest": layer.nearest}
        if layer.settings:
            made["settings"] = layer.settings
        return extras.clean(made)


def transform_to_file(layer: TextureLayer) -> Json | None:
    """KHR_texture_transform, which scales and then turns; {} for none, None where no such transform is what the layer does.

    In the file's space, with v down, a layer is u' = sx(cu + sv) + tx, v' = sy(-su + cv) + ty.
    """
    (sx, sy), (x, y), angle = layer.scale, layer.offset, layer.rotation
    if (sx, sy, x, y, angle) == (1, 1, 0, 0, 0):
        return {}
    if angle and abs(sx) != abs(sy):
        return None
    offset = [x - sx * math.sin(angle), 1 - sy * math.cos(angle) - y]
    made: Json = {}
    if max(map(abs, offset)) > 1e-6:
        made["offset"] = [value if abs(value) > 1e-6 else 0.0 for value in offset]
    if angle:
        made["rotation"] = angle if sx == sy else -angle
    if (sx, sy) != (1, 1):
        made["scale"] = [sx, sy]
    return made


def _linear(color: Any) -> list[float]:
    values = maths.srgb_to_linear(np.clip(np.asarray(color, np.float64), 0, 1))
    return [float(f"{value:.9g}") for value in values.tolist()]


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0)
