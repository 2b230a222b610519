"""A whole run, judged, out of its folder."""

import json

import pytest

from pileup.model.exits import ExitCode
from pileup.model.record import Sample, SampleRow
from pileup.record import RunFolder
from pileup.stats import commonest_error, results, to_json
from tests.manifests import plain, run_of

SECOND = 10**9


@pytest.fixture(params=["running", "ended"])
def folder(request, golden, tmp_path):
    return golden.make(tmp_path, request.param)


@pytest.fixture
def ended(golden, tmp_path):
    return golden.make(tmp_path, "ended")


def change(folder, **fields):
    folder.save(run_of({**plain(folder), **fields}))
    return results(folder)


def test_cases_have_their_figures(folder):
    found = results(folder)
    check, copy = found.cases
    assert (check.iterations.counts.passed, check.iterations.operation) == (1, "check")
    assert [operation.operation for operation in copy.operations] == ["iteration", "read"]
    whole = copy.iterations
    assert (whole.counts.passed, whole.counts.failed, whole.counts.ended) == (195, 5, 200)
    assert whole.seconds == 20.0
    assert whole.rate.value == pytest.approx(195 / 20)
    assert whole.rate.interval.low < 9.75 < whole.rate.interval.high
    assert whole.throughput.value == pytest.approx(195 * 2**20 / 20)
    assert whole.response.quantiles[0.5].value == pytest.approx(51e6, rel=0.002)
    assert copy.operations[1].response.quantiles[0.5].value == pytest.approx(41e6, rel=0.002)
    assert len(copy.timeline.times) == 20
    assert (copy.stdout, copy.stderr) == ("output/copy/stdout.txt", "")


def test_criteria_are_judged(folder):
    found = {each.id: each for each in results(folder).criteria}
    assert {name: each.verdict for name, each in found.items()} == {
        "C1": "met, not shown",
        "C2": "not met",
        "C3": "unknown",
        "C4": "met",
        "C5": "not covered",
    }
    assert found["C2"].figure.value == pytest.approx(0.025)
    assert found["C2"].reason == "fraction(copy.failed) is 2.5 % (1.07-5.72 %), not < 0.1 %"
    assert (found["C3"].figure.value, found["C3"].reason) == (None, "too few: 200 values")
    assert (found["C4"].figure.value, found["C4"].threshold) == (pytest.approx(0.80, abs=0.05), "< 90 %")


def test_equal_errors_are_told_once_with_the_operation_that_failed(folder):
    (group,) = results(folder).errors
    assert (group.case, group.operation, group.count, group.place) == ("copy", "read", 5, "local")
    assert group.message == "wrong byte at 17 of /data/é"


def test_the_commonest_error_of_a_run_that_goes_on(golden, tmp_path):
    folder = golden.make(tmp_path, "running")
    assert commonest_error(folder, 2) == "wrong byte at 17 of /data/é"
    assert commonest_error(folder, 1) == commonest_error(folder, 2, phase=0) == ""


def test_the_record_of_a_crash_is_unknown(golden, tmp_path):
    folder = golden.make(tmp_path, "running")
    found = results(folder)
    assert (found.exit_code, found.verdict) == (ExitCode.CRITERION_NOT_MET, "failed"), "what has failed has failed"
    found = change(folder, criteria=[])
    assert (found.exit_code, found.verdict) == (ExitCode.UNKNOWN, "unknown")
    assert "crashed" in found.notes[0]


@pytest.mark.parametrize(
    ("kept", "code", "verdict"),
    [
        (["C1", "C4", "C5"], ExitCode.PASSED, "passed"),
        (["C1", "C2"], ExitCode.CRITERION_NOT_MET, "failed"),
        (["C2", "C3"], ExitCode.CRITERION_NOT_MET, "failed"),
        (["C3"], ExitCode.UNKNOWN, "unknown"),
        ([], ExitCode.PASSED, "passed"),
    ],
)
def test_exit_codes_of_criteria(ended, kept, code, verdict):
    criteria = [each for each in plain(ended)["criteria"] if each["id"] in kept]
    found = change(ended, criteria=criteria)
    assert (found.exit_code, found.verdict) == (code, verdict)


@pytest.mark.parametrize(
    ("stopped", "outcome", "code", "verdict"),
    [
        ("", "failed", 1, "failed"),
        ("", "error", 1, "failed"),
        ("", "not run", 1, "failed"),
        ("", "unavailable", 5, "failed"),
        ("", "unknown", 8, "unknown"),
        ("", None, 8, "unknown"),
        ("user: Ctrl-C", "failed", 6, "stopped"),
        ("limit: 3 TiB moved", "passed", 7, "stopped"),
        ("internal: KeyError", "failed", 70, "unknown"),
    ],
)
def test_exit_codes_of_cases(ended, stopped, outcome, code, verdict):
    cases = plain(ended)["cases"]
    cases[1]["outcome"] = outcome
    found = change(ended, criteria=[], cases=cases, stopped=stopped, stopped_by=stopped.partition(":")[0])
    assert (found.exit_code, found.verdict) == (code, verdict)


def test_who_stopped_a_run_is_in_its_record_and_not_in_the_sentence_for_people(ended):
    assert change(ended, stopped="limit: internal: user", stopped_by="user").exit_code == ExitCode.STOPPED_BY_USER
    assert change(ended, stopped="user: limit", stopped_by="limit").exit_code == ExitCode.STOPPED_BY_LIMIT


