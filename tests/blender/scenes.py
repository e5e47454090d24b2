# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes as artists make them: a table. Each says what an export has to get right, and what it has to warn about.

A scene is a function that fills an empty Blender. `exact` are the formats in which every vertex is where Blender shows it, on
each of `frames`; `warns` is a pattern that one of the warnings has to match, in every format; without it there may be any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from io_retro_meshes.blender import compat
from tests.blender.test_person_scenes import body, cube, rig, wave

ALL = ("b3d", "bo3d", "bogle", "dbo", "saturn")


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[], Any]
    frames: tuple[float, ...] = (1,)
    warns: str = ""
    silent: str = ""  # a pattern that no warning may match
    refused: str = ""  # a pattern of the error that every format gives
    exact: tuple[str, ...] = ALL
    tolerance: float = 1e-4
    clip: str = ""  # the action that is judged; by default the one that is assigned
    options: dict[str, Any] = field(default_factory=dict)
    only: tuple[str, ...] = ALL
    look: Callable[[Any, Any], None] | None = None  # is given the neutral scene that the file means, and the format's name
    shows: Callable[[Any, Any], None] | None = None  # is given the file's path, and the format's name


CASES: list[Case] = []


def case(**words: Any) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def add(make: Callable[[], Any]) -> Callable[[], Any]:
        CASES.append(Case(make.__name__, make, **words))
        return make

    return add


# --------------------------------------------------------------------------------------------------------------- parts

MOVE = (1, 4, 6, 11)


def box(name: str = "Crate", location: Any = (0, 0, 0), size: float = 1.0) -> Any:
    made = cube(bpy, name, location, size)
    made.data.transform(Matrix.Diagonal((1, 0.7, 0.4, 1)))  # its sides can be told from each other
    return made


def empty(name: str = "Place", location: Any = (0, 0, 0)) -> Any:
    made = bpy.data.objects.new(name, None)
    bpy.context.collection.objects.link(made)
    made.location = location
    return made


def person(action: str = "Idle", bones: tuple[str, ...] = ("Root", "Spine", "Head")) -> tuple[Any, Any]:
    owner = rig(bpy, list(bones))
    made = body(bpy, owner)
    if action:
        wave(owner, action, 0.8)
    return owner, made


def keyed(owner: Any, path: str = "location", values: Any = ((0, 0, 0), (1, 2, 3)), frames: Any = (1, 11)) -> Any:
    for frame, value in zip(frames, values, strict=True):
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)
    return owner


def curves(owner: Any) -> list[Any]:
    return [curve for _, found in compat.action_curves(owner.animation_data.action) for curve in found]


def straight(owner: Any, kind: str = "LINEAR") -> None:
    for curve in curves(owner):
        for point in curve.keyframe_points:
            point.interpolation = kind


def weigh(made: Any, name: str, weight: Callable[[np.ndarray], Any]) -> Any:
    """A vertex group whose weights are a function of the places of the vertices."""
    group = made.vertex_groups.get(name) or made.vertex_groups.new(name=name)
    for vertex in made.data.vertices:
        group.add([vertex.index], float(weight(np.array(vertex.co))), "REPLACE")
    return group


def modifier(made: Any, kind: str, **values: Any) -> Any:
    found = made.modifiers.new(kind.title(), kind)
    for name, value in values.items():
        setattr(found, name, value)
    return found


# ---------------------------------------------------------------------------------------------------------- transforms


def _turned(mode: str) -> Callable[[], None]:
    def make() -> None:
        made = box()
        made.rotation_mode = mode
        if mode == "QUATERNION":
            made.rotation_quaternion = (0.8, 0.3, -0.4, 0.1)
        elif mode == "AXIS_ANGLE":
            made.rotation_axis_angle = (0.7, 0.2, 0.5, 0.8)
        else:
            made.rotation_euler = (0.5, -0.8, 1.2)

    return make


MODES = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "QUATERNION", "AXIS_ANGLE")
CASES += [Case(f"turned_{mode.lower()}", _turned(mode)) for mode in MODES]


