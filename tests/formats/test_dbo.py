# SPDX-License-Identifier: GPL-3.0-or-later
"""DBO documents: every byte comes back, lies and all; bad bytes are told plainly."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import numpy as np
import pytest

from io_retro_meshes.formats import FormatError, dbo
from io_retro_meshes.formats.dbo.document import Frame
from tests.builders import dbo as made
from tests.conftest import corpus_files
from tests.growth import assert_linear

FILES = corpus_files("dbo", "*.dbo", "*.DBO")


@pytest.mark.parametrize("path", FILES)
def test_real_files_come_back_byte_for_byte(path: Path) -> None:
    data = path.read_bytes()
    document = dbo.read(data)
    assert dbo.sniff(data)
    assert dbo.write(document) == data
    assert f"version {document.version}" in dbo.summary(document)[0]


@pytest.mark.parametrize("number", range(len(made.everything())))
def test_made_files_come_back_byte_for_byte(number: int) -> None:
    data = dbo.write(made.everything()[number])
    again = dbo.read(data)
    assert dbo.write(again) == data
    assert again.warnings == []


def test_sizes_that_lie_are_read_as_the_engine_does_and_kept() -> None:
    document = made.parts()
    mesh = document.root.frame.mesh
    for block in mesh.blocks:
        if block.code in (117, 118, 119):
            block.size = 72  # what old engines declared: the size of the indices
    texture = mesh.textures[0]
    texture.channel_mask = True
    texture.find(154).size = 4
    document.root.blocks[0].size = 3
    data = dbo.write(document)
    again = dbo.read(data)
    assert dbo.write(again) == data
    assert again.root.frame.mesh.effect == "glow.fx" and again.root.frame.mesh.textures[0].channel_mask
    assert len(again.warnings) == 1 and "1 blocks" in again.warnings[0]


def test_no_vertices_are_written_as_a_size_of_0_and_a_dword() -> None:
    mesh = made.mesh(np.zeros(0, [("position", "<f4", 3)]), 2, np.zeros(0))
    mesh.find(115).data, mesh.find(115).size = bytes(4), 0
    data = dbo.write(made.document(made.frame("empty", mesh)))
    again = dbo.read(data)
    assert dbo.write(again) == data
    assert again.root.frame.mesh.primitive_type == 4 and again.warnings == []


def test_unknown_blocks_stay_where_they_are() -> None:
    again = dbo.read(dbo.write(made.parts()))
    codes = [block.code for block in again.root.frame.mesh.blocks]
    assert codes[-2:] == [999, 500] and again.root.frame.mesh.blocks[-2].data == b"what is this"


def test_the_summary_of_a_rig() -> None:
    document = made.arm()
    document.custom_data = b"mine"
    lines = dbo.summary(document)
    assert lines[2] == "24 vertices, 108 indices" and lines[-1] == "4 bytes of custom data"
    assert "2 bones in 1 skinned meshes" in lines


def test_a_missing_terminator_is_a_warning_and_loses_nothing() -> None:
    document = made.arm()
    document.root.frame.child.sibling.mesh.end = b""
    data = dbo.write(document)
    again = dbo.read(data)
    assert dbo.write(again) == data
    assert "no terminator" in again.warnings[0]
    assert again.root.frame.child.sibling.name == "body" and len(again.frames()) == 5
    cut = dbo.write(made.siblings(3))[:-45]
    again = dbo.read(cut)
    assert dbo.write(again) == cut and "ends within" in again.warnings[0]


def test_counts_that_differ_from_what_is_there() -> None:
    for count, word in ((1, "more"), (3, "fewer")):
        document = made.arm()
        document.root.frame.child.sibling.mesh.bone_count = count
        data = dbo.write(document)
        again = dbo.read(data)
        assert dbo.write(again) == data
        assert word in again.warnings[0] and len(again.root.frame.child.sibling.mesh.bones) == 2


def test_nested_siblings_in_linear_time() -> None:
    def there_and_back(count: int) -> None:
        data = dbo.write(made.siblings(count))
        document = dbo.read(data)
        assert dbo.write(document) == data
        scene = dbo.to_scene(document)
        assert len(scene.nodes) == count + 1
        assert dbo.write(dbo.from_scene(scene))

    assert_linear(there_and_back, 2_500)


def test_errors_say_where_and_what() -> None:
    good = dbo.write(made.arm())
    with pytest.raises(FormatError, match="magic"):
        dbo.read(b"\x08\0\0\0NOTADBO!" + good[12:])
    place = good.index(struct.pack("<III", 113, 4, 16)) + 8
    many = good[:place] + struct.pack("<I", 1 << 30) + good[place + 4 :]
    assert "its size of 512 fits" in dbo.read(many).warnings[0]
    with pytest.raises(FormatError, match=r"34359738368 bytes are needed.*vertices, offset \d+ "):
        dbo.read(many.replace(struct.pack("<II", 115, 512), struct.pack("<II", 115, 511)))
    with pytest.raises(FormatError, match="block 999"):
        frame = Frame(name="x")
        frame.blocks.append(made.Block(999, b"", 1 << 31))
        dbo.read(dbo.write(made.document(frame)))
    with pytest.raises(FormatError, match="root frame"):
        dbo.read(good[:24] + bytes(8))
    with pytest.raises(FormatError, match="sub_frames"):
        holder = made.box()
        holder.sub_frames = []
        data = dbo.write(made.document(made.frame("x", holder)))
        place = data.index(struct.pack("<II", 138, 4)) + 8
        dbo.read(data[:place] + b"\xff\xff\xff\x7f" + data[place + 4 :])


def test_bad_bytes_raise_format_errors_and_nothing_else() -> None:
    chance = random.Random(5)
    sources = [dbo.write(document) for document in made.everything()]
    usable = 0
    for number in range(600):
        data = bytearray(sources[number % len(sources)])
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(24, len(data) - 4)
            data[place : place + 4] = struct.pack(
                "<I", chance.choice([0, 1, 105, 0x7FFFFFFF, 0xFFFFFFFF, chance.getrandbits(32)])
            )
        if number % 3 == 0:
            del data[chance.randrange(len(data)) :]
        try:
            document = dbo.read(bytes(data))
            usable += 1
            assert dbo.write(document) == data
            scene = dbo.to_scene(document)
            dbo.summary(document)
            dbo.write(dbo.from_scene(scene))
        except FormatError:
            continue
    assert usable > 50
