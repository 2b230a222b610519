"""The HTML report: one file, nothing from the network, everything escaped, all parts there in their order."""

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import altair as alt
import fastjsonschema
import pytest

from pileup.builtin.reports.html import HtmlReport
from pileup.model.figures import Figure, Interval
from pileup.model.results import Equivalence, TimeRatio
from pileup.plugin import registry
from tests.unit.builtin.reports import pieces, synthetic

MIB = 1 << 20
SECTIONS = [
    "criteria",
    "bottleneck",
    "cases",
    "load",
    "times",
    "monitors",
    "self",
    "joined",
    "served",
    "errors",
    "details",
    "environment",
]
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Reads a page strictly: elements must be closed in order; keeps ids, links, scripts and the visible text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.scripts: list[str] = []
        self.sections: list[str] = []
        self.classes: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in VOID:
            self.open.append(tag)
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "section":
            self.sections.append(given["id"])
        self.classes += given.get("class", "").split()
        self.links += [given["href"]] if "href" in given else []
        self.loaded += [given["src"]] if "src" in given else []
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    @property
    def data(self) -> dict:
        return json.loads(next(script for script in self.scripts if script.startswith('{"window"')))


@cache
def rendered(name: str) -> str:
    return HtmlReport().render(getattr(synthetic, name)(), synthetic.outputs()).decode()


@cache
def page(name: str) -> Page:
    return Page(rendered(name))


def test_it_is_registered_under_its_name() -> None:
    assert registry.load("reports", "html") is HtmlReport
    assert HtmlReport.file_name == "report.html"


def test_all_parts_are_there_with_verdicts_first() -> None:
    assert page("rich").sections == SECTIONS


def test_a_simple_run_has_at_least_six_charts() -> None:
    charts = page("simple").classes.count("chart")
    assert charts >= 6
    assert charts == len(page("simple").data["charts"])


def test_every_chart_has_a_place_a_table_and_columns_that_it_has() -> None:
    data = page("rich").data
    for name, chart in data["charts"].items():
        assert f'data-chart="{name}"' in rendered("rich")
        table = data["tables"][chart["table"]]
        assert set(chart["columns"]) <= set(table), name


def test_every_column_of_a_table_is_equally_long() -> None:
    for name, table in page("rich").data["tables"].items():
        lengths = {len(column["at"] if isinstance(column, dict) else column) for column in table.values()}
        assert len(lengths) == 1, name


def test_charts_of_pileup_itself_are_folded() -> None:
    (section,) = re.findall(r'<section id="self".*?</section>', rendered("rich"), re.DOTALL)
    before, opened, rest = section.partition('<details class="self">')
    folded, closed, after = rest.rpartition("</details>")
    assert opened and closed
    assert "data-chart=" in folded
    assert "data-chart=" not in before + after


def test_nothing_is_loaded_from_anywhere() -> None:
    for name in ("rich", "hostile"):
        assert page(name).loaded == []
        assert all(link.startswith("#") for link in page(name).links)
        assert not re.search(r"@import|url\(", rendered(name).partition("</style>")[0])
    assert "default-src 'none'" in rendered("rich")


def test_hostile_text_stays_text() -> None:
    found = page("hostile")
    ours = len(page("rich").scripts)
    assert len(found.scripts) == ours
    assert "<script>alert" not in rendered("hostile")
    assert "<b>" not in rendered("hostile").partition("<main")[2].partition('<dl class="facts">')[0]
    assert "<b>" not in rendered("hostile").partition('<section id="bottleneck">')[2].partition("</section>")[0]
    assert pieces.HOSTILE in found.text.replace("  ", " ")
    assert any(pieces.HOSTILE in str(table) or "alert" in str(table) for table in found.data["tables"].values())


def test_what_servers_did_is_a_table() -> None:
    text = page("rich").text
    row = text[text.index("What servers did") : text.index("Errors equal ones")]
    for part in ("db SELECT * FROM job WHERE id IN (?, …) 42 3 min 4.29 s 9 s 1.5 ms 2,100,000", "WHERE name = '<b>'"):
        assert part in row
    assert "What servers did" not in page("simple").text


