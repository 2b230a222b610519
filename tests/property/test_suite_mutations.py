"""Whatever is in a suite file or in a --set value: a plan or faults, never anything else."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pileup.model.errors import SuiteError
from pileup.model.plan import Plan
from pileup.suite import load
from pileup.suite.bind import tree_of
from pileup.suite.formats.convert import convert
from pileup.suite.formats.tree import Mapping
from pileup.suite.formats.xml_writer import write_xml
from pileup.suite.formats.yaml_writer import write_yaml
from pileup.suite.order import circles, order
from pileup.suite.problems import Problems
from tests.fakes import fake_plugins
from tests.property.suites import suites
from tests.property.trees import trees
from tests.support import examples

__all__ = ["fake_plugins"]

GOOD = """pileup: 1
title: Copy stress on the new disk servers
about: >
  For the purchase.
labels: {automation: manual, scale: stress}
seed: 2004
variables: {clients: 250, folder: /data}
options: {folder: $folder}
targets:
  se:
    kind: practice-storage
    launch: &l {threads: 16, service: {lognormal: [20 ms, 0.35]}}
  site:
    kind: http
    url: "https://se01.site.org/data"
    credentials: {token: abc, user: me}
    settings: {throttle: {set: "ssh se01 set-throttle {value}", default: 5, within: 9 s}}
limits: {bytes: 3 PiB, operations: 1e9, duration: 40 h, errors_in_a_row: 1000, inside: /data}
scan: {copy.load.clients: [100, 250], se.threads: [4, 16], shell.share: [0.1, 0.5]}
repeat: 2
loop: 2
places: processes:2
isolate: thread
environment: setup.sh
cooldown: {until: last(node.load1) < 1, at_most: 1 min}
faults:
  - {at: 5 s, do: pause, target: se, for: 2 s, during: [copy]}
  - {at: 9 s, do: command, run: touch x}
delay: {uniform: [1 s, 2 s]}
tests:
  - {name: fill, use: storage.write, target: se, options: {files: 100, size: 64 MiB}, scope: run, cleanup: always}
  - name: copy
    use: noop
    target: se
    after: [fill]
    load: {clients: $clients, ramp: 30 s, warm_up: 30 s, for: 10 min, think: {uniform: [1 s, 5 s]}}
    timeout: 60 s
    fail_when: fraction(copy.failed) > 5 %
  - {name: open, use: noop, load: {rate: 5 /s, arrivals: poisson, for: 1 min}, options: {cost: 1 ms}}
  - {name: shell, use: command, options: {command: echo $$HOME}}
  - {name: newcomers, use: noop, with: [copy], load: {every: 2 min}}
  - {name: steps, use: noop, load: {stages: [{clients: 5, for: 1 s}, {clients: 9, ramp: 1 s, warm_up: 1 s, for: 2 s}]}}
monitors:
  - {use: node, every: 1 s}
  - {use: process, match: mariadbd, every: 1 s}
criteria:
  - {id: C1, says: "At least 200 MB/s are delivered", check: rate(copy.bytes) >= 200 MB/s, at: [{se.threads: 4}]}
  - {id: C2, says: nothing checks this, coverage: none}
