"""Audits: every claim looked up once the cases are over and after faults, told when it could not be done."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pileup.model.ending import StoppedBy
from pileup.model.errors import Ambiguous, RecordError
from pileup.model.record import ClaimRow
from pileup.model.submissions import JOBS
from pileup.plugin.batch import BatchTarget, Claim, Delegation, Fate, Finding, Job, JobState
from pileup.record import RunFolder
from pileup.run.audit.lookup import AuditLimits
from pileup.run.audit.submissions import Audits, failed_share, lost_share
from pileup.run.manifest import ManifestWriter
from pileup.run.manifest_start import first_manifest
from pileup.run.recovery.intents import open_intents
from pileup.run.stop import Stop, StopMode
from pileup.stats.audits import FATES, audits, unknown
from pileup.suite import load
from tests.unit.run.batch_bank import Bank

SUITE = """
pileup: 1
title: audit
targets:
  ce: {kind: practice-batch, url: "http://127.0.0.1:9/"}
  own: {kind: practice-batch, launch: {}}
tests:
  - {name: submit, use: computing.submit, target: ce, load: {rate: 1 /s, for: 10 s}}
  - {name: more, use: computing.submit, target: ce, load: {rate: 1 /s, for: 10 s}}
  - {name: mine, use: computing.submit, target: own}
faults:
  - {at: 1 s, do: command, run: "true", name: crash}
"""
QUICK = AuditLimits(whole=5, patience=0, settle=0)
DONE = JobState.COMPLETED


class Known:
    """Targets that are open."""

    def __init__(self, **targets: BatchTarget) -> None:
        self.targets = targets

    def get(self, name: str) -> BatchTarget | None:
        return self.targets.get(name)

    def problem(self, name: str) -> str:
        return f"{name} is unavailable"


class Numbers:
    """What goes to the samples: (monitor, metric, labels) -> value."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str, str], float] = {}

    def add(self, monitor: str, moment: int, sample: Any) -> None:
        self.found[monitor, sample.metric, sample.labels] = sample.value


class Stage:
    """A run folder with claims, and what audits need."""

    def __init__(self, path: Path, bounds: AuditLimits = QUICK, **targets: BatchTarget) -> None:
        (path / "suite.yaml").write_text(SUITE)
        plan = load(path / "suite.yaml")
        self.folder = RunFolder.create(path / "runs", "audit", 0)
        self.book = ManifestWriter(self.folder, first_manifest(plan, 1))
        self.book.save()
        self.numbers, self.stop, self.served = Numbers(), Stop(), 0
        self.audits = Audits(
            plan,
            self.folder,
            Known(**targets),  # type: ignore[arg-type]
            self.numbers,  # type: ignore[arg-type]
            book=self.book,
            stop=self.stop,
            bounds=(bounds, bounds),
        )

    def claim(
        self, *names: str, target: str = "ce", test: str = "submit", answered: bool = True, case: int = 1
    ) -> None:
        rows = [ClaimRow(time.time_ns(), case, test, target, name, f"id-{name}" if answered else "") for name in names]
        self.folder.append_claims(rows)

    def end(self) -> list[dict[str, Any]]:
        self.audits.at_end(self.serve)
        return self.book.audits()

    def serve(self) -> None:
        self.served += 1

    def fates(self, audit: int = 0) -> dict[str, str]:
        return {each.claim.name: each.fate for each in self.folder.findings() if each.audit == audit}


