"""Clean-up without the run, by a target's own Python: what is not there any more is known by its class."""

from pathlib import Path
from typing import Any

import pytest

from pileup.model.errors import Failed
from pileup.model.program import ClientSpec, Keys, Program, Step
from pileup.plugin import FileTarget, NotThere, Target
from pileup.plugin.program_client import ProgramClient
from pileup.plugin.target import NO_CLIENT
from pileup.run.recovery.objects import remove
from pileup.suite import load

SUITE = """
pileup: 1
title: clean-up
targets: {t: {kind: posix, url: %s}}
tests: [{name: n, use: noop, load: {times: 1}}]
"""
REMOVAL = Program((Step("delete", "delete", Keys("f", 3, width=1), repeat=3),))


class Shelf(FileTarget):
    """Keeps files where the engine cannot reach them; `_says` is what deleting raises."""

    _says: Exception

    def client(self) -> ClientSpec:
        return ClientSpec("nobody", {})

    def preparing_client(self) -> Any:
        return lambda client: ProgramClient()

    def delete(self, path: str) -> None:
        raise self._says


Shelf.__abstractmethods__ = frozenset()


@pytest.mark.parametrize(
    ("says", "problem"),
    [
        (NotThere("weg ist weg"), ""),
        (Failed("there is nothing at 'f0', nothing there"), "3 of 3 could not be removed: there is nothing at 'f0'"),
    ],
)
def test_what_is_gone_already_is_known_by_its_class_and_not_by_the_words(
    tmp_path: Path, says: Exception, problem: str
) -> None:
    (tmp_path / "s.yaml").write_text(SUITE % tmp_path)
    target = Shelf(str(tmp_path))
    target._says = says
    found = remove(load(tmp_path / "s.yaml"), "t", target, REMOVAL, 10**9)
    assert found.startswith(problem)
    assert bool(found) == bool(problem)


class Bare(Target):
    """No client of the engine, no files."""


@pytest.mark.parametrize(
    ("cls", "problem"), [(Bare, NO_CLIENT), (type("Unreached", (Shelf,), {"client": Target.client}), "")]
)
def test_without_a_client_of_the_engine_nothing_passes_as_removed_that_was_not_asked_for(
    tmp_path: Path, cls: type[Target], problem: str
) -> None:
    (tmp_path / "s.yaml").write_text(SUITE % tmp_path)
    target = cls(str(tmp_path))
    target._says = NotThere("gone")  # type: ignore[attr-defined]
    assert remove(load(tmp_path / "s.yaml"), "t", target, REMOVAL, 10**9) == problem
