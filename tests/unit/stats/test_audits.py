"""What became of submissions, out of the record: counts, shares with intervals, examples, and what was not told."""

import numpy as np
import pytest

from pileup.model.cause import Cause
from pileup.model.exits import ExitCode
from pileup.model.record import ClaimRow, FindingRow
from pileup.plugin.batch import Fate
from pileup.record import TableWriter
from pileup.record.operations import ROW
from pileup.stats import audits, results
from pileup.stats.verify import disagreements
from tests.manifests import plain, run_of
from tests.unit.stats import scans

ERRORS = [b"job", b"exit code 1", b"cancelled by root", b"TIMEOUT"]


def told(number=0, fault=-1, claims=None, **fields):
    """An entry of run.json for an audit."""
    after = "kill of ce at 5 s in submit" if fault >= 0 else ""
    load = "submit" if fault >= 0 else ""
    known = {"number": number, "target": "ce", "fault": fault, "after": after, "load": load, "begin": 1, "end": 2}
    return {**known, "claims": claims or {}, "gone": 0, "looked": 0, "problem": "", **fields}


def finding(name, fate, number=0, id_="7", test="submit", **more):
    return FindingRow(number, 5, ClaimRow(1, 1, test, "ce", name, id_), fate, **more)


@pytest.fixture
def run(tmp_path):
    """Makes the record of a run with these findings, and these entries of run.json."""

    def make(findings, *entries, claims=True):
        case = scans.case(1, "submit", scans.START, test="submit")
        info = scans.info([case], axes={}, audits=list(entries))
        folder = scans.write(tmp_path, info, [scans.rows_of(1, scans.START, 1000)])
        if claims:
            folder.append_claims([each.claim for each in findings])
        folder.append_findings(findings)
        folder.close()
        return folder

    return make


def test_words_are_those_of_the_plugin():
    assert set(audits.FATES) == {str(fate) for fate in Fate}


def test_fates_are_counted_per_audit_and_test(run):
    found = [finding(f"a{n}", "ran once", state="completed", jobs=1) for n in range(6)]
    found += [finding("b", "still there", state="queued"), finding("c", "lost"), finding("d", "id used again")]
    found += [finding("e", "never", id_=""), finding("f", "ran once", id_="", state="failed", reason="exit code 1")]
    found += [finding("g", "lost", test="more"), finding("a0", "still there", number=1)]
    first, more, second = results(run(found, told(claims={"submit": 12, "more": 1}), told(1, 0, {"submit": 1}))).audits
    assert first.fates == {**dict.fromkeys(audits.FATES, 0), **first.fates}
    assert {fate: count for fate, count in first.fates.items() if count} == {
        "ran once": 7,
        "still there": 1,
        "lost": 1,
        "id used again": 1,
        "never": 1,
    }
    assert (first.claims, first.looked, first.acknowledged, first.ghosts) == (12, 11, 9, 1)
    assert first.states == {"completed": 6, "failed": 1, "queued": 1}
    assert first.lost_share.value == 2 / 9
    assert first.lost_share.interval.low == pytest.approx(0.0632, abs=1e-4), "Wilson for 2 of 9"
    assert first.lost_share.interval.high == pytest.approx(0.5474, abs=1e-4)
    assert [(each.name, each.fate) for each in first.bad] == [("c", "lost"), ("d", "id used again"), ("f", "ghost")]
    assert (more.test, more.fates["lost"]) == ("more", 1)
    assert (second.fault, second.after, second.load) == (0, "kill of ce at 5 s in submit", "submit")
    assert (first.after, second.looked) == ("the run", 1)


def test_twenty_of_each_bad_fate_are_named(run):
    found = [finding(f"{fate} {n}", fate) for fate in ("ran twice", "lost") for n in range(25)]
    (audit,) = results(run(found, told(claims={"submit": 50}))).audits
    assert [each.fate for each in audit.bad] == ["ran twice"] * 20 + ["lost"] * 20


def test_nothing_acknowledged_has_no_share(run):
    (audit,) = results(run([finding("a", "never", id_="")], told(claims={"submit": 1}))).audits
    assert (audit.lost_share.value, audit.lost_share.note) == (None, "nothing measured")


def test_an_audit_that_could_not_be_made_is_a_problem_of_the_run(run):
    found = results(run([], told(claims={"submit": 3}, problem="no answer")))
    assert found.exit_code == ExitCode.UNKNOWN
    assert found.notes == ("What became of the submissions to ce is not known: no answer",)
    assert (found.audits[0].problem, found.audits[0].looked) == ("no answer", 0)


