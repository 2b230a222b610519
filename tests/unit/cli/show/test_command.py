"""Results on the screen, at several widths, and as JSON."""

import importlib.util
import io
import json
import re
from dataclasses import replace

import pytest
from click.testing import CliRunner
from rich.console import Console

from pileup.cli.app import app
from pileup.cli.console import SafeConsole
from pileup.cli.show.overview import print_results
from pileup.model.errors import DamagedRecord
from pileup.model.figures import Figure, Interval
from pileup.model.results import Equivalence, TimeRatio
from pileup.model.verdict import Verdict
from pileup.record import RunFolder
from pileup.run.recovery import lock
from pileup.stats import results
from tests.manifests import plain, run_of
from tests.support import ROOT
from tests.unit.builtin.reports import pieces, submitted, synthetic

GOLDEN = ROOT / "tests" / "golden" / "0.1"


def shown(found, width):
    stream = io.StringIO()
    print_results(found, Console(file=stream, width=width))
    return stream.getvalue()


@pytest.fixture(scope="module")
def found():
    return results(RunFolder.open(GOLDEN / "ended"))


@pytest.mark.parametrize("width", [60, 80, 120, 160])
def test_everything_fits(found, width):
    lines = shown(found, width).splitlines()
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    for word in ("failed, because", "exit code", "✗ C2", "not met", "9.75", "51", "20 s", "195", "Throughput"):
        assert word in text
    assert "wrong byte at 17" in text


def test_what_users_wrote_is_not_taken_as_markup(found, golden_copy):
    info = plain(golden_copy)
    info["cases"][1]["name"] = "copy[red]"
    info["criteria"][0]["says"] = "[bold]x[/nothing]"
    golden_copy.save(run_of(info))
    text = shown(results(golden_copy), 120)
    assert "copy[red]" in text
    assert "[bold]x[/nothing]" in text


@pytest.fixture
def golden_copy(tmp_path):
    spec = importlib.util.spec_from_file_location("golden_make", GOLDEN.parent / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.make(tmp_path, "running")


def test_a_run_that_goes_on_is_shown(golden_copy):
    assert "This run goes on, or has crashed" in " ".join(shown(results(golden_copy), 80).split())


def test_an_empty_run_is_shown(tmp_path):
    folder = RunFolder.create(tmp_path, "x", 0)
    folder.save(run_of({"title": "nothing yet"}))
    assert "unknown, because" in shown(results(folder), 80)


@pytest.mark.parametrize("width", [80, 120])
def test_tests_that_must_answer_alike_are_told(found, width):
    ratio = TimeRatio("new", "db.index=on", Figure(3.91, "", Interval(3.7, 4.2), 8))
    alike = (
        Equivalence(("old", "new"), "passed", "", (ratio,)),
        Equivalence(("a", "[b]"), "failed", "answers differ: a: 1; [b]: 2", ()),
    )
    text = shown(replace(found, equivalences=alike), width)
    assert max(map(len, text.splitlines())) <= width
    told = "a, [b]: answers differ: a: 1; [b]: 2"
    for words in ("Equal answers", "old, new", "db.index=on", "3.91 (3.7-4.2)", told):
        assert words in " ".join(text.split())


def test_the_command():
    done = CliRunner().invoke(app, ["show", str(GOLDEN / "ended")])
    assert done.exit_code == 0
    assert done.stdout.startswith("✗ Tested ")
    plain = json.loads(CliRunner().invoke(app, ["show", str(GOLDEN / "ended"), "--json"]).stdout)
    assert plain["folder"] == str(GOLDEN / "ended")
    assert [each["verdict"] for each in plain["criteria"]] == [
        "met, not shown",
        "not met",
        "unknown",
        "met",
        "not covered",
    ]


@pytest.mark.parametrize("width", [80, 120])
def test_the_points_of_a_scan_are_compared(width):
    text = shown(synthetic.scanned(), width)
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    for word in (
        "copy: rate at each point, 4 repeats",
        "Against the first",
        "larger",
        "smaller",
        "se.threads=64, others",
    ):
        assert word in words
    assert "copy: mean" not in words, "where there is a rate, the mean is left to the report"


@pytest.mark.parametrize("width", [80, 120])
def test_points_of_one_axis_are_named_by_its_values(width):
    run = synthetic.scanned()
    points = tuple(replace(point, values={"options.target": f"a_door_{point.number}"}) for point in run.points)
    lines = shown(replace(run, points=points), width).splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("copy: rate at each point"))
    assert lines[begin + 1].startswith("target ")
    assert any(line.startswith("a_door_1 ") for line in lines), "a short name is not broken"
    assert not any(line.startswith("options.target") for line in lines)


def test_points_that_grow_together_are_named_by_all_their_values():
    run = synthetic.scanned()
    points = tuple(
        replace(each, values={"n": str(each.number), "read.size": f"{each.number} GiB"}, together=(("n", "read.size"),))
        for each in run.points
    )
    lines = shown(replace(run, points=points), 100).splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("copy: rate at each point"))
    assert lines[begin + 1].startswith("n / size ")
    assert any(line.startswith("3 / 3 GiB ") for line in lines)


