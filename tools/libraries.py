# SPDX-License-Identifier: GPL-3.0-or-later
"""The system libraries that the bpy wheels ask for, by the packages that bring them."""

from __future__ import annotations

import os
import shutil
import subprocess

from .common import LIMIT, Failure, output, say

PACKAGES = {
    "apt-get install -y": "libx11-6 libxi6 libxxf86vm1 libxfixes3 libxrender1 libxkbcommon0 libsm6 libice6 libgl1 libgomp1",
    "dnf install -y": "libX11 libXi libXxf86vm libXfixes libXrender libxkbcommon libSM libICE libglvnd-glx libgomp",
}


def lines() -> str:
    """The line that installs the libraries on this system, or the lines for all known ones."""
    here = [f"    {line} {names}" for line, names in PACKAGES.items() if shutil.which(line.split()[0])]
    return "\n".join(here or [f"    {line} {names}" for line, names in PACKAGES.items()])


def rights() -> list[str] | None:
    """What goes before a command to run it as root, or None where that is not ours to do.

    sudo is used only on a machine that says it is there for continuous integration, and only if it asks for no password.
    """
    if os.name != "posix" or not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return []
    if os.environ.get("CI") and output(["sudo", "-n", "true"]) is not None:
        return ["sudo", "-n", "--preserve-env=DEBIAN_FRONTEND"]
    return None


def install() -> bool:
    """Installs the libraries where this process may do so. Says what it does."""
    before = rights()
    if before is None:
        return False
    say(f"Installing the system libraries that Blender's module needs:\n{lines()}")
    install_line = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES["apt-get install -y"].split()]
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for line in (["apt-get", "-qq", "update"], install_line):
        command = [*before, *line]
        done = subprocess.run(command, timeout=LIMIT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=quiet)
        if done.returncode:
            raise Failure(f"Could not install the system libraries:\n{' '.join(command)}\n{done.stdout.strip()}")
    return True