def _animated_turn(mode: str) -> Callable[[], None]:
    def make() -> None:
        made = box()
        made.rotation_mode = mode
        name, first, last = {
            "QUATERNION": ("rotation_quaternion", (1, 0, 0, 0), (0.6, 0, 0.8, 0)),
            "AXIS_ANGLE": ("rotation_axis_angle", (0, 0, 0, 1), (2.0, 0, 0, 1)),
        }.get(mode, ("rotation_euler", (0, 0, 0), (0.4, 0.9, -2.0)))
        keyed(made, name, (first, last))

    return make


CASES += [Case(f"turning_{mode.lower()}", _animated_turn(mode), MOVE) for mode in ("XYZ", *MODES[5:])]


@case()
def delta_transforms() -> None:
    made = box()
    made.location, made.delta_location, made.delta_scale = (1, 0, 0), (0, 2, 0), (1, 2, 1)
    made.delta_rotation_euler = (0, 0, 0.5)


@case()
def parent_inverse() -> None:
    above, below = box("Above", (1, 0, 0)), box("Below", (3, 0, 0))
    above.rotation_euler = (0, 0, 1)
    bpy.context.view_layer.update()
    below.parent, below.matrix_parent_inverse = above, above.matrix_world.inverted()


@case()
def sheared_child() -> None:
    above, below = box("Above"), box("Below", (2, 0, 0))
    above.scale = (1, 3, 1)
    below.parent, below.rotation_euler = above, (0, 0, 0.6)


@case()
def negative_scale() -> None:
    box().scale = (-1, 1, 1)


@case(exact=("b3d", "bo3d", "bogle", "dbo"))  # Saturn counts in steps of 1/4096
def tiny() -> None:
    box(size=0.001)


@case()
def far_away() -> None:
    box(location=(5000, -3000, 100), size=500)


@case()
def forty_deep() -> None:
    above = None
    for number in range(40):
        made = box(f"Link {number}", size=0.3)
        made.location, made.rotation_euler, made.parent = (0.5, 0, 0), (0, 0, 0.1), above
        above = made


@case()
def same_mesh_twice() -> None:
    first = box()
    second = bpy.data.objects.new("Second", first.data)
    bpy.context.collection.objects.link(second)
    second.location = (3, 0, 0)


@case()
def same_mesh_other_materials() -> None:
    first = box()
    second = bpy.data.objects.new("Second", first.data)
    bpy.context.collection.objects.link(second)
    second.location = (3, 0, 0)
    second.material_slots[0].link = "OBJECT"
    second.material_slots[0].material = bpy.data.materials.new("Other")


# ------------------------------------------------------------------------------------------------------------- objects


@case()
def bevelled_curve() -> None:
    bpy.ops.curve.primitive_bezier_circle_add()
    bpy.context.object.data.bevel_depth = 0.2


@case()
def text() -> None:
    bpy.ops.object.text_add()
    bpy.context.object.data.body = "Ab"
    bpy.context.object.data.extrude = 0.1


@case()
def metaball() -> None:
    bpy.ops.object.metaball_add()


@case()
def surface() -> None:
    bpy.ops.surface.primitive_nurbs_surface_sphere_add()


@case()
def camera_and_light_too() -> None:
    box()
    bpy.ops.object.camera_add(location=(5, 5, 5))
    bpy.ops.object.light_add(type="SPOT", location=(2, 2, 2))


@case()
def no_material() -> None:
    box().data.materials.clear()


@case()
def empty_slot() -> None:
    made = box()
    made.data.materials.append(None)
    made.data.polygons[0].material_index = 1


@case()
def material_index_out_of_range() -> None:
    box().data.polygons[0].material_index = 7


@case(exact=("bogle",))  # the others keep them
def loose_vertices_beside_faces() -> None:
    made = box()
    made.data.vertices.add(2)


@case(exact=("bogle", "saturn"))
def a_mesh_without_faces_too() -> None:
    box()
    data = bpy.data.meshes.new("Wire")
    data.from_pydata([(0.1, 0, 0), (0.2, 0, 0)], [(0, 1)], [])
    bpy.context.collection.objects.link(bpy.data.objects.new("Wire", data))


