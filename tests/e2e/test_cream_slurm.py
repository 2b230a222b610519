"""A suite that holds a queue runs on a real Slurm, small, and accounts for every job."""

import os
from typing import Any

import pytest

from tests.e2e.cream import fates, handed_over, results_of, steered, submitted, sure
from tests.servers import slurm
from tests.support import require_programs

pytestmark = [pytest.mark.timed, pytest.mark.idle]

MET = dict.fromkeys(("J", "L", "S", "A", "W", "G", "D", "N", "R", "P"), "met")
PEOPLE = {"daemon", "bin", "games", "man", "mail"}


@pytest.fixture(scope="module")
def slurm_run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    require_programs(slurm.PROGRAMS)
    return results_of("cream-slurm-ci", {}, tmp_path_factory.mktemp("cream-slurm"))


def test_every_case_on_slurm_passes(slurm_run: dict[str, Any]) -> None:
    assert {case["test"]: case["outcome"] for case in slurm_run["cases"]} == dict.fromkeys(
        ("ramp", "submit", "poll", "watch", "newcomers", "renewal", "empty", "drain"), "passed"
    )


def test_five_users_submit_with_tokens_of_their_own(slurm_run: dict[str, Any]) -> None:
    """Only root can start jobs of others: else the run reports that all of them are one."""
    lacking = {each["name"] for each in slurm_run["run"]["not_covered"]}
    assert lacking == (set() if os.geteuid() == 0 else {"ramp", "submit", "newcomers"})
    renewed = next(case for case in slurm_run["cases"] if case["test"] == "renewal")["operations"]
    assert next(each for each in renewed if each["operation"] == "renew")["counts"]["passed"] >= 10 * len(PEOPLE)


def test_the_queue_of_slurm_is_held(slurm_run: dict[str, Any]) -> None:
    held = next(case for case in slurm_run["cases"] if case["test"] == "submit")["held"]
    assert held["share"] >= 0.9
    assert abs(held["mean"] - 500) < 25
    assert held["looks"] >= 50
    assert held["blind"] == 0


def test_every_job_of_slurm_is_accounted_for(slurm_run: dict[str, Any]) -> None:
    found = fates(slurm_run, "ramp")
    assert set(found) <= {"ran once", "cancelled"}
    assert sum(found.values()) == submitted(slurm_run, "ramp") == 550
    assert sure(slurm_run) == MET  # of one minute's looks and a few hundred jobs a verdict may be met, and not shown
    new = fates(slurm_run, "newcomers")  # the first of them begin before the queue is emptied
    assert set(new) <= {"ran once", "cancelled"}
    assert sum(new.values()) == handed_over(slurm_run, "newcomers") >= 10


def test_every_job_that_was_steered_into_slurm_is_accounted_for(slurm_run: dict[str, Any]) -> None:
    """500 +-5 % wait when the load ends, and are cancelled but for those that begin meanwhile, 5 in a second."""
    cancelled = steered(slurm_run)["cancelled"] + fates(slurm_run, "ramp").get("cancelled", 0)
    assert 350 <= cancelled <= 525
    assert handed_over(slurm_run, "submit") >= submitted(slurm_run, "submit") > 0