Make = Callable[..., Stage]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes the stage of a test: `make(bounds, NAME=bank)`."""
    made: list[Stage] = []

    def make(bounds: AuditLimits = QUICK, **targets: BatchTarget) -> Stage:
        made.append(Stage(tmp_path, bounds, **targets))
        return made[-1]

    yield make
    for stage in made:
        stage.folder.close()


def job(name: str, id_: str | None = None, state: JobState = DONE, **more: Any) -> Job:
    return Job(name, id_ or f"id-{name}", state, **more)


def test_every_fate_has_a_sample_and_a_column() -> None:
    assert set(JOBS) == set(FATES) == {str(fate) for fate in Fate}


def test_every_fate_is_found_written_and_sampled(make: Make) -> None:
    bank = Bank(job("going", state=JobState.QUEUED), job("other", "id-reused"), accounts=[job("once"), job("twice")])
    bank.accounts.append(job("cancelled", state=JobState.CANCELLED))
    bank.accounts += [job("twice", "9"), job("ghost", "10", JobState.FAILED, reason="exit code 1")]
    stage = make(ce=bank)
    stage.claim("once", "twice", "cancelled", "going", "lost", "reused")
    stage.claim("never", "ghost", answered=False)
    (told,) = stage.end()
    assert (told.claims, told.looked, told.problem, told.fault) == ({"submit": 8}, 8, "", -1)
    fates = {
        "once": "ran once",
        "twice": "ran twice",
        "cancelled": "cancelled",
        "going": "still there",
        "lost": "lost",
        "reused": "id used again",
    }
    assert stage.fates() == {**fates, "never": "never", "ghost": "ran once"}
    rows = {each.claim.name: each for each in stage.folder.findings()}
    assert (rows["ghost"].found, rows["ghost"].state, rows["ghost"].reason) == ("10", "failed", "exit code 1")
    assert (rows["twice"].jobs, rows["lost"].jobs) == (2, 0)
    counts = {metric: value for (name, metric, _), value in stage.numbers.found.items() if name == "submit"}
    assert counts == {
        "jobs_once": 2,
        "jobs_twice": 1,
        "jobs_cancelled": 1,
        "jobs_going": 1,
        "jobs_lost": 1,
        "jobs_reused": 1,
        "jobs_purged": 0,
        "jobs_unknown": 0,
        "jobs_never": 1,
        "jobs_ghosts": 1,
        "lost_share": pytest.approx(100 / 3),
        "failed_share": pytest.approx(100 / 3),
    }
    assert {labels for _, _, labels in stage.numbers.found} == {"visit=0"}


def test_claims_are_asked_for_in_pages_and_by_test(make: Make) -> None:
    names = [f"job-{number}" for number in range(25)]
    bank = Bank(accounts=map(job, names))
    stage = make(ce=bank)
    stage.claim(*names[:20])
    stage.claim(*names[20:], test="more")
    (told,) = stage.end()
    assert bank.pages == [10, 10, 5]
    assert told.claims == {"submit": 20, "more": 5}
    assert [stage.numbers.found[test, "jobs_once", "visit=0"] for test in ("submit", "more")] == [20, 5]


def test_what_is_not_found_is_looked_up_again(make: Make) -> None:
    bank = Bank()
    stage = make(ce=bank)
    stage.claim("late", "lost")
    bank.asked = lambda: bank.accounts.append(job("late")) if len(bank.pages) == 2 else None
    stage.end()
    assert stage.fates() == {"late": "ran once", "lost": "lost"}
    assert len(list(stage.folder.findings())) == 2


def test_a_target_that_does_not_answer_is_asked_again(make: Make) -> None:
    bank = Bank(accounts=[job("a")])
    bank.down = [Ambiguous("no answer"), OSError("gone")]
    stage = make(AuditLimits(whole=20, patience=10, settle=0), ce=bank)
    stage.claim("a")
    (told,) = stage.end()
    assert (told.looked, told.problem, bank.pages) == (1, "", [1, 1, 1])
    assert stage.served >= 1, "the run goes on beating"


def test_an_audit_that_cannot_be_made_says_so_and_gives_no_samples(make: Make) -> None:
    bank = Bank(accounts=[job(f"job-{number}") for number in range(15)])
    stage = make(ce=bank)
    stage.claim(*(f"job-{number}" for number in range(15)))
    bank.asked = lambda: bank.down.append(Ambiguous("no answer")) if len(bank.pages) > 1 else None
    (told,) = stage.end()
    assert (told.looked, told.problem) == (10, "no answer")
    assert len(stage.fates()) == 10, "what is known is kept"
    assert stage.numbers.found == {}
    assert any(event.kind == "audit" and "no answer" in event.text for event in stage.folder.events())


@pytest.mark.parametrize("target", ["ce", "own"])
def test_a_target_that_is_not_there_is_told(make: Make, target: str) -> None:
    stage = make()
    stage.claim("a", target=target)
    assert [told.problem for told in stage.end()] == [f"{target} is unavailable"]


def test_nothing_is_asked_where_nothing_was_submitted(make: Make) -> None:
    stage = make(ce=Bank())
    stage.folder.append_claims([ClaimRow(1, 1, "submit", "ce", "alice", "d1", "delegation")])
    assert stage.end() == ()


def test_after_a_fault_the_newest_claims_come_first(make: Make) -> None:
    bank = Bank(accounts=[job(f"job-{number}") for number in range(12)])
    stage = make(ce=bank)
    for number in range(12):
        stage.claim(f"job-{number}")
    stage.claim("lost")
    stage.audits.after_fault(0, "submit")
    fault, end = stage.end()
    assert (fault.fault, fault.load, end.fault) == (0, "submit", -1)
    assert "submit" in fault.after
    first = [each.claim.name for each in stage.folder.findings() if each.audit == fault.number]
    assert first[:3] == ["job-11", "job-10", "job-9"]
    assert stage.numbers.found["fault", "jobs_lost", "fault=crash,test=submit,visit=0"] == 1
    assert stage.numbers.found["submit", "jobs_lost", "visit=0"] == 1


def test_a_wish_to_stop_ends_audits_after_faults_and_hurry_ends_all(make: Make) -> None:
    stage = make(ce=Bank(accounts=[job("a")]))
    stage.claim("a")
    stage.stop.ask(StoppedBy.USER, "x", StopMode.IN_ORDER)
    stage.audits.after_fault(0, "submit")
    fault, end = stage.end()
    assert (fault.problem, end.problem) == ("it was stopped", "")
    stage.stop.ask(StoppedBy.USER, "x", StopMode.AT_ONCE)
    assert stage.end()[-1].problem == "it was stopped"


def test_claims_of_an_earlier_session_went_with_its_private_server(make: Make) -> None:
    bank = Bank(accounts=[job("old"), job("new")])
    stage = make(ce=bank, own=bank)
    earlier = RunFolder(stage.folder.path)
    earlier.append_claims([ClaimRow(1, 3, "mine", "own", "old", "1"), ClaimRow(1, 1, "submit", "ce", "old", "1")])
    earlier.close()
    stage.claim("new", target="own", test="mine")
    own, site = sorted(stage.end(), key=lambda told: str(told.target), reverse=True)
    assert (own.claims, own.gone, own.looked) == ({"mine": 1}, 1, 1)
    assert (site.claims, site.gone, site.looked) == ({"submit": 1}, 0, 1)


def test_a_disk_that_refuses_ends_the_audit(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = make(ce=Bank(accounts=[job("a")]))
    stage.claim("a")

    def full(_: object) -> None:
        raise RecordError("no room", "room on the disk")

    monkeypatch.setattr(stage.folder, "append_findings", full)
    with pytest.raises(RecordError, match="no room"):
        stage.end()


def intents(stage: Stage, **more: str) -> None:
    """Note what the loads of both tests may leave."""
    for case, target in (("submit", "ce"), ("mine", "own")):
        told = {"case": case, "target": target, "stamp": "0123456789", "cleanup": "always", **more}
        stage.folder.journal("jobs", "made", **told)


def closed(stage: Stage) -> list[str]:
    return [entry.state for entry in stage.folder.journal_entries() if entry.of is not None]


@pytest.mark.parametrize(
    ("state", "ends", "left"), [(DONE, ["gone", "ended"], []), (JobState.QUEUED, ["gone", "left"], ["jobs"])]
)
def test_intents_stay_open_while_jobs_are_there(make: Make, state: JobState, ends: list[str], left: list[str]) -> None:
    stage = make(ce=Bank(job("a", state=state)), own=Bank())
    stage.claim("a")
    intents(stage)
    stage.end()
    assert closed(stage) == ends
    assert [intent.what for intent in open_intents(stage.folder)] == left


def test_jobs_that_the_suite_keeps_are_left_to_themselves(make: Make) -> None:
    stage = make(ce=Bank(job("a", state=JobState.QUEUED)))
    stage.claim("a")
    intents(stage, cleanup="never")
    stage.end()
    assert closed(stage) == ["gone", "kept"]


def test_jobs_that_nobody_could_ask_for_stay_open(make: Make) -> None:
    bank = Bank()
    bank.down = [Ambiguous("no answer")]
    stage = make(ce=bank)
    stage.claim("a")
    intents(stage)
    stage.end()
    assert closed(stage) == ["gone", "left"]


class Office(Bank):
    """A bank that takes delegations back."""

    def revoke(self, delegation: Delegation) -> None:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("bank", "revoked", "ends"),
    [(Office, True, "ended"), (Office, False, "left"), (Bank, False, "kept")],
)
def test_delegations_that_were_not_revoked_stay_open_where_they_can_be(
    make: Make, bank: type[Bank], revoked: bool, ends: str
) -> None:
    stage = make(ce=bank())
    words = ["delegation", "revoked"] if revoked else ["delegation"]
    stage.folder.append_claims([ClaimRow(1, 1, "submit", "ce", "alice", "d1", what) for what in words])
    stage.folder.journal("delegations", "made", case="submit", target="ce", stamp="0123456789", cleanup="always")
    stage.end()
    assert closed(stage) == [ends]


def test_the_lost_share_is_of_what_was_acknowledged() -> None:
    counts = Counter({"ran once": 6, "never": 4, "lost": 1, "id used again": 1, "ghosts": 2})
    assert lost_share(counts) == 2 / 6
    assert lost_share(Counter({"never": 3})) is None


def test_the_failed_share_is_of_what_ended_by_itself() -> None:
    assert failed_share(Counter({"ran once": 9, "completed": 6, "failed": 2, "cancelled": 1})) == 2 / 8
    assert failed_share(Counter({"cancelled": 3})) is None


class Theirs(Bank):
    """A system where somebody else takes jobs out."""

    def audit(self, claims: Iterable[Claim]) -> list[Finding]:
        found = super().audit(claims)
        return [replace(each, fate=Fate.PURGED) if each.claim.name == "theirs" else each for each in found]


def test_a3_what_others_have_purged_is_no_loss(make: Make) -> None:
    stage = make(ce=Theirs(job("once")))
    stage.claim("once", "theirs", "lost")
    stage.end()
    assert stage.fates() == {"once": "ran once", "theirs": "purged by others", "lost": "lost"}
    found = {metric: value for (_, metric, _), value in stage.numbers.found.items()}
    assert (found["jobs_purged"], found["jobs_lost"]) == (1, 1)
    assert found["lost_share"] == pytest.approx(100 / 3)
    (told,) = audits(stage.folder, stage.book.run)
    assert told.fates["purged by others"] == 1
    assert told.acknowledged == 3
    assert {each.fate for each in told.bad} == {"lost"}


class Forgetful(Bank):
    """A system that forgets jobs that have ended and keeps no account of them."""

    def audit(self, claims: Iterable[Claim]) -> list[Finding]:
        found = super().audit(claims)
        return [replace(each, fate=Fate.UNKNOWN) if each.fate in (Fate.LOST, Fate.NEVER) else each for each in found]


def test_what_may_have_been_forgotten_is_neither_lost_nor_found(make: Make) -> None:
    stage = make(ce=Forgetful(job("once")))
    stage.claim("once", "forgotten")
    stage.claim("silent", answered=False)
    stage.end()
    assert stage.fates() == {"once": "ran once", "forgotten": "unknown", "silent": "unknown"}
    found = {metric: value for (_, metric, _), value in stage.numbers.found.items()}
    assert (found["jobs_once"], found["jobs_unknown"], found["jobs_ghosts"]) == (1, 2, 0)
    assert not found.keys() & {"jobs_lost", "jobs_twice", "jobs_reused", "lost_share"}, "any of them may be"
    (told,) = audits(stage.folder, stage.book.run)
    assert (told.fates["unknown"], told.ghosts, told.bad) == (2, 0, ())
    assert (told.lost_share.value, told.lost_share.note) == (None, "the fate of 2 is not known")
    (note,) = unknown([told])
    assert note.startswith("What became of 2 of 3 submissions of submit is not known: ce forgets jobs that have ended")


class Hung(Bank):
    """A system that does not answer until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.goes_on = threading.Event(), threading.Event()

    def audit(self, claims: Iterable[Claim]) -> list[Finding]:
        self.asked.set()
        self.goes_on.wait(20)
        return super().audit(claims)


def test_a4_an_audit_of_a_system_that_hangs_is_left_behind_and_writes_nothing_later(make: Make) -> None:
    hung = Hung()
    stage = make(ce=hung)
    stage.claim("a", "b")
    press = threading.Timer(0.2, lambda: [stage.stop.ask(StoppedBy.USER, "Ctrl-C") for _ in range(2)])
    press.start()
    begin = time.monotonic()
    (told,) = stage.end()
    assert time.monotonic() - begin < 10
    assert (told.problem, told.looked) == ("it was stopped", 0)
    hung.goes_on.set()
    worker = next((each for each in threading.enumerate() if each.name == "audit"), None)
    if worker is not None:
        worker.join(5)
    assert len(stage.book.audits()) == 1
    assert list(stage.folder.findings()) == []


def test_a4_a_limit_leaves_the_audit_its_time_and_a_person_ten_seconds(make: Make) -> None:
    stage = make()
    stage.stop.ask(StoppedBy.LIMIT, "enough", StopMode.IN_ORDER)
    assert not stage.stop.late(0)
    stage.stop.ask(StoppedBy.USER, "Ctrl-C", None)
    assert stage.stop.late(0)
