"""The helpers for unit tests of plug-ins."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from pileup.builtin.noop.test import Noop
from pileup.model.record import Outcome, Sample
from pileup.plugin import Ambiguous, Context, Failed, Op, Refused, Target, Test, option
from pileup.plugin.testing import run_async, run_once


class Steps(Test):
    """Two operations; the second raises what it is told."""

    raises: Any = option(None)

    def setup(self) -> None:
        self.log = ["setup"]

    def run(self, op: Op) -> None:
        with op("open", "a.root") as opening:
            opening.calls = 2
            opening.first_byte()
        with op("read") as reading:
            reading.bytes = 4096
            if self.raises is not None:
                raise self.raises
        self.report("events", 12.0, "/s")


class Later(Test):
    """An asynchronous one."""

    async def run(self, op: Op) -> object:
        with op("wait", f"{op.client}.{op.number}"):
            await asyncio.sleep(0)
        return op.number != 7


class Forever(Test):
    """One that never ends."""

    async def run(self, op: Op) -> None:
        await asyncio.Event().wait()


def test_what_passed() -> None:
    result = run_once(Steps)
    assert (result.outcome, result.error, result.passed) == (Outcome.PASSED, "", True)
    opening, reading = result.operations
    assert (opening.name, opening.key, opening.calls, opening.outcome) == ("open", "a.root", 2, Outcome.PASSED)
    assert (reading.name, reading.key, reading.bytes, reading.first_byte_after) == ("read", "", 4096, None)
    assert opening.first_byte_after is not None
    assert 0 <= opening.first_byte_after <= opening.seconds <= result.seconds
    assert result.numbers == (Sample("events", 12.0, "/s"),)


@pytest.mark.parametrize(
    ("raised", "outcome", "error"),
    [
        (Failed("wrong size", "3 B"), Outcome.FAILED, "wrong size; expected 3 B"),
        (Refused("no"), Outcome.REFUSED, "no"),
        (Ambiguous("silence"), Outcome.AMBIGUOUS, "silence"),
        (TimeoutError(), Outcome.AMBIGUOUS, "no answer in time"),
        (AssertionError(), Outcome.FAILED, "the test failed without a reason"),
        (KeyError("size"), Outcome.FAILED, "KeyError: 'size' (test_testing.py:"),
    ],
)
def test_what_did_not(raised: Exception, outcome: Outcome, error: str) -> None:
    result = run_once(Steps, raises=raised)
    assert (result.outcome, result.problem) == (outcome, raised)
    assert result.error.startswith(error)
    assert [each.outcome for each in result.operations] == [Outcome.PASSED, outcome]
    assert result.operations[1].error.startswith(error)
    assert result.numbers == ()


def test_async_ones_too() -> None:
    result = run_once(Later, context=Context(client=3), number=5)
    assert (result.passed, [each.key for each in result.operations]) == (True, ["3.5"])
    assert (
        run_once(Later, number=7).error
        == "the test returned False; expected nothing, or an exception that says what failed"
    )
    assert asyncio.run(run_async(Later)).passed


def test_an_async_one_that_never_ends_is_cut_off() -> None:
    result = run_once(Forever, context=Context(timeout=10**6))
    assert (result.outcome, result.error) == (Outcome.AMBIGUOUS, "no answer in time")


def test_teardown_is_done_whatever_happens() -> None:
    log: list[str] = []

    class Careful(Test):
        def run(self, op: Op) -> None:
            raise Failed("x")

        def teardown(self) -> None:
            log.append("teardown")

    run_once(Careful)
    assert log == ["teardown"]


def test_wrong_options_and_native_tests_are_told() -> None:
    with pytest.raises(ValidationError, match="speed"):
        run_once(Steps, speed=1)
    with pytest.raises(TypeError, match=r"Noop has a program, .* call program\(\)"):
        run_once(Noop)


class Reporting(Test):
    """Reports what it is given."""

    metric: Any = option("text")
    value: Any = option("many")

    def run(self, op: Op) -> None:
        self.report(self.metric, self.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "TypeError: report('text', 'many'): expected a number (test_testing.py:"),
        ({"value": None}, "TypeError: report('text', None): expected a number (test_testing.py:"),
        ({"metric": 7, "value": 1}, "TypeError: report(7, 1): expected texts as name and unit (test_testing.py:"),
        (
            {"metric": "failed", "value": 3},
            "ValueError: report('failed', 3): checks know 'failed' as a field of every test; expected another name (",
        ),
    ],
)
def test_p6_a_number_that_cannot_be_kept_fails_the_iteration_at_its_line(options: dict[str, Any], said: str) -> None:
    result = run_once(Reporting, **options)
    assert result.outcome is Outcome.FAILED
    assert result.error.startswith(said)
    assert result.numbers == ()


def test_every_kind_of_number_can_be_reported() -> None:
    for value in (True, 3, Decimal("3.5"), np.float32(3.5), np.int64(3)):
        (kept,) = run_once(Reporting, value=value).numbers
        assert (type(kept.value), kept.value) == (float, float(value))


class Session(Test):
    """Connects on the loop of its iterations."""

    async def setup(self) -> None:
        await asyncio.sleep(0)
        self.log = ["setup", asyncio.get_running_loop()]

    async def run(self, op: Op) -> None:
        async with op("ask", "it") as asking:
            await asyncio.sleep(0)
            asking.bytes = 7
        assert self.log[1] is asyncio.get_running_loop()
        self.report("asked", 1)

    async def teardown(self) -> None:
        await asyncio.sleep(0)
        ended.append(self.log)


ended: list[object] = []


def test_p1_async_setup_and_teardown_are_awaited() -> None:
    ended.clear()
    result = run_once(Session)
    assert (result.passed, result.error) == (True, "")
    (asking,) = result.operations
    assert (asking.name, asking.key, asking.bytes, asking.outcome) == ("ask", "it", 7, Outcome.PASSED)
    assert len(ended) == 1


class MaxClientsError(Exception):
    """As a client library raises it."""


class Store(Target):
    """Says what an exception of its library means."""

    kind = "store"
    refused = (MaxClientsError,)


class Ask(Test):
    """Meets it inside of an operation."""

    def run(self, op: Op) -> None:
        with op("ask"):
            raise MaxClientsError("full")


def test_a_target_says_what_its_exceptions_mean() -> None:
    result = run_once(Ask, Store())
    assert (result.outcome, result.operations[0].outcome) == (Outcome.REFUSED, Outcome.REFUSED)
    assert result.error.startswith("MaxClientsError: full (test_testing.py:")
    assert run_once(Ask).outcome is Outcome.FAILED


class Confused(Store):
    """Says it wrongly."""

    refused = ()

    def outcome_of(self, problem: BaseException) -> Any:
        return "refused" if "full" in str(problem) else {}["x"]


def test_a_target_that_says_it_wrongly_is_told_of() -> None:
    result = run_once(Ask, Confused())
    assert result.outcome is Outcome.FAILED
    assert result.error.endswith("; outcome_of of target 'store' returned 'refused', expected an Outcome or None")
