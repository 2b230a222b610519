"""The line of the generator on the screen of a run."""

import pytest

from pileup._core._native import Histogram
from pileup.cli.live.generator import words
from pileup.cli.live.screen import screen
from pileup.cli.live.state import CaseState, State
from pileup.model import self_metrics
from pileup.model.record import Frame, FrameRow, Phase

SECOND = 10**9
MS = 10**6
NOW = 1_795_256_103 * SECOND


def state(cpu: float = 35.0, running: bool = True, **more: float) -> State:
    found = State(title="t", started=NOW - 60 * SECOND, now=NOW, watched=NOW - SECOND)
    values = {self_metrics.CPU: cpu, self_metrics.LAG: 0.002, self_metrics.RUN_QUEUE: 3.0} | more
    found.metrics = {(self_metrics.MONITOR, name, self_metrics.label(0)): (value, "") for name, value in values.items()}
    found.cases[1] = CaseState(1, "copy", "open, 10 /s", 0, 10.0, started=NOW - 10 * SECOND if running else None)
    return found


def encoded(*times: int) -> bytes:
    made = Histogram()
    for time in times:
        made.record(time)
    return made.encode()


def press(found: State, late: int, in_flight: int = 1, passed: int = 10) -> None:
    times = encoded(*[20 * MS] * passed)
    row = FrameRow("copy", True, Phase.MEASURE, passed, 10 - passed, 0, 0, 0, 0, 0, 10, times, times)
    found.cases[1].tally.take([Frame(NOW, SECOND, 0, 1, Phase.MEASURE, 10, 0, in_flight, 8, 0, encoded(late), (row,))])


def test_a_generator_that_keeps_up_is_one_quiet_line() -> None:
    found = state()
    press(found, MS)
    told = words(found)
    assert told is not None
    assert (told.text, told.limit) == (
        "CPU 35 %  starts 1 ms late  wake-ups 2 ms late  waits 3 % for a CPU",
        False,
    )
    assert "generator    CPU 35 %" in "\n".join(line.plain for line in screen(found, 100, 30))


@pytest.mark.parametrize(("cpu", "late", "why"), [(98, 1, "CPU 98 % of a core"), (30, 12, "starts late")])
def test_it_becomes_a_warning(cpu: float, late: int, why: str) -> None:
    found = state(cpu)
    press(found, late * MS)
    (line,) = [line for line in screen(found, 120, 30) if line.plain.startswith("generator")]
    assert f"is the bottleneck ({why})" in line.plain
    assert any("yellow" in str(span.style) for span in line.spans)


def test_t03_late_starts_are_no_warning_where_nothing_is_answered() -> None:
    found = state()
    press(found, 60 * MS, passed=0)
    told = words(found)
    assert told is not None
    assert not told.limit


def test_a_late_loop_is_a_warning() -> None:
    told = words(state(**{self_metrics.LOOP_LAG: 0.3}))
    assert told is not None
    assert told.limit
    assert "event loop 300 ms late" in told.text


def test_lateness_for_want_of_a_client_is_none_of_its_own() -> None:
    found = state()
    press(found, 500 * MS, in_flight=8)
    told = words(found)
    assert told is not None
    assert not told.limit


def test_between_cases_nothing_is_limited() -> None:
    told = words(state(99, running=False))
    assert told is not None
    assert not told.limit


def test_old_news_and_the_end_are_not_shown() -> None:
    found = state()
    found.now += 10 * SECOND
    assert words(found) is None
    found = state()
    found.ended = True
    assert words(found) is None
    assert words(State()) is None
