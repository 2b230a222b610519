"""T2, levels that are found or held, and differences of pairs, against the server's log."""

import math

import pytest

from tests.truth import conditions
from tests.truth.compared import SECOND, rows
from tests.truth.conftest import Runs
from tests.truth.special import found, held, held_share, in_system, level, paired

pytestmark = [pytest.mark.timed, pytest.mark.idle]


@pytest.mark.parametrize("name", conditions.FINDS)
def test_t2_the_level_found_is_what_the_server_bears(levels: Runs, name: str) -> None:
    """Of a server that sheds "even 1.2 k/s" was reported, of an impatient client 209 on 100/s."""
    line = level(levels[name], name)
    assert line.agrees, line


@pytest.mark.parametrize("name", conditions.FINDS)
def test_t2_no_level_is_borne_at_which_more_than_one_in_a_hundred_did_not_pass(levels: Runs, name: str) -> None:
    """By the log, over each trial that passed, and by the record over the time at the level that was found."""
    run = levels[name]
    lines = run.servers[name].lines("ended")
    late = conditions.FINDS[name][2] * SECOND or math.inf
    for trial in found(run, name).trials:
        measured = trial.end - trial.due / trial.level * SECOND  # what an overload before has left is settled by then
        came = [line for line in lines if measured <= line["arrived"] < trial.end]
        good = sum(line["status"] == 200 and line["time"] - line["arrived"] < late for line in came)
        if trial.passed and came:
            assert len(came) - good <= 0.01 * len(came) + 2, (trial, good, len(came))  # two at the edges
    due = [each for each in rows(run, name).values() if each["phase"] == "measure"]
    assert sum(each["outcome"] == "passed" for each in due) >= 0.95 * len(due)


def test_what_was_held_is_what_the_log_had_in_its_hands(levels: Runs) -> None:
    told = held(levels["held"], "held")
    lines = levels["held"].servers["held"].lines("ended")
    truth = [in_system(lines, at) for at in told.times]
    assert len(truth) >= 10
    near = [abs(said - true) <= 2 for said, true in zip(told.values, truth, strict=True)]
    assert sum(near) >= 0.85 * len(near), list(zip(told.values, truth, strict=True))


def test_the_share_held_is_that_of_the_log(levels: Runs) -> None:
    line = held_share(levels["held"], "held")
    assert line.agrees, line


def test_paired_differences_are_those_of_the_log(levels: Runs) -> None:
    line = paired(levels["pair"])
    assert line.agrees, line
