# SPDX-License-Identifier: GPL-3.0-or-later
"""What people who know the games call the types of animations and their events. Numbers without a name keep their number."""

from __future__ import annotations

TYPE_NAMES = {
    0x00: "idle",
    0x10: "hit",
    0x20: "block",
    0x30: "attack",
    0x40: "magic",
    0x50: "item",
    0x60: "far attack",
    0x70: "counter",
    0x80: "special 1",
    0x90: "special 2",
    0xA0: "special 3",
    0xE0: "death",
}
EVENT_NAMES = {
    0x00: "hold on",
    0x01: "hold off",
    0x02: "swoosh on",
    0x03: "swoosh off",
    0x04: "freeze on",
    0x05: "freeze off",
    0x06: "hit",
    0x07: "dust",
    0x08: "stop if dead",
    0x16: "shield 16",
    0x17: "shield 17",
    0x18: "eyes 18",
    0x19: "eyes 19",
    0x1A: "impact 1A",
    0x1B: "impact 1B",
    0x1C: "muzzle 1C",
    0x1D: "muzzle 1D",
}
