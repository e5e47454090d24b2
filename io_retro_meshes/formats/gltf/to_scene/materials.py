# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials, textures and pictures of the file. Materials that differ only in the number of their texture are one again."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from ....scene import Floats, Image, Material, Scene, TextureLayer, maths
from .. import extras
from ..beside import local_path
from ..document import (
    CLAMP_TO_EDGE,
    EMISSIVE_STRENGTH,
    NEAREST_FILTERS,
    REPEAT,
    SPECULAR,
    TEXTURE_TRANSFORM,
    UNLIT,
    WEBP,
    Part,
)
from .accessors import Accessors, data_uri

EXTENSIONS = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}
BLENDS = {"OPAQUE": "OPAQUE", "MASK": "MASK", "BLEND": "ALPHA"}
PLACES = {"normalTexture": "NORMAL", "occlusionTexture": "OCCLUSION", "emissiveTexture": "EMISSION"}
# What a layer can be, for those that are in words.
CHOICES: dict[str, tuple[Any, ...]] = {
    "blend": ("OFF", "ALPHA", "MULTIPLY", "ADD", "DOT3", "MULTIPLY_2X"),
    "mapping": ("UV", "SPHERE", "CUBE"),
    "use": ("COLOR", "NORMAL", "SPECULAR", "ROUGHNESS", "METALLIC", "EMISSION", "OCCLUSION", "ALPHA", "OTHER"),
}
PLAIN_SPECULAR = 0.5  # of Blender, for what glTF draws by itself


