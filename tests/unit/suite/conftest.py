"""Suites in tests: the fake plug-ins, and a suite from text."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pileup.model.errors import SuiteError
from pileup.model.plan import Plan
from pileup.suite import load
from tests.fakes import fake_plugins

__all__ = ["fake_plugins"]

HEAD = "pileup: 1\ntitle: t\n"
ONE = HEAD + "tests: [{name: a, use: noop}]\n"


@pytest.fixture
def plan(tmp_path: Path, fake_plugins: None) -> Callable[..., Plan]:
    """Make the plan of a suite given as text; `**values` is what --set gives."""

    def make(text: str | bytes, values: dict[str, str] | None = None) -> Plan:
        path = tmp_path / "suite.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load(path, values or {})

    return make


@pytest.fixture
def faults(plan: Callable[..., Plan]) -> Callable[..., list[str]]:
    """Return the faults of a suite given as text, without the name of the file; empty when it is right."""

    def find(text: str | bytes, values: dict[str, str] | None = None) -> list[str]:
        try:
            plan(text, values)
        except SuiteError as problem:
            return [str(fault).rpartition("suite.yaml:")[2] for fault in problem.problems]
        return []

    return find
