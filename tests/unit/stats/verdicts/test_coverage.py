"""Criteria on monitors that did not measure what they are about are not covered."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from pileup.model import check as checks
from pileup.model.manifest import TargetEntry
from pileup.model.not_covered import Uncovered
from pileup.model.record import Sample, SampleRow
from pileup.model.results import CriterionResult
from pileup.run.manifest_start import first_manifest
from pileup.stats import results
from pileup.stats.verdicts.coverage import Coverage, elsewhere
from pileup.suite import load
from tests.manifests import run_of
from tests.support import EXAMPLES
from tests.unit.stats import scans

FAR = "root://se01.site.org:1094//data/pileup"


def info(target: dict[str, Any], **monitor: str) -> dict[str, Any]:
    return {
        "hosts": [{"name": "Worker7"}],
        "targets": [{"name": "se", "launched": False, **target}],
        "monitors": [{"name": "node", "watches": "se", **monitor}],
    }


@pytest.mark.parametrize(
    ("target", "monitor", "covered"),
    [
        ({"url": FAR}, {}, False),
        ({"url": "https://[2001:db8::1]:443/"}, {}, False),
        ({"url": FAR}, {"host": "ssh://root@se01"}, True),
        ({"url": FAR}, {"watches": ""}, True),
        ({"url": FAR, "launched": True}, {}, True),
        ({"url": "http://127.0.0.1:80/"}, {}, True),
        ({"url": "http://[::1]:80/"}, {}, True),
        ({"url": "http://localhost/"}, {}, True),
        ({"url": "http://worker7/"}, {}, True),
        ({"url": "/data/pileup"}, {}, True),
        ({"url": None}, {}, True),
    ],
)
def test_t19_a_monitor_measured_the_host_of_its_target_or_not(
    target: dict[str, Any], monitor: dict[str, str], covered: bool
) -> None:
    assert (elsewhere(run_of(info(target, **monitor))) == {}) is covered


def test_a_record_without_these_words_covers_all() -> None:
    assert elsewhere(run_of({"monitors": [{"name": "node"}], "targets": [{"name": "se", "url": FAR}]})) == {}
    assert elsewhere(run_of({})) == {}


@pytest.mark.parametrize("suite", ["vendor-acceptance", "read-ahead"])
def test_t19_shipped_suites_by_url_cover_the_servers_disks_only_with_a_host(suite: str) -> None:
    """Row T19: by url the monitors stay on the client, and say nothing of the server."""
    by_url = {"targets.se.url": FAR}
    target = TargetEntry("se", url=FAR)
    plan = load(EXAMPLES / f"{suite}.yaml", by_url)
    assert plan.suite.targets["se"].launch is None
    assert sorted(elsewhere(replace(first_manifest(plan, 1), targets=(target,)))) == ["node", "process"]
    private = TargetEntry("se", launched=True, url="root://127.0.0.1:1094//")
    assert elsewhere(replace(first_manifest(load(EXAMPLES / f"{suite}.yaml"), 1), targets=(private,))) == {}


@pytest.mark.parametrize(
    ("watches", "verdict"), [({"watches": "se"}, "not covered"), ({"watches": "se", "host": "ssh://se01"}, "met")]
)
def test_t19_a_criterion_on_another_host_is_not_covered(tmp_path, watches, verdict) -> None:  # type: ignore[no-untyped-def]
    begin = scans.START + scans.SECOND
    told = scans.info(
        [scans.case(1, "copy", begin)],
        axes={},
        hosts=[{"name": "here"}],
        targets=[{"name": "se", "url": FAR, "launched": False}],
        monitors=[{"name": "node", "use": "node", "every": scans.SECOND, **watches}],
        criteria=[{"id": "C12", "says": "It does not wait", "check": "mean(node.load1) < 30", "coverage": "full"}],
    )
    samples = [SampleRow(begin + k * scans.SECOND, "node", "here", Sample("load1", 1.0, "", "")) for k in range(4)]
    folder = scans.write(tmp_path, told, [scans.rows_of(1, begin, 10_000_000)], samples=samples)
    found = results(folder)
    (judged,) = found.criteria
    assert judged.verdict == verdict
    assert found.exit_code == 0
    if verdict == "not covered":
        assert judged.figure.value is None
        assert "measured this machine, and target se is on se01.site.org" in judged.reason


def judged(
    folder: Path, check: str, lacks: list[Uncovered], coverage: str = "full", latency: dict[str, int] | None = None
) -> CriterionResult:
    """Return a criterion on a test that took 10 ms, and on a monitor with one metric, in a run that lacks something."""
    begin = scans.START + scans.SECOND
    told = scans.info(
        [scans.case(1, "copy", begin, latency=latency or {})],
        axes={},
        hosts=[{"name": "here"}],
        targets=[{"name": "ce", "url": FAR, "launched": False}],
        monitors=[{"name": "slurm", "use": "slurm", "every": scans.SECOND}],
        not_covered=[asdict(each) for each in lacks],
        criteria=[{"id": "C", "says": "so", "check": check, "coverage": coverage, "remark": "as ever"}],
    )
    rows = [
        SampleRow(begin + k * scans.SECOND, "slurm", "here", Sample("jobs", 1.0, "", "state=queued")) for k in range(4)
    ]
    found = results(scans.write(folder, told, [scans.rows_of(1, begin, 10_000_000)], samples=rows))
    assert found.exit_code == 0
    assert not lacks or found.notes[0].startswith(("Not covered", "Covered in part"))
    return found.criteria[0]


WHY = "pileup did not start ce"


@pytest.mark.parametrize(
    ("latency", "coverage", "remark"),
    [
        ({"se": 50_000_000}, "full", "as ever"),
        ({"se": 0}, "partial", "as ever; no `path` adds to the round trips of its test"),
        ({}, "partial", "as ever; no `path` adds to the round trips of its test"),
    ],
)
def test_a_criterion_about_a_distance_is_covered_by_a_path(
    tmp_path: Path, latency: dict[str, int], coverage: str, remark: str
) -> None:
    found = judged(tmp_path, "max(copy) < 1 s", [], "far", latency)
    assert (found.verdict, found.coverage, found.remark) == ("met", coverage, remark)


def test_a1_a_criterion_on_a_monitor_that_fell_away_is_not_covered(tmp_path: Path) -> None:
    found = judged(tmp_path, "max(slurm.jobs[state=queued]) < 5", [Uncovered("monitor", "slurm", WHY)])
    assert (found.verdict, found.coverage, found.reason, found.figure.value) == ("not covered", "none", WHY, None)


@pytest.mark.parametrize(
    ("check", "verdict", "coverage"),
    [
        ("max(slurm.jobs[state=queued]) < 5", "met", "partial"),
        ("max(slurm.cycle[of=last]) < 1 s", "not covered", "none"),
        ("max(slurm.jobs[state=inlrms]) < 5", "not covered", "none"),
    ],
)
def test_a3_what_a_monitor_has_in_part_is_judged_and_the_rest_is_not_covered(
    tmp_path: Path, check: str, verdict: str, coverage: str
) -> None:
    found = judged(tmp_path, check, [Uncovered("monitor", "slurm", "only jobs are known", whole=False)])
    assert (found.verdict, found.coverage) == (verdict, coverage)
    assert "only jobs are known" in f"{found.remark} {found.reason}"


def test_a1_the_figure_of_a_test_without_its_faults_is_told_and_not_judged(tmp_path: Path) -> None:
    found = judged(tmp_path, "max(copy) < 1 s", [Uncovered("test", "copy", f"killed did not happen in it: {WHY}")])
    assert (found.verdict, found.coverage) == ("not covered", "none")
    assert found.figure.value == pytest.approx(10_000_000, rel=0.01)


def test_a1_a_test_with_some_of_its_faults_is_covered_in_part(tmp_path: Path) -> None:
    found = judged(tmp_path, "max(copy) < 1 s", [Uncovered("test", "copy", "one did not happen", whole=False)])
    assert (found.verdict, found.coverage, found.remark) == ("met", "partial", "as ever; one did not happen")


@pytest.mark.parametrize(
    ("check", "lacks", "covered"),
    [
        ("max(fault.recovery[fault=killed]) < 1 s", "killed", False),
        ("max(fault.recovery[fault=killed,test=copy]) < 1 s", "killed", False),
        ("max(fault.recovery[fault=other]) < 1 s", "killed", True),
        ("max(cooldown.time_to_idle) < 1 s", "", False),
    ],
)
def test_a1_a_criterion_on_a_fault_that_did_not_happen_is_not_covered(check: str, lacks: str, covered: bool) -> None:
    lack = Uncovered("fault", lacks, WHY) if lacks else Uncovered("cooldown", "cooldown", WHY)
    selected = checks.resolve(checks.parse(check), (), ("fault", "cooldown"))
    found = Coverage((lack, Uncovered("launch", "ce", WHY, whole=False))).of(selected)
    assert (found is None) is covered
    assert found is None or found.whole


@pytest.mark.parametrize(
    ("operations", "check", "verdict", "coverage"),
    [
        (["checksum-not-stated"], "fraction(copy.checksum.failed) == 0", "not covered", "none"),
        (["checksum-not-stated", "checksum"], "fraction(copy.checksum.failed) == 0", "met", "partial"),
        (["checksum"], "fraction(copy.checksum.failed) == 0", "met", "full"),
        ([], "fraction(copy.checksum.failed) == 0", "unknown", "full"),
        (["checksum-not-stated"], "fraction(copy.failed) == 0", "met", "full"),
    ],
)
def test_d9_a_criterion_on_checksums_is_covered_as_far_as_they_were_stated(
    tmp_path: Path, operations: list[str], check: str, verdict: str, coverage: str
) -> None:
    begin = scans.START + scans.SECOND
    told = scans.info(
        [scans.case(1, "copy", begin)],
        axes={},
        criteria=[{"id": "C", "says": "so", "check": check, "coverage": "full"}],
    )
    rows = scans.rows_of(1, begin, 10_000_000)
    inner = [
        replace(frame, started=0, rows=tuple(replace(row, operation=name, iteration=False) for row in frame.rows))
        for name in operations
        for frame in scans.frames_of(rows)
    ]
    (found,) = results(scans.write(tmp_path, told, [rows], frames=inner)).criteria
    assert (found.verdict, found.coverage) == (verdict, coverage)
    assert ("states no checksum" in f"{found.reason} {found.remark}") is (coverage in ("none", "partial"))