@case()
def concave_face() -> None:
    data = bpy.data.meshes.new("Arrow")
    data.from_pydata([(0, 0, 0), (2, 0, 0), (1, 0.5, 0), (2, 2, 0), (0, 2, 0)], [], [(0, 1, 2, 3, 4)])
    bpy.context.collection.objects.link(bpy.data.objects.new("Arrow", data))


@case()
def edit_mode() -> None:
    box()
    bpy.ops.object.mode_set(mode="EDIT")


@case()
def pose_mode() -> None:
    owner, _ = person()
    bpy.context.view_layer.objects.active = owner
    bpy.ops.object.mode_set(mode="POSE")


@case()
def collection_instance() -> None:
    inside = bpy.data.collections.new("Parts")
    made = box()
    bpy.context.collection.objects.unlink(made)
    inside.objects.link(made)
    for place in ((1, 0, 0), (4, 0, 0)):
        maker = empty("Copy", place)
        maker.instance_type, maker.instance_collection = "COLLECTION", inside


# ----------------------------------------------------------------------------------------------------------- modifiers

_MODIFIERS: dict[str, dict[str, Any]] = {
    "ARRAY": {"count": 3},
    "MIRROR": {},
    "SUBSURF": {"levels": 1},
    "SOLIDIFY": {"thickness": 0.2},
    "BEVEL": {"width": 0.1},
    "TRIANGULATE": {},
    "WELD": {},
    "SCREW": {"steps": 5, "render_steps": 5},
    "DISPLACE": {"strength": 0.3},
    "CAST": {"factor": 0.5},
    "SIMPLE_DEFORM": {"deform_method": "TWIST", "angle": 0.7},
    "SMOOTH": {"iterations": 2},
    "WIREFRAME": {"thickness": 0.1},
    "EDGE_SPLIT": {},
}
for _kind, _values in _MODIFIERS.items():
    CASES.append(Case(f"modifier_{_kind.lower()}", lambda kind=_kind, values=_values: modifier(box(), kind, **values)))
    if _kind in ("MIRROR", "SUBSURF", "SOLIDIFY", "BEVEL", "TRIANGULATE"):
        CASES.append(
            Case(
                f"rigged_{_kind.lower()}",
                lambda kind=_kind, values=_values: modifier(person()[1], kind, **values),
                MOVE,
                tolerance=2e-2,  # modifiers behind the armature: told apart from the exact ones by the warnings below
            )
        )


@case()
def modifiers_off() -> None:
    modifier(box(), "ARRAY", count=3).show_viewport = False


@case(frames=MOVE)
def modifier_before_the_armature() -> None:
    made = person()[1]
    modifier(made, "SUBSURF", levels=1, subdivision_type="SIMPLE")
    made.modifiers.move(1, 0)


# ----------------------------------------------------------------------------------------------------------- parenting


@case(frames=MOVE)
def armature_below_its_mesh() -> None:
    owner, made = person()
    made.parent, owner.parent = None, made


@case(frames=MOVE)
def mesh_not_parented() -> None:
    person()[1].parent = None


@case(frames=MOVE)
def mesh_parented_with_deform() -> None:
    _owner, made = person()
    made.modifiers.clear()
    made.parent_type = "ARMATURE"


@case(frames=MOVE, exact=("b3d", "bo3d", "dbo"))
def mesh_on_a_bone_of_another_rig() -> None:
    owner, _made = person()
    other = rig(bpy, ["Hand", "Finger"])
    other.name, other.parent, other.parent_type, other.parent_bone = "Glove", owner, "BONE", "Head"
    glove = body(bpy, other)
    glove.name = "Glove mesh"


@case(frames=MOVE)
def cycle_through_a_modifier() -> None:
    owner, made = person()
    owner.parent, made.parent = made, None
    other = box("Hat", (0, 0, 4))
    other.parent, other.parent_type, other.parent_bone = owner, "BONE", "Head"


@case(frames=MOVE)
def child_of_a_rigged_mesh() -> None:
    _owner, made = person()
    box("Lamp", (2, 0, 0)).parent = made


