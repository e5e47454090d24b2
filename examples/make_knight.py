# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes knight.bin beside this file: a battle character for the Sega Saturn, with a sword, a shield and four animations.

    python3 -m examples.make_knight        (any Python 3.11 or newer with numpy, from the project's root)

The console draws four-cornered polygons, each with the whole of a small picture or in one colour, and every part of a
character is rigid on its bone. So the knight is made of lofts: rings of corners, with a picture for each side.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from io_retro_meshes.formats import saturn
from io_retro_meshes.scene import (
    Armature,
    Bone,
    Channel,
    Clip,
    Image,
    Layer,
    Material,
    Mesh,
    Node,
    Scene,
    Skin,
    TextureLayer,
    Track,
    Transform,
    floats,
    maths,
)

from .saving import save_model

Array = npt.NDArray[np.float32]
Place = tuple[float, float, float]

# name: (parent, joint). Z is up, and the knight looks along -Y: his right hand is at -X.
BONES: dict[str, tuple[str, Place]] = {
    "root": ("", (0, 0, 0)),
    "hips": ("root", (0, 0, 11.5)),
    "leg.R": ("hips", (-1.7, 0, 11)),
    "shin.R": ("leg.R", (-1.8, 0, 6.2)),
    "leg.L": ("hips", (1.7, 0, 11)),
    "shin.L": ("leg.L", (1.8, 0, 6.2)),
    "chest": ("hips", (0, 0.2, 13)),
    "head": ("chest", (0, 0, 19.2)),
    "cape": ("chest", (0, 1.9, 18.4)),
    "arm.R": ("chest", (-3.6, 0, 18.2)),
    "hand.R": ("arm.R", (-4.1, 0, 14.2)),
    "arm.L": ("chest", (3.6, 0, 18.2)),
    "hand.L": ("arm.L", (4.1, 0, 14.2)),
}
NAMES = list(BONES)
GRIP = (-4.3, -0.2, 10.2)  # where the sword is held

# Degrees about X, Y and Z that a bone turns on some frames; between them the console interpolates.
STANCE = {"leg.R": (8, 0, 0), "leg.L": (-10, 0, 4), "shin.R": (8, 0, 0), "shin.L": (10, 0, 0), "chest": (6, 0, -14)}
STANCE |= {"arm.R": (-28, 0, -8), "hand.R": (-42, 0, 0), "arm.L": (-38, 0, 14), "hand.L": (-62, 0, -22), "head": (-2, 0, 12)}
Pose = dict[str, tuple[float, float, float]]
ANIMATIONS: dict[str, tuple[int, dict[int, Pose], list[tuple[float, str]]]] = {
    "idle": (
        41,
        {1: {}, 21: {"chest": (9, 0, -12), "cape": (6, 0, 0), "arm.R": (-24, 0, -8), "head": (1, 0, 10)}, 41: {}},
        [],
    ),
    "hit": (21, {1: {}, 6: {"hips": (-16, 0, 10), "chest": (-18, 0, 8), "head": (-20, 0, -6), "cape": (25, 0, 0)}, 21: {}}, []),
    "block": (
        21,
        {
            1: {},
            5: {"arm.L": (-78, 0, -24), "hand.L": (-58, 0, -10), "chest": (10, 0, 26), "head": (8, 0, -10)},
            12: {},
            21: {},
        },
        [(6, "hit"), (6, "sound 12")],
    ),
    "attack": (
        36,
        {
            1: {},
            10: {"arm.R": (-138, 0, 24), "hand.R": (-6, 0, 0), "chest": (-10, 0, 34), "cape": (-4, 0, 0), "leg.R": (18, 0, 0)},
            14: {"arm.R": (-146, 0, 20), "hand.R": (-4, 0, 0), "chest": (-14, 0, 36), "leg.R": (20, 0, 0)},
            18: {
                "arm.R": (-46, 0, -14),
                "hand.R": (-8, 0, 0),
                "chest": (34, 0, -36),
                "hips": (8, 0, -8),
                "head": (-18, 0, 22),
                "leg.L": (-38, 0, 6),
                "shin.L": (26, 0, 0),
                "leg.R": (26, 0, 0),
                "cape": (-8, 0, 0),
            },
            24: {
                "arm.R": (-30, 0, -18),
                "chest": (30, 0, -34),
                "leg.L": (-34, 0, 6),
                "shin.L": (24, 0, 0),
                "cape": (-22, 0, 0),
            },
            36: {},
        },
        [(12, "swoosh on"), (16, "dust"), (18, "hit"), (20, "swoosh off")],
    ),
}

# ------------------------------------------------------------------------------------------------------------- pictures

INK, STEEL, BLUE, GOLD, RED = (34, 36, 52), (168, 178, 196), (44, 74, 156), (226, 184, 74), (172, 40, 44)


def shade(color: tuple[int, int, int], width: int, height: int, light: Callable[[Array, Array], Array]) -> Array:
    """A colour, lighter and darker over the picture; x and y go from 0 to 1, y down."""
    x, y = np.meshgrid((np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height)
    return np.clip(np.array(color) * light(x, y)[..., None], 0, 255)


def mail(width: int, height: int) -> Array:
    return shade(STEEL, width, height, lambda x, y: 0.62 + 0.26 * (((x * width) // 2 + (y * height) // 2) % 2) - 0.15 * y)


def plate(width: int, height: int) -> Array:
    picture = shade(STEEL, width, height, lambda x, y: 1.12 - 0.55 * np.abs(x - 0.35) - 0.3 * y)
    picture[[0, -1]] = INK
    picture[1:3, 1::4] = (214, 218, 226)
    return picture


def helm() -> Array:
    """The front: a slit to look through, a cross, holes to breathe."""
    picture = plate(24, 24)
    picture[7:9, 2:22] = INK
    picture[2:22, 11:13] = picture[9:11, 4:20] = GOLD
    picture[7:9, 11:13] = GOLD
    picture[14:20:2, 4:9:2] = picture[14:20:2, 16:21:2] = INK
    return picture


def coat(emblem: bool) -> Array:
    """Quartered blue and red, with a golden lion's place taken by a lozenge."""
    x, y = np.meshgrid(np.arange(32), np.arange(32))
    picture = np.where(((x < 16) ^ (y < 16))[..., None], BLUE, RED).astype(float)
    picture *= (1.05 - 0.3 * y / 32)[..., None]
    if emblem:
        picture[np.abs(x - 15.5) + np.abs(y - 15.5) < 11] = GOLD
        picture[np.abs(x - 15.5) + np.abs(y - 15.5) < 7] = INK
        picture[np.abs(x - 15.5) + np.abs(y - 15.5) < 5] = GOLD
    picture[:, [0, 31]] = picture[[0, 31]] = INK
    return picture


def shield() -> Array:
    """Pointed below; what is outside is not drawn."""
    picture = np.concatenate([coat(True), np.full((32, 32, 1), 255.0)], 2)
    x, y = np.meshgrid(np.abs(np.arange(32) - 15.5), np.arange(32))
    edge = 16 - np.maximum(y - 14, 0) ** 2 / 20.5
    picture[(x > edge - 1.5) & (x <= edge), :3] = GOLD
    picture[x > edge] = 0
    return picture


def cape() -> Array:
    picture = shade(RED, 16, 32, lambda x, y: 0.7 + 0.35 * np.abs(np.sin(x * 9)) - 0.2 * y)
    picture[-3:-1] = GOLD
    return picture


def leather(width: int, height: int) -> Array:
    picture = shade((112, 70, 40), width, height, lambda x, y: 1.15 - 0.4 * x - 0.3 * y)
    picture[height // 3] = picture[2 * height // 3] = (60, 36, 24)
    return picture


PICTURES: dict[str, Array] = {
    "mail": mail(16, 16),
    "plate": plate(16, 16),
    "helm": helm(),
    "coat": coat(True),
    "quarters": coat(False),
    "shield": shield(),
    "cape": cape(),
    "leather": leather(16, 12),
    "visor side": plate(24, 24),
}
COLORS = {
    "steel": (196, 204, 218),
    "dark": (70, 76, 92),
    "gold": GOLD,
    "red": (200, 52, 52),
    "wood": (120, 78, 44),
    "shadow": INK,
}

# --------------------------------------------------------------------------------------------------------------- shapes


class Shape:
    """Quads and triangles, each with the name of what it shows."""

    def __init__(self) -> None:
        self.points: list[Place] = []
        self.faces: list[tuple[list[int], str]] = []
        self.bones: list[int] = []

    def face(self, bone: str, corners: list[Place], look: str) -> None:
        """Corners counter-clockwise as seen from outside, the picture's top left first."""
        first = len(self.points)
        self.points += corners
        self.bones += [NAMES.index(bone)] * len(corners)
        self.faces.append((list(range(first, first + len(corners))), look))

    def loft(self, bone: str, rings: list[tuple[Place, float, float]], looks: list[str], sides: int = 6) -> None:
        """Rings (centre, width, depth) from the top down, joined by quads, closed at both ends in the last look.

        Sides are counted from the front; `looks` is repeated for them as often as it takes.
        """
        turn = 2 * np.pi * (np.arange(sides) + 0.5) / sides
        around = np.stack([np.sin(turn), -np.cos(turn)], 1)
        corners = [[(x + w * a, y + d * b, z) for a, b in around.tolist()] for (x, y, z), w, d in rings]
        for top, bottom in itertools.pairwise(corners):
            for side in range(sides):
                after = (side - 1) % sides
                look = looks[side % (len(looks) - 1)]
                # Seen from outside: the corner further round is on the left.
                self.face(bone, [top[after], bottom[after], bottom[side], top[side]], look)
        for ring, upward in ((corners[0], True), (corners[-1], False)):
            ordered = ring if upward else ring[::-1]
            for index in range(1, sides - 1, 2):
                end = [ordered[0], ordered[index], ordered[index + 1], *(ordered[index + 2 : index + 3])]
                self.face(bone, end, looks[-1])


def knight() -> Shape:
    shape = Shape()
    for side, x in (("R", -1), ("L", 1)):
        leg, shin, arm, hand = f"leg.{side}", f"shin.{side}", f"arm.{side}", f"hand.{side}"
        shape.loft(leg, [((1.7 * x, 0, 11.4), 1.35, 1.5), ((1.8 * x, 0, 5.9), 1.0, 1.1)], ["mail", "steel"])
        shape.loft(shin, [((1.8 * x, 0, 6.6), 1.25, 1.3), ((1.8 * x, 0.1, 1.2), 0.8, 0.9)], ["plate", "dark"])
        shape.loft(shin, [((1.8 * x, -0.5, 1.6), 0.95, 1.4), ((1.85 * x, -0.9, 0), 1.1, 2.2)], ["leather", "dark"], 4)
        shape.loft(arm, [((3.8 * x, 0, 19.3), 0.9, 1.0), ((4.0 * x, 0, 17.6), 1.6, 1.7)], ["plate", "steel"])
        shape.loft(arm, [((3.9 * x, 0, 17.9), 1.0, 1.1), ((4.1 * x, 0, 13.9), 0.8, 0.9)], ["mail", "steel"])
        shape.loft(hand, [((4.1 * x, 0, 14.5), 0.95, 1.05), ((4.25 * x, -0.1, 10.9), 0.75, 0.8)], ["plate", "steel"])
        shape.loft(hand, [((4.25 * x, -0.1, 11.1), 0.85, 0.9), ((4.3 * x, -0.2, 9.3), 0.7, 0.75)], ["leather", "wood"])
    shape.loft("hips", [((0, 0, 13.4), 2.6, 1.9), ((0, 0, 10.2), 3.2, 2.3)], ["leather", "dark"])
    skirt = [(-2.2, -2.35, 12.4), (-2.6, -2.9, 7.4), (2.6, -2.9, 7.4), (2.2, -2.35, 12.4)]
    shape.face("hips", skirt, "quarters")
    shape.face("hips", [(x, -y, z) for x, y, z in skirt[::-1]], "quarters")
    chest = [((0, 0, 19.6), 2.4, 1.5), ((0, 0, 17.6), 3.6, 2.2), ((0, 0, 12.9), 2.7, 1.9)]
    shape.loft("chest", chest[:2], ["mail", "steel"])
    shape.loft("chest", chest[1:], ["coat", "mail", "mail", "coat", "mail", "mail", "steel"])
    head = [((0, 0, 24.2), 1.5, 1.6), ((0, -0.1, 23.4), 1.95, 2.1), ((0, -0.1, 19.2), 1.75, 1.9)]
    shape.loft("head", head[:2], ["steel", "steel"])
    shape.loft("head", head[1:], ["helm", "visor side", "visor side", "visor side", "visor side", "visor side", "dark"])
    plume = [(0, -1.6, 24.0), (0, -0.6, 26.4), (0, 1.6, 26.6), (0, 3.0, 24.2), (0, 2.6, 22.0), (0, 1.9, 23.8)]
    shape.face("head", [plume[1], plume[0], plume[5], plume[2]], "plume")
    shape.face("head", [plume[2], plume[5], plume[4], plume[3]], "plume")
    shape.face("cape", [(2.6, 1.9, 18.6), (3.4, 3.6, 9), (0, 4.0, 8.6), (0, 2.3, 18.6)], "cape")
    shape.face("cape", [(0, 2.3, 18.6), (0, 4.0, 8.6), (-3.4, 3.6, 9), (-2.6, 1.9, 18.6)], "cape")
    shape.face("hand.L", [(5.2, -3.4, 8.6), (5.2, 3.6, 8.6), (5.2, 3.6, 15), (5.2, -3.4, 15)], "shield")
    shape.face("root", [(-5, 4, 0.05), (-5, -4, 0.05), (5, -4, 0.05), (5, 4, 0.05)], "ground")
    return shape


def sword() -> Shape:
    """Held at the origin, pointing along -Y."""
    shape = Shape()
    for z in (0.16, -0.16):
        for x in (0.55, -0.55):
            blade = [(0, -2, z), (x, -2, 0), (x * 0.8, -13, 0), (0, -13, z * 0.7)]
            tip = [(0, -13, z * 0.7), (x * 0.8, -13, 0), (0, -15, 0)]
            for corners in (blade, tip):
                shape.face("root", corners if x * z < 0 else corners[::-1], "steel" if x > 0 else "gleam")
    hilt = [(-2.2, -2, 0.3), (-2.2, -1.3, 0.3), (2.2, -1.3, 0.3), (2.2, -2, 0.3)]
    shape.face("root", hilt, "gold")
    shape.face("root", [(x, y, -z) for x, y, z in hilt[::-1]], "gold")
    grip = [(-0.3, -1.3, 0.25), (-0.3, 1.8, 0.25), (0.3, 1.8, 0.25), (0.3, -1.3, 0.25)]
    shape.face("root", grip, "wood")
    shape.face("root", [(x, y, -z) for x, y, z in grip[::-1]], "wood")
    return shape


# ---------------------------------------------------------------------------------------------------------------- scene


def looks(scene: Scene) -> dict[str, int]:
    """Images and materials, by name."""
    for name, picture in PICTURES.items():
        alpha = picture[..., 3:] if picture.shape[2] == 4 else np.full((*picture.shape[:2], 1), 255.0)
        pixels = np.concatenate([picture[..., :3], alpha], 2)[::-1]
        scene.images.append(Image(name, pixels=np.ascontiguousarray(np.rint(pixels).astype(np.uint8))))
        layer = TextureLayer(len(scene.images) - 1, nearest=True)
        double = name in ("cape", "shield", "quarters")
        blend = "MASK" if picture.shape[2] == 4 else "OPAQUE"
        scene.materials.append(Material(name, layers=[layer], double_sided=double, blend=blend))
    extra = {"plume": RED, "gleam": (226, 232, 240), "ground": (0, 0, 0)}
    for name, color in (COLORS | extra).items():
        made = Material(name, color=floats(*(value / 255 for value in color), 1))
        made.double_sided, made.stipple = name == "plume", name == "ground"
        scene.materials.append(made)
    return {material.name: index for index, material in enumerate(scene.materials)}


def mesh(name: str, shape: Shape, materials: dict[str, int]) -> Mesh:
    used = sorted({look for _, look in shape.faces})
    sizes = np.array([len(corners) for corners, _ in shape.faces])
    points = np.array(shape.points, np.float32)
    # Corners at one place share a vertex if they are on one bone.
    _, first, vertex = np.unique(np.c_[points, shape.bones].round(4), axis=0, return_index=True, return_inverse=True)
    made = Mesh(
        name,
        points[first],
        vertex.reshape(-1)[np.concatenate([corners for corners, _ in shape.faces])].astype(np.int32),
        face_starts=(np.cumsum(sizes) - sizes).astype(np.int32),
        face_materials=np.array([used.index(look) for _, look in shape.faces], np.int32),
        materials=[materials[look] for look in used],
    )
    square = np.array([(0, 1), (0, 0), (1, 0), (1, 1)], np.float32)
    made.uvs = [Layer("UVMap", np.concatenate([square[:size] for size in sizes.tolist()]), "CORNER")]
    normals = [np.cross(p[1] - p[0], p[2] - p[0]) for p in (points[corners] for corners, _ in shape.faces)]
    made.normals = Layer("normals", np.repeat(maths.normalized(np.array(normals, np.float32)), sizes, 0), "CORNER")
    bones = np.array(shape.bones, np.int32)[first]
    made.skin = Skin(0, np.arange(len(first), dtype=np.int32), bones, np.ones(len(first), np.float32))
    return made


def turn(degrees: Place) -> Array:
    """Quaternion of turns about X, then Y, then Z."""
    found = np.array([1.0, 0, 0, 0])
    for axis, angle in enumerate(np.radians(degrees) / 2):
        step = np.zeros(4)
        step[0], step[axis + 1] = np.cos(angle), np.sin(angle)
        found = maths.quaternion_multiply(step, found)
    return found.astype(np.float32)


def clips() -> list[Clip]:
    made = []
    for name, (last, poses, markers) in ANIMATIONS.items():
        tracks = {}
        for index, bone in enumerate(NAMES):
            turns = [turn(pose.get(bone, STANCE.get(bone, (0, 0, 0)))) for pose in poses.values()]
            frames = np.array(list(poses), np.float32)
            tracks[(0, index)] = Track(rotation=Channel(frames, maths.continuous(np.array(turns))))
        made.append(Clip(name, 1, last, tracks, markers))
    return made


def build() -> Scene:
    scene = Scene(fps=20)
    materials = looks(scene)
    bones = []
    for name, (parent, joint) in BONES.items():
        bind = np.eye(4, dtype=np.float32)
        bind[:3, 3] = joint
        above = BONES[parent][1] if parent else (0, 0, 0)
        bones.append(Bone(name, NAMES.index(parent) if parent else -1, bind, Transform(floats(*np.subtract(joint, above)))))
    scene.meshes = [mesh("knight", knight(), materials), mesh("sword", sword(), materials)]
    scene.meshes[1].skin = None  # it hangs on its tag
    grip = Transform(floats(*np.subtract(GRIP, BONES["hand.R"][1])))
    chest = Transform(floats(*np.subtract((0, -2.2, 17), BONES["chest"][1])))
    scene.nodes = [
        Node("knight", armature=Armature("knight", bones)),
        Node("body", 0, mesh=0),
        Node("tag_weapon", 0, NAMES.index("hand.R"), grip),
        Node("sword", 2, mesh=1),
        Node("tag_chest", 0, NAMES.index("chest"), chest),
    ]
    scene.clips = clips()
    return scene


def packed() -> Scene:
    """The knight with his attack in a packed chunk, as in later games."""
    scene = build()
    for clip in scene.clips:
        clip.settings = {"saturn": {"external": clip.name == "attack"}}
    return scene


if __name__ == "__main__":
    save_model("knight.bin", saturn, build())
