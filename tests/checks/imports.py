# SPDX-License-Identifier: GPL-3.0-or-later
"""The import graph of the package, and the rules of the house that can be read from the source.

    python -m tests.checks.imports             fails with every broken rule
    python -m tests.checks.imports --print     prints the graph: a module a line, and what it imports
    python -m tests.checks.imports --print --dot    the same for Graphviz, floor by floor

An import inside a function, or for type checkers only, counts for the floors but not for cycles: it does not run when its
module is loaded.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "io_retro_meshes"

# Which floor may import which; "" is the package's own __init__. A door is a way in: each may use what it opens.
FLOORS: dict[str, set[str]] = {
    "scene": {"scene", "pictures"},
    "atomic": set(),
    "pictures": {"pictures", "scene", "atomic"},
    "formats": {"formats", "scene", "pictures"},
    "files": {"formats", "scene", "atomic"},
    "blender": {"blender", "atomic", "files", "formats", "scene", "pictures"},
    "ui": {"ui", "blender", "formats", "cli"},
    "convert": {"convert", "files", "formats", "scene", "pictures"},
    "batch": {"batch", "atomic", "convert", "formats", "scene", "pictures", "blender"},
    "cli": {"cli", "batch", "convert", "formats"},
    "__main__": {"cli", "batch"},
    "": {"ui"},
}
WITH_BPY = {"blender", "ui"}  # the floors that are loaded only in Blender
BLENDER_MODULES = {"bpy", "bpy_extras", "bmesh", "mathutils", "addon_utils", "gpu", "bl_ui", "rna_prop_ui"}
TABLE = "formats"  # the only module that names the formats' packages
BY_NAME = {"formats", "formats.format"}  # may load a format by its name, on first use
SYS_PATH = {"cli"}  # Blender runs cli.py by its path: `blender --python io_retro_meshes/cli.py`

# Exceptions, which there should be none of.
ALLOWED: set[tuple[str, str]] = set()


@dataclass(frozen=True)
class Import:
    source: str
    target: str
    line: int
    at_load: bool  # runs when the module is loaded


@dataclass
class Module:
    name: str  # below the package: "formats.b3d.read", "" for the package itself
    path: Path
    tree: ast.Module
    is_package: bool
    imports: list[Import] = field(default_factory=list)
    outside: list[Import] = field(default_factory=list)  # of other packages

    @property
    def floor(self) -> str:
        return self.name.partition(".")[0]


def load(package: Path) -> dict[str, Module]:
    """Every module of the package with its imports."""
    modules = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        if all(part.isidentifier() for part in parts) and parts[0] != "presets":
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            modules[name] = Module(name, path, ast.parse(path.read_text("utf-8")), is_package)
    for module in modules.values():
        for node, at_load in import_nodes(module.tree):
            add_imports(module, node, at_load, modules, package.name)
    return modules


def import_nodes(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Every import, and whether it runs when the module is loaded."""
    stack: list[tuple[ast.AST, bool]] = [(tree, True)]
    while stack:
        node, at_load = stack.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, at_load
        at_load = at_load and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            at_load = False
        stack.extend((child, at_load) for child in ast.iter_child_nodes(node))


def add_imports(
    module: Module, node: ast.Import | ast.ImportFrom, at_load: bool, modules: dict[str, Module], package: str
) -> None:
    if isinstance(node, ast.Import) or node.level == 0:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        module.outside += [Import(module.name, name, node.lineno, at_load) for name in names]
        return
    base = module.name.split(".") if module.name else []
    climb = node.level - (1 if module.is_package else 0)
    if climb > len(base):
        module.outside.append(Import(module.name, f"{package} from outside", node.lineno, at_load))
        return
    base = base[: len(base) - climb] + (node.module.split(".") if node.module else [])
    for alias in node.names:
        below = ".".join([*base, alias.name])
        target = below if below in modules else ".".join(base)
        entry = Import(module.name, target, node.lineno, at_load)
        if target != module.name and entry not in module.imports:
            module.imports.append(entry)


# --------------------------------------------------------------------------------------------------------------- rules


def cycles(modules: dict[str, Module]) -> list[list[str]]:
    """Groups of modules that need each other to be loaded (Tarjan's strongly connected components)."""
    edges = {name: {i.target for i in module.imports if i.at_load} for name, module in modules.items()}
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for target in edges[name]:
            if target not in order:
                visit(target)
            if target in stack:
                low[name] = min(low[name], low[target])
        if low[name] == order[name]:
            at = stack.index(name)
            group = stack[at:]
            del stack[at:]
            if len(group) > 1:
                found.append(sorted(group))

    for name in edges:
        if name not in order:
            visit(name)
    return found


def format_packages(modules: dict[str, Module]) -> set[str]:
    return {
        name for name, module in modules.items() if module.is_package and name.startswith("formats.") and name.count(".") == 1
    }


def package_of(name: str, packages: set[str]) -> str | None:
    """The format's package that a module is in."""
    head = ".".join(name.split(".")[:2])
    return head if head in packages else None