@case(frames=MOVE)
def child_of_a_bone_with_an_offset() -> None:
    owner, _ = person()
    hat = box("Hat", (0.3, 0.2, 0.1), 0.5)
    hat.parent, hat.parent_type, hat.parent_bone = owner, "BONE", "Spine"


@case(frames=MOVE)
def child_of_a_bone_that_is_not_there() -> None:
    owner, _ = person()
    hat = box("Hat", (0.3, 0.2, 0.1), 0.5)
    hat.parent, hat.parent_type, hat.parent_bone = owner, "BONE", "Gone"


@case()
def vertex_parent() -> None:
    above, below = box("Above"), box("Below", (0, 2, 0), 0.3)
    below.parent, below.parent_type, below.parent_vertices = above, "VERTEX", (2, 0, 0)


@case(frames=MOVE)
def below_an_empty_that_moves() -> None:
    box("Cargo", (1, 0, 0)).parent = keyed(empty())


@case(frames=MOVE)
def below_a_hidden_parent() -> None:
    above = keyed(box("Above"))
    box("Below", (3, 0, 0)).parent = above
    above.hide_set(True)


@case(frames=MOVE)
def child_of_constraint() -> None:
    leader, follower = keyed(box("Leader")), box("Follower", (2, 0, 0))
    follower.constraints.new("CHILD_OF").target = leader


@case(frames=MOVE)
def copy_location_constraint() -> None:
    leader, follower = keyed(box("Leader")), box("Follower", (2, 1, 0))
    follower.constraints.new("COPY_LOCATION").target = leader


@case(frames=MOVE, exact=("b3d", "bo3d", "bogle", "dbo"))
def driven_object() -> None:
    leader, follower = keyed(box("Leader")), box("Follower", (0, 4, 0))
    driver = follower.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id = leader
    driver.expression = f"{variable.name} * 2"


@case(frames=MOVE)
def inverse_kinematics() -> None:
    owner, _ = person(action="")
    goal = keyed(empty("Goal"), values=((0, 1, 3), (1, 1, 2)))
    ik = owner.pose.bones["Head"].constraints.new("IK")
    ik.target, ik.chain_count = goal, 3
    wave(owner, "Idle", 0.0, ["Root"])


# -------------------------------------------------------------------------------------------------------------- actions


def strip(owner: Any, action: Any, start: int = 1) -> Any:
    track = owner.animation_data.nla_tracks.new()
    return track.strips.new(action.name, start, action)


def two_people() -> tuple[Any, Any]:
    """Two characters with the same names of bones, side by side, each with an action."""
    first, _one = person("Idle")
    second, two = person("")
    wave(second, "Hit", -0.4)
    second.name, two.name = "Rig B", "Body B"
    second.location = (4, 0, 0)
    return first, second


@case(frames=MOVE)
def renamed_object() -> None:
    owner, _ = person()
    owner.name = "Hero"


@case(frames=MOVE, exact=("b3d", "bo3d", "bogle", "dbo"))
def two_characters() -> None:
    two_people()


@case(frames=MOVE, clip="Hit")
def renamed_object_with_a_spare_action() -> None:
    owner, _ = person("Idle")
    wave(owner, "Hit", 0.6)
    owner.name = "Hero"


@case(only=("b3d",), exact=(), options={"animation": "ACTIONS"})
def strips_say_whose_an_action_is() -> None:
    first, second = two_people()
    for owner in (first, second):
        action = owner.animation_data.action
        owner.animation_data.action = None
        strip(owner, action)
    first.name, second.name = "Hero", "Villain"


def _each_its_own(scene: Any, to: str) -> None:
    """Before slots nothing says whose an action is that nobody has: both then play it."""
    clips = {clip.name: {scene.nodes[node].name for node, _ in clip.tracks} for clip in scene.clips}
    assert set(clips) == {"Idle", "Sit", "Hit", "Fall"}
    if compat.HAS_SLOTS:
        assert clips["Idle"] == clips["Sit"] != clips["Hit"] == clips["Fall"] and all(len(each) == 1 for each in clips.values())


