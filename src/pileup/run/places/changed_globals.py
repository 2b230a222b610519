"""Global variables that a test's own file changes: each place has its own, so no two places see the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

CHANGING = frozenset({"append", "add", "update", "setdefault", "extend", "insert", "pop", "clear", "remove", "discard"})
"""Methods of lists, sets and mappings that change them."""
LARGEST = 1 << 20
"""Bytes of a file that is looked into."""
HINT = "what all places share is what `begin_run` returns: `self.shared`"


def remark_on(use: str, folder: Path) -> str:
    """Return a remark on a test from a file that runs at several places; empty if there is none.

    It detects changes of a name of the module in a function: `global`, an assignment to a part of it, or a method that
    changes it. Other ways are not detected.
    """
    name, _, _ = use.rpartition(":")
    path = folder / name
    try:
        found = changed(path.read_text()) if name.endswith(".py") and path.stat().st_size <= LARGEST else []
    except (OSError, ValueError, SyntaxError, RecursionError):
        return ""
    if not found:
        return ""
    told = ", ".join(found)
    return f"{name} changes {told} while it runs: each place has its own, and sees no change of another; {HINT}"


def changed(text: str) -> list[str]:
    """Return the names of a module that its functions change. Raises SyntaxError."""
    tree = ast.parse(text)
    known = set(_assigned(tree.body))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return sorted({name for function in functions for name in _changes(function, known)})


def _assigned(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def _changes(function: ast.FunctionDef | ast.AsyncFunctionDef, known: set[str]) -> Iterator[str]:
    nodes = list(ast.walk(function))
    shared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    local = {node.arg for node in nodes if isinstance(node, ast.arg)}
    local |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    seen = (known - local) | (known & shared)
    yield from known & shared
    for node in nodes:
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            base: ast.expr = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            base = node.func.value
        else:
            continue
        if isinstance(base, ast.Name) and base.id in seen:
            yield base.id