def test_axes_that_end_with_the_same_word_are_named_in_full():
    run = synthetic.scanned()
    axes = ("get.load.pacing", "put.load.pacing")
    points = tuple(replace(each, values=dict.fromkeys(axes, str(each.number)), together=(axes,)) for each in run.points)
    lines = shown(replace(run, points=points), 120).splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("copy: rate at each point"))
    assert lines[begin + 1].startswith("get.load.pacing / put.load.pacing ")


def test_one_repeat_says_too_few():
    assert "too few" in shown(synthetic.scanned(repeats=1), 100)


def test_what_was_done_to_the_run_is_told():
    text = shown(synthetic.eventful(), 100)
    assert "10:15:12: se is restarted (TERM)" in text
    assert "too slow for its interval" not in text


def test_of_many_cases_those_that_did_not_pass_come_first():
    many = [pieces.once(number, f"case-{number}", 0.01 * number) for number in range(1, 2000)]
    many[1500] = pieces.once(1501, "broken", 15.0, "failed", "no answer")
    text = shown(replace(synthetic.simple(), cases=tuple(many)), 100)
    assert "broken" in text
    assert "and 1,799 more" in text
    assert len(text.splitlines()) < 500


@pytest.mark.parametrize("width", [80, 120])
def test_jobs_and_what_became_of_submissions_are_shown(width):
    text = shown(submitted.submitted(), width)
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    assert "52,684 1 3 0.0019 %" in words, "cancelled jobs have a column of their own (T20)"
    assert "BLAH error" in words
    assert "and 4 more reasons: see the report" in words
    assert "70 of 90" in words
    assert "submit: 30 lost: job-0, job-1, job-2, job-3, job-4, …" in words
    assert "submit: 2 ghosts: phantom" in words
    assert "only <one> user" in shown(submitted.submitted(), 250)


def test_d13_a_run_that_was_killed_is_told_with_what_to_do(tmp_path):
    folder = RunFolder.create(tmp_path, "t", 0)
    folder.save(run_of({"title": "t", "cases": []}))
    folder.close()
    path = folder.path
    held = lock.take(path)
    try:
        assert "broken off" not in CliRunner().invoke(app, ["show", str(path)]).stderr, "it goes on"
    finally:
        held.release(False)
    said = CliRunner().invoke(app, ["show", str(path)]).stderr
    assert f"`pileup resume {path}` goes on with it, `pileup clean {path}` removes what it has left" in said
    assert "broken off" not in CliRunner().invoke(app, ["show", str(GOLDEN / "ended")]).stderr


def order(text, *words):
    places = [text.index(word) for word in words]
    assert places == sorted(places), list(zip(words, places, strict=True))


def test_what_matters_is_first():
    """U9: the sentence, what is not met, the other criteria, cases, bottleneck, errors."""
    text = shown(synthetic.rich(), 120)
    assert text.startswith("✗ Tested se (practice-storage) with 8 tests for 1 min 2 s: failed, because ")
    order(text, "✗ C2: ", "? C3: ", "✓  C1 ", "✓  tools ", "Response times", "Limited by", "503 Service")


def test_marks_tell_met_from_not_shown_and_not_met():
    run = synthetic.rich()
    first, *others = run.criteria
    unsure = replace(first, verdict=Verdict.MET_NOT_SHOWN, needed="more values would")
    text = shown(replace(run, criteria=(unsure, *others)), 200)
    assert re.search(r"^~  C1 .*\(to show it: more values would\)", text, re.MULTILINE)
    assert re.search(r"^✗ C2: .*; not met ", text, re.MULTILINE)


def test_numbers_of_a_column_have_one_unit_above_them():
    lines = shown(synthetic.rich(), 100).splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("Response times"))
    assert lines[head] == "Response times from the intended start, of all that was due"
    assert lines[head + 1].split() == ["Case", "Rate", "Mean", "p50", "p90", "p99", "Throughput"]
    assert lines[head + 2].split() == ["/s", "ms", "ms", "ms", "ms", "MB/s"]
    assert next(line.split() for line in lines if line.startswith("disk-read  "))[-1] == "2,440"


@pytest.mark.parametrize("width", [60, 100])
def test_a_run_of_nothing_but_ascii_has_marks_too(found, width):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    print_results(synthetic.rich(), SafeConsole(file=stream, width=width))
    stream.flush()
    text = stream.buffer.getvalue().decode("ascii")
    assert "x C2: " in text
    assert "+ " in text


def test_a_run_that_is_just_ending_is_read_again(found, monkeypatch):
    """A table that goes between the look into the folder and its opening is not an error of pileup."""
    left = [FileNotFoundError(2, "no such file", "0.table")] * 2
    monkeypatch.setattr("pileup.cli.reading.time.sleep", lambda seconds: None)
    monkeypatch.setattr("pileup.stats.results", lambda folder: (_ for _ in ()).throw(left.pop()) if left else found)
    done = CliRunner().invoke(app, ["show", str(GOLDEN / "ended")])
    assert done.exit_code == 0
    assert not left
    assert "Tested" in done.stdout


def test_a_record_that_lacks_a_file_is_damaged(monkeypatch):
    def gone(folder):
        raise FileNotFoundError(2, "no such file", "frames/0.table")

    monkeypatch.setattr("pileup.cli.reading.time.sleep", lambda seconds: None)
    monkeypatch.setattr("pileup.stats.results", gone)
    done = CliRunner().invoke(app, ["show", str(GOLDEN / "ended")])
    assert isinstance(done.exception, DamagedRecord)
    assert "0.table is missing" in str(done.exception)
