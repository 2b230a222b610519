"""What is left to do of a run that was broken off, from folders as a crash leaves them."""

from dataclasses import replace
from pathlib import Path

import pytest

from pileup.model.errors import UsageError
from pileup.model.manifest import PlaceEntry, RunState
from pileup.model.record import FAILED, PASSED
from pileup.record import RunFolder
from pileup.run.manifest_start import first_manifest
from pileup.run.recovery import leftovers, registry
from pileup.run.recovery.ownership import Trust
from pileup.run.recovery.resume import EarlierSessions, take_up
from pileup.run.recovery.undo_kinds import UndoReach
from pileup.suite import load

SUITE = """
pileup: 1
title: t
variables: {times: 2}
targets: {se: {kind: posix, url: /tmp}, own: {kind: posix}}
tests:
  - {name: fill, use: storage.write, target: se}
  - {name: fill-own, use: storage.write, target: own}
  - {name: read, use: storage.read, target: se, after: [fill], load: {times: $times}}
  - {name: read-own, use: storage.read, target: own, after: [fill-own]}
  - {name: noise, use: noop, with: [read, read-own], load: {clients: 1}}
"""
NAMES = {"fill": 1, "fill-own": 2, "read": 3, "read-own": 4, "noise": 5}


class Broken:
    """A run folder that is written as a run would, and left as if the run had crashed."""

    def __init__(self, base: Path, suite: str = SUITE, **values: str) -> None:
        self.file = base / "suite.yaml"
        self.file.write_text(suite)
        self.plan = load(self.file, values)
        self.folder = RunFolder.create(base / "runs", "t", 1)
        self.run = replace(first_manifest(self.plan, 1), places=(PlaceEntry(0, "local"),))
        self.folder.save(self.run)
        registry.add(self.folder, self.plan.digest, {})

    def begins(self, *names: str) -> None:
        for name in names:
            self.folder.event("case", f"{name} begins", case=NAMES[name], state="begins")

    def ends(self, *names: str, outcome: str = "passed", cut: bool = False) -> None:
        self.begins(*names)
        for name in names:
            end = {"outcome": outcome, "reason": "", "cut": cut}
            self.folder.event("case", f"{name}: {outcome}", case=NAMES[name], state="ended", **end)

    def makes(self, *names: str) -> None:
        for name in names:
            self.folder.journal("objects", "made", case=name, target="", cleanup="always", remove={"steps": []})

    def take_up(self, **values: str) -> EarlierSessions:
        return take_up(self.folder.path, values)


@pytest.fixture
def broken(tmp_path: Path) -> Broken:
    return Broken(tmp_path)


def again(earlier: EarlierSessions) -> list[str]:
    return [case.name for case in earlier.plan.cases if case.id not in earlier.done]


def test_what_has_an_outcome_stays_and_the_rest_is_done(broken: Broken) -> None:
    broken.ends("fill", "fill-own")
    broken.ends("read", outcome="failed")
    broken.begins("read-own")
    earlier = broken.take_up()
    assert earlier.done == {1: PASSED, 2: PASSED, 3: FAILED}
    assert again(earlier) == ["read-own", "noise"]


def test_data_that_went_with_a_private_server_is_made_again_and_that_of_a_site_is_not(broken: Broken) -> None:
    broken.makes("fill", "fill-own")
    broken.ends("fill", "fill-own")
    assert again(broken.take_up()) == ["fill-own", "read", "read-own", "noise"]


def test_what_a_role_needs_is_made_again_too(tmp_path: Path) -> None:
    suite = SUITE.replace("{name: noise, use: noop, with", "{name: noise, use: noop, after: [fill-own], with")
    broken = Broken(tmp_path, suite)
    broken.makes("fill-own")
    broken.ends("fill", "fill-own", "read-own")
    assert again(broken.take_up()) == ["fill-own", "read", "noise"]


def test_a_role_that_was_broken_off_after_its_loads_is_done_again_beside_the_last(broken: Broken) -> None:
    broken.ends("fill", "fill-own", "read", "read-own")
    broken.begins("noise")
    assert again(broken.take_up()) == ["read-own", "noise"]


def test_data_that_was_cleaned_up_is_made_again_where_it_is_needed(broken: Broken) -> None:
    broken.makes("fill")
    broken.ends("fill", "fill-own", "read-own")
    broken.ends("read", cut=True)
    broken.folder.journal("objects", "removed", of=1, case="fill")
    earlier = broken.take_up()
    assert again(earlier) == ["fill", "read", "noise"]
    assert earlier.objects == {}


def test_what_is_left_of_an_earlier_session_is_removed_at_the_end_of_this_one(broken: Broken) -> None:
    broken.makes("fill")
    broken.ends("fill")
    assert broken.take_up().objects == {1: 1}


def test_cases_that_were_cut_short_or_not_run_or_found_no_target_are_done_again(broken: Broken) -> None:
    broken.ends("fill", cut=True)
    broken.ends("fill-own", outcome="unavailable")
    broken.ends("read", "read-own", "noise", outcome="not run")
    assert again(broken.take_up()) == ["fill", "fill-own", "read", "read-own", "noise"]


def test_attempts_that_are_done_again_count_nowhere(broken: Broken) -> None:
    broken.ends("fill", "fill-own")
    broken.begins("read")
    run = broken.take_up().run
    assert run.void == ((3, 0),)
    assert [case.outcome for case in run.cases] == ["passed", "passed", None, None, None]
    assert (run.state, len(run.sessions)) == ("running", 2)


def test_a_run_with_nothing_left_to_do_is_not_taken_up(broken: Broken) -> None:
    broken.ends(*NAMES)
    earlier = broken.take_up()
    assert earlier.run.void == (), "it crashed before its verdict"
    with pytest.raises(UsageError, match="is still running: its process is active"):
        broken.take_up()  # S12: neither another `resume` nor a start comes between
    earlier.held.lock.release(done=False)
    broken.folder.save(replace(broken.run, state=RunState.ENDED))
    with pytest.raises(UsageError, match="every case has an outcome"):
        broken.take_up()


def test_another_suite_is_another_run(broken: Broken) -> None:
    broken.file.write_text(SUITE + "seed: 5\n")
    with pytest.raises(UsageError, match="has changed since this run began"):
        broken.take_up()


def test_values_of_the_suite_are_those_of_the_run(tmp_path: Path) -> None:
    assert Broken(tmp_path, times="7").take_up().plan.suite.test("read").load.times == 7


def test_s5_a_run_that_the_registry_does_not_know_is_taken_up_when_the_user_says_so(broken: Broken) -> None:
    broken.ends("fill", "fill-own")
    registry.remove(broken.folder.nonce)
    told: list[str] = []
    with pytest.raises(UsageError, match="is not in your registry of runs: nothing of its suite is executed"):
        take_up(broken.folder.path, tell=told.append)
    assert told == []
    assert again(take_up(broken.folder.path, trusted=True, tell=told.append)) == ["read", "read-own", "noise"]
    assert told == [f"loads the suite {broken.file}"], "before it is"


def test_s12_a_run_that_is_taken_up_keeps_its_lock(broken: Broken) -> None:
    earlier = broken.take_up()
    assert leftovers.alive(broken.folder)
    assert leftovers.put_right(broken.folder, Trust.of(broken.folder), UndoReach.ALL) == []
    earlier.held.lock.release(done=False)
    with pytest.raises(UsageError, match="has changed since this run began"):
        (broken.file.write_text(SUITE + "seed: 5\n"), broken.take_up())
    assert not leftovers.alive(broken.folder), "what cannot be taken up is let go"
