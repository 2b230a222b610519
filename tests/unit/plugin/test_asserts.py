"""What a failed assert tells: its expression with the values in it, evaluated once and never again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any

import pytest

from pileup.plugin import asserts

HEAD = """
import math
from dataclasses import dataclass

@dataclass
class Entry:
    size: int = 3
    @property
    def age(self):
        calls.append("age")
        return 7

class Opaque:
    pass

calls = []
def answer(value):
    calls.append(value)
    return value
async def later(value):
    return value
entry, names, limits, opaque = Entry(), ["a", "b"], {"most": 5}, Opaque()
"""
Compile = Callable[[bytes, str], CodeType]


def plain(source: bytes, path: str) -> CodeType:
    """Compile a file as Python itself does: one of an installed package."""
    return compile(source, path, "exec", dont_inherit=True)


def failed(tmp_path: Path, body: str, with_: Compile) -> tuple[TracebackType, dict[str, Any]]:
    """Run the body of a function of a file that fails; return the traceback, and the names of the file."""
    path = tmp_path / f"mine_{abs(hash((body, with_.__name__)))}.py"
    lines = "\n    ".join(body.splitlines())
    path.write_text(f"{HEAD}\ndef test():\n    {lines}\n")
    names: dict[str, Any] = {"__name__": "mine"}
    exec(with_(path.read_bytes(), str(path)), names)
    try:
        names["test"]()
    except AssertionError:
        trace = sys.exc_info()[2]
        assert trace is not None
        return trace, names
    raise RuntimeError("it did not fail")


BOTH = [
    ("x = 3\nassert x == 4", "assert x == 4, where x = 3"),
    ("assert len(names) == 3", "assert len(names) == 3, where len(names) = 2, names = ['a', 'b']"),
    (
        "assert entry.size > limits['most']",
        "assert entry.size > limits['most'], where entry.size = 3, limits['most'] = 5",
    ),
    ("assert not names", "assert not names, where names = ['a', 'b']"),
    ("low = 4\nassert low < entry.size < 9", "assert low < entry.size < 9, where low = 4, entry.size = 3"),
    (
        "assert names == [] and len(names)",
        "assert names == [] and len(names), where names = ['a', 'b'], len(names) = 2",
    ),
    ("assert False", "assert False"),
    ("assert opaque is None", "assert opaque is None"),
    ("text = 'x' * 500\nassert text == ''", "assert text == '', where text = 'xxxxxxxxxxxxxxxxxxxxxx"),
    ("assert (\n    entry.size\n    == 4\n)", "assert entry.size == 4, where entry.size = 3"),
    ("assert math.pi < 3", "assert math.pi < 3, where math.pi = 3.14159"),
    ("a = 1; assert a == 1; assert a == 2", "assert a == 2, where a = 1"),
    ("if (n := len(names)) == 2: assert n == 3", "assert n == 3, where n = 2"),
]


@pytest.mark.parametrize("with_", [plain, asserts.keeping])
@pytest.mark.parametrize(("body", "said"), BOTH, ids=[said for _, said in BOTH])
def test_p3_names_fields_items_and_lengths_are_told(tmp_path: Path, body: str, said: str, with_: Compile) -> None:
    assert asserts.told(failed(tmp_path, body, with_)[0]).startswith(said)


KEPT = [
    ("assert answer(3) == 4", "assert answer(3) == 4, where answer(3) = 3"),
    ("assert not answer(3)", "assert not answer(3), where answer(3) = 3"),
    ("assert answer(0)", "assert answer(0), where answer(0) = 0"),
    ("x = 5\nassert x == answer(3)", "assert x == answer(3), where x = 5, answer(3) = 3"),
    ("assert entry.age == 8", "assert entry.age == 8, where entry.age = 7, entry = Entry(size=3)"),
    ("assert answer(2) < answer(1)", "assert answer(2) < answer(1), where answer(2) = 2, answer(1) = 1"),
    ("assert (n := answer(3)) == 4", "assert (n := answer(3)) == 4, where n = 3"),
    ("assert all(n for n in [0])", "assert all((n for n in [0])), where all((n for n in [0])) = False"),
]


@pytest.mark.parametrize(("body", "said"), KEPT, ids=[said for _, said in KEPT])
def test_p3_what_calls_answered_is_kept_in_files_of_suites(tmp_path: Path, body: str, said: str) -> None:
    trace, names = failed(tmp_path, body, asserts.keeping)
    before = list(names["calls"])
    assert asserts.told(trace) == said
    assert names["calls"] == before, "nothing is called again"


@pytest.mark.parametrize(("body", "said"), KEPT, ids=[said for _, said in KEPT])
def test_p3_elsewhere_nothing_is_called_again(tmp_path: Path, body: str, said: str) -> None:
    trace, names = failed(tmp_path, body, plain)
    before = list(names["calls"])
    assert asserts.told(trace).startswith(said.partition(",")[0].partition(" for ")[0])
    assert names["calls"] == before


def test_what_was_not_evaluated_this_time_is_not_told(tmp_path: Path) -> None:
    body = "for n in (1, 0):\n    assert answer(n) and answer(9)"
    told = asserts.told(failed(tmp_path, body, asserts.keeping)[0])
    assert told == "assert answer(n) and answer(9), where answer(n) = 0, n = 0"


def test_an_assert_of_async_code_keeps_what_was_awaited(tmp_path: Path) -> None:
    body = "import asyncio\nasync def inner():\n    assert await later(3) == 4\nasyncio.run(inner())"
    assert asserts.told(failed(tmp_path, body, asserts.keeping)[0]) == (
        "assert await later(3) == 4, where await later(3) = 3"
    )


def test_what_has_no_assert_or_no_source_is_told_in_no_words(tmp_path: Path) -> None:
    assert asserts.told(failed(tmp_path, "raise AssertionError", asserts.keeping)[0]) == ""
    trace, _ = failed(tmp_path, "exec('assert 1 == 2')", asserts.keeping)
    assert asserts.told(trace) == ""
    assert asserts.told(None) == ""


def test_asserts_of_a_class_or_a_module_leave_no_names(tmp_path: Path) -> None:
    source = b"n = len('abc')\nassert len('abc') == 3\nclass Mine:\n    assert len('abc') == 3\n"
    names: dict[str, Any] = {}
    exec(asserts.keeping(source, "mine.py"), names)
    assert set(names) == {"n", "Mine", "__builtins__"}
    assert not [name for name in vars(names["Mine"]) if name.startswith(asserts.KEPT)]
