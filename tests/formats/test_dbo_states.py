# SPDX-License-Identifier: GPL-3.0-or-later
"""Render states of DBO meshes: which block each is in, and what it becomes."""

from __future__ import annotations

import struct

import pytest

from io_retro_meshes.formats import dbo
from tests.builders import dbo as made

# What the format's document calls these blocks of a mesh, and bytes that are not the engine's default.
STATES = {
    129: ("wireframe", b"\1"),
    130: ("light", b"\0"),
    131: ("cull", b"\0"),
    132: ("fog", b"\0"),
    133: ("ambient", b"\0"),
    134: ("transparency", b"\1"),
    137: ("linked", b"\1"),
    140: ("visible", b"\0"),
    155: ("arbitrary value", b"\7\0\0\0"),
    156: ("z bias", b"\1"),
    157: ("z bias slope", struct.pack("<f", 0.5)),
    158: ("z bias depth", struct.pack("<f", 0.25)),
    159: ("z read", b"\0"),
    160: ("z write", b"\0"),
    166: ("alpha test", b"\x33\0\0\0"),
}


def test_render_states_are_in_the_blocks_of_the_format() -> None:
    source = made.box()
    source.use_material = True
    for code, (_, data) in STATES.items():
        source.put(code, data)
    scene = dbo.to_scene(dbo.read(dbo.write(made.document(made.frame("x", source)))))
    (material,) = scene.materials
    assert material.wireframe and material.full_bright and material.double_sided and scene.nodes[0].hidden
    assert material.blend == "MASK" and material.threshold == pytest.approx(0.2)
    settings = {**material.settings["dbo"], **scene.meshes[0].settings["dbo"]}
    assert settings["fog"] is settings["ambient"] is settings["z_read"] is settings["z_write"] is False
    assert settings["z_bias"] is settings["linked"] is True and settings["arbitrary_value"] == 7
    assert (settings["z_bias_slope"], settings["z_bias_depth"]) == (0.5, 0.25)
    written = dbo.read(dbo.write(dbo.from_scene(scene))).root.frame.mesh
    assert {code: written.find(code).data for code in STATES} == {code: data for code, (_, data) in STATES.items()}