@case(only=("bogle",), exact=(), look=_each_its_own)
def two_renamed_characters_with_spare_actions() -> None:
    first, second = two_people()
    wave(first, "Sit", 0.5)
    wave(second, "Fall", 0.5)
    first.name, second.name = "Hero", "Villain"


@case(only=("bogle",), exact=(), look=_each_its_own)
def two_characters_that_changed_names() -> None:
    first, second = two_people()
    second.name = "Rig.001"
    wave(first, "Sit", 0.5)
    wave(second, "Fall", 0.5)
    second.name = "Old"
    first.name = "Rig.001"
    second.name = "Rig"


@case(frames=MOVE)
def strip_alone() -> None:
    owner, _ = person()
    action = owner.animation_data.action
    owner.animation_data.action = None
    strip(owner, action)


@case(frames=MOVE, options={"animation": "SCENE"})
def stacked_strips_as_they_blend() -> None:
    owner, _ = person("Idle")
    other = wave(owner, "Block", 0.5, ["Root"])
    owner.animation_data.action = None
    strip(owner, bpy.data.actions["Idle"])
    strip(owner, other).blend_type = "COMBINE"


@case(frames=MOVE, options={"animation": "SCENE"})
def strip_at_half_speed() -> None:
    owner, _ = person()
    action = owner.animation_data.action
    owner.animation_data.action = None
    strip(owner, action).scale = 2.0


@case(frames=MOVE, exact=("b3d", "bo3d", "bogle", "dbo"))
def muted_strip() -> None:
    owner, _ = person()
    other = wave(owner, "Attack", 1.5)
    strip(owner, other).mute = True
    owner.animation_data.action = bpy.data.actions["Idle"]


@case(frames=MOVE)
def object_and_bones_in_one_action() -> None:
    owner, _ = person()
    keyed(owner)


@case(frames=MOVE)
def rest_position() -> None:
    owner, _ = person(action="")
    owner.data.pose_position = "REST"


@case(frames=(1,), warns="Left out")
def no_animation_wanted() -> None:
    person()


CASES[-1] = Case("no_animation_wanted", no_animation_wanted, warns="Left out", exact=(), options={"animation": "NONE"})


# ----------------------------------------------------------------------------------------------------------------- time


@case(frames=(1, 2, 3, 4, 5, 6))
def stepped_keys() -> None:
    straight(keyed(box(), frames=(1, 4)), "CONSTANT")


@case(frames=(1, 2, 3, 4, 5, 6, 7, 8))
def bounce() -> None:
    straight(keyed(box(), frames=(1, 8)), "BOUNCE")


@case(frames=(1, 3, 5), warns=r"Crate.*between frames|Only bones")
def keys_between_frames() -> None:
    straight(keyed(box(), values=((0, 0, 0), (3, 0, 0), (0, 0, 0)), frames=(1, 2.5, 5)))


@case(frames=MOVE)
def cycles() -> None:
    owner = keyed(box(), frames=(1, 4), values=((0, 0, 0), (1, 0, 0)))
    for curve in curves(owner):
        curve.modifiers.new("CYCLES")
    owner.animation_data.action.use_frame_range = True
    owner.animation_data.action.frame_start, owner.animation_data.action.frame_end = 1, 11


@case(frames=(1, 5, 9))
def noise() -> None:
    owner = keyed(box(), frames=(1,), values=((0, 0, 0),))
    bpy.context.scene.frame_end = 10
    for curve in curves(owner):
        curve.modifiers.new("NOISE").strength = 3.0


@case(frames=MOVE)
def film_rate() -> None:
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = 24, 1.001
    keyed(box())


@case(frames=(1, 30, 61))
def sixty_a_second() -> None:
    bpy.context.scene.render.fps = 60
    keyed(box(), frames=(1, 61))


@case(frames=MOVE, warns=r"Crate.*(hid|visib)")
def visibility_keys() -> None:
    owner = keyed(box())
    for frame, hidden in ((1, False), (5, True), (6, False)):
        owner.hide_viewport = hidden
        owner.keyframe_insert("hide_viewport", frame=frame)