def test_a_share_that_is_not_known_says_why() -> None:
    text = page("rich").text
    assert "50 of 50 not known: its times are in steps of 1 s - - - -" in text
    assert "98 of 100 33.3 %" in text


def test_the_environment_names_the_suite_and_what_was_set() -> None:
    text = page("rich").text
    assert "Suite examples/first-run.yaml with clients=8" in text
    assert "memory 8 GiB" in text
    assert "every 500 ms" in text
    assert "load1 0.3333" in text
    assert "built-in" not in text


def test_the_first_lines_answer_how_it_went() -> None:
    text = page("rich").text
    assert "Copy stress on the new disk servers" in text
    assert "2026-11-21 10:15:03 UTC" in text
    assert "Tested " in text
    assert "copy system 8 clients waited for answers. Look at find ." in text
    assert "The generator's clock stepped" in text
    assert text.index("failed, because") < text.index("Criteria 3 of 7 met") < text.index("What to do")


def test_a_criterion_shows_figure_interval_threshold_and_reason() -> None:
    text = page("rich").text
    row = text[text.index("At least 1 MB/s are delivered") : text.index("Fewer than 1 in 1000")]
    for part in ("rate(copy.bytes) >= 1 MB/s", "9.8 MB/s", "9.6 \N{EN DASH} 10 MB/s", "n = 2,550", ">= 1 MB/s", "full"):
        assert part in row
    assert "too few: 120, 1,000 are needed" in text


def test_verdicts_have_a_word_and_a_tone() -> None:
    text = rendered("rich")
    for word, tone in (
        ("passed", "good"),
        ("failed", "bad"),
        ("unknown", "warn"),
        ("not covered", "none"),
        ("unavailable", "warn"),
    ):
        assert re.search(rf'<span class="badge {tone} ?">.*?</span> {word}</span>', text)


def test_counts_that_hurt_are_all_shown() -> None:
    text = rendered("rich")
    row = text[text.index('<a href="#case-3">') : text.index('<a href="#case-4">')]
    counts = re.findall(r'class="num count[^"]*">([^<]*)<', row)
    assert counts == ["2,550", "12", "3", "1", "2", "4"], "nothing was lost in any case: no column"


def test_a_case_that_was_not_run_says_why() -> None:
    text = page("rich").text
    assert "not run: needs list, which failed" in text
    assert "credentials have expired" in text


def test_long_output_is_cut_in_the_middle_and_says_where_the_rest_is() -> None:
    text = page("rich").text
    assert "characters left out; all of it is in output/copy/stdout.txt" in text
    assert "file 000000 copied" in text
    assert "file 019999 copied" in text


def test_times_of_the_record_become_seconds_of_the_run() -> None:
    data = page("rich").data
    assert data["window"] == 62_000
    assert data["tables"]["cases"]["a"][2] == 2_000
    timeline = data["tables"]["timeline"]
    assert timeline["a"][0] == 2_000
    assert timeline["b"][0] == 3_000
    phases = data["tables"]["phases"]
    words = [phases["phase"]["words"][at] for at in phases["phase"]["at"]]
    assert list(zip(phases["a"], phases["b"], words, strict=True))[:2] == [
        (2_000, 4_000, "ramp"),
        (4_000, 5_000, "warm-up"),
    ]


def test_charts_of_a_run_share_one_time_axis() -> None:
    timed = [chart for chart in page("rich").data["charts"].values() if chart["timed"]]
    assert len(timed) >= 8
    for chart in timed:
        names = {param["name"]: param.get("value") for param in chart["spec"]["params"] if "value" in param}
        assert names == {"first": 0, "last": 62_000}
        axes = re.findall(r'"domain": \[\{"expr": "first"\}, \{"expr": "last"\}\]', json.dumps(chart["spec"]))
        assert axes


