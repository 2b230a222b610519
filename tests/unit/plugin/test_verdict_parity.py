"""A test fares the same in a unit test as in a run."""

from __future__ import annotations

import pytest

from pileup.model.errors import Ambiguous, Failed, Refused
from pileup.plugin.testing import verdict_on

client = pytest.importorskip("pileup.fleet.client", reason="the engine is not built", exc_type=ImportError)


@pytest.mark.parametrize(
    "problem",
    [Failed("a", "b", "c"), Refused("a"), Ambiguous("a"), TimeoutError(), AssertionError("a"), AssertionError()],
    ids=repr,
)
def test_verdicts(problem: BaseException) -> None:
    assert verdict_on(problem) == client.outcome_of_error(problem)


def test_mistakes_are_failures_and_a_run_adds_the_line() -> None:
    outcome, error = verdict_on(KeyError("size"))
    assert outcome is client.outcome_of_error(KeyError("size"))[0]
    assert client.outcome_of_error(KeyError("size"))[1].startswith(error)
