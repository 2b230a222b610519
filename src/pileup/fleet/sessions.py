"""Sessions of the engine apart from any load, one after another: for who traces them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pileup._core._native import Press, Recorder
from pileup.fleet.order import Order, client_to_native
from pileup.model.loads.load import Load
from pileup.model.own_waits import BESIDE_RELAY
from pileup.model.program import ClientSpec, Program, Step
from pileup.model.record import Outcome
from pileup.plugin.sessions.span import Span
from pileup.record.operations import ROW
from pileup.record.tables import ROWS, TableReader

PATIENCE = 2 * 10**9
"""What sessions may take beyond their timeouts, ns."""


def make_sessions(client: ClientSpec, step: Step, times: int, timeout: int) -> list[Span]:
    """Make sessions as `EngineSessions` says: by one client, whose `keep_alive` is to be off."""
    order = Order(0, "trace", Load.model_validate({"times": times, "clients": 1}), timeout, seed=1)
    with tempfile.TemporaryDirectory(prefix="pileup-trace-") as folder:
        table = Path(folder) / "operations.table"
        recorder = Recorder(str(table), 0)
        press = Press(recorder, order.to_native(0, 0, 1, 0, None))
        press.native(client_to_native(client), json.dumps(Program((step,)).to_native()))
        if not press.wait((times * timeout + PATIENCE) / 1e9):
            press.stop(True)
            press.wait(PATIENCE / 1e9)
        recorder.close()
        return list(_spans(table))


def _spans(table: Path) -> Iterator[Span]:
    """Yield what the rows of a table say: sessions in the order of their begin."""
    reader = TableReader(table, ROW)
    texts: dict[int, str] = {}
    rows = []
    for block in reader.blocks():
        if block.kind == ROWS:
            rows += list(reader.rows(block))
        else:
            texts.update((number, text.decode("utf-8", "replace")) for number, text in reader.strings(block))
    beside = [int(row["start"]) for row in rows if texts.get(int(row["operation"])) == BESIDE_RELAY]
    for row in sorted((row for row in rows if not row["parent"]), key=lambda row: int(row["start"])):
        begin, end, outcome = int(row["start"]), int(row["end"]), Outcome(int(row["outcome"]))
        error = "" if outcome is Outcome.PASSED else texts.get(int(row["error"]), "") or outcome.name.lower()
        yield Span(begin, end, error, outcome, sum(begin <= each <= end for each in beside))
