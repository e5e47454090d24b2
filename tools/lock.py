# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the lock files: every package that a dependency group brings in, with the hashes of its wheels on every system.

pip resolves a group here, on this system; what a package needs on another system only is written out in the group, with its
marker. The hashes come from the index pip itself is set to.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import urllib.parse
import urllib.request
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from .common import ROOT, Failure, run, say
from .environments import LOCKS, PYTHON, find_python

HEADER = """\
# Made by `python3 build.py lock` from the dependency group {name} in pyproject.toml: change it there.
--only-binary :all:
"""
WHEEL = re.compile(r"[^-]+-(?P<version>[^-]+)(-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-[^-]+\.whl")


def groups() -> dict[str, list[str]]:
    """The requirements of every group, those it includes among them."""
    import tomllib  # not at the top: an older Python still gets as far as finding a newer one

    table: dict[str, list[Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]

    def flat(name: str) -> list[str]:
        found: list[str] = []
        for entry in table[name]:
            found += [entry] if isinstance(entry, str) else flat(entry["include-group"])
        return found

    return {name: flat(name) for name in table}


def environments() -> dict[str, list[str]]:
    """The groups that are an environment; the others are only there to be included."""
    return {name: requirements for name, requirements in groups().items() if not name.startswith("with-")}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def resolve(requirements: list[str]) -> dict[str, tuple[str, str]]:
    """Everything that pip would install for some requirements: name to version and marker."""
    found: dict[str, tuple[str, str]] = {}
    for text in requirements:
        pin, _, marker = (part.strip() for part in text.partition(";"))
        name, _, version = pin.partition("==")
        if not version:
            raise Failure(f"pyproject.toml: {text} is not pinned with ==")
        found[canonical(name)] = version, marker
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [find_python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--dry-run"]
        command += ["--ignore-installed", "--only-binary", ":all:", "--report", str(report)]
        run([*command, *requirements], f"resolve {' '.join(requirements)}")
        for entry in json.loads(report.read_text("utf-8"))["install"]:
            metadata = entry["metadata"]
            found.setdefault(canonical(metadata["name"]), (metadata["version"], ""))
    return found


# -------------------------------------------------------------------------------------------------------------- hashes


def index_url() -> str:
    """The index that pip takes packages from, as its own help says it: its default, or what it was set to."""
    os.environ["COLUMNS"] = "400"  # so that the help is not wrapped in the middle of it
    words = run([find_python(), "-m", "pip", "install", "--help"], "ask pip for its help")
    found = re.search(r"--index-url <url>.*\(default (\S+?)\)", words)
    if found is None:
        raise Failure("pip does not say which index it uses.")
    return found[1].rstrip("/")


class Links(HTMLParser):
    """The sha256 of every file on the page of a package (PEP 503)."""

    def __init__(self) -> None:
        super().__init__()
        self.hashes: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        parts = urllib.parse.urlsplit(dict(attrs).get("href") or "")
        if tag == "a" and parts.fragment.startswith("sha256="):
            self.hashes[urllib.parse.unquote(parts.path).rpartition("/")[2]] = parts.fragment.removeprefix("sha256=")


def runs_here(python: str, abi: str) -> bool:
    """Whether a wheel with these tags is for the Python of the environments, on whatever system."""
    major, minor = PYTHON
    own = f"cp{major}{minor}"
    for tag in python.split("."):
        stable = re.fullmatch(rf"cp{major}(\d+)", tag) if "abi3" in abi else None
        if tag in (own, f"py{major}", f"py{major}{minor}") or (stable and int(stable[1]) <= minor):
            return True
    return False


def hashes(index: str, name: str, version: str) -> list[str]:
    request = urllib.request.Request(f"{index}/{name}/", headers={"Accept": "text/html"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        page = Links()
        page.feed(answer.read().decode("utf-8"))
    found = set()
    for file, sha256 in page.hashes.items():
        wheel = WHEEL.fullmatch(file)
        if wheel and wheel["version"] == version and runs_here(wheel["python"], wheel["abi"]):
            found.add(sha256)
    if not found:
        raise Failure(f"The index has no wheel of {name} {version} for Python {PYTHON[0]}.{PYTHON[1]}.")
    return sorted(found)


def lock() -> None:
    """Writes every lock file anew."""
    index = index_url()
    LOCKS.mkdir(exist_ok=True)
    known: dict[tuple[str, str], list[str]] = {}
    for name, requirements in environments().items():
        say(f"Locking {name}")
        entries = []
        for package, (version, marker) in sorted(resolve(requirements).items()):
            if (package, version) not in known:
                known[package, version] = hashes(index, package, version)
            first = f"{package}=={version}" + (f" ; {marker}" if marker else "")
            entries.append(" \\\n    ".join([first, *(f"--hash=sha256:{sha256}" for sha256 in known[package, version])]))
        (LOCKS / f"{name}.txt").write_text(HEADER.format(name=name) + "\n".join(entries) + "\n", "utf-8")
    for path in LOCKS.glob("*.txt"):
        if path.stem not in environments():
            path.unlink()