def test_a_run_that_measured_nothing_cannot_pass(tmp_path, golden):
    folder = RunFolder.create(tmp_path, "x", golden.START)
    folder.save(run_of({**golden.info("ended"), "criteria": []}))
    found = results(folder)
    assert found.exit_code == ExitCode.UNKNOWN
    assert "Nothing was measured." in found.notes


def monitor(text):
    return [{"id": "M", "says": "x", "check": text, "coverage": "full"}]


@pytest.mark.parametrize(
    ("text", "verdict", "says"),
    [
        ("max(node.cpu) < 90 %", "unknown", "choose one: node.cpu[mode=system], node.cpu[mode=user]"),
        ("max(node.cpu[mode=idle]) < 90 %", "unknown", "has these labels; there are mode=system, mode=user"),
        ("max(node.cup[mode=user]) < 90 %", "unknown", "no metric 'cup'; there are cpu"),
        ("max(node.cpu[mode=user]) < 90", "unknown", "give the value the unit of the samples"),
        ("max(node.cpu[mode=user,host=host]) < 50 %", "not met", "not < 50 %"),
        ("min(node.cpu[mode=user]) >= 0", "met", ""),
        ("count(node.cpu[mode=user]) == 22", "met", ""),
        ("last(node.cpu[mode=user]) < 90 %", "met", ""),
        ("max(disk.busy) < 90 %", "unknown", "there is no test or monitor 'disk'"),
        ("first(copy) > 1 ms", "met", ""),
        ("last(copy.read.service) > 1 ms", "met", ""),
        ("last(copy.read) > 1 ms", "met", ""),
        ("last(copy.speed) > 1 MB/s", "unknown", "copy has no operation or number 'speed'; there are read"),
        (
            "p50(copy.read) < 100 MB",
            "unknown",
            "p50(copy.read) is a time, the value '100 MB' is a size; expected a time like '30 s'",
        ),
        ("width(copy) < 10 ms", "met", ""),
        ("p90(copy.bytes) == 1 MiB", "met", ""),
        ("mean(copy.calls) == 3", "met", ""),
        ("sum(copy.bytes) == 195 MiB", "met", ""),
        ("rate(copy.failed) < 1 /s", "met", ""),
        ("count(copy.lost) == 0", "met", ""),
        ("p50(copy.none) < 1 s", "unknown", "copy has no operation 'none'; there are read"),
        ("rate(copy.none) > 1 /s", "unknown", "copy has no operation 'none'; there are read"),
        ("p50(copy) < 1 kg", "unknown", "unknown unit"),
    ],
)
def test_checks_on_monitors_and_single_rows(ended, text, verdict, says):
    (found,) = change(ended, criteria=monitor(text)).criteria
    assert (found.verdict, says in found.reason) == (verdict, True), found.reason


def test_numbers_that_a_test_reports_are_samples_under_its_name(golden, tmp_path):
    folder = golden.make(tmp_path, "running")
    rows = [SampleRow(golden.START + (2 + n) * SECOND, "copy", "h", Sample("speed.up", 200.0 + n)) for n in range(5)]
    folder.append_samples(rows)
    folder.close()
    (found,) = change(folder, criteria=monitor("min(copy.speed.up) >= 200")).criteria
    assert (found.verdict, found.figure.value, found.figure.n) == ("met", 200.0, 5)


def test_a_criterion_is_unknown_where_pileup_was_the_bottleneck(golden, tmp_path, monkeypatch):
    monkeypatch.setattr("pileup.stats.generator.holdups.BUSY_CPU", 0.04)
    folder = golden.make(tmp_path, "ended")
    slow = {"id": "S", "says": "x", "check": "p90(copy) < 1 ms", "coverage": "full"}
    found = {each.id: each for each in change(folder, criteria=[*plain(folder)["criteria"], slow]).criteria}
    assert found["S"].verdict == "unknown"
    assert "pileup was the bottleneck of copy from" in found["S"].reason
    assert found["C1"].verdict == "met, not shown"
    assert found["C2"].verdict == "not met", "a slow pileup makes no wrong answers"


def test_series_keep_their_peaks_when_thinned(golden, tmp_path):
    folder = RunFolder.create(tmp_path, "x", golden.START)
    folder.save(run_of(golden.info("ended")))
    values = [0.0] * 50_000
    values[31_234], values[7] = 9.0, -9.0
    rows = [SampleRow(golden.START + n, "m", "h", Sample("x", value)) for n, value in enumerate(values)]
    folder.append_samples(rows)
    folder.close()
    (series,) = results(folder).series
    assert len(series.times) <= 2000
    assert (max(series.values), min(series.values)) == (9.0, -9.0)
    assert (series.times[0], series.times[-1]) == (golden.START, golden.START + 49_999)
    assert list(series.times) == sorted(series.times)


def test_json_is_finite_and_plain(ended):
    found = to_json(results(ended))
    text = json.dumps(found, allow_nan=False)
    assert json.loads(text) == found
    assert found["cases"][1]["outcome"] == "passed"
    assert found["exit_code"] == 4
    assert set(found["cases"][1]["operations"][0]["response"]["quantiles"]) == {"0.5", "0.9", "0.99", "0.999", "0.9999"}