class Materials:
    def __init__(self, root: Part, scene: Scene, accessors: Accessors) -> None:
        self.scene = scene
        self.accessors = accessors
        self.parts = root.parts("materials")
        self.textures = root.parts("textures")
        self.samplers = root.parts("samplers")
        self.images = root.parts("images")
        self.by_name = {part.text("name"): index for index, part in reversed(list(enumerate(self.images)))}
        self.keys: dict[int, str] = {}  # of each material: what it looks like
        self.known: dict[tuple[str, bool, bool], int] = {}
        self.known_images: dict[tuple[int, str], int] = {}

    def number(self, index: int, colors: bool, alpha: bool) -> int:
        """The scene's material for one of the file, -1 for none; on a mesh with vertex colours, or with vertex alpha."""
        if index < 0 and not colors:
            return -1
        key = (self.key(index), colors, alpha)
        if key not in self.known:
            self.known[key] = len(self.scene.materials)
            part = self.parts[index] if index >= 0 else Part({"name": "Default"}, "materials")
            self.scene.materials.append(self.material(part, colors, alpha))
        return self.known[key]

    def key(self, index: int) -> str:
        """Equal for materials that look the same: textures by what they show, not by their number."""
        if index not in self.keys:
            values: Any = self.parts[index].values if index >= 0 else None
            if self.textures and index >= 0:
                values = self.by_content(values, 0)
            try:
                self.keys[index] = json.dumps(values, sort_keys=True)
            except RecursionError:  # extras can be anything
                self.keys[index] = str(index)
        return self.keys[index]

    def by_content(self, values: Any, depth: int) -> Any:
        if not isinstance(values, dict) or depth > 3:
            return values
        found = {name: self.by_content(value, depth + 1) for name, value in values.items()}
        number = found.get("index")
        if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(self.textures):
            found["index"] = self.textures[number].values
        return found

    # ------------------------------------------------------------------------------------------------------- materials

    def material(self, part: Part, colors: bool, alpha: bool) -> Material:
        pbr = part.part("pbrMetallicRoughness")
        factor = pbr.numbers("baseColorFactor", 4, (1, 1, 1, 1))
        made = Material(part.text("name") or "Material", np.append(_srgb(factor[:3]), np.float32(factor[3])))
        made.metallic = min(max(pbr.number("metallicFactor", 1), 0), 1)
        made.roughness = min(max(pbr.number("roughnessFactor", 1), 0), 1)
        made.double_sided = part.flag("doubleSided")
        made.threshold = part.number("alphaCutoff", 0.5)
        made.blend = BLENDS.get(part.text("alphaMode", "OPAQUE"), "OPAQUE")  # type: ignore[assignment]
        made.vertex_colors = colors
        made.vertex_alpha = colors and alpha and made.blend != "OPAQUE"
        self.set_light(made, part)
        self.add_layer(made, pbr, "baseColorTexture", "COLOR")
        for name, use in PLACES.items():
            self.add_layer(made, part, name, use)
        if self.add_layer(made, pbr, "metallicRoughnessTexture", "OTHER"):
            self.scene.warnings.append(
                f'The material "{made.name}": its texture of metal and roughness is kept, but not shown.'
            )
        self.set_own(made, part)
        return made

    def set_light(self, made: Material, part: Part) -> None:
        strength = part.extension(EMISSIVE_STRENGTH)
        glow = np.array(part.numbers("emissiveFactor", 3, (0, 0, 0)))
        made.emission = _srgb(glow * (strength.number("emissiveStrength", 1) if strength else 1))
        made.full_bright = part.extension(UNLIT) is not None
        made.specular = PLAIN_SPECULAR
        specular = part.extension(SPECULAR)
        if specular is not None:
            color = specular.numbers("specularColorFactor", 3, (1, 1, 1))
            made.specular = PLAIN_SPECULAR * specular.number("specularFactor", 1) * max(color)
            if {"specularTexture", "specularColorTexture"} & specular.values.keys():
                self.scene.warnings.append(f'The material "{made.name}": its texture of highlights was left out.')

    def set_own(self, made: Material, part: Part) -> None:
        """What this project has written into the extras."""
        made.settings = extras.settings(part)
        own = extras.unpack(part)
        if own.values.get("blend") in ("ADD", "MULTIPLY") and made.blend == "ALPHA":
            made.blend = own.values["blend"]
        made.vertex_colors |= own.values.get("vertex_colors") is True
        made.flat, made.stipple, made.wireframe = (own.values.get(name) is True for name in ("flat", "stipple", "wireframe"))
        made.graph = own.text("graph") if own.values.get("graph") == "bogle" else ""
        if "color" in own:
            made.color = np.array(own.numbers("color", 4, (1, 1, 1, 1)), np.float32)
        for layer in own.parts("layers"):
            place = layer.integer("place", len(made.layers))
            made.layers.insert(place, self.described(layer))

    def described(self, part: Part) -> TextureLayer:
        """A layer that glTF has no place for, in words."""
        name = part.text("image")
        source = self.by_name.get(name, -1)
        layer = TextureLayer(self.add_image(source, name))
        if source < 0:
            set_flags(self.scene.images[layer.image], part)
        for name in ("blend", "mapping", "use"):
            if part.values.get(name) in CHOICES[name]:
                setattr(layer, name, part.text(name))
        layer.uv = min(part.integer("uv", 0), 7)
        layer.offset, layer.scale = _pair(part, "offset", (0, 0)), _pair(part, "scale", (1, 1))
        layer.rotation = part.number("rotation", 0)
        layer.nearest = part.flag("nearest")
        clamp = part.values.get("clamp")
        layer.clamp = (clamp[0] is True, clamp[1] is True) if isinstance(clamp, list) and len(clamp) == 2 else (False, False)
        found = part.values.get("settings")
        layer.settings = extras.settings(Part({"extras": {extras.KEY: {"settings": found}}}, part.place))
        return layer

    # -------------------------------------------------------------------------------------------------------- textures

    def add_layer(self, made: Material, owner: Part, name: str, use: str) -> bool:
        if name not in owner:
            return False
        info = owner.part(name)
        if extras.unpack(info).values.get("baked") is True:
            return False  # what it was made of is described
        number = info.index("index", len(self.textures))
        if number < 0:
            raise info.bad("index", "missing")
        texture = self.textures[number]
        if self.source(texture) < 0 and not texture.text("name"):
            if "extensions" in texture:
                self.scene.warnings.append(f'The material "{made.name}": a picture of a kind that cannot be read was left out.')
            return False  # it only gives the surface a number
        layer = TextureLayer(self.image(texture), use=use)  # type: ignore[arg-type]
        layer.uv = info.integer("texCoord", 0)
        self.set_sampler(layer, texture)
        moved = info.extension(TEXTURE_TRANSFORM)
        if moved is not None:
            layer.uv = moved.integer("texCoord", layer.uv)
            set_transform(layer, moved, made.name, self.scene.warnings)
        layer.uv = min(layer.uv, 7)
        layer.settings = extras.settings(info)
        own = extras.unpack(info).values
        if own.get("blend") in CHOICES["blend"]:
            layer.blend = own["blend"]
        made.layers.append(layer)
        return True

    def set_sampler(self, layer: TextureLayer, texture: Part) -> None:
        number = texture.index("sampler", len(self.samplers))
        if number < 0:
            return
        sampler = self.samplers[number]
        layer.nearest = sampler.integer("magFilter", 0) in NEAREST_FILTERS
        wraps = [sampler.integer(name, REPEAT) for name in ("wrapS", "wrapT")]
        layer.clamp = (wraps[0] == CLAMP_TO_EDGE, wraps[1] == CLAMP_TO_EDGE)
        if not set(wraps) <= {CLAMP_TO_EDGE, REPEAT}:
            self.scene.warnings.append("Textures that are repeated as mirror images are repeated as they are.")

    def image(self, texture: Part) -> int:
        """A texture without a picture is known by its name alone."""
        return self.add_image(self.source(texture), texture.text("name"))

    def source(self, texture: Part) -> int:
        """The number of the picture that is shown, which may have one of another kind to fall back on; -1: none."""
        better = texture.extension(WEBP)
        found = -1 if better is None else better.index("source", len(self.images))
        return found if found >= 0 else texture.index("source", len(self.images))

    def add_image(self, source: int, name: str) -> int:
        key = (source, name if source < 0 else "")
        if key not in self.known_images:
            made = Image(name or "texture") if source < 0 else self.picture(source)
            self.known_images[key] = len(self.scene.images)
            self.scene.images.append(made)
        return self.known_images[key]

    def picture(self, source: int) -> Image:
        part = self.images[source]
        extension = EXTENSIONS.get(part.text("mimeType"), "")
        made = Image(part.text("name"))
        uri = part.text("uri")
        if uri.startswith("data:"):
            made.data = data_uri(part)
        elif "uri" in part:
            path = local_path(uri)
            made.name = made.name or path
            made.names = (path,) if path else ()
        elif "bufferView" in part:
            made.data = bytes(self.accessors.view(part.index("bufferView", len(self.accessors.views))))
        made.name = made.name or f"picture_{source}{extension}"
        if made.data and "." not in made.name[-5:]:
            made.name += extension
        set_flags(made, extras.unpack(part))
        return made


