# SPDX-License-Identifier: GPL-3.0-or-later
"""More of the table of scenes: pictures, UV maps, colours and graphs of materials, by what is seen on the faces.

`shows` tells which colour each place of a sheet from (0, 0) to (1, 1) has: worked out here by hand, from what the nodes are
documented to do. The picture that most sheets wear tells by its red and green where on it one is.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Euler

from io_retro_meshes.formats import FORMATS
from io_retro_meshes.pictures import stages
from io_retro_meshes.pictures.decode import FilePicture
from io_retro_meshes.pictures.search import Finder
from io_retro_meshes.scene import Scene
from io_retro_meshes.scene.maths import linear_to_srgb
from tests.builders.scenes import with_nodes

from .scenes import case, keyed

Array = np.ndarray
CELLS = 4
SOFT = {"warns": "Bake its color into a picture"}
QUIET = "Bake its color|coordinates|UV map|was exported|was not exported|passed over"  # no warning of these kinds


# ----------------------------------------------------------------------------------------------------- what is seen there


def seen(path: Path, to: str) -> tuple[Array, Array]:
    """The middle of every face in the file, and the colour that an engine draws there, light apart."""
    entry = FORMATS[to]
    scene = entry.to_scene(entry.read(path.read_bytes()))
    finder = Finder(path.parent, [path.parent / entry.texture_folder] if entry.texture_folder else [])
    places, colors = [], []
    for node, world in zip(scene.nodes, scene.global_matrices(), strict=True):
        if node.mesh < 0:
            continue
        mesh = scene.meshes[node.mesh]
        slots = mesh.materials if node.materials is None else node.materials
        starts = mesh.starts
        points = mesh.positions[mesh.corners] @ world[:3, :3].T + world[:3, 3]
        places.append(_middles(points, starts))
        shown = np.zeros((len(starts), 3))
        faces = np.zeros(len(starts), int) if mesh.face_materials is None else mesh.face_materials
        for slot in np.unique(faces):
            material = slots[slot] if slot < len(slots) else -1
            if material >= 0:
                shown[faces == slot] = _colors(scene, mesh, material, starts, finder)[faces == slot]
        colors.append(shown)
    return np.concatenate(places), np.concatenate(colors)


def _middles(values: Array, starts: Array) -> Array:
    sizes = np.diff(np.append(starts, len(values)))
    return np.add.reduceat(values.astype(np.float64), starts, 0) / sizes[:, None]


def _colors(scene: Scene, mesh: Any, number: int, starts: Array, finder: Finder) -> Array:
    def at(layer: Any) -> Array:
        return _middles(layer.data if layer.domain == "CORNER" else layer.data[mesh.corners], starts)

    material = scene.materials[number]
    found = np.tile(material.color[:3].astype(np.float64), (len(starts), 1))
    if material.vertex_colors and mesh.colors:
        scale = 255 if mesh.colors[0].data.dtype == np.uint8 else 1
        found = found * at(mesh.colors[0])[:, :3] / scale
    for layer in material.layers:
        if layer.use == "COLOR" and layer.blend != "OFF":
            image = scene.images[layer.image]
            path = None if image.pixels is not None else finder.find(image.names or (image.name,))
            pixels = FilePicture(image, path).pixels()
            assert pixels is not None, image.name
            found = stages.lay_over(
                layer.blend, found, stages.look_up(pixels, stages.layer_uvs(layer, at(mesh.uvs[layer.uv])), layer)
            )
    return found


def shows(wanted: Callable[[Array, Array], Any], tolerance: float = 0.03) -> Callable[[Path, str], None]:
    """The colour of every face as a function of where its middle is."""

    def look(path: Path, to: str) -> None:
        places, colors = seen(path, to)
        if to == "saturn":  # a character has no place in its file
            places = places - places.min(0) + 0.5 / CELLS
        expected = np.broadcast_to(np.stack(np.broadcast_arrays(*wanted(places[:, 0], places[:, 1])), -1), colors.shape)
        apart = np.abs(expected - colors).max()
        assert len(places) >= CELLS**2 and apart < (0.07 if to == "saturn" else tolerance), (apart, places[:3], colors[:3])

    return look


# ---------------------------------------------------------------------------------------------------------------- parts


def ramp(name: str = "ramp", blue: float = 0.5) -> Any:
    """Red is how far right, green how far up."""
    size = 64
    across, up = np.meshgrid((np.arange(size) + 0.5) / size, (np.arange(size) + 0.5) / size)
    pixels = np.stack([across, up, np.full_like(up, blue), np.ones_like(up)], -1).astype(np.float32)
    made = bpy.data.images.new(name, size, size)
    made.pixels.foreach_set(pixels.reshape(-1))
    made.update()
    return made


def sheet(name: str = "Sheet", maps: dict[str, Callable[[float, float], Any]] | None = None) -> Any:
    """Squares from (0, 0) to (1, 1); each UV map is a function of the place."""
    data = bpy.data.meshes.new(name)
    side = CELLS + 1
    points = [(x / CELLS, y / CELLS, 0) for y in range(side) for x in range(side)]
    corner = [
        (y * side + x, y * side + x + 1, (y + 1) * side + x + 1, (y + 1) * side + x) for y in range(CELLS) for x in range(CELLS)
    ]
    data.from_pydata(points, [], corner)
    for key, place in (maps or {"UVMap": plain}).items():
        layer = data.uv_layers.new(name=key)
        for loop, entry in zip(data.loops, layer.uv, strict=True):
            entry.vector = place(*data.vertices[loop.vertex_index].co[:2])
    made = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(made)
    return made


def plain(x: float, y: float) -> tuple[float, float]:
    return x * 0.9 + 0.05, y * 0.9 + 0.05


def on(x: Array, y: Array) -> tuple[Any, ...]:
    """What the ramp shows there by the plain map."""
    return (*plain(x, y), 0.5)


def aside(x: float, y: float) -> tuple[float, float]:
    """Another map: the picture upside down, in its lower half."""
    return 0.95 - x * 0.9, 0.5 - y * 0.45


class Graph:
    """A new material on an object, and its nodes."""

    def __init__(self, owner: Any, name: str = "Paint") -> None:
        self.material = bpy.data.materials.new(name)
        owner.data.materials.append(self.material)
        self.tree = with_nodes(self.material)
        self.shader = next(node for node in self.tree.nodes if node.type == "BSDF_PRINCIPLED")
        self.output = next(node for node in self.tree.nodes if node.type == "OUTPUT_MATERIAL")

    def add(self, kind: str, inputs: dict[Any, Any] | None = None, **values: Any) -> Any:
        node = self.tree.nodes.new(f"ShaderNode{kind}")
        for name, value in values.items():
            setattr(node, name, value)
        for socket, value in (inputs or {}).items():
            self.put(node.inputs[socket], value)
        return node

    def put(self, socket: Any, value: Any) -> None:
        if isinstance(value, bpy.types.NodeSocket):
            self.tree.links.new(value, socket)
        else:
            socket.default_value = value

    def mix(self, below: Any, above: Any, way: str = "MIX", factor: Any = 1.0) -> Any:
        node = self.add("Mix", data_type="RGBA", blend_type=way)
        sockets = {socket.identifier: socket for socket in node.inputs}
        for name, value in (("Factor_Float", factor), ("A_Color", below), ("B_Color", above)):
            self.put(sockets[name], value)
        return next(socket for socket in node.outputs if socket.identifier == "Result_Color")

    def picture(self, image: Any = None, **inputs: Any) -> Any:
        return self.add("TexImage", inputs, image=image or ramp())

    def color(self, value: Any) -> Graph:
        self.put(self.shader.inputs["Base Color"], value)
        return self


def shown(*linear: float) -> list[float]:
    return [float(value) for value in linear_to_srgb(np.array(linear))]


def painted(owner: Any, colors: dict[str, Callable[[float, float], Any]]) -> None:
    """Colour attributes, one colour a face."""
    for name, of in colors.items():
        layer = owner.data.color_attributes.new(name, "BYTE_COLOR", "CORNER")
        for polygon in owner.data.polygons:
            for loop in polygon.loop_indices:
                layer.data[loop].color_srgb = (*of(polygon.center.x, polygon.center.y), 1)


def halves(x: Any, y: Any) -> Any:
    """Red on the left, green on the right."""
    return np.where(x < 0.5, 1.0, 0.2), np.where(x < 0.5, 0.2, 1.0), 0.2


def floats(x: float, y: float) -> list[float]:
    return [float(value) for value in halves(x, y)]


# ------------------------------------------------------------------------------------------------------------- UV maps


@case(shows=shows(on), silent=QUIET)
def a_picture() -> None:
    graph = Graph(sheet())
    graph.color(graph.picture().outputs["Color"])


@case(shows=shows(on), silent=QUIET)
def the_second_map_is_used() -> None:
    graph = Graph(sheet(maps={"Light": aside, "Skin": plain}))
    graph.color(graph.picture(Vector=graph.add("UVMap", uv_map="Skin").outputs[0]).outputs["Color"])


@case(shows=shows(on), silent="Bake its color|coordinates")
def the_fourth_map_is_used() -> None:
    graph = Graph(sheet(maps={"A": aside, "B": aside, "C": aside, "Skin": plain}))
    graph.color(graph.picture(Vector=graph.add("UVMap", uv_map="Skin").outputs[0]).outputs["Color"])


@case(shows=shows(on), silent=QUIET)
def a_map_as_an_attribute() -> None:
    graph = Graph(sheet(maps={"Light": aside, "Skin": plain}))
    graph.color(graph.picture(Vector=graph.add("Attribute", attribute_name="Skin").outputs["Vector"]).outputs["Color"])


@case(shows=shows(on), silent=QUIET)
def the_render_map_where_none_is_named() -> None:
    made = sheet(maps={"Light": aside, "Skin": plain})
    made.data.uv_layers["Skin"].active_render = True
    graph = Graph(made)
    graph.color(graph.picture().outputs["Color"])


def _left_and_right(x: Array, y: Array) -> Any:
    one, other = on(x, y), (*aside(x, y), 0.5)
    return [np.where(x < 0.5, a, b) for a, b in zip(one, other, strict=True)]


@case(shows=shows(_left_and_right), silent=QUIET)
def two_materials_with_a_map_each() -> None:
    made = sheet(maps={"One": aside, "Two": plain})
    image = ramp()
    for name, key in (("Left", "Two"), ("Right", "One")):
        graph = Graph(made, name)
        graph.color(graph.picture(image, Vector=graph.add("UVMap", uv_map=key).outputs[0]).outputs["Color"])
    for polygon in made.data.polygons:
        polygon.material_index = int(polygon.center.x > 0.5)


@case(shows=shows(lambda x, y: on(x % 2, y)), only=("b3d", "bo3d", "bogle", "dbo"), silent=QUIET)
def one_material_on_meshes_with_maps_in_another_order() -> None:
    first, second = sheet(maps={"Light": aside, "Skin": plain}), sheet("Second", {"Skin": plain, "Light": aside})
    second.location.x = 2
    graph = Graph(first)
    second.data.materials.append(graph.material)
    graph.color(graph.picture(Vector=graph.add("UVMap", uv_map="Skin").outputs[0]).outputs["Color"])


@case(warns="ramp.*UV map .Gone.")
def a_map_that_is_not_there() -> None:
    graph = Graph(sheet())
    graph.color(graph.picture(Vector=graph.add("UVMap", uv_map="Gone").outputs[0]).outputs["Color"])


@case(warns="ramp.*Generated coordinates")
def generated_coordinates() -> None:
    graph = Graph(sheet())
    graph.color(graph.picture(Vector=graph.add("TexCoord").outputs["Generated"]).outputs["Color"])


@case(warns="ramp.*as a box")
def box_projection() -> None:
    graph = Graph(sheet())
    picture = graph.picture()
    picture.projection = "BOX"
    graph.color(picture.outputs["Color"])


@case(warns="ramp.*mirrored")
def mirrored_repeats() -> None:
    graph = Graph(sheet())
    picture = graph.picture()
    picture.extension = "MIRROR"
    graph.color(picture.outputs["Color"])


# -------------------------------------------------------------------------------------------------------- mapping nodes

TURN = 0.5


def mapped(kind: str = "POINT", **inputs: Any) -> None:
    graph = Graph(sheet())
    words = {name.title(): value for name, value in inputs.items()}
    mapping = graph.add("Mapping", {"Vector": graph.add("TexCoord").outputs["UV"], **words}, vector_type=kind)
    graph.color(graph.picture(Vector=mapping.outputs[0]).outputs["Color"])


def moved(x: Array, y: Array, offset: Any = (0, 0), scale: Any = (1, 1), turn: float = 0.0) -> Any:
    """As the manual has it: scaled, then turned, then moved."""
    u, v = plain(x, y)
    u, v = u * scale[0], v * scale[1]
    u, v = u * np.cos(turn) - v * np.sin(turn), u * np.sin(turn) + v * np.cos(turn)
    return u + offset[0], v + offset[1], 0.5


@case(shows=shows(lambda x, y: moved(x, y, (0.2, 0.1), (0.5, 0.8))), silent=QUIET)
def mapping_moves_and_scales() -> None:
    mapped(location=(0.2, 0.1, 0), scale=(0.5, 0.8, 1))


@case(shows=shows(lambda x, y: moved(x, y, (0.4, 0.05), (0.5, 0.5), TURN)), silent=QUIET)
def mapping_turns() -> None:
    mapped(location=(0.4, 0.05, 0), scale=(0.5, 0.5, 1), rotation=Euler((0, 0, TURN)))


@case(shows=shows(lambda x, y: moved(x, y, (0.4, 0.05), (0.3, 0.8), TURN)), silent=QUIET)
def mapping_turns_and_scales_unevenly() -> None:
    mapped(location=(0.4, 0.05, 0), scale=(0.3, 0.8, 1), rotation=Euler((0, 0, TURN)))


@case(shows=shows(lambda x, y: moved(x, y, (0.9, 0.1), (-0.8, 0.6))), silent=QUIET)
def mapping_mirrors() -> None:
    mapped(location=(0.9, 0.1, 0), scale=(-0.8, 0.6, 1))


@case(shows=shows(lambda x, y: moved(x, y, (0, 0), (0.5, 0.25))), silent=QUIET)
def mapping_of_the_texture() -> None:
    mapped("TEXTURE", scale=(2, 4, 1))


@case(shows=shows(lambda x, y: (plain(x, y)[0], 0.5 * plain(x, y)[1] + 0.2, 0.5)), silent=QUIET)
def mapping_turned_in_space() -> None:
    """About the axis across, by 60 degrees: what is left of up is half."""
    mapped(location=(0, 0.2, 0), rotation=Euler((np.pi / 3, 0, 0)))


@case(warns="ramp.*moved by other nodes or by keys")
def mapping_with_keys() -> None:
    mapped()
    tree = bpy.data.materials["Paint"].node_tree
    socket = next(node for node in tree.nodes if node.type == "MAPPING").inputs["Location"]
    keyed(socket, "default_value", ((0, 0, 0), (1, 0, 0)))


# --------------------------------------------------------------------------------------------------------------- colours

TINT = (0.5, 0.25, 0.8, 1)
TINTED = shown(*TINT[:3])


def times(color: Any) -> Callable[[Array, Array], Any]:
    return lambda x, y: [value * part for value, part in zip(on(x, y), color, strict=True)]


def even(*color: float) -> Callable[[Array, Array], Any]:
    return lambda x, y: [np.full_like(x, value) for value in color]


@case(shows=shows(even(*TINTED)), silent=QUIET)
def a_color() -> None:
    Graph(sheet()).color(TINT)


@case(shows=shows(times(TINTED)), silent=QUIET, only=("b3d", "bogle", "dbo"))  # the others say that they show no color
def a_tinted_picture() -> None:
    graph = Graph(sheet())
    graph.color(graph.mix(graph.picture().outputs["Color"], TINT, "MULTIPLY"))


@case(warns='"Paint": (the engine shows white|its color is not multiplied)', only=("bo3d", "saturn"))
def a_tinted_picture_where_nothing_is_tinted() -> None:
    a_tinted_picture()


@case(shows=shows(times(shown(0.75, 0.625, 0.9))), silent=QUIET, only=("b3d", "bogle", "dbo"))
def half_a_tint() -> None:
    graph = Graph(sheet())
    graph.color(graph.mix(graph.picture().outputs["Color"], TINT, "MULTIPLY", 0.5))


@case(shows=shows(times(shown(0.6, 0.6, 0.6))), silent=QUIET, only=("b3d", "bogle", "dbo"))
def mixed_with_black() -> None:
    graph = Graph(sheet())
    graph.color(graph.mix(graph.picture().outputs["Color"], (0, 0, 0, 1), "MIX", 0.4))


@case(shows=shows(times(shown(0.5, 0.5, 0.5))), silent=QUIET, only=("b3d", "bogle", "dbo"))
def darker_by_value() -> None:
    graph = Graph(sheet())
    graph.color(graph.add("HueSaturation", {"Color": graph.picture().outputs["Color"], "Value": 0.5}).outputs[0])


@case(shows=shows(even(*shown(0.4, 0.4, 0.3))), silent=QUIET)
def colors_mixed_without_a_picture() -> None:
    graph = Graph(sheet())
    graph.color(graph.mix((0.8, 0.2, 0.2, 1), (0.0, 0.6, 0.4, 1), "MIX", 0.5))


@case(shows=shows(even(*shown(0.2, 0.8, 0.8))), silent=QUIET)
def another_hue_without_a_picture() -> None:
    graph = Graph(sheet())
    graph.color(graph.add("HueSaturation", {"Color": (0.8, 0.2, 0.2, 1), "Hue": 1.0}).outputs[0])


@case(shows=shows(even(*shown(0.25, 0.25, 0.25))), silent=QUIET)
def a_color_ramp_without_a_picture() -> None:
    graph = Graph(sheet())
    graph.color(graph.add("ValToRGB", {0: 0.25}).outputs["Color"])


@case(**SOFT)
def mixed_with_grey() -> None:
    graph = Graph(sheet())
    graph.color(graph.mix(graph.picture().outputs["Color"], (0.5, 0.5, 0.5, 1), "MIX", 0.5))


@case(**SOFT)
def two_pictures_mixed_in_halves() -> None:
    graph = Graph(sheet())
    graph.color(graph.mix(graph.picture().outputs["Color"], graph.picture(ramp("other", 0.0)).outputs["Color"], "MIX", 0.5))


@case(**SOFT)
def two_pictures_mixed_by_a_third() -> None:
    graph = Graph(sheet())
    one, other, mask = (graph.picture(ramp(name)).outputs["Color"] for name in ("one", "other", "mask"))
    graph.color(graph.mix(one, other, "MIX", mask))


@case(**SOFT)
def a_difference() -> None:
    graph = Graph(sheet())
    graph.color(graph.mix(graph.picture().outputs["Color"], graph.picture(ramp("other", 0.0)).outputs["Color"], "DIFFERENCE"))


@case(warns="Paint.*Hue.Saturation.*passed over")
def another_hue() -> None:
    graph = Graph(sheet())
    graph.color(graph.add("HueSaturation", {"Color": graph.picture().outputs["Color"], "Hue": 0.2}).outputs[0])


@case(warns="Paint.*Invert.*passed over")
def inverted() -> None:
    graph = Graph(sheet())
    graph.color(graph.add("Invert", {"Color": graph.picture().outputs["Color"]}).outputs[0])


@case(warns="Paint.*Color Ramp.*passed over|Paint.*ColorRamp.*passed over")
def a_color_ramp_of_a_picture() -> None:
    graph = Graph(sheet())
    graph.color(graph.add("ValToRGB", {0: graph.picture().outputs["Color"]}).outputs["Color"])


@case(warns="Paint.*Noise Texture.*no picture")
def noise_for_a_color() -> None:
    graph = Graph(sheet())
    graph.color(graph.add("TexNoise").outputs["Color"])


@case(warns="Paint.*Noise Texture.*no picture")
def noise_over_a_picture() -> None:
    graph = Graph(sheet())
    graph.color(graph.mix(graph.picture().outputs["Color"], graph.add("TexNoise").outputs["Color"], "MULTIPLY"))


@case(warns="Paint.*(Checker|Brick) Texture.*no picture")
def procedural_in_a_group() -> None:
    graph = Graph(sheet())
    group = bpy.data.node_groups.new("Wall", "ShaderNodeTree")
    group.interface.new_socket("Color", in_out="OUTPUT", socket_type="NodeSocketColor")
    end, brick = group.nodes.new("NodeGroupOutput"), group.nodes.new("ShaderNodeTexBrick")
    group.links.new(brick.outputs["Color"], end.inputs[0])
    graph.color(graph.add("Group", node_tree=group).outputs[0])


# ---------------------------------------------------------------------------------------------- colours of the mesh


@case(shows=shows(halves), silent=QUIET)
def colors_of_the_mesh() -> None:
    made = sheet()
    painted(made, {"Col": floats})
    graph = Graph(made)
    graph.color(graph.add("VertexColor", layer_name="Col").outputs[0])


@case(shows=shows(even(*TINTED)), silent=QUIET)
def colors_of_the_mesh_that_nothing_shows() -> None:
    made = sheet()
    painted(made, {"Mask": floats})
    Graph(made).color(TINT)


@case(shows=shows(halves), silent=QUIET)
def the_second_colors_are_shown() -> None:
    made = sheet()
    painted(made, {"Mask": lambda x, y: (0.1, 0.1, 0.1), "Paint": floats})
    graph = Graph(made)
    graph.color(graph.add("VertexColor", layer_name="Paint").outputs[0])


@case(
    shows=shows(lambda x, y: [a * b for a, b in zip(halves(x, y), TINTED, strict=True)]),
    silent=QUIET,
    only=("b3d", "bogle", "dbo", "saturn"),
)
def tinted_colors_of_the_mesh() -> None:
    made = sheet()
    painted(made, {"Col": floats})
    graph = Graph(made)
    graph.color(graph.mix(graph.add("VertexColor", layer_name="Col").outputs[0], TINT, "MULTIPLY"))


@case(warns='"Paint": the engine shows the vertex colours instead', only=("bo3d",))
def tinted_colors_of_the_mesh_where_they_are_not() -> None:
    tinted_colors_of_the_mesh()


@case(
    shows=shows(lambda x, y: [np.where(x < 0.5, one, two) for one, two in zip((1, 0.2, 0.2), TINTED, strict=True)]),
    silent=QUIET,
)
def only_one_material_shows_colors_of_the_mesh() -> None:
    made = sheet()
    painted(made, {"Col": lambda x, y: (1, 0.2, 0.2)})
    graph = Graph(made, "Painted")
    graph.color(graph.add("VertexColor", layer_name="Col").outputs[0])
    Graph(made, "Plain").color(TINT)
    for polygon in made.data.polygons:
        polygon.material_index = int(polygon.center.x > 0.5)


def _told_beside_a_picture(path: Path, to: str) -> None:
    words = bpy.data.texts["Retro Meshes Log"].as_string() if "Retro Meshes Log" in bpy.data.texts else ""
    if to in ("bogle", "saturn"):
        assert "beside a texture" in words, words
    else:
        shows(lambda x, y: [a * b for a, b in zip(on(x, y), halves(x, y), strict=True)])(path, to)


@case(shows=_told_beside_a_picture)
def colors_of_the_mesh_over_a_picture() -> None:
    made = sheet()
    painted(made, {"Col": floats})
    graph = Graph(made)
    colors = graph.add("VertexColor", layer_name="Col").outputs[0]
    graph.color(graph.mix(graph.picture().outputs["Color"], colors, "MULTIPLY"))


# ------------------------------------------------------------------------------------------------- light, alpha, shaders


def _glow(scene: Scene, to: str) -> None:
    material = next(each for each in scene.materials)
    if to in ("dbo", "bogle"):
        assert np.allclose(material.emission, shown(0.5, 0.25, 0.8), atol=0.01)


@case(look=_glow, warns="^(?!.*Paint.*stronger)")
def it_glows() -> None:
    graph = Graph(sheet()).color((0, 0, 0, 1))
    graph.put(graph.shader.inputs["Emission Color"], TINT)
    graph.put(graph.shader.inputs["Emission Strength"], 1.0)


@case(warns="Paint.*light that passes through it was left out")
def light_passes_through_it() -> None:
    Graph(sheet()).shader.inputs["Transmission Weight"].default_value = 1


@case(warns="Paint.*displacement was left out")
def displaced_by_its_material() -> None:
    graph = Graph(sheet())
    graph.put(graph.output.inputs["Displacement"], graph.add("Displacement").outputs[0])


@case(warns="Paint.*glows in a color", only=("b3d", "bo3d", "saturn"))
def it_glows_where_nothing_can() -> None:
    it_glows()


@case(look=_glow)
def a_glow_is_added() -> None:
    graph = Graph(sheet()).color((0, 0, 0, 1))
    glow = graph.add("Emission", {"Color": TINT})
    add = graph.add("AddShader", {0: graph.shader.outputs[0], 1: glow.outputs[0]})
    graph.put(graph.output.inputs["Surface"], add.outputs[0])


@case(warns="Paint.*glows more strongly")
def it_glows_too_strongly() -> None:
    it_glows()
    graph = bpy.data.materials["Paint"].node_tree
    next(node for node in graph.nodes if node.type == "BSDF_PRINCIPLED").inputs["Emission Strength"].default_value = 20


def _full_bright(scene: Scene, to: str) -> None:
    if to not in ("saturn", "bogle"):
        assert scene.materials[0].full_bright


@case(shows=shows(even(*TINTED)), look=_full_bright, only=("b3d", "bo3d", "dbo"))
def it_needs_no_light() -> None:
    graph = Graph(sheet())
    graph.put(graph.output.inputs["Surface"], graph.add("Emission", {"Color": TINT}).outputs[0])


@case(warns="Paint.*Glass BSDF.*plain color")
def glass() -> None:
    graph = Graph(sheet())
    graph.put(graph.output.inputs["Surface"], graph.add("BsdfGlass").outputs[0])


@case(warns="Paint.*mixes two shaders.*Principled BSDF.*Glossy BSDF")
def two_shaders() -> None:
    graph = Graph(sheet())
    shine = graph.add("BsdfAnisotropic" if hasattr(bpy.types, "ShaderNodeBsdfAnisotropic") else "BsdfGlossy")
    mix = graph.add("MixShader", {0: 0.3, 1: graph.shader.outputs[0], 2: shine.outputs[0]})
    graph.put(graph.output.inputs["Surface"], mix.outputs[0])


@case(warns="Paint.*nothing is linked")
def no_shader() -> None:
    graph = Graph(sheet())
    graph.tree.links.remove(graph.output.inputs["Surface"].links[0])


def _holes(scene: Scene, to: str) -> None:
    if to == "bo3d":
        assert "cuts nothing out" in bpy.data.texts["Retro Meshes Log"].as_string()
    else:
        assert [each.blend for each in scene.materials if each.layers] == ["ALPHA" if to == "b3d" else "MASK"]


def holed() -> Any:
    """The ramp with a hole in its middle."""
    made = ramp("holed")
    pixels = np.array(made.pixels[:], np.float32).reshape(64, 64, 4)
    pixels[20:40, 20:40, 3] = 0
    made.pixels.foreach_set(pixels.reshape(-1))
    made.update()
    return made


@case(look=_holes)
def holes_cut_by_a_limit() -> None:
    graph = Graph(sheet())
    picture = graph.picture(holed())
    cut = graph.add("Math", {0: picture.outputs["Alpha"], 1: 0.5}, operation="GREATER_THAN")
    graph.color(picture.outputs["Color"]).put(graph.shader.inputs["Alpha"], cut.outputs[0])


@case(warns="Paint.*the other way round")
def holes_cut_the_other_way_round() -> None:
    graph = Graph(sheet())
    picture = graph.picture(holed())
    cut = graph.add("Math", {0: picture.outputs["Alpha"], 1: 0.5}, operation="LESS_THAN")
    graph.color(picture.outputs["Color"]).put(graph.shader.inputs["Alpha"], cut.outputs[0])


@case(warns="Paint.*alpha is worked out with Power")
def alpha_by_a_formula() -> None:
    graph = Graph(sheet())
    picture = graph.picture(holed())
    power = graph.add("Math", {0: picture.outputs["Alpha"], 1: 2.0}, operation="POWER")
    graph.color(picture.outputs["Color"]).put(graph.shader.inputs["Alpha"], power.outputs[0])


def _half(scene: Scene, to: str) -> None:
    (material,) = scene.materials
    assert material.blend == "ALPHA" and abs(material.color[3] - 0.5) < 0.01


@case(look=_half)
def half_transparent() -> None:
    graph = Graph(sheet()).color(TINT)
    graph.put(graph.shader.inputs["Alpha"], 0.5)


@case(warns="mask.*(left out|not seen)", only=("b3d", "bo3d", "dbo", "saturn"))  # BOGLE has a place for it
def alpha_from_a_picture_of_its_own() -> None:
    graph = Graph(sheet())
    graph.color(graph.picture().outputs["Color"])
    graph.put(graph.shader.inputs["Alpha"], graph.picture(ramp("mask")).outputs["Color"])
