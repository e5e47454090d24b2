# SPDX-License-Identifier: GPL-3.0-or-later
"""What every format makes of known files and scenes, with every choice there is, was recorded; a test compares.

    python -m tests.recorded.cases [NAME...]    records anew, and says what changed
    python -m tests.recorded.cases --show CASE  all that is in a case, to compare it with what it was before a change

A recorded number is right because other tests say so; this one says where it has changed. After a change that is meant, look
at the list, record anew, and commit the files with it.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from io_retro_meshes.formats import FORMATS, AnyFormat, FormatError
from io_retro_meshes.formats.format import Format
from io_retro_meshes.formats.options import Option, make, options_of
from io_retro_meshes.scene import Layer, Mesh, Scene, choosing, placing, prepare
from tests.builders import b3d, bo3d, bogle, dbo, gltf, painted, saturn, saturn_packed
from tests.fuzz import mutate
from tests.recorded import edits
from tests.recorded.fingerprint import Fingerprint, differences

HERE = Path(__file__).resolve().parent
SPOILED = 60  # files of each format

Case = Callable[[], list[Any]]


# -------------------------------------------------------------------------------------------------------------- sources


def documents() -> dict[str, Callable[[], tuple[AnyFormat, bytes, list[Any]]]]:
    """Files of every format: the format, the bytes, and the documents beside them."""
    found: dict[str, Callable[[], tuple[AnyFormat, bytes, list[Any]]]] = {}

    def add(name: str, format_id: str, made: Callable[[], Any], beside: Callable[[], list[Any]] = list) -> None:
        def load() -> tuple[AnyFormat, bytes, list[Any]]:
            given = made()
            return FORMATS[format_id], given if isinstance(given, bytes) else FORMATS[format_id].write(given), beside()

        found[name] = load

    add("b3d everything", "b3d", b3d.everything)
    add("b3d chain", "b3d", lambda: b3d.chain(3, True))
    for half in (False, True):
        add(f"bo3d arms {16 if half else 32}", "bo3d", lambda half=half: bo3d.two_arms(half))
    add("bo3d any", "bo3d", lambda: bo3d.any_document(np.random.default_rng(4)))
    add("bogle still", "bogle", lambda: bogle.file(bogle.still_scene()))
    add("bogle rigged", "bogle", lambda: bogle.file(bogle.rigged_scene()))
    for layout in "ABCD":
        add(f"bogle draft {layout}", "bogle", lambda layout=layout: bogle.draft(layout))
    for number in range(len(dbo.everything())):
        add(f"dbo {number}", "dbo", lambda number=number: dbo.everything()[number])
    add("saturn puppet", "saturn", lambda: saturn.puppet(2), lambda: [saturn.more_animations(2)])
    add("saturn party", "saturn", saturn_packed.party)
    add("gltf odd", "gltf", gltf.odd_file)
    add("gltf skins", "gltf", gltf.two_skins)
    return found


def scenes() -> dict[str, Callable[[], Scene]]:
    """Scenes of no file, and those of files: what exporters are given."""
    found: dict[str, Callable[[], Scene]] = {
        "painted": painted.painted,
        "painted character": painted.painted_character,
        "rig": bo3d.rig_scene,
        "mirrored rig": lambda: bo3d.rig_scene(2.0, True),
        "everything": gltf.everything,
        "camera and lamp": bogle.still_scene,
    }
    for name, load in documents().items():
        found[name] = lambda load=load: loaded(*load())
    return found


def loaded(format: AnyFormat, data: bytes, beside: list[Any], **options: Any) -> Scene:
    return format.to_scene(format.read(data), make(format.ImportOptions, {"name": "model", **options}), beside)


def summed_up(format: AnyFormat, data: bytes) -> list[Any]:
    """The numbers in what `info` says of a file, a list for each line."""
    return [re.findall(r"\d+", line) for line in format.summary(format.read(data))]


def choices(kind: type) -> Iterator[tuple[str, Any]]:
    """Every option with every value that it does not have by default; of numbers one."""
    for option in options_of(kind):
        if option.kind == "BOOLEAN":
            yield option.name, not option.default
        elif option.kind == "ENUM":
            yield from ((option.name, value) for value, _, _ in option.items if value != option.default)
        elif option.kind in ("INT", "FLOAT"):
            limit = np.inf if option.maximum is None else option.maximum
            yield option.name, type(option.default)(min(option.default * 3 + (1 if option.kind == "INT" else 0.01), limit))


# ---------------------------------------------------------------------------------------------------------------- cases


def imports() -> Iterator[tuple[str, Case]]:
    for name, load in documents().items():
        yield f"{name} imported", lambda load=load: [loaded(*load())]
        yield f"{name} summed up", lambda load=load: summed_up(*load()[:2])
        format = load()[0]
        for option, value in choices(format.ImportOptions) if name in CHOSEN else ():
            if option not in ("scale", "merge_vertices", "use_normals", "animations", "scene_range", "use_animation"):
                yield (
                    f"{name} imported with {option} {value}",
                    lambda load=load, option=option, value=value: [loaded(*load(), **{option: value})],
                )


def exports(format: AnyFormat) -> Iterator[tuple[str, Case]]:
    for name, make_scene in scenes().items():
        if name not in LIKE_OTHERS and (name, format.id) not in EITHER_WAY:
            yield f"{name} to {format.id}", lambda make_scene=make_scene: exported(format, make_scene())
    for option, value in choices(format.ExportOptions):
        if option not in BLENDERS:
            for name in OWN[format.id]:
                chosen = {option: value}
                yield (
                    f"{name} to {format.id} with {option} {value}",
                    lambda name=name, chosen=chosen: exported(format, scenes()[name](), **chosen),
                )


# Half a turn about an axis is one the other way round, too: which of them is found differs between versions of numpy.
EITHER_WAY = {("b3d everything", "bo3d")}
# Files that give an exporter nothing that others do not.
LIKE_OTHERS = {"saturn party", "b3d chain", "bo3d arms 16", "bo3d any", "bogle still", "dbo 3", "dbo 4", "dbo 5", "gltf odd"}
LIKE_OTHERS |= {f"bogle draft {layout}" for layout in "ABC"}
# Options that are dealt with before there is a scene.
BLENDERS = {"use_selection", "use_active_collection", "use_modifiers", "deform_bones", "sequence_frames"}
# The files that are imported with other options.
CHOSEN = (
    "b3d everything",
    "bo3d arms 32",
    "bogle rigged",
    "bogle draft D",
    "dbo 0",
    "dbo 1",
    "saturn puppet",
    "saturn party",
    "gltf skins",
)
# The scenes that are exported with other options.
OWN = {
    "b3d": ["b3d everything"],
    "bo3d": ["bo3d arms 32"],
    "bogle": ["bogle rigged"],
    "dbo": ["everything"],
    "saturn": ["saturn puppet"],
    "gltf": ["everything"],
}


def exported(format: AnyFormat, scene: Scene, **options: Any) -> list[Any]:
    """The document, and what is read from its bytes again."""
    chosen = make(format.ExportOptions, {"name": "model." + format.extensions[-1].strip("."), **options})
    give_pictures(scene)
    prepare.choose_animation(scene, chosen.animation, "model")
    document = format.from_scene(prepare.prepare(scene, format, chosen), chosen)
    count = len(document.warnings)
    written = format.read(format.write(document))
    files = getattr(document, "files", {})  # of a .gltf, which are beside it on disk
    if files:
        written.files = files
    return [document, count, format.to_scene(written, None, [])]


def give_pictures(scene: Scene) -> None:
    """Pictures that no file has: small, and different everywhere."""
    for number, image in enumerate(scene.images):
        if image.pixels is None and not image.data:
            pixels = (np.arange(8 * 16 * 4) * (7 + number) % 251).astype(np.uint8).reshape(8, 16, 4)
            pixels[..., 3] = 255 - pixels[..., 3] % (1 + number % 2 * 200)
            image.pixels = pixels


def edited() -> Iterator[tuple[str, Case]]:
    for source, edit, external in edits.all_edits():

        def case(source: Any = source, edit: Any = edit, external: str = external) -> list[Any]:
            scene = source()
            edit(scene)
            return exported(FORMATS["saturn"], scene, external=external)

        yield f"{source.__name__}, {edit.__name__}, {external}", case


def tools() -> Iterator[tuple[str, Case]]:
    """What can be done with any scene, whatever format it is of."""
    for choice, names in (("TIMELINE", ""), ("PARTS", ""), ("CHOSEN", "P*, other"), ("CHOSEN", "none")):
        yield f"animations {choice} {names}", lambda choice=choice, names=names: chosen(choice, names)
    for name in ("painted", "everything", "b3d everything", "dbo 0"):
        yield f"{name} merged", lambda name=name: [choosing.merged(doubled(mesh)) for mesh in scenes()[name]().meshes]
    for way in ("SLERP", "NLERP"):
        for format in (FORMATS["b3d"], FORMATS["gltf"]):
            for tolerance in (0.0, 0.05):
                yield (
                    f"keys between frames {way} {format.id} {tolerance}",
                    lambda w=way, f=format, t=tolerance: [
                        prepare.prepare(between(w), f, make(f.ExportOptions, {"key_tolerance": t}))
                    ],
                )
    rooms = [(1.0, 10.0), (10.0, 20.5), (22.0, 30.0)]
    owns = [None, (3.0, 8.0), (0.0, 9.0), (5.5, 25.0)]
    for longer in ("KEEP", "MOVE"):
        for count, parts in enumerate(itertools.product(owns, repeat=3)):
            yield f"parts {longer} {count}", lambda longer=longer, parts=parts: [placed(rooms, parts, longer)]


def chosen(choice: str, names: str) -> list[Any]:
    scene = gltf.everything()
    choosing.choose_animations(scene, choice, names)
    return [scene]


def doubled(mesh: Mesh) -> Mesh:
    """With every vertex twice, for half of the corners each."""
    count = len(mesh.positions)
    corners = mesh.corners + count * (np.arange(len(mesh.corners)) % 2).astype(np.int32)

    def twice(layer: Layer) -> Layer:
        return replace(layer, data=np.concatenate([layer.data] * 2)) if layer.domain == "POINT" else layer

    skin = mesh.skin
    if skin is not None:
        vertices = np.concatenate([skin.vertices, skin.vertices + count]).astype(np.int32)
        skin = replace(skin, vertices=vertices, bones=np.tile(skin.bones, 2), weights=np.tile(skin.weights, 2))
    return replace(
        mesh,
        positions=np.concatenate([mesh.positions] * 2),
        corners=corners,
        normals=twice(mesh.normals) if mesh.normals is not None else None,
        uvs=[twice(layer) for layer in mesh.uvs],
        colors=[twice(layer) for layer in mesh.colors],
        attributes=[twice(layer) for layer in mesh.attributes],
        edges=None if mesh.edges is None else mesh.edges * 2 % (2 * count),
        skin=skin,
    )


def between(interpolation: Any) -> Scene:
    """Clips whose keys are between frames, and some outside the clip."""
    scene = gltf.everything()
    scene.interpolation = interpolation
    for clip in prepare.clips_of(scene):
        clip.first, clip.last = clip.first + 3.4, clip.last - 2.2
        for track in (clip.tracks or {}).values():
            for channel in (track.location, track.rotation, track.scale):
                if channel is not None:
                    channel.frames = channel.frames * np.float32(1.13) + np.float32(0.2)
    return scene


def placed(rooms: list[Any], owns: Any, longer: Any) -> placing.Layout:
    return placing.lay_out((0, 32), [placing.Part(room, own) for room, own in zip(rooms, owns, strict=True)], longer)


CASES: dict[str, Callable[[], Iterator[tuple[str, Case]]]] = {
    "imports": imports,
    **{f"exports {format.id}": lambda format=format: exports(format) for format in FORMATS.values()},
    "edits": edited,
    "tools": tools,
}


def outcome(case: Case) -> dict[str, Any]:
    with np.errstate(all="ignore"):
        try:
            return Fingerprint(*case()).recorded()
        except FormatError as error:
            return {"error": f"{error.field} {error.offset}" if error.offset is not None else error.message.split(":")[0][:40]}


# -------------------------------------------------------------------------------------------------------- spoiled files


def spoiled(format_id: str) -> Iterator[bytes]:
    """Files whose fields lie. Those of glTF are made by hand: what compresses pictures is not the same everywhere."""
    format, random = FORMATS[format_id], np.random.default_rng(7)
    module = {"b3d": b3d, "bo3d": bo3d, "bogle": bogle, "dbo": dbo, "saturn": saturn}.get(format_id)
    made = module.fuzz_seeds() if module else [gltf.odd_file(), gltf.two_skins()]
    files = sorted(made, key=len)[:4]
    return (mutate.mutated(random, files, format) for _ in range(SPOILED))


def told_of(format: AnyFormat, data: bytes) -> str:
    """What becomes of a file: where the error is, or how many warnings there are and what was read."""
    try:
        return f"{zlib.crc32(read_from(format, data).encode()):08x}"
    except FormatError as error:
        return f"{error.field} {error.offset}"


@np.errstate(all="ignore")
def read_from(format: AnyFormat, data: bytes) -> str:
    document = format.read(data)
    return "\n".join(Fingerprint(document, format.to_scene(document)).structure)


# ------------------------------------------------------------------------------------------------------------ interface


def interface() -> dict[str, Any]:
    """What scripts, presets and files rely on: the traits of formats, and their options and settings."""
    found: dict[str, Any] = {}
    for format in FORMATS.values():
        traits = {
            name: value for name in Format.__annotations__ if isinstance(value := getattr(format, name), (bool, str, tuple))
        }
        words = {"import_tip", "export_tip", "used_by", "label"}
        found[format.id] = {name: value for name, value in traits.items() if name not in words}
        kinds = {"import": format.ImportOptions, "export": format.ExportOptions, **format.settings}
        for name, kind in kinds.items():
            for option in options_of(kind):
                found[f"{format.id} {name} {option.name}"] = told(option)
    return json.loads(json.dumps(found))


def told(option: Option) -> dict[str, Any]:
    """All of an option but its words; what it does not have is not said."""
    found = {name: value for name, value in option._asdict().items() if value != Option._field_defaults.get(name, "")}
    for name in ("name", "label", "description"):
        found.pop(name, None)
    if option.items:
        found["items"] = [value for value, _, _ in option.items]
    return found


# -------------------------------------------------------------------------------------------------------------- records


def record(name: str) -> dict[str, Any]:
    if name == "interface":
        return interface()
    if name.startswith("spoiled "):
        format_id = name.partition(" ")[2]
        return {"files": [told_of(FORMATS[format_id], data) for data in spoiled(format_id)]}
    return {case: outcome(made) for case, made in CASES[name]()}


def known(name: str) -> dict[str, Any]:
    path = HERE / f"{name.replace(' ', '_')}.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found


def changes(name: str, found: dict[str, Any]) -> list[str]:
    before = known(name)
    if name.startswith("spoiled "):
        pairs = zip(found["files"], before.get("files", []), strict=False)
        return [f"{name} {number}: {new}, not {old}" for number, (new, old) in enumerate(pairs) if new != old] + (
            [] if len(found["files"]) == len(before.get("files", [])) else [f"{name}: other files"]
        )
    if name == "interface":
        return [
            f"{each}: {found.get(each)}, not {before.get(each)}"
            for each in {**before, **found}
            if found.get(each) != before.get(each)
        ]
    lines = [f"{case}: is new" for case in found if case not in before]
    lines += [f"{case}: is gone" for case in before if case not in found]
    return lines + [
        f"{case}: {', '.join(off)}" for case in found if case in before and (off := differences(found[case], before[case]))
    ]


NAMES = ["interface", *CASES, *(f"spoiled {format_id}" for format_id in FORMATS)]


def main(arguments: list[str]) -> int:
    wanted = arguments[-1] if "--show" in arguments else ""
    if wanted.startswith("spoiled "):
        _, format_id, number = wanted.split()
        print(read_from(FORMATS[format_id], list(spoiled(format_id))[int(number)]))
        return 0
    if wanted:
        case = next(made for cases in CASES.values() for name, made in cases() if name == wanted)
        found = Fingerprint(*case())
        print(*found.structure, *(f"{path} {found.measured(path):.5f}" for path in sorted(found.sums)), sep="\n")
        return 0
    for name in arguments or NAMES:
        found = record(name)
        print("\n".join(changes(name, found)) or f"{name}: as it was")
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items())
        (HERE / f"{name.replace(' ', '_')}.json").write_text(f"{{\n{lines}\n}}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
