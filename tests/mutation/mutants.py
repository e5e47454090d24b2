# SPDX-License-Identifier: GPL-3.0-or-later
"""Small defects that can be put into a source file: each is a piece of its text and what stands there instead."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: (r"<", "<="),
    ast.LtE: (r"<=", "<"),
    ast.Gt: (r">", ">="),
    ast.GtE: (r">=", ">"),
    ast.Eq: (r"==", "!="),
    ast.NotEq: (r"!=", "=="),
    ast.Is: (r"\bis\b", "is not"),
    ast.IsNot: (r"\bis\s+not\b", "is"),
    ast.In: (r"\bin\b", "not in"),
    ast.NotIn: (r"\bnot\s+in\b", "in"),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: (r"\+", "-"),
    ast.Sub: (r"-", "+"),
    ast.Mult: (r"\*", "/"),
    ast.Div: (r"/", "*"),
    ast.FloorDiv: (r"//", "*"),
    ast.Mod: (r"%", "*"),
    ast.Pow: (r"\*\*", "*"),
    ast.LShift: (r"<<", ">>"),
    ast.RShift: (r">>", "<<"),
    ast.BitAnd: (r"&", "|"),
    ast.BitOr: (r"\|", "&"),
    ast.BitXor: (r"\^", "|"),
}
# Calls that only say something to people, and arguments that change no result.
WORDS = re.compile(r"(^|\.)(warn|warning|debug|info|log|print)$|warnings\.(append|extend)$")
HARMLESS = {"strict", "copy", "stacklevel"}


@dataclass(frozen=True)
class Mutant:
    path: str  # below the project's root
    line: int
    start: int  # in the file's bytes
    end: int
    new: str
    kind: str

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.new.encode() + source[self.end :]


class Source:
    """A file, its tree, and where its nodes are in its bytes."""

    def __init__(self, path: Path, root: Path) -> None:
        self.name = path.relative_to(root).as_posix()
        self.data = path.read_bytes()
        self.tree = ast.parse(self.data)
        self.lines = [0]
        for line in self.data.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self.lines[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.lines[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt) -> str:
        return self.data[self.start(node) : self.end(node)].decode()

    def replaced(self, node: ast.expr | ast.stmt, new: str, kind: str) -> Mutant:
        return Mutant(self.name, node.lineno, self.start(node), self.end(node), new, kind)

    def between(self, left: ast.expr, right: ast.expr, pattern: str, new: str, kind: str) -> Iterator[Mutant]:
        """Replaces the operator that stands between two operands."""
        start = self.end(left)
        found = re.search(pattern.encode(), self.data[start : self.start(right)])
        if found:
            at = start + found.start()
            yield Mutant(self.name, self.data.count(b"\n", 0, at) + 1, at, start + found.end(), new, kind)


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def says_something(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and bool(WORDS.search(ast.unparse(node.func)))


def children(node: ast.AST) -> Iterator[ast.AST]:
    """What is below a node and changes what the program does: no annotations, decorators, messages, imports or assertions."""
    left_out: list[ast.AST | None] = []
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        left_out += node.decorator_list
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        left_out.append(node.returns)
    if isinstance(node, ast.AnnAssign | ast.arg):
        left_out.append(node.annotation)
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    for child in ast.iter_child_nodes(node):
        if child in left_out or is_docstring(child) or says_something(child):
            continue
        if isinstance(child, ast.Expr) and says_something(child.value):
            continue
        if isinstance(child, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr):
            if isinstance(child, ast.Raise):
                yield ast.Raise(None, None, lineno=child.lineno, col_offset=child.col_offset, **ends(child))
            continue
        if isinstance(child, ast.keyword) and child.arg in HARMLESS:
            continue
        if isinstance(child, ast.Assign) and ast.unparse(child.targets[0]) in ("__all__", "T"):
            continue
        yield child


def ends(node: ast.stmt) -> dict[str, int]:
    assert node.end_lineno is not None and node.end_col_offset is not None
    return {"end_lineno": node.end_lineno, "end_col_offset": node.end_col_offset}


def mutants_of_expression(source: Source, node: ast.AST) -> Iterator[Mutant]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield from source.between(node.left, node.comparators[0], *COMPARISONS[type(node.ops[0])], "comparison")
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield from source.between(node.left, node.right, *ARITHMETIC[type(node.op)], "arithmetic")
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield source.replaced(node, f"({source.text(node.right)}) @ ({source.text(node.left)})", "operands swapped")
    elif isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        yield from source.between(node.values[0], node.values[1], rf"\b{old}\b", new, "boolean")
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
        yield source.replaced(node, f"({source.text(node.operand)})", "operator removed")
    elif isinstance(node, ast.Constant):
        yield from mutants_of_constant(source, node)
    elif isinstance(node, ast.Call):
        plain = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
        if len(plain) >= 2 and plain == node.args and source.text(plain[0]) != source.text(plain[1]):
            start, end = source.start(plain[0]), source.end(plain[1])
            middle = source.data[source.end(plain[0]) : source.start(plain[1])].decode()
            new = source.text(plain[1]) + middle + source.text(plain[0])
            yield Mutant(source.name, plain[0].lineno, start, end, new, "arguments swapped")
    elif isinstance(node, ast.Slice):
        for bound in (node.lower, node.upper):
            if bound is not None and not isinstance(bound, ast.Constant):
                yield source.replaced(bound, f"({source.text(bound)}) + 1", "off by one")
    elif isinstance(node, ast.IfExp):
        yield source.replaced(node.test, f"not ({source.text(node.test)})", "condition negated")


def mutants_of_constant(source: Source, node: ast.Constant) -> Iterator[Mutant]:
    value = node.value
    if isinstance(value, bool):
        yield source.replaced(node, str(not value), "constant")
    elif isinstance(value, int):
        yield source.replaced(node, str(value + 1), "off by one")
        if value > 0:
            yield source.replaced(node, str(value - 1), "off by one")
    elif isinstance(value, float):
        yield source.replaced(node, repr(value * 2 if value else 1.0), "constant")
    elif isinstance(value, bytes) and value:
        yield source.replaced(node, repr(value + b"x"), "constant")


def mutants_of_statement(source: Source, node: ast.AST) -> Iterator[Mutant]:
    if isinstance(node, ast.Return) and node.value is not None and source.text(node.value) != "None":
        yield source.replaced(node.value, "None", "return")
    elif isinstance(node, ast.If | ast.While):
        yield source.replaced(node.test, f"not ({source.text(node.test)})", "condition negated")
    elif isinstance(node, ast.Expr | ast.AugAssign | ast.Raise | ast.Break | ast.Continue):
        if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call):
            yield source.replaced(node, "pass", "statement deleted")
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute | ast.Subscript):
        yield source.replaced(node, "pass", "statement deleted")


def mutants(path: Path, root: Path) -> list[Mutant]:
    """Every mutant of a file. Some are no program any more, or the same one: see `changes`."""
    source = Source(path, root)
    found: set[Mutant] = set()
    stack: list[ast.AST] = [source.tree]
    while stack:
        node = stack.pop()
        found.update(mutants_of_expression(source, node))
        found.update(mutants_of_statement(source, node))
        stack.extend(children(node))
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.new))


def changes(mutant: Mutant, data: bytes) -> bool:
    """Whether a mutant is a program, and another one than before."""
    try:
        return ast.dump(ast.parse(mutant.applied(data))) != ast.dump(ast.parse(data))
    except SyntaxError:
        return False


def sample(files: list[Path], root: Path, count: int, seed: int) -> list[Mutant]:
    """Mutants picked at random: first a line, so that every line weighs the same, then one of the line's mutants."""
    lines: dict[tuple[str, int], list[Mutant]] = {}
    for path in files:
        for mutant in mutants(path, root):
            lines.setdefault((mutant.path, mutant.line), []).append(mutant)
    choice = random.Random(seed)
    order = sorted(lines)
    choice.shuffle(order)
    picked: list[Mutant] = []
    for key in order:
        if len(picked) == count:
            break
        mutant = choice.choice(lines[key])
        if changes(mutant, (root / mutant.path).read_bytes()):
            picked.append(mutant)
    return picked


def function_lines(data: bytes, line: int) -> tuple[int, int] | None:
    """The first and last line of the innermost function around a line."""
    found = None
    for node in ast.walk(ast.parse(data)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            last = node.end_lineno or first
            if first <= line <= last and (found is None or first >= found[0]):
                found = first, last
    return found
