"""Explains a failed plain `assert`: its expression with the values in it.

Only names, fields and lengths are evaluated again. In files that suites name, `keeping` changes asserts so that results
of calls are kept: `assert answer() == 4` becomes `assert (kept := answer()) == 4`.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import reprlib
from collections import ChainMap
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType, MemberDescriptorType, ModuleType, TracebackType
from typing import Any

KEPT = "_pileup_kept_"
"""Names of the local variables that hold the operands of the assert which was evaluated last, and their number."""
LONGEST = 80
"""Most characters shown of one value; twice as many of the expression."""
MOST = 6
"""Values shown of one assert."""
_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = LONGEST
BUILTIN = (str, bytes, list, tuple, dict, set, frozenset, range)
"""Types whose length and items can be read without running foreign code."""


class UnknownValue(Exception):
    """The value of an expression is not known without evaluating it again."""


def told(trace: TracebackType | None) -> str:
    """Return `assert x == 4, where x = 3` of a traceback that ends in a failed assert; empty where it does not."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    try:
        found = _failed(trace.tb_frame.f_code, trace.tb_lasti) if trace else None
        return _sentence(found, trace.tb_frame) if found and trace else ""
    except Exception:  # the source has changed, or the value cannot be shown: the line is still reported
        return ""


@lru_cache(1024)
def _failed(code: CodeType, at: int) -> ast.Assert | None:
    """Return the assert to which an instruction of a function belongs."""
    span = _span(code, at)
    return next((each for each in _asserts(code.co_filename) if _covers(each, span)), None)


def _span(code: CodeType, at: int) -> tuple[int, int]:
    """Return line and column of an instruction."""
    line, _, column, _ = next(islice(code.co_positions(), at // 2, None))
    return line or 0, column or 0


def _covers(node: ast.Assert, span: tuple[int, int]) -> bool:
    last = node.end_lineno or node.lineno, node.end_col_offset or 0
    return (node.lineno, node.col_offset) <= span <= last


@lru_cache(64)
def _asserts(file_name: str) -> tuple[ast.Assert, ...]:
    tree = ast.parse("".join(linecache.getlines(file_name)))
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Assert))


def _sentence(found: ast.Assert, frame: FrameType) -> str:
    names = ChainMap(frame.f_locals, frame.f_globals, frame.f_builtins)
    kept = {
        node: names[name]
        for number, node in enumerate(_operands(found.test))
        if (name := f"{KEPT}{number}") in names and _is_kept(node)
    }
    values: dict[str, str] = {}
    for node, value in _known(found.test, names, kept):
        values.setdefault(_text(node), _shown(value))
    text = _cut(_text(found.test), 2 * LONGEST)
    told = {name: value for name, value in values.items() if value not in ("", name) and len(name) <= LONGEST}
    shown = [f"{name} = {value}" for name, value in told.items()][:MOST]
    return f"assert {text}" + (f", where {', '.join(shown)}" if shown else "")


@lru_cache(4096)
def _text(node: ast.expr) -> str:
    return ast.unparse(node)


def _operands(test: ast.expr) -> list[ast.expr]:
    """Return the parts of an assert that were evaluated, whatever the result."""
    match test:
        case ast.Compare(left, _, [first, *_]):
            return [left, first]
        case ast.UnaryOp(ast.Not(), operand):
            return _operands(operand)
        case ast.BoolOp(_, [first, *_]):
            return _operands(first)
    return [test]


def _is_kept(node: ast.expr) -> bool:
    """Whether an operand is known only if it is kept."""
    return not isinstance(node, ast.Name | ast.Constant | ast.NamedExpr)


def _known(node: ast.expr, names: Mapping[str, Any], kept: dict[ast.expr, object]) -> Iterator[tuple[ast.expr, object]]:
    """Yield the largest parts of an expression whose values are known, but constants."""
    if isinstance(node, ast.Constant):
        return
    if not isinstance(node, ast.Compare | ast.BoolOp):
        try:
            yield node.target if isinstance(node, ast.NamedExpr) else node, _value(node, names)
        except UnknownValue:
            if node in kept:
                yield node, kept[node]
        else:
            if not isinstance(node, ast.Call):
                return
    if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return  # names of its own
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _known(child, names, kept)


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Return the value of an expression that is a name, or what can be looked up in one. Raises UnknownValue."""
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name) | ast.NamedExpr(ast.Name(name)) if name in names:
            return names[name]
        case ast.Attribute(owner, name):
            return _field(_value(owner, names), name)
        case ast.Call(ast.Name("len"), [argument], []) if names.get("len") is len:
            value = _value(argument, names)
            if type(value) in BUILTIN:
                return len(value)
        case ast.Subscript(owner, index):
            return _item(_value(owner, names), _value(index, names))
    raise UnknownValue


def _field(owner: object, name: str) -> Any:
    """Return a field that can be read without running foreign code. Raises UnknownValue."""
    cls = type(owner)
    if cls.__getattribute__ not in (object.__getattribute__, ModuleType.__getattribute__, type.__getattribute__):
        raise UnknownValue
    try:
        found = inspect.getattr_static(owner, name)
    except AttributeError:
        raise UnknownValue from None
    if isinstance(found, MemberDescriptorType):
        return found.__get__(owner, cls)
    if hasattr(type(found), "__get__"):  # a property, a method
        raise UnknownValue
    return found


def _item(owner: object, index: object) -> Any:
    if type(owner) not in BUILTIN or type(index) not in (int, str):
        raise UnknownValue
    try:
        return owner[index]  # type: ignore[index]
    except (LookupError, TypeError):
        raise UnknownValue from None


def _shown(value: object) -> str:
    """Return a short text of a value; empty for a function, a module, or an object without a readable one."""
    if callable(value) or isinstance(value, ModuleType) or type(value).__repr__ is object.__repr__:
        return ""
    return _cut(_REPR.repr(value), LONGEST)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "\u2026"


class _Keeping(ast.NodeTransformer):
    """Makes each assert of a function keep the values of its operands."""

    def __init__(self) -> None:
        self._within: list[type[ast.AST]] = []

    def visit(self, node: ast.AST) -> Any:
        """Visit the tree, remembering the nearest scope."""
        scope = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if scope:
            self._within.append(type(node))
        try:
            return super().visit(node)
        finally:
            if scope:
                self._within.pop()

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        """Name the operands of an assert that is in a function: names of a class or module would be seen."""
        if self._within and self._within[-1] is not ast.ClassDef:
            for number, operand in enumerate(_operands(node.test)):
                if _is_kept(operand):
                    node.test = _Naming(operand, f"{KEPT}{number}").visit(node.test)
        return node


class _Naming(ast.NodeTransformer):
    """Makes one expression bind its value to a name."""

    def __init__(self, wanted: ast.expr, name: str) -> None:
        self._wanted = wanted
        self._name = name

    def visit(self, node: ast.AST) -> Any:
        """Find it."""
        if node is not self._wanted:
            return super().visit(node)
        target = ast.copy_location(ast.Name(self._name, ast.Store()), node)
        return ast.copy_location(ast.NamedExpr(target, self._wanted), node)


def keeping(source: bytes, file_name: str) -> CodeType:
    """Compile a user's file so that its asserts keep the values of their operands. Raises SyntaxError."""
    tree = ast.fix_missing_locations(_Keeping().visit(ast.parse(source, file_name)))
    return compile(tree, file_name, "exec", dont_inherit=True)
