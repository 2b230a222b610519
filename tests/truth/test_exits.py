"""T12, T13, and exit codes when several things are true at once."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.truth.conditions import criteria
from tests.truth.press import Condition, Pressed, at_once, press

pytestmark = [pytest.mark.timed, pytest.mark.idle]
CALM = Condition("calm", ("fifo", "--workers", "4", "--law", "exponential:10", "--seed", "5"), {"rate": 50}, 2)
"""Independent times: those of a fixed law move with the machine, and of 100 such an interval is not always known."""
STORAGE = ("fifo", "--workers", "4", "--law", "fixed:1", "--size", "0")
FILES = {
    "options": {"files": 20, "size": "1 KiB"},
    "words": {"use": "storage.write", "cleanup": "never"},
    "target": {"kind": "webdav"},
}
SOME_REFUSED = Condition("fill", (*STORAGE, "--refuse", "0.6", "--only", "PUT"), {"times": 20, "clients": 4}, **FILES)
ONE_REFUSED = Condition("fill", (*STORAGE, "--first", "1", "--only", "PUT"), {"times": 200, "clients": 4}, **FILES)
"""Half of 1 %: a load for a time would bear that, so many times do not."""
FORBIDDEN = Condition("forbidden", (*STORAGE, "--forbid", "PUT,MKCOL"), {"times": 5}, **FILES)
SILENT = Condition("silent", ("mute",), {"rate": 10}, 1, timeout=1, target={"options": {"patience": "2 s"}})
CLOSED = Condition("closed", ("mute",), {"rate": 10}, 1)
NOBODY_THERE = {"kind": "http", "url": "http://127.0.0.1:1/"}
"""Port 1 is nobody's."""
WRONG, TOO_FEW, RIGHT = "p50(calm) < 1 ms", "p99.99(calm) < 1 s", "fraction(calm.failed) < 10 %"
"""Not met; unknown; met."""


def runs_in(folder: Path) -> dict[str, Callable[[], Pressed]]:
    def of(name: str, conditions: list[Condition], **checks: str) -> Callable[[], Pressed]:
        return partial(press, folder / name, conditions, criteria(checks))

    return {
        "met": of("met", [CALM], A=RIGHT),
        "not_met_and_unknown": of("not_met_and_unknown", [CALM], A=WRONG, B=TOO_FEW),
        "unknown": of("unknown", [CALM], A=RIGHT, B=TOO_FEW),
        "failed_and_not_met": of("failed_and_not_met", [CALM, SOME_REFUSED], A=WRONG, B=TOO_FEW),
        "refused": of("refused", [SOME_REFUSED]),
        "one_refused": of("one_refused", [ONE_REFUSED]),
        "forbidden": of("forbidden", [FORBIDDEN]),
        "forbidden_and_unknown": of("forbidden_and_unknown", [CALM, FORBIDDEN], B=TOO_FEW),
        "closed": partial(press, folder / "closed", [CLOSED], lambda _: {"targets": {"closed": NOBODY_THERE}}),
        "silent": of("silent", [SILENT]),
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pressed]:
    """All of these, at the same time."""
    return at_once(runs_in(tmp_path_factory.mktemp("exits")), 4)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("met", 0),
        ("not_met_and_unknown", 4),
        ("unknown", 8),
        ("failed_and_not_met", 1),
        ("refused", 1),
        ("forbidden", 1),
        ("forbidden_and_unknown", 1),
    ],
)
def test_t13_what_has_failed_has_failed_whatever_else_is_unknown(
    runs: dict[str, Pressed], name: str, code: int
) -> None:
    assert runs[name].exit_code == code, runs[name].output


@pytest.mark.parametrize(("name", "least"), [("refused", 5), ("one_refused", 1)])
def test_t12_refused_iterations_fail_a_load_of_so_many_times(runs: dict[str, Pressed], name: str, least: int) -> None:
    """12 of 20 files were refused, and the load that made them passed: several clients shared the times."""
    run = runs[name]
    refused = [line for line in run.servers["fill"].lines("ended") if line["status"] == 503]
    case = run.case("fill")
    assert case.iterations is not None
    assert case.iterations.counts.refused == len(refused) >= least
    assert case.outcome == "failed"


def test_t13_a_storage_that_refuses_writes_has_failed(runs: dict[str, Pressed]) -> None:
    run = runs["forbidden"]
    assert run.results.verdict == "failed"
    assert run.case("forbidden").outcome == "failed", run.case("forbidden").reason
    assert "403" in run.case("forbidden").reason, "it was asked, and refused"


def test_a_target_that_accepts_and_never_answers_is_no_success(runs: dict[str, Pressed]) -> None:
    """Whoever looks first finds it out: it could not be reached (5), or it has failed (1)."""
    codes = {"unavailable": 5, "failed": 1}
    assert runs["silent"].exit_code == codes[str(runs["silent"].case("silent").outcome)]


def test_a_closed_port_is_unavailable(runs: dict[str, Pressed]) -> None:
    assert runs["closed"].exit_code == 5
    assert runs["closed"].case("closed").outcome == "unavailable"


def test_verdicts_of_criteria_say_what_is_known(runs: dict[str, Pressed]) -> None:
    run = runs["not_met_and_unknown"]
    assert str(run.criterion("A").verdict) == "not met"
    assert str(run.criterion("B").verdict) == "unknown"
    assert str(runs["met"].criterion("A").verdict) == "met"
