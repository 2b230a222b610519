"""The page of what a plug-in programs against: the public classes with their fields and methods, from their source."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any

from pileup.cli.pages.page import Block, Heading, Page, Table, Words
from pileup.model import program, record
from pileup.model.suite_part import Part
from pileup.plugin import (
    batch,
    commands,
    credentials,
    exporter,
    launcher,
    logs,
    monitor,
    operation,
    proc,
    program_client,
    report,
    results,
    target,
    testing,
)
from pileup.plugin import test as tests
from pileup.plugin.charts import Chart, Drawing, Group

PARTS: dict[str, tuple[Any, ...]] = {
    "Tests": (tests.Test, tests.Context, operation.Op, operation.Operation, operation.Ledger),
    "Programs": (commands.run_command, commands.Finished, commands.Stream),
    "Targets": (target.Target, target.FileTarget, target.Entry, credentials.Credentials, program.ClientSpec),
    "Private servers": (
        *(launcher.Launcher, launcher.Daemon, launcher.Task, launcher.File),
        *(launcher.Line, launcher.Answer, launcher.Accepts, launcher.Exists),
    ),
    "Other clients": (program_client.ProgramClient, program_client.Call),
    "Batch systems": (batch.BatchTarget,),
    "Monitors": (
        *(monitor.Monitor, record.Sample, logs.Log, logs.by_line),
        *(proc.Proc, proc.Texts, proc.Stats, proc.Machine),
    ),
    "Reports, charts, exporters": (report.Report, Chart, Group, Drawing, exporter.Exporter, exporter.ExportTable),
    "Results of a run": (
        *(results.RunResults, results.CaseResult, results.OperationResult, results.CriterionResult),
        *(results.Figure, results.Interval, results.Counts, results.Distribution, results.Timeline),
        *(results.ErrorGroup, results.Series, results.Detached, results.PointVerdict, results.Comparison),
        *(results.FaultResult, results.AuditResult, results.JobsResult, results.Event),
    ),
    "Verdicts": (record.Outcome, results.CaseOutcome, results.Verdict, results.RunVerdict, results.ExitCode),
    "Tests of plug-ins": (
        *(testing.run_once, testing.Iteration, testing.TimedOperation),
        *(testing.TestLedger, testing.EndedOperation, testing.results),
    ),
}
"""Heading -> classes and functions, in their order on the page."""
HOW = (
    "What plug-ins are given and what they define, from the signatures and docstrings of `pileup.plugin` (charts: "
    "`pileup.plugin.charts`, logs: `.logs`, results: `.results`, tests of plug-ins: `.testing`, batch systems: "
    "`.batch`, `Credentials`: `.credentials`, verdicts: `.results`). "
    "docs/plugins.md and the pages that it names show how they are used. Fields with a default need not be given."
)


def programming_page() -> Page:
    """Return the page."""
    return Page("", "plugin", "For authors of plug-ins", "classes that plug-ins use", (Words(HOW), *_blocks()))


def _blocks() -> Iterator[Block]:
    for title, things in PARTS.items():
        yield Heading(title)
        names = ", ".join(f"[{each.__name__}](#{each.__name__.lower()})" for each in things)
        yield Words(names)
        for each in things:
            yield Heading(each.__name__)
            yield from class_blocks(each) if inspect.isclass(each) else _function(each)


def _function(function: Any) -> Iterator[Block]:
    yield Words(f"`{_signature(_parsed(function))}`")
    yield Words(_text(function))


def class_blocks(cls: type) -> Iterator[Block]:
    """Yield docstring, members, fields and methods of a class."""
    bases = [base.__name__ for base in cls.__bases__ if base.__module__.startswith("pileup.") and base is not Part]
    yield Words(_text(cls) + (f" Has what {' and '.join(bases)} has." if bases else ""))
    body = _parsed(cls).body
    if issubclass(cls, Enum):
        yield Table(("name", "value", "what"), tuple(_members(body)))
    fields, methods = [*_fields(body)], [*_methods(body)]
    if fields:
        yield Table(("name", "type", "default", "what"), tuple(fields))
    if methods:
        yield Table(("method", "what"), tuple(methods))


def _members(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ...]]:
    """Yield the members of an enumeration: name, value, meaning."""
    for node, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign):
            yield f"`{ast.unparse(node.targets[0])}`", f"`{ast.unparse(node.value)}`", _line(_below(following))


def _fields(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ...]]:
    """Yield the fields and the properties of a class: name, type, default, meaning."""
    for node, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and _public(node.target.id):
            default, what = _described(node.value)
            yield f"`{node.target.id}`", f"`{_type(node.annotation)}`", default, _line(_below(following)) or what
        elif isinstance(node, ast.FunctionDef) and _public(node.name) and _property(node) and node.returns:
            yield f"`{node.name}`", f"`{_type(node.returns)}`", "", _line(ast.get_docstring(node))


def _methods(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ...]]:
    """Yield the methods of a class: how they are called, and what they do."""
    for node in body:
        if (
            isinstance(node, ast.FunctionDef)
            and (_public(node.name) or node.name == "__call__")
            and not _property(node)
        ):
            of_class = (
                "@classmethod " if any(ast.unparse(each) == "classmethod" for each in node.decorator_list) else ""
            )
            yield f"`{of_class}{_signature(node)}`", _line(ast.get_docstring(node))


def _signature(node: Any) -> str:
    """Return name, arguments and what is returned, as in the source but for the object itself."""
    arguments = ast.unparse(node.args)
    first, _, rest = arguments.partition(", ")
    name = "op" if node.name == "__call__" else node.name
    return f"{name}({rest if first in ('self', 'cls') else arguments}) -> {ast.unparse(node.returns)}"


def _type(node: ast.expr) -> str:
    """Return a type without what is about the class alone."""
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "ClassVar":
        return ast.unparse(node.slice)
    return ast.unparse(node)


def _default(node: ast.expr | None) -> str:
    """Return a default as written; of one that is made again for each object what makes it."""
    if node is None:
        return ""
    return f"`{_made(node) or ast.unparse(node)}`"


def _described(node: ast.expr | None) -> tuple[str, str]:
    """Return default and meaning, which pydantic's `Field(default, description=...)` has in one."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "Field":
        told = [ast.literal_eval(word.value) for word in node.keywords if word.arg == "description"]
        return _default(node.args[0] if node.args else None), _line("".join(told))
    return _default(node), ""


def _made(node: ast.expr) -> str:
    """Return what `field(default_factory=...)` makes, empty for any other default."""
    if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "field"):
        return ""
    given = {word.arg: ast.unparse(word.value) for word in node.keywords}
    return given.get("default", f"{given['default_factory']}()" if "default_factory" in given else "")


def _below(node: ast.stmt | None) -> str | None:
    """Return the text below a field."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return None


def _property(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(each).endswith("property") for each in node.decorator_list)


def _public(name: str) -> bool:
    return not name.startswith("_")


def _parsed(thing: Any) -> Any:
    return ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]


def _text(thing: Any) -> str:
    return inspect.getdoc(thing) or ""


def _line(text: str | None) -> str:
    """Return a docstring on one line."""
    return " ".join((text or "").split())