def floor_problem(module: Module, found: Import, packages: set[str]) -> str | None:
    floor = found.target.partition(".")[0]
    if floor not in FLOORS.get(module.floor, {floor}):
        return f"{module.floor or 'the package'} may not import {floor or 'the package'}"
    if (found.source + ".").startswith("blender.collect.") and (found.target + ".").startswith("blender.build."):
        return "collecting does not import building"
    named = package_of(found.target, packages)
    if named and module.name != TABLE and package_of(module.name, packages) != named:
        return f"only {TABLE}/__init__.py may name a format"
    if module.floor == "ui" and floor == TABLE and found.target not in (TABLE, "formats.format", "formats.options"):
        return "ui goes through blender, except for the table of formats"
    return None


def outside_problem(module: Module, found: Import, package: str) -> str | None:
    top = found.target.partition(".")[0].partition(" ")[0]
    if top == package:
        return "imports inside the package are relative"
    if (
        top in BLENDER_MODULES
        and module.floor not in WITH_BPY
        and (found.at_load or module.floor in ("scene", "pictures", "formats"))
    ):
        return f"{top} is only in Blender"
    return None


def source_problems(module: Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield node.lineno, "bare except"
        if isinstance(node, ast.ImportFrom) and node.module == "sys" and "path" in {alias.name for alias in node.names}:
            yield node.lineno, "sys.path is not ours to change"
        if isinstance(node, ast.Name | ast.Attribute):
            words = ast.unparse(node)
            if words == "sys.path" and module.name not in SYS_PATH:
                yield node.lineno, "sys.path is not ours to change"
            if words.startswith("bpy.app.version") and module.name != "blender.compat":
                yield node.lineno, "Blender's version is asked for in blender/compat.py only"
            if words.endswith(("import_module", "__import__")) and module.name not in BY_NAME:
                yield node.lineno, "an import by name is not seen in the graph"
            if words == "bl_info":
                yield node.lineno, "bl_info is for add-ons of the old kind"


def problems(package: Path, allowed: set[tuple[str, str]] | None = None) -> list[str]:
    """Every broken rule as file:line: what is wrong."""
    allowed = ALLOWED if allowed is None else allowed
    modules = load(package)
    packages = format_packages(modules)
    found = [f"cycle: {' '.join(group)}" for group in cycles(modules)]
    strangers = {module.floor for module in modules.values()} - set(FLOORS)
    found += [f"{name}: is on no floor: say in {Path(__file__).name} what it may import" for name in sorted(strangers)]
    used = set()
    for module in modules.values():
        where = module.path.relative_to(package.parent).as_posix()
        for entry in module.imports:
            words = floor_problem(module, entry, packages)
            if words and (entry.source, entry.target) in allowed:
                used.add((entry.source, entry.target))
            elif words:
                found.append(f"{where}:{entry.line}: imports {entry.target}: {words}")
        for entry in module.outside:
            words = outside_problem(module, entry, package.name)
            if words:
                found.append(f"{where}:{entry.line}: imports {entry.target}: {words}")
        found += [f"{where}:{line}: {words}" for line, words in source_problems(module)]
    found += [f"{source} -> {target}: is allowed, but not done any more" for source, target in sorted(allowed - used)]
    return found


# --------------------------------------------------------------------------------------------------------------- graph


def text(modules: dict[str, Module]) -> str:
    lines = []
    for name, module in sorted(modules.items()):
        at_load = {entry.target for entry in module.imports if entry.at_load}
        later = {entry.target for entry in module.imports} - at_load
        targets = sorted(at_load) + [f"({target})" for target in sorted(later)]
        lines.append(f"{name or '.'}: {' '.join(target or '.' for target in targets)}".rstrip())
    return "\n".join(lines)


def dot(modules: dict[str, Module]) -> str:
    lines = ["digraph imports {", "  rankdir=BT; node [shape=box];"]
    for floor in sorted({module.floor for module in modules.values()}):
        names = " ".join(f'"{name or "."}";' for name, module in sorted(modules.items()) if module.floor == floor)
        lines.append(f'  subgraph "cluster_{floor or "package"}" {{ label="{floor or "package"}"; {names} }}')
    edges = sorted({(entry.source, entry.target, entry.at_load) for module in modules.values() for entry in module.imports})
    for source, target, at_load in edges:
        lines.append(f'  "{source or "."}" -> "{target or "."}"{"" if at_load else " [style=dashed]"};')
    return "\n".join([*lines, "}"])


def main(arguments: list[str]) -> int:
    modules = load(PACKAGE)
    if "--print" in arguments:
        print(dot(modules) if "--dot" in arguments else text(modules))
        return 0
    found = problems(PACKAGE)
    edges = len({(entry.source, entry.target) for module in modules.values() for entry in module.imports})
    print(
        "\n".join([*found, f"{len(modules)} modules, {edges} imports, {len(found)} problems, {len(ALLOWED)} allowed for now"])
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