@case(frames=(6, 11), warns=r"Crate.*(hid|visib)")
def hidden_now_but_not_later() -> None:
    owner = keyed(box())
    box("Ground", (0, 0, -2))
    for frame, hidden in ((1, True), (5, False)):
        owner.hide_viewport = hidden
        owner.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(1)


@case(frames=(1, 2, 3))
def scale_to_nothing() -> None:
    keyed(box(), "scale", ((1, 1, 1), (0.5, 0.5, 0.5), (0.01, 0.01, 0.01)), (1, 2, 3))


# ---------------------------------------------------------------------------------------------------------------- skins

SOFT = {"warns": r"Body.*deformed by.*units off", "exact": (), "frames": MOVE}  # not exact, and told by how much


@case(frames=MOVE)
def bones_without_deform() -> None:
    """Weights of a bone that deforms nothing count for nothing."""
    owner, made = person()
    owner.data.bones["Spine"].use_deform = False
    weigh(made, "Root", lambda co: 1.0 if 1 <= co[2] <= 2 else float(co[2] < 1))


@case(
    frames=MOVE, options={"deform_bones": True}, exact=("b3d", "bo3d", "dbo", "saturn")
)  # BOGLE's bones do not move along, and it says so
def deform_bones_only() -> None:
    owner, made = person(bones=("Control", "Root", "Twist", "Head"))
    for name in ("Control", "Twist"):
        owner.data.bones[name].use_deform = False
        made.vertex_groups.remove(made.vertex_groups[name])
    weigh(made, "Root", lambda co: co[2] < 3)
    weigh(made, "Head", lambda co: co[2] >= 3)


@case(frames=MOVE, options={"deform_bones": True})
def a_hat_on_a_bone_that_is_left_out() -> None:
    owner, made = person(bones=("Root", "Twist", "Head"))
    owner.data.bones["Twist"].use_deform = False
    weigh(made, "Root", lambda co: co[2] < 2)
    hat = box("Hat", (0.3, 0.2, 0.1), 0.5)
    hat.parent, hat.parent_type, hat.parent_bone = owner, "BONE", "Twist"


@case(frames=MOVE)
def no_control_bones_left_out_by_default() -> None:
    owner, _ = person(bones=("Control", "Root", "Head"))
    owner.data.bones["Control"].use_deform = False


@case(frames=MOVE)
def envelopes() -> None:
    _owner, made = person()
    made.vertex_groups.clear()
    made.modifiers[0].use_bone_envelopes = True


@case(frames=MOVE, only=("b3d", "bogle", "dbo"))  # the others have one bone a vertex
def envelopes_that_reach() -> None:
    owner, made = person()
    made.vertex_groups.clear()
    made.modifiers[0].use_bone_envelopes = True
    for bone in owner.data.bones:
        bone.envelope_distance = 0.6


@case(frames=MOVE)
def envelopes_for_what_has_no_group() -> None:
    _owner, made = person()
    made.vertex_groups.remove(made.vertex_groups["Head"])
    made.modifiers[0].use_bone_envelopes = True


@case(frames=MOVE)
def envelopes_instead_of_groups() -> None:
    _owner, made = person()
    made.modifiers[0].use_vertex_groups, made.modifiers[0].use_bone_envelopes = False, True


@case(frames=MOVE, only=("b3d", "bo3d", "bogle", "dbo"))  # Saturn's parts are rigid, and it says so
def envelopes_times_groups() -> None:
    owner, _made = person()
    for bone in owner.data.bones:
        bone.use_envelope_multiply = True
        bone.envelope_distance = 0.4


@case(frames=MOVE)
def mask() -> None:
    made = person()[1]
    weigh(made, "Mask", lambda co: co[2] > 1)
    made.modifiers[0].vertex_group = "Mask"


@case(frames=MOVE)
def inverted_mask() -> None:
    made = person()[1]
    weigh(made, "Mask", lambda co: co[2] > 1)
    made.modifiers[0].vertex_group, made.modifiers[0].invert_vertex_group = "Mask", True


@case(frames=MOVE)
def two_modifiers_with_a_mask_each() -> None:
    owner, made = person()
    weigh(made, "Mask", lambda co: co[2] > 1)
    made.modifiers[0].vertex_group = "Mask"
    modifier(made, "ARMATURE", object=owner, vertex_group="Mask", invert_vertex_group=True)


