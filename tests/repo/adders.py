"""Finds what adds up frames, and what lists the outcomes, in a module: by its syntax alone."""

import ast
from collections.abc import Iterator

OUTCOMES = {"passed", "failed", "refused", "ambiguous", "unfinished", "lost"}
LISTED = 4
"""So many outcomes in one list are the list of them."""
COUNTERS = OUTCOMES | {"bytes", "calls", "timed_out", "repeated", "done", "moved", "started", "missed", "cpu"} | {
    "response", "service", "late",
}  # fmt: skip
"""What frames and their rows count."""
NOT_FRAMES = {"block", "reader", "reply", "self", "table"}
"""What else has rows."""


def sums(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of what goes through the rows of frames, adds their counters, or merges histograms."""
    for node in ast.walk(ast.parse(source)):
        if _goes_through(node) or _merges(node) or _adds(node):
            yield getattr(node, "lineno", 0), ast.unparse(node)


def lists(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of what lists the outcomes: as words, or one attribute after the other."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Tuple(elts=several) | ast.List(elts=several) | ast.Set(elts=several):
                named = {each.value for each in several if isinstance(each, ast.Constant)}
            case ast.BinOp(op=ast.Add()):
                named = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
            case _:
                continue
        if len(named & OUTCOMES) >= LISTED:
            yield node.lineno, ast.unparse(node)


def _goes_through(node: ast.AST) -> bool:
    """`frame.rows`, but for what else has rows, and for calls."""
    match node:
        case ast.For(iter=whole) | ast.comprehension(iter=whole) | ast.Call(func=ast.Name(), args=[whole, *_]):
            match whole:
                case ast.Attribute(value=ast.Name(id=owner), attr="rows"):
                    return owner not in NOT_FRAMES
    return False


def _merges(node: ast.AST) -> bool:
    """`Histogram()`, `whole.merge(part)`."""
    match node:
        case ast.Call(func=ast.Name(id="Histogram")) | ast.Call(func=ast.Attribute(attr="merge")):
            return True
    return False


def _adds(node: ast.AST) -> bool:
    """`self.missed += frame.missed`, `sum(row.bytes for row in rows)`, `sums[name] += getattr(row, name)`."""
    match node:
        case ast.AugAssign(op=ast.Add(), value=added):
            return any(map(_is_counter, ast.walk(added)))
        case ast.Call(func=ast.Name(id="sum"), args=[added, *_]):
            return any(map(_is_counter, ast.walk(added)))
    return False


def _is_counter(node: ast.AST) -> bool:
    """`row.passed`, `frame.missed`, `row["passed"]`, `getattr(row, name)`."""
    match node:
        case ast.Attribute(value=ast.Name(id="row" | "frame"), attr=name):
            return name in COUNTERS
        case ast.Subscript(value=ast.Name(id="row" | "frame"), slice=ast.Constant(value=name)):
            return name in COUNTERS
        case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id="row" | "frame"), *_]):
            return True
    return False
