"""Methods that pileup could not call as it does, or would not await, are refused when a plug-in is loaded."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from pileup.model.errors import PluginError
from pileup.plugin import registry
from pileup.plugin.registry import KINDS, load
from pileup.plugin.signatures import wrong_methods

HEAD = "from pileup.plugin import Monitor, Op, Program, Report, Target, Test\n\n\n"


def refusal(folder: Path, body: str, kind: str = "tests") -> PluginError:
    """Return what loading a class `Mine` of this body raises."""
    path = folder / f"mine_{abs(hash(body))}.py"
    path.write_text(HEAD + body)
    with pytest.raises(PluginError) as caught:
        load(kind, f"./{path.name}:Mine", folder)
    return caught.value


def told(folder: Path, body: str, kind: str = "tests") -> tuple[str, str]:
    """Return what is reported, without the name of the file, and what is expected."""
    problem = refusal(folder, body, kind)
    assert problem.hint, "the third part says what to do"
    return problem.what.partition(":")[2], problem.expected


TEST = "class Mine(Test):\n"
RUN = "    def run(self, op): ...\n"


@pytest.mark.parametrize(
    ("body", "what", "expected"),
    [
        ("    def run(self): ...\n", "5: Mine.run(self) cannot be called as pileup does", "`def run(self, op)`"),
        (
            "    def run(self, op, x): ...\n",
            "5: Mine.run(self, op, x) cannot be called as pileup does",
            "`def run(self, op)`",
        ),
        ("    async def run(self): ...\n", "5: Mine.run(self) cannot be called as pileup does", "`def run(self, op)`"),
        ("    def run(op): ...\n", "5: Mine.run(op) cannot be called as pileup does", "`def run(self, op)`"),
        (
            RUN + "    def setup(self, x): ...\n",
            "6: Mine.setup(self, x) cannot be called as pileup does",
            "`def setup(self)`",
        ),
        (
            RUN + "    def teardown(): ...\n",
            "6: Mine.teardown() cannot be called as pileup does",
            "`def teardown(self)`",
        ),
        (
            RUN + "    def bounds(self): ...\n",
            "6: Mine.bounds(self) cannot be called as pileup does",
            "`def bounds(self, iterations)`",
        ),
        (RUN + "    setup = None\n", "4: Mine.setup is None, in the place of a method", "another name for it"),
        (
            "    def run(self, op):\n        yield 1\n",
            "5: Mine.run has a `yield`, so that nothing of it would be done",
            "`def run(self, op)` without",
        ),
        (
            "    async def run(self, op):\n        yield 1\n",
            "5: Mine.run has a `yield`, so that nothing of it would be done",
            "`def run(self, op)` without",
        ),
        (
            RUN + "    def setup(self):\n        yield 1\n",
            "6: Mine.setup has a `yield`, so that nothing of it would be done",
            "`def setup(self)` without",
        ),
        (
            RUN + "    async def check(self): ...\n",
            "6: Mine.check is async, and nobody awaits it",
            "a plain `def check(self)`",
        ),
        (
            RUN + "    async def setup(self): ...\n",
            "6: Mine.setup is async and Mine.run is not",
            "an `async def run` too, or a plain `def setup`",
        ),
        (
            RUN + "    async def teardown(self): ...\n",
            "6: Mine.teardown is async and Mine.run is not",
            "an `async def run` too, or a plain `def teardown`",
        ),
    ],
)
def test_p1_p7_a_method_that_cannot_work(tmp_path: Path, body: str, what: str, expected: str) -> None:
    assert [part.strip() for part in told(tmp_path, TEST + body)] == [what, expected]


@pytest.mark.parametrize(
    "body",
    [
        "    async def setup(self): ...\n    async def run(self, op): ...\n    async def teardown(self): ...\n",
        "    def setup(self): ...\n    async def run(self, op): ...\n",
        "    def run(self, operation, extra=1): ...\n",
        "    def run(self, *all_of_it): ...\n",
        "    @staticmethod\n    def run(op): ...\n",
        "    def _helper(self, a, b): ...\n    def run(self, op): ...\n    def other(self, a, b): ...\n",
        "    def program(self): ...\n    def bounds(self, number): ...\n",
    ],
)
def test_what_can_be_called_is_taken(tmp_path: Path, body: str) -> None:
    (tmp_path / "mine.py").write_text(HEAD + TEST + body)
    assert load("tests", "./mine.py:Mine", tmp_path).__name__ == "Mine"


@pytest.mark.parametrize(
    ("kind", "body", "what"),
    [
        (
            "monitors",
            "class Mine(Monitor):\n    def sample(self, x): ...\n",
            "5: Mine.sample(self, x) cannot be called",
        ),
        ("monitors", "class Mine(Monitor):\n    async def sample(self): ...\n", "5: Mine.sample is async"),
        (
            "reports",
            "class Mine(Report):\n    file_name = 'x'\n    def render(self, results): ...\n",
            "6: Mine.render(self, results)",
        ),
        (
            "targets",
            "class Mine(Target):\n    kind = 'mine'\n    def probe(self, url): ...\n",
            "6: Mine.probe(self, url)",
        ),
        (
            "targets",
            "class Mine(Target):\n    kind = 'mine'\n    def outcome_of(self): ...\n",
            "6: Mine.outcome_of(self)",
        ),
        (
            "targets",
            "class Mine(Target):\n    kind = 'mine'\n    def launcher(self, settings, folder): ...\n",
            "6: Mine.launcher(self, settings, folder)",
        ),
        (
            "targets",
            "class Mine(Target):\n    kind = 'mine'\n    refused = OSError\n",
            "4: refused of Mine is <class 'OSError'>",
        ),
        (
            "targets",
            "class Mine(Target):\n    kind = 'mine'\n    ambiguous = ('lost',)\n",
            "4: ambiguous of Mine has 'lost'",
        ),
    ],
)
def test_other_plug_ins_are_looked_at_too(tmp_path: Path, kind: str, body: str, what: str) -> None:
    assert told(tmp_path, body, kind)[0].strip().startswith(what)


def test_p7_one_of_a_package_is_unavailable_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pileup_p7.py").write_text(HEAD + TEST + "    def run(self): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    entry = EntryPoint("mine", "pileup_p7:Mine", "pileup.tests")
    monkeypatch.setattr(registry, "_entries", lambda kind: iter([entry]))
    (found,) = registry.find_all("tests")
    assert (found.cls, found.reason) == (
        None,
        "test 'mine' of pileup_p7:Mine: Mine.run(self) cannot be called as pileup does",
    )


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_pileup_ships_is_refused(kind: str) -> None:
    found = [each for each in registry.find_all(kind) if each.cls is not None]
    assert found
    assert [wrong for each in found for wrong in wrong_methods(each.cls or object)] == []
    assert not [each.reason for each in registry.find_all(kind) if "cannot be called" in each.reason]
