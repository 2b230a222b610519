"""A Program done in Python: a test like any other, made for each client, that follows the steps."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING

from pileup._core._native import Steps, now
from pileup.fleet.order import MOST_THREADS
from pileup.fleet.program_verbs import Act, Others, Verbs
from pileup.model.errors import Ambiguous, Failed, VerdictException
from pileup.model.own_waits import BESIDE_RELAY
from pileup.model.program import Program, Step
from pileup.model.units import format_time
from pileup.plugin import Context, Test
from pileup.plugin.program_client import Call, ProgramClient

if TYPE_CHECKING:
    from pileup.plugin import Op


class ProgramTest(Test):
    """Does the steps of a native test through a client that is not the engine's, as the engine does them.

    The timeout of the context is that of one operation. An error in set-up of a client's session appears again in its
    first operation, as in the engine.
    """

    def __init__(
        self,
        program: Program,
        seed: int,
        make: Callable[[int], ProgramClient],
        context: Context,
        others: Others = MappingProxyType({}),
    ) -> None:
        super().__init__(None, context)
        self._program = program
        self._steps = Steps(json.dumps(program.to_native()), seed, _most_clients(context))
        self._client = make(context.client)
        self.single = program.steps[0].operation if len(program.steps) == 1 and operations_of(program) == 1 else ""
        """The one operation that an iteration is; empty when it has several."""
        self._verbs = Verbs(self._client, self._steps, context.client, others)

    def setup(self) -> None:
        """Connect."""
        with suppress(VerdictException, OSError):
            self._client.open()

    def teardown(self) -> None:
        """Give the session back."""
        self._client.close()

    def run(self, op: Op) -> None:
        """Do all steps of one iteration; the first operation that does not pass ends it."""
        self._verbs.begin()
        for round_ in range(self._program.repeat):
            for index, step in enumerate(self._program.steps):
                for turn in range(step.repeat):
                    self._do(op, index, step, round_ * step.repeat + turn)

    def _do(self, op: Op, index: int, step: Step, turn: int) -> None:
        number, key = self._steps.object(index, op.number, op.client, turn)
        with op(step.operation, key) as operation:
            limit = self.context.timeout
            call = Call(step, key, operation, limit)
            try:
                self._verbs.do(Act(index, step, number, call, operation))
            except TimeoutError:
                raise _no_answer(call, limit) from None
            finally:
                operation.calls = call.calls
                for _ in range(call.past_relay):
                    time_of = now()
                    op.record(BESIDE_RELAY, key, start=time_of, end=time_of)
            if time.monotonic() > call.deadline:
                raise Ambiguous(f"took longer than its timeout of {format_time(limit)}")


def _most_clients(context: Context) -> int:
    """Return the most clients that its load has at a time."""
    return 1 if context.load is None else context.load.most or MOST_THREADS


def operations_of(program: Program) -> int:
    """Return how many operations an iteration has, each with a timeout of its own."""
    return sum(step.repeat for step in program.steps) * program.repeat


def _no_answer(call: Call, limit: int) -> VerdictException:
    if call.sent:
        return Ambiguous(f"no answer within {format_time(limit)}")
    return Failed(f"could not be sent within {format_time(limit)}")