def set_flags(image: Image, own: Part) -> None:
    image.mask_black, image.mean_alpha = own.values.get("mask_black") is True, own.values.get("mean_alpha") is True
    image.alpha = own.values.get("no_alpha") is not True


def set_transform(layer: TextureLayer, part: Part, material: str, warnings: list[str]) -> None:
    """The inverse of what the exporter does. The file scales and then turns, layers turn and then scale."""
    sx, sy = part.numbers("scale", 2, (1, 1))
    x, y = part.numbers("offset", 2, (0, 0))
    angle = part.number("rotation", 0)
    layer.rotation = angle
    quarters = angle / (math.pi / 2)
    if angle and sx == -sy:
        layer.rotation = -angle
    elif angle and sx != sy and abs(quarters - round(quarters)) < 1e-4:
        sx, sy = (sy, sx) if round(quarters) % 2 else (sx, sy)
    elif angle and sx != sy:
        warnings.append(f'The material "{material}" turns a texture of uneven scale; it was scaled after the turn.')
    layer.scale = (sx, sy)
    layer.offset = (x + sx * math.sin(layer.rotation), 1 - sy * math.cos(layer.rotation) - y)


def _pair(part: Part, name: str, default: tuple[float, float]) -> tuple[float, float]:
    first, second = part.numbers(name, 2, default)
    return first, second


def _srgb(linear: Any) -> Floats:
    return maths.linear_to_srgb(np.clip(np.asarray(linear, np.float64), 0, None)).astype(np.float32)