def test_a_later_audit_makes_an_earlier_one_good(run):
    entries = told(claims={"submit": 1}, problem="no answer"), told(1, claims={"submit": 1}, looked=1)
    found = results(run([finding("a", "ran once", number=1)], *entries))
    assert (found.exit_code, found.notes) == (ExitCode.PASSED, ())


def test_an_audit_after_a_fault_that_was_cut_short_is_a_remark(run):
    entries = told(0, 0, {"submit": 1}, problem="it was stopped"), told(1, claims={"submit": 1}, looked=1)
    found = results(run([finding("a", "ran once", number=1)], *entries))
    assert found.exit_code == ExitCode.PASSED
    (note,) = found.notes
    assert note == "The audit of ce after kill of ce at 5 s in submit is not complete: it was stopped"


@pytest.mark.parametrize(("looked_before", "notes"), [(0, 1), (4, 0)])
def test_what_went_with_a_private_server_is_told_unless_it_was_looked_up_before(run, looked_before, notes):
    entries = [told(claims={}, looked=looked_before)] if looked_before else []
    found = results(run([], *entries, told(1, gone=4)))
    assert len(found.notes) == notes
    assert all("4 submissions to ce were not looked up" in note for note in found.notes)


def test_a_record_of_before_has_none(run):
    folder = run([])
    info = plain(folder)
    info.pop("audits", None)
    folder.save(run_of(info))
    assert (results(folder).audits, results(folder).jobs) == ((), ())


def test_verify_misses_findings_and_claims(run):
    folder = run([finding("a", "ran once")], told(claims={"submit": 2}, looked=1), claims=False)
    said = [what for where, what in disagreements(folder, results(folder)) if where.startswith("audit")]
    assert said == [
        "2 submissions were claimed, the record has findings of 1",
        "a finding is of a, which nobody has claimed",
    ]


def test_verify_is_content_with_a_whole_audit(run):
    folder = run([finding("a", "ran once")], told(claims={"submit": 1}, looked=1))
    assert [what for where, what in disagreements(folder, results(folder)) if where.startswith("audit")] == []


@pytest.fixture
def ended(tmp_path):
    """A run with these jobs: (outcome, number of the error in ERRORS + 1 or 0) -> how many."""

    def make(jobs):
        case = scans.case(1, "submit", scans.START, test="submit")
        folder = scans.write(tmp_path, scans.info([case], axes={}), [scans.rows_of(1, scans.START, 1000)])
        rows = np.zeros(sum(jobs.values()), ROW)
        rows["id"], rows["parent"], rows["case"], rows["phase"] = 10_000 + np.arange(len(rows)), 1, 1, 3
        rows["start"] = rows["intended"] = scans.START
        rows["end"], rows["operation"] = scans.START + 1, 1
        kinds = [kind for kind, count in jobs.items() for _ in range(count)]
        rows["outcome"], rows["error"] = zip(*kinds, strict=True)
        rows["cause"] = np.where(rows["error"] == 3, Cause.CANCELLED, Cause.NONE)
        writer = TableWriter(folder.operations_path(1), "operations", ROW)
        writer.append(rows, ERRORS, ("key", "error", "operation"))
        writer.close()
        return results(folder)

    return make


def test_jobs_are_told_by_final_state_with_reasons(ended):
    (jobs,) = ended({(0, 0): 90, (1, 2): 6, (1, 4): 4, (1, 3): 5, (4, 0): 2, (5, 0): 1}).jobs
    assert jobs.test == "submit"
    assert jobs.states == {
        "completed": 90,
        "failed": 10,
        "cancelled": 5,
        "not over at the end": 2,
        "lost with its place": 1,
    }
    assert (jobs.failed.value, jobs.failed.n) == (0.1, 100)
    assert jobs.failed.interval.low == pytest.approx(0.0552, abs=1e-4), "Wilson for 10 of 100"
    assert jobs.failed.interval.high == pytest.approx(0.1744, abs=1e-4)
    assert [(each.reason, each.count) for each in jobs.reasons] == [
        ("exit code 1", 6),
        ("cancelled by root", 5),
        ("TIMEOUT", 4),
    ]
    assert jobs.more_reasons == 0


def test_jobs_of_which_none_is_over_have_no_failure_rate(ended):
    (jobs,) = ended({(4, 0): 3}).jobs
    assert (jobs.states, jobs.failed.value) == ({"not over at the end": 3}, None)
