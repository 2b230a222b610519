"""T7, T8, T22: what goes over the wire is what is reported, with servers that are deaf, close, or lie about lengths."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pileup.record import RunFolder
from tests.truth.compared import SECOND, rows
from tests.truth.press import Condition, Pressed, at_once, press

pytestmark = [pytest.mark.timed, pytest.mark.idle]
BODY = 3 << 20
PUT = {"path": "x", "method": "PUT", "body": f"{BODY} B"}
DEAF = ("fifo", "--workers", "1", "--law", "fixed:1", "--deaf", "--size", "10")
EXPECT_OFF = {"options": {"expect": "never"}}
"""Words of a target whose uploads do not ask first."""
LIES = ("plain", "too-large", "surplus", "twice", "contradicting", "stalling", "headless")
CLIENTS = 4


def lie(name: str) -> Condition:
    return Condition(name.replace("-", "_"), ("liar",), {"times": 3}, timeout=1, options={"path": name})


def runs_in(folder: Path) -> dict[str, Callable[[], Pressed]]:
    closing = Condition("closing", ("fifo", "--workers", "4", "--law", "fixed:5", "--close"), {"clients": CLIENTS}, 2)
    return {
        "deaf": lambda: press(folder / "deaf", [Condition("deaf", DEAF, {"times": 3}, options=PUT)]),
        "off": lambda: press(folder / "off", [Condition("off", DEAF, {"times": 3}, options=PUT, target=EXPECT_OFF)]),
        "closing": lambda: press(folder / "closing", [closing]),
        "lies": lambda: press(folder / "lies", [lie(name) for name in LIES]),
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pressed]:
    """All of these, at the same time."""
    return at_once(runs_in(tmp_path_factory.mktemp("wire")))


def test_t7_the_wait_for_a_server_that_ignores_expect_is_shown(runs: dict[str, Pressed]) -> None:
    run = runs["deaf"]
    found = rows(run, "deaf")
    assert {line["received"] for line in run.servers["deaf"].lines("arrived")} == {BODY}
    assert all(row["end"] - row["intended"] > SECOND for row in found.values()), "it waits, as the standard lets it"
    assert all(row["end"] - row["start"] < SECOND / 2 for row in found.values()), "which is not a service of the server"
    assert waits(run, "deaf"), "whose wait that was is reported"


def waits(run: Pressed, name: str) -> list[str]:
    """Return what is reported of waits for a word on `Expect`: operations of that name, or notes."""
    case = run.case(name)
    return [told for told in (*(each.operation for each in case.operations), *case.notes) if "expect" in told.lower()]


def test_t7_the_wait_can_be_switched_off(runs: dict[str, Pressed]) -> None:
    run = runs["off"]
    assert run.exit_code == 0, (run.folder / "stderr").read_text()
    assert {line["received"] for line in run.servers["off"].lines("arrived")} == {BODY}
    assert all(row["end"] - row["start"] < SECOND / 2 for row in rows(run, "off").values())
    assert not waits(run, "off")


def test_t8_repeats_of_safe_requests_are_counted_and_shown(runs: dict[str, Pressed]) -> None:
    """The server closes after each answer: what had been sent on the old connection is sent again on a new one."""
    run = runs["closing"]
    case = run.case("closing")
    assert case.iterations is not None
    answered = len(run.servers["closing"].lines("ended"))
    calls = sum(RunFolder.open(run.folder).operations().arrays("calls", where="parent = 0")["calls"].tolist())
    frames = [frame for frame in RunFolder.open(run.folder).frames() if frame.case == case.id]
    repeated = sum(row.repeated for frame in frames for row in frame.rows if row.iteration)
    assert calls > answered, "some were sent twice"
    assert calls - answered == repeated
    assert "repeated" in (run.folder / "report.html").read_text()


def test_t8_each_answer_is_counted_once(runs: dict[str, Pressed]) -> None:
    run = runs["closing"]
    answered = {line["id"] for line in run.servers["closing"].lines("ended")}
    passed = {number for number, row in rows(run, "closing").items() if row["outcome"] == "passed"}
    assert passed == answered


def told(run: Pressed, name: str) -> set[tuple[str, str]]:
    """Return outcomes and errors of the requests of a case."""
    where = f"\"case\" = '{name.replace('-', '_')}' AND parent = 0"
    found = RunFolder.open(run.folder).operations().arrays("outcome", "error", where=where)
    return set(zip(found["outcome"].tolist(), found["error"].tolist(), strict=True))


def test_a_plain_answer_passes(runs: dict[str, Pressed]) -> None:
    assert {outcome for outcome, _ in told(runs["lies"], "plain")} == {"passed"}


@pytest.mark.parametrize("name", ["too-large", "contradicting"])
def test_t22_an_answer_that_contradicts_its_length_has_failed(runs: dict[str, Pressed], name: str) -> None:
    assert {outcome for outcome, _ in told(runs["lies"], name)} == {"failed"}


@pytest.mark.parametrize("name", ["surplus", "twice"])
def test_t22_what_comes_beyond_an_answer_is_reported(runs: dict[str, Pressed], name: str) -> None:
    case = runs["lies"].case(name)
    outcomes = {outcome for outcome, _ in told(runs["lies"], name)}
    assert outcomes != {"passed"} or case.notes


def test_t22_a_stall_within_the_body_is_not_no_answer(runs: dict[str, Pressed]) -> None:
    (headless,) = told(runs["lies"], "headless")
    (stalling,) = told(runs["lies"], "stalling")
    assert (headless[0], stalling[0]) == ("ambiguous", "failed"), "an answer that broke off is one"
    assert "no answer" in headless[1]
    assert "no answer" not in stalling[1]
    assert "incomplete" in stalling[1]
    assert "50 %" in stalling[1], "how much had come"
