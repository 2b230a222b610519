"""A run opened from Python: tables with filters, figures with intervals, charts, comparisons; one that grows, too."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

import pileup
from pileup.api import rows as rows_module
from pileup.model.contrast import ALIKE
from pileup.model.record import SampleRow
from pileup.plugin import Sample
from pileup.record import RunFolder
from pileup.stats import results
from tests.support import ROOT, give_up

ENDED = ROOT / "tests" / "golden" / "0.1" / "ended"
RUNNING = ROOT / "tests" / "golden" / "0.1" / "running"
IDS = ("id", "parent")
HOSTILE = '<script>alert("x")</script>\x1b[2J'


@pytest.fixture(scope="module")
def run() -> pileup.Run:
    return pileup.open(ENDED)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ENDED, tmp_path / "run")
    return tmp_path / "run"


def test_it_says_what_show_says(run: pileup.Run) -> None:
    found = results(RunFolder.open(ENDED))
    assert (run.title, run.verdict, run.exit_code, run.ended) == (
        *(found.run.title, found.verdict, found.exit_code),
        True,
    )
    assert run.path == ENDED
    assert repr(run) == f"<Run of pileup: 'golden' {run.verdict}, in 23 s, 2 cases, {ENDED}>"
    assert "not ended" in repr(pileup.open(RUNNING))


def test_figures_have_the_intervals_of_the_results(run: pileup.Run) -> None:
    case = next(each for each in run.results.cases if each.name == "copy")
    whole = case.iterations
    assert whole is not None
    assert whole.rate.interval is not None
    (row,) = run.figures(case="copy", iteration=True).numpy()
    assert (row["rate"], row["rate_low"], row["rate_high"]) == pytest.approx(
        (whole.rate.value, whole.rate.interval.low, whole.rate.interval.high)
    )
    assert row["p50"] == whole.quantiles[0.5].value
    assert (row["passed"], row["failed"]) == (whole.counts.passed, whole.counts.failed)
    assert math.isnan(row["p99"])  # too few for one
    assert set(run.figures(test="copy").numpy()["operation"]) == {each.operation for each in case.operations}


@pytest.mark.parametrize(
    ("where", "condition"),
    [
        ({"test": "copy", "operation": "iteration"}, "test = 'copy' AND operation = 'iteration'"),
        (
            {"phase": "measure", "outcome": ["failed", "refused"]},
            "phase = 'measure' AND outcome IN ('failed', 'refused')",
        ),
        ({"outcome": []}, "FALSE"),
        ({"client": 0}, "client = 0"),
        ({"key": "a'b"}, "key = 'a''b'"),
    ],
)
def test_operations_are_filtered_by_their_columns(run: pileup.Run, where: dict[str, object], condition: str) -> None:
    with RunFolder.open(ENDED).operations().connect() as connection:
        (wanted,) = connection.execute(f"SELECT count(*) FROM operations WHERE {condition}").fetchone() or ()
    found = run.operations(**where)
    assert len(found) == len(found.numpy()) == sum(1 for _ in found) == wanted


def test_columns_are_chosen_before_they_are_read(run: pileup.Run) -> None:
    found = run.operations(test="copy").select("start", "end").head(3)
    assert list(found.columns) == ["start", "end"]
    assert found.numpy().dtype.names == ("start", "end")
    assert len(found) == 3


def test_a_column_or_a_value_that_there_cannot_be_is_told_in_three_parts(run: pileup.Run) -> None:
    with pytest.raises(pileup.UsageError) as column:
        run.operations(tset="copy")
    assert (column.value.what, column.value.expected) == ("there is no column 'tset'", "'test'")
    with pytest.raises(pileup.UsageError, match="no column holds <object"):
        run.operations(test=object())
    with pytest.raises(pileup.UsageError, match="there is no column 'ned'"):
        run.operations().select("ned")


def test_chunks_are_the_same_rows(run: pileup.Run) -> None:
    whole = run.operations().numpy()
    pieces = list(run.operations().chunks(100))
    assert max(map(len, pieces)) == 100
    assert [tuple(row) for piece in pieces for row in piece] == [tuple(row) for row in whole]


def test_numbers_that_are_missing_are_nan_and_texts_none(run: pileup.Run) -> None:
    made = run.sql("SELECT * FROM (VALUES (1, 'a', 2.5e0, TRUE), (NULL, NULL, NULL, NULL)) t(n, t, x, y)")
    for found in (made.numpy(), *made.chunks()):
        assert found.dtype["n"] == found.dtype["x"] == np.float64
        assert np.isnan(found["n"][1])
        assert np.isnan(found["x"][1])
        assert list(found["t"]) == ["a", None]
        assert list(found["y"]) == [True, None]


@pytest.mark.parametrize("query", ["SELECT nothing FROM operations", "SELEKT", "SELECT 1 FROM nowhere"])
def test_a_query_that_cannot_be_answered_is_told(run: pileup.Run, query: str) -> None:
    with pytest.raises(pileup.UsageError, match=r"the query cannot be answered: .*; expected SQL as DuckDB knows it"):
        run.sql(query).numpy()


@pytest.mark.long
def test_every_table_of_an_export_can_be_read(run: pileup.Run) -> None:
    assert {"operations", "frames", "samples", "figures", "quantiles", "events", "jobs"} <= set(run.tables)
    for name in run.tables:
        assert len(run.table(name).numpy()) == len(run.table(name)), name
    with pytest.raises(pileup.UsageError, match="there is no table 'quantile'; expected 'quantiles'"):
        run.table("quantile")


def test_the_tables_say_what_they_hold(run: pileup.Run) -> None:
    cases = run.tables["cases"]
    assert cases.rows == len(run.cases()) == 2
    assert cases.columns == run.cases().columns
    assert cases.units == {"started": "ns since the epoch", "ended": "ns since the epoch"}
    operations = run.tables["operations"]
    assert operations.rows == len(run.operations())
    assert operations.units["bytes"] == "bytes"
    shown = repr(run.tables).splitlines()
    assert len(shown) == len(run.tables)
    assert any(line.startswith("cases ") and " 2  id, " in line for line in shown)
    assert "throughput_low (bytes/s)" in run.tables._repr_html_()


@pytest.mark.long
def test_the_units_are_right_by_the_numbers(run: pileup.Run) -> None:
    """What is beyond 10^18 is a moment, and every number that is not counted has a unit."""
    for name, held in run.tables.items():
        found = run.table(name).numpy()
        for column, kind in held.columns.items():
            unit = held.units.get(column, "")
            if kind == "DOUBLE" and name != "faults":  # that has means of counts
                assert unit, (name, column)
            if found.dtype[column].kind in "iuf" and len(found) and column not in IDS:
                largest = np.nan_to_num(found[column].astype(float), posinf=0).max()
                assert (largest > 1e18) <= (unit == "ns since the epoch"), (name, column, largest)


def test_response_times_are_a_histogram_as_numpy_has_it(run: pileup.Run) -> None:
    counts, edges = run.hist("copy")
    whole = next(case for case in run.results.cases if case.name == "copy").iterations
    assert whole is not None
    assert whole.response is not None
    assert counts.sum() == whole.response.n == whole.counts.passed
    assert len(edges) == len(counts) + 1
    assert edges[0] <= whole.response.smallest <= whole.response.largest <= edges[-1]
    inside = next(each.operation for each in run.results.cases[-1].operations if not each.iteration)
    assert run.hist("copy", inside, "service")[0].sum() > 0
    with pytest.raises(pileup.UsageError, match="there is no case 'cpy'; expected 'copy'"):
        run.hist("cpy")
    with pytest.raises(pileup.UsageError, match="'copy' has no operation 'nothing'"):
        run.hist("copy", "nothing")
    with pytest.raises(pileup.UsageError, match="expected 'response' or 'service'"):
        run.hist("copy", kind="queue")


def test_samples_events_cases_and_criteria(run: pileup.Run) -> None:
    found = RunFolder.open(ENDED)
    assert len(run.samples()) == len(list(found.samples()))
    assert set(run.samples(metric="cpu").numpy()["metric"]) == {"cpu"}
    assert set(run.cases().numpy()["name"]) == {"check", "copy"}
    assert len(run.criteria(point="")) == len(run.results.criteria)
    assert len(run.events()) == len(list(found.events()))


def test_without_pandas_and_arrow_there_is_numpy(run: pileup.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(rows_module, "find_spec", lambda _: None)
    monkeypatch.setattr(rows_module, "import_module", gone)
    assert isinstance(run.cases().data(), np.ndarray)
    with pytest.raises(pileup.UsageError, match=r"needs pandas, which is not installed.*pip install pandas"):
        run.cases().df()
    with pytest.raises(pileup.UsageError, match="pip install pyarrow"):
        run.cases().arrow()


@pytest.mark.long
def test_with_pandas_and_arrow_there_are_both(run: pileup.Run) -> None:
    for library in ("pandas", "pyarrow"):
        if rows_module.find_spec(library) is None:
            give_up(f"{library} is not installed: pip install 'pileup[analysis]'")
    frame = run.operations(test="copy").df()
    assert len(frame) == len(run.operations(test="copy"))
    assert frame["end"].dtype == np.int64
    assert type(run.cases().data()) is type(frame)
    table = run.operations(test="copy").arrow()
    assert table.num_rows == len(frame)
    import pyarrow

    assert pyarrow.table(run.cases()).column_names == list(run.cases().columns)


@pytest.mark.long
def test_charts_are_those_of_the_report_for_altair(run: pileup.Run) -> None:
    found = run.charts()
    assert {"rates", "bandwidth", "ecdf"} <= set(found)
    for chart in found.values():
        spec = chart.to_dict()  # altair holds it to the schema
        assert spec["title"]["text"]
        assert "var(--" not in json.dumps(spec)
    assert set(run.charts("distribution")) < set(found)
    assert run.chart("rates").to_dict()["title"]["text"] == "Iterations (per second)"
    with pytest.raises(pileup.UsageError, match="there is no chart 'rate'; expected 'rates'"):
        run.chart("rate")
    with pytest.raises(pileup.UsageError, match="there is no chart 'nothing'"):
        run.charts("nothing")


def test_runs_are_compared(run: pileup.Run) -> None:
    found = run.compare(ENDED)
    assert found.verdict == ALIKE
    assert (found.worse, found.better) == ((), ())
    assert {each.metric for each in found} >= {"rate", "p50"}
    assert "Baseline" in found._repr_html_()
    with pytest.raises(pileup.UsageError, match="no other run"):
        run.compare()


def test_a_page_of_a_notebook_escapes_everything(copy: Path) -> None:
    info = json.loads((copy / "run.json").read_text())
    info["title"] = HOSTILE
    info["criteria"][0]["says"] = HOSTILE
    info["cases"][1]["name"] = info["cases"][1]["test"] = HOSTILE
    (copy / "run.json").write_text(json.dumps(info))
    run = pileup.open(copy)
    pages = (run._repr_html_(), run.cases()._repr_html_(), run.figures()._repr_html_(), run.compare(run)._repr_html_())
    for page in pages:
        assert "<script" not in page
        assert "\x1b" not in page
        assert "&lt;script&gt;" in page
    assert run.verdict in pages[0]
    assert "\x1b" not in repr(run)


def test_a_table_shows_its_first_rows_alone(run: pileup.Run) -> None:
    page = run.operations()._repr_html_()
    assert page.count("<tr>") == 1 + rows_module.SHOWN
    assert "and more" in page
    assert "and more" not in run.cases()._repr_html_()


def test_a_run_that_grows_is_looked_at_again(copy: Path) -> None:
    whole = (copy / "frames" / "0.table").read_bytes()
    (copy / "frames" / "0.table").write_bytes(whole[: len(whole) // 2])
    run = pileup.open(copy)
    before = run.figures(case="copy").numpy()["passed"][0]
    samples = len(run.samples())
    (copy / "frames" / "0.table").write_bytes(whole)
    folder = RunFolder.open(copy)
    folder.append_samples([SampleRow(1, "node", "here", Sample("cpu", 1.0))])
    folder.close()
    assert run.figures(case="copy").numpy()["passed"][0] == before  # until it is asked to look
    assert len(run.samples()) == samples + 1  # rows are those of now
    assert run.refresh().figures(case="copy").numpy()["passed"][0] > before


def test_a_run_that_goes_on_can_be_opened() -> None:
    run = pileup.open(RUNNING)
    assert not run.ended
    assert len(run.operations()) > 0
    assert "goes on" in run._repr_html_()


def test_what_is_no_run_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(pileup.NotARun, match=r"\(no run\.json\); expected a run folder"):
        pileup.open(tmp_path)


def test_a_damaged_record_is_told(copy: Path) -> None:
    for path in (copy / "operations").iterdir():
        path.write_bytes(b"no table")
    with pytest.raises(pileup.RecordError):
        pileup.open(copy).figures().numpy()
    with pytest.raises(pileup.RecordError):
        len(pileup.open(copy).operations())
