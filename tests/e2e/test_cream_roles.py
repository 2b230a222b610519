"""The roles of the tests of 2009 beside a queue that is held, small, on a system whose journal is the truth."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cream import fates, verdicts
from tests.servers.practice_batch import truth
from tests.support import pileup, run_folder

ROLES = """
pileup: 1
title: Roles beside a held queue
seed: 2009
variables: {held: 12 s, minute: = $held / 30, renewal: = 2.5 * $minute, slots: 20, queue: 60}
targets:
  ce:
    kind: practice-batch
    launch: {slots: $slots, cycle: 100 ms, users: [user1, user2, user3, user4, user5], seed: 7}
tests:
  - name: ramp
    use: computing.submit
    target: ce
    options: {duration: {uniform: [500 ms, 1500 ms]}, prefix: ramp, users: 5, delegation: shared}
    load: {clients: 5, times: = $queue + $slots}
  - name: submit
    use: computing.submit
    target: ce
    after: [ramp]
    options: {duration: {uniform: [500 ms, 1500 ms]}, prefix: hold, user: user1, delegation: shared}
    load:
      clients: 2
      hold: {metric: poll.queued, at: $queue, band: 40 %, by: rate, between: [0, 60 /s], start: 20 /s, settle: 4 s}
      for: $held
  - {name: poll, use: computing.poll, target: ce, with: [ramp, submit], options: {keep: true}, load: {every: 500 ms}}
  - {name: watch, use: computing.watch, target: ce, with: [submit], options: {jobs: 5}, load: {every: $minute}}
  - name: newcomers
    use: computing.delegate
    target: ce
    with: [submit]
    options: {newcomers: true, jobs: 1, duration: 1 s}
    load: {every: = 2 * $minute}
  - {name: renewal, use: computing.renew, target: ce, with: [submit], load: {every: $renewal}}
  - name: drain
    use: computing.poll
    target: ce
    after: [submit]
    options: {drain: true, keep: true, interval: 100 ms}
criteria:
  - {id: J, says: "The queue keeps its length", check: mean(submit.held) >= 90 %}
  - {id: S, says: "Every submission is taken", check: fraction(submit.failed) == 0}
  - {id: L, says: "No job fails", check: fraction(ramp.job.failed) == 0}
  - {id: A, says: "No job is lost that was acknowledged", check: max(submit.jobs_lost) == 0}
  - {id: W, says: "Users learn the state of their jobs", check: fraction(watch.status.failed) == 0, at_least: 10}
  - {id: G, says: "Jobs that have ended are purged", check: sum(watch.purged) >= 10, at_least: 10}
  - {id: D, says: "New users get credentials", check: fraction(newcomers.delegate.failed) == 0, at_least: 10}
  - {id: N, says: "Jobs of new users are taken", check: fraction(newcomers.submit.failed) == 0, at_least: 10}
  - {id: N1, says: "They run", check: fraction(newcomers.job.failed) == 0, at_least: 10}
  - {id: R, says: "Credentials are renewed", check: fraction(renewal.failed) == 0, at_least: 10}
"""
ALL_MET = dict.fromkeys(("J", "S", "L", "A", "W", "G", "D", "N", "N1", "R"), "met")


def run(folder: Path, code: int, **values: str) -> tuple[dict[str, Any], Path]:
    (folder / "roles.yaml").write_text(ROLES)
    given = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
    done = pileup("run", "roles.yaml", "--quiet", *given, cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    made = folder / run_folder(done)
    return json.loads((made / "results.json").read_text()), made


@pytest.mark.timed
@pytest.mark.idle
def test_each_role_acts_ten_times_beside_a_queue_that_is_held(tmp_path: Path) -> None:
    results, folder = run(tmp_path, 0)
    assert verdicts(results) == ALL_MET
    held = next(case for case in results["cases"] if case["test"] == "submit")["held"]
    assert held["share"] >= 0.9
    (path,) = folder.rglob("jobs.csv")
    jobs = truth(path)
    of = Counter(job.name.partition("-")[0] for job in jobs)
    for test, prefix in {"ramp": "ramp", "submit": "hold", "newcomers": "new"}.items():
        assert fates(results, test) == {"ran once": of[prefix]}
    assert of["ramp"] == 80
    assert 10 <= of["new"] <= 22
    assert {job.state for job in jobs} == {"completed"}
    purged = sum(bool(job.times["purged"]) for job in jobs)
    reported = next(each for each in results["criteria"] if each["id"] == "G")["figure"]["value"]
    assert 10 <= reported <= purged, "the journal also has what was purged while the queue settled"


@pytest.mark.long
def test_a_role_that_acts_too_seldom_leaves_its_criterion_unknown(tmp_path: Path) -> None:
    """Renewal every half a minute, in seconds: it fires once, and nothing is said of it."""
    quick = {"held": "3 s", "minute": "100 ms", "renewal": "30 s", "tests.submit.load.hold.settle": "1 s"}
    results, _ = run(tmp_path, 8, **quick, criteria=CRITERIA)
    assert verdicts(results) == {"W": "met", "N": "met", "R": "unknown"}
    reason = next(each for each in results["criteria"] if each["id"] == "R")["reason"]
    assert reason.endswith("; the criterion needs at least 10")


CRITERIA = (
    "[{id: W, says: so, check: fraction(watch.status.failed) == 0, at_least: 10},"
    "{id: N, says: so, check: fraction(newcomers.submit.failed) == 0, at_least: 10},"
    "{id: R, says: so, check: fraction(renewal.failed) == 0, at_least: 10}]"
)