"""

XML = convert(GOOD.encode(), ".yaml", "good", "xml").text

MARKS = [
    "<",
    ">",
    "/>",
    "</",
    "&",
    "&amp;",
    "&#0;",
    "&x;",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?x?>",
    "<!DOCTYPE a []>",
]
MARKS += [
    "<suite>",
    "</suite>",
    "<test>",
    "</test>",
    "<test/>",
    "<value>",
    "</value>",
    '<entry name="a b">',
    "</entry>",
]
MARKS += [
    ' name="a"',
    ' is="list"',
    ' is="nothing"',
    ' is="text"',
    ' xml:space="preserve"',
    ' xmlns="u"',
    '="',
    '"',
    "'",
]

PIECES = [
    "",
    " ",
    "\t",
    "\n",
    "  ",
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    "- ",
    ",",
    "#",
    "&l ",
    "*l",
    "<<: *l",
    "!x ",
    "---\n",
    "'",
]
PIECES += [
    '"',
    "|",
    ">",
    "%",
    "$",
    "${",
    "$clients",
    "~",
    "null",
    "\0",
    "\x85",
    "\u2028",
    "\ufeff",
    "é",
    "🦕",
    "\ud7ff",
    "nan",
]
PIECES += [
    "-1",
    "0",
    "1e999",
    "9" * 40,
    ".inf",
    "true",
    "5 %",
    "1 s",
    "3 GB",
    "?",
    "@",
    "`",
    "scan: x",
    "a: b",
    "[[[[",
    "{a: ",
]


@st.composite
def edits(draw: st.DrawFn, good: str, pieces: list[str]) -> str:
    """A good suite with a few edits: pieces put in, parts taken out, moved or written twice."""
    text = good
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12) | st.integers(0, 200)))
        kind = draw(st.sampled_from(["put", "replace", "delete", "twice", "move", "lines"]))
        piece = draw(st.sampled_from(pieces) | st.text(max_size=5))
        lines = text.splitlines(keepends=True)
        line = draw(st.integers(0, len(lines))) if lines else 0
        text = {
            "put": text[:start] + piece + text[start:],
            "replace": text[:start] + piece + text[end:],
            "delete": text[:start] + text[end:],
            "twice": text[:end] + text[start:],
            "move": text[:start] + text[end:] + text[start:end],
            "lines": "".join(lines[:line] + lines[line + 1 :] + lines[line : line + 1]),
        }[kind]
    return text


def made(folder: Path, data: bytes, values: dict[str, str], suffix: str = ".yaml") -> Plan | SuiteError:
    path = folder / f"suite{suffix}"
    path.write_bytes(data)
    try:
        return load(path, values)
    except SuiteError as problem:
        return problem


def check(result: Plan | SuiteError) -> None:
    if isinstance(result, SuiteError):
        assert result.problems
        for fault in result.problems:
            assert fault.where
            assert fault.what
            assert "\n" not in str(fault)
    else:
        assert result.cases
        assert result.totals().longest >= 0


def test_the_good_suite_is_good(tmp_path: Path, fake_plugins: None) -> None:
    one, other = made(tmp_path, GOOD.encode(), {}), made(tmp_path, XML.encode(), {}, ".xml")
    assert isinstance(one, Plan), one
    assert isinstance(other, Plan), other
    assert one.suite == other.suite
    assert one.cases == other.cases


same_folder = settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@same_folder
@given(text=edits(GOOD, PIECES))
def test_a_mutated_suite_is_a_plan_or_faults(tmp_path: Path, fake_plugins: None, text: str) -> None:
    check(made(tmp_path, text.encode("utf-8", "surrogatepass"), {}))


@same_folder
@given(text=edits(XML, PIECES + MARKS * 3))
def test_a_mutated_suite_in_xml_is_a_plan_or_faults(tmp_path: Path, fake_plugins: None, text: str) -> None:
    check(made(tmp_path, text.encode("utf-8", "surrogatepass"), {}, ".xml"))


@same_folder
@given(data=st.binary(max_size=200), at=st.integers(0, len(XML)), xml=st.booleans())
def test_any_bytes_are_a_plan_or_faults(tmp_path: Path, fake_plugins: None, data: bytes, at: int, xml: bool) -> None:
    good = (XML if xml else GOOD).encode()
    check(made(tmp_path, good[:at] + data + good[at:], {}, ".xml" if xml else ".yaml"))


@same_folder
@given(tree=trees())
def test_any_tree_is_a_plan_or_faults(tmp_path: Path, fake_plugins: None, tree: Mapping) -> None:
    check(made(tmp_path, write_yaml(tree).encode(), {}))
    check(made(tmp_path, write_xml(tree, Problems("")).encode(), {}, ".xml"))


@same_folder
@given(data=suites())
def test_any_suite_of_right_words_is_a_plan_or_faults(tmp_path: Path, fake_plugins: None, data: dict[str, Any]) -> None:
    tree = tree_of(data)
    assert isinstance(tree, Mapping)
    check(made(tmp_path, write_xml(tree, Problems("")).encode(), {}, ".xml"))


PATHS = [
    "clients",
    "title",
    "targets.se.url",
    "tests.copy.load.clients",
    "tests.0.options",
    "limits",
    "criteria.C1.check",
]
PATHS += [
    "monitors.node.every",
    "tests",
    "seed",
    "options.files",
    "targets.se.launch.threads",
    "variables",
    "tests.copy.after",
]


@same_folder
@given(
    values=st.dictionaries(
        st.sampled_from(PATHS) | st.text(max_size=20), st.sampled_from(PIECES) | st.text(max_size=30), max_size=3
    )
)
def test_any_values_are_a_plan_or_faults(tmp_path: Path, fake_plugins: None, values: dict[str, str]) -> None:
    check(made(tmp_path, GOOD.encode(), values))


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.lists(st.sampled_from("abcdefgh"), max_size=3), max_size=8))
def test_the_order_keeps_every_need_and_circles_explain_the_rest(needs: dict[str, list[str]]) -> None:
    known = {name: [each for each in before if each in needs] for name, before in needs.items()}
    found = order(known)
    for name in found:
        assert all(found.index(each) < found.index(name) for each in known[name])
    named = circles(known)
    assert bool(named) == (len(found) < len(known))
    for circle in named:
        assert circle[0] == circle[-1]
        assert all(after in known[name] for name, after in pairwise(circle))


@pytest.mark.parametrize("piece", PIECES)
def test_every_piece_in_every_line(tmp_path: Path, fake_plugins: None, piece: str) -> None:
    for line in range(0, GOOD.count("\n"), 4):
        lines = GOOD.splitlines(keepends=True)
        lines.insert(line, piece + "\n")
        check(made(tmp_path, "".join(lines).encode("utf-8", "surrogatepass"), {}))


@pytest.mark.parametrize("mark", MARKS)
def test_every_mark_in_every_line_of_xml(tmp_path: Path, fake_plugins: None, mark: str) -> None:
    for line in range(0, XML.count("\n"), 4):
        lines = XML.splitlines(keepends=True)
        lines.insert(line, mark + "\n")
        check(made(tmp_path, "".join(lines).encode(), {}, ".xml"))