@case(frames=MOVE)
def an_armature_modifier_that_is_off() -> None:
    owner, made = person()
    modifier(made, "ARMATURE", object=owner).show_viewport = False


@case(
    frames=MOVE, only=("b3d", "bo3d", "bogle", "dbo"), exact=("b3d", "bogle", "dbo")
)  # BO3D has one bone a vertex, and it says so
def weights_that_are_not_normal() -> None:
    made = person()[1]
    weigh(made, "Root", lambda co: 0.2 + 0.1 * co[2])
    weigh(made, "Spine", lambda co: 0.5)


@case(**SOFT)
def half_a_mask() -> None:
    made = person()[1]
    weigh(made, "Mask", lambda co: 0.5)
    made.modifiers[0].vertex_group = "Mask"


@case(**SOFT)
def twice_the_same_armature() -> None:
    owner, made = person()
    modifier(made, "ARMATURE", object=owner)


@case(**SOFT, only=("b3d", "bo3d", "bogle", "dbo"))
def preserve_volume() -> None:
    made = person()[1]
    weigh(made, "Root", lambda co: 0.5)
    weigh(made, "Spine", lambda co: 0.5)
    made.modifiers[0].use_deform_preserve_volume = True


@case(**SOFT)
def bendy_bones() -> None:
    owner, _ = person()
    for bone in owner.data.bones:
        bone.bbone_segments = 8
    for bone in owner.pose.bones:
        bone.bbone_curveinx = 0.6


@case(**SOFT)
def lattice() -> None:
    made = person()[1]
    cage = bpy.data.objects.new("Cage", bpy.data.lattices.new("Cage"))
    bpy.context.collection.objects.link(cage)
    cage.scale = (6, 6, 6)
    keyed(cage, values=((0, 0, 0), (3, 0, 0)))
    for point in cage.data.points[:4]:
        point.co_deform.x += 1
    modifier(made, "LATTICE", object=cage)


@case(**SOFT)
def hook() -> None:
    made = person()[1]
    modifier(made, "HOOK", object=keyed(empty("Hand"))).vertex_indices_set(range(8))


@case(**SOFT)
def wave_modifier() -> None:
    modifier(person()[1], "WAVE", height=1.0)


@case(**SOFT)
def shape_keys_that_move() -> None:
    made = person()[1]
    made.shape_key_add(name="Basis")
    smile = made.shape_key_add(name="Smile")
    for point in smile.data:
        point.co.x += 1
    keyed(smile, "value", (0.0, 1.0))


@case(warns="Crate.*deformed by shape keys that move.*units off", exact=())
def shape_keys_that_move_alone() -> None:
    made = box()
    made.shape_key_add(name="Basis")
    for point in made.shape_key_add(name="Smile").data:
        point.co.x += 1
    keyed(made.data.shape_keys.key_blocks["Smile"], "value", (0.0, 1.0), (1, 200))


@case()
def shape_keys_that_rest() -> None:
    made = box()
    made.shape_key_add(name="Basis")
    smile = made.shape_key_add(name="Smile")
    for point in smile.data:
        point.co.x += 1
    smile.value = 0.5


# ------------------------------------------------------------------------------------------------------------- nothing


@case(refused="nothing to export: the scene has no objects")
def no_objects() -> None:
    pass


@case(refused="nothing to export: all 2 objects are hidden")
def all_hidden() -> None:
    for made in (box("One"), box("Two")):
        made.hide_set(True)


@case(refused="nothing to export: nothing is selected", options={"use_selection": True})
def nothing_selected() -> None:
    box().select_set(False)


@case(refused="nothing to export: lights and cameras", options={"use_lights": False})
def lights_that_are_not_wanted() -> None:
    bpy.ops.object.light_add(type="SUN")


@case(refused='the collection "Empty" has no objects', options={"collection": "Empty"})
def empty_collection() -> None:
    box()
    bpy.context.scene.collection.children.link(bpy.data.collections.new("Empty"))