@pytest.fixture(scope="module")
def validate(pytestconfig: pytest.Config) -> Callable[[Any], Any]:
    """A function that raises where a chart does not fit the schema of Vega-Lite; compiled once, and kept."""
    assert pytestconfig.cache is not None
    folder = pytestconfig.cache.mkdir("vega-lite")
    file = folder / f"schema_{alt.__version__}_{fastjsonschema.VERSION}.py"
    if not file.exists():
        schema = json.loads((Path(alt.__file__).parent / "vegalite/v6/schema/vega-lite-schema.json").read_text())
        new = folder / f"{os.getpid()}.py"
        new.write_text(fastjsonschema.compile_to_code(schema))
        new.replace(file)
    loader = SourceFileLoader("vega_lite_schema", str(file))
    module = ModuleType(loader.name)
    loader.exec_module(module)
    compiled: Callable[[Any], Any] = module.validate
    return compiled


@pytest.mark.long
@pytest.mark.parametrize("name", ["rich", "hostile", "placed"])
def test_every_chart_fits_the_schema_of_vega_lite(name: str, validate: Callable[[Any], Any]) -> None:
    charts = page(name).data["charts"].values()
    assert len(charts) > 10
    for chart in charts:
        validate(chart["spec"])


def test_a_wrong_chart_does_not_fit_the_schema(validate: Callable[[Any], Any]) -> None:
    spec = page("simple").data["charts"]["rates"]["spec"]
    with pytest.raises(fastjsonschema.JsonSchemaException):
        validate(spec | {"layer": [{"mark": "nonsense"}]})


def test_a_metric_that_is_always_zero_needs_no_chart() -> None:
    text = page("rich").text
    assert "Zero all the time: Busiest disk, Swap." in text


def test_an_empty_run_still_has_a_page() -> None:
    found = page("empty")
    assert found.sections == ["environment"]
    assert "unknown, because it has not ended" in found.text
    assert len(rendered("empty")) < 64_000, "no charts, no library"


@pytest.mark.long
def test_a_huge_run_stays_small() -> None:
    text = rendered("huge")
    assert len(text) < 3 * MIB + len(bundle())
    data = page("huge").data
    assert len(data["tables"]["timeline"]["t"]) <= 3300
    assert "800 more kinds of errors" in page("huge").text


def bundle() -> str:
    return max(page("rich").scripts, key=len)


def test_the_library_is_there_once() -> None:
    assert rendered("rich").count("vegaEmbed=") == 1
    assert len(bundle()) > 500_000


def test_figures_that_are_not_finite_do_not_break_the_page() -> None:
    rich = synthetic.rich()
    broken = replace(rich.criteria[0], figure=Figure(float("nan"), "time"))
    series = replace(rich.series[0], values=(float("inf"), float("nan"), *rich.series[0].values[2:]))
    text = HtmlReport().render(replace(rich, criteria=(broken,), series=(series,)), {}).decode()
    assert "NaN" not in Page(text).scripts[1]
    assert Page(text).data


def test_every_note_is_shown_once() -> None:
    rich = synthetic.rich()
    notes = ("Stopped: limit: duration", "The engine is a debug build: its figures are not to be trusted.")
    stopped = replace(rich, notes=notes, run=replace(rich.run, stopped="limit: duration", debug_build=True))
    text = Page(HtmlReport().render(stopped, {}).decode()).text
    for note in notes:
        assert text.count(note) == 1


def test_tests_that_must_answer_alike_stand_behind_the_criteria() -> None:
    ratio = TimeRatio("new", "db.index=on", Figure(3.91, "", Interval(3.7, 4.2), 8))
    alike = (
        Equivalence(("old", "new"), "passed", "", (ratio,)),
        Equivalence(("a", "<b>"), "failed", "answers differ: a: 1; <b>: 2", ()),
    )
    found = Page(HtmlReport().render(replace(synthetic.rich(), equivalences=alike), {}).decode())
    assert found.sections[:3] == ["criteria", "bottleneck", "equal"]
    for text in ("old, new", "db.index=on", "3.91", "3.7", "4.2", "answers differ: a: 1; <b>: 2"):
        assert text in found.text
    assert "Equal answers" not in page("rich").text
