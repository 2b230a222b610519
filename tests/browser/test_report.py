"""The HTML report in a real browser: every chart is drawn, nothing is complained of."""

import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from pileup.builtin.reports.html import HtmlReport
from tests.support import require_program
from tests.unit.builtin.reports import synthetic
from tests.unit.builtin.reports.compared import compared

QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
DRAWN = "/* drawn */"
Look = Callable[[str, int], str]
"""Name of a report and width of the window -> the document."""
PROBE = """<script>
const told = document.documentElement.dataset, complain = console.error, hint = console.warn;
const words = (all) => [...document.querySelectorAll(all)].map((each) => each.textContent).join(" ");
addEventListener("error", (e) => { told.problem = e.message; });
addEventListener("securitypolicyviolation", (e) => { told.violation = e.violatedDirective + " " + e.blockedURI; });
console.error = (...all) => { told.problem = all.join(" "); complain(...all); };
console.warn = (...all) => { told.warning = all.join(" "); hint(...all); };
addEventListener("load", () => {
  document.querySelectorAll("details").forEach((each) => { each.open = true; });
  return pileupDrawAll().then(async () => {
  told.drawn = "yes";
  told.wide = document.documentElement.scrollWidth + " " + innerWidth;
  /* drawn */
}); });
</script>"""


def dump(page: Path, width: int, tmp_path: Path, anchor: str = "") -> str:
    """The document as the browser has it when all is drawn."""
    browser = require_program("chromium", "apt-get install chromium")
    done = subprocess.run(
        [
            browser,
            *QUIET,
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--window-size={width},900",
            "--virtual-time-budget=20000",
            "--dump-dom",
            f"file://{page}{anchor}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "<html" in done.stdout, done.stderr[-2000:]
    return done.stdout


@cache
def rendered(name: str) -> str:
    return HtmlReport().render(getattr(synthetic, name)(), synthetic.outputs()).decode()


def write(tmp_path: Path, name: str, probe: str = PROBE) -> Path:
    text = rendered(name)
    page = tmp_path / f"{name}.html"
    page.write_text(text.replace("<body>", f"<body>{probe}", 1))
    return page


def places(document: str) -> list[str]:
    """What stands in the place of each chart."""
    return re.findall(r'data-chart="[^"]*".*?</figure>', document, re.DOTALL)


def attribute(document: str, name: str) -> str:
    found = re.search(rf'<html[^>]*data-{name}="([^"]*)"', document)
    return found.group(1) if found else ""


MEASURES = """
  const section = (place) => JSON.parse(document.getElementById("data").textContent).charts[place.dataset.chart];
  const edges = (place) => {
    const box = place.querySelector("svg .background").getBoundingClientRect();
    return [Math.round(box.left), Math.round(box.right)].join(" ");
  };
  const load = [...document.querySelectorAll("#load [data-chart]")].filter((each) => section(each).timed);
  told.edges = [...new Set(load.map(edges))].join(", ");
  told.load = load.length;

  const one = (id) => document.getElementById(id).textContent.trim();
  const text = (place) => place.getAttribute("aria-describedby").split(" ").map(one);
  told.said = [...document.querySelectorAll("[data-chart]")].map((place) => text(place)[0].length).join(" ");
  const plot = document.querySelector("#chart-rates .plot");
  told.keys = plot ? text(plot)[1] : "";

  const boxes = [...document.querySelectorAll("#chart-rates svg .mark-text text")]
    .filter((each) => /^\\d+(-\\d+)?$/.test(each.textContent) && each.getBoundingClientRect().width)
    .filter((each) => each.getAttribute("font-size") === "9px").map((each) => each.getBoundingClientRect());
  const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  told.numbers = boxes.length;
  told.over = boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => over(a, b))).length;

  told.wanted = words("#chart-quantiles svg .mark-text text");
  const cells = [...document.querySelectorAll("#chart-heat svg .mark-rect path[aria-label*='iterations']")];
  told.cells = cells.length;
  told.shades = new Set(cells.map((each) => each.getAttribute("fill"))).size;
  told.knee = words("#chart-load0_rate svg .mark-text text");
"""
"""What is measured on every page once all is drawn; what a page does not have measures nothing."""
ACTS = """
  const later = () => new Promise((ready) => setTimeout(ready, 500));
  const axis = () => words("#chart-in_flight .role-axis-label text");
  const press = async (key) => {
    plot.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await later();
    return axis();
  };
  plot.focus();
  told.focused = String(document.activeElement === plot);
  told.whole = axis();
  told.nearer = await press("+");
  told.moved = await press("ArrowRight");
  told.status = document.getElementById("shown").textContent;
  told.farther = await press("-");
  told.back = await press("Escape");

  console.warn = hint;
  const box = plot.getBoundingClientRect();
  const event = { bubbles: true, pointerType: "mouse", button: 0, clientY: box.top + 40 };
  const at = (kind, share, to) =>
    to.dispatchEvent(new PointerEvent(kind, { ...event, clientX: box.left + share * box.width }));
  at("pointerdown", 0.5, plot);
  at("pointermove", 0.6, window);
  at("pointerup", 0.6, window);
  await later();
  told.dragged = axis();
  told.reset = String(document.querySelector(".reset").hidden);
  document.querySelector(".reset").click();
  await later();

  const chooser = document.getElementById("window");
  chooser.value = "3";
  chooser.dispatchEvent(new Event("change"));
  await later();
  told.alone = words("#chart-rates .role-axis-label text");
"""
"""What a user does with keys, mouse and the list of cases; the report `rich` has all of it.

A part of the run may have nothing to draw in some chart, of which Vega warns: that is no warning of the page.
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], str]:
    """The document of a report at a width, all charts drawn and everything measured; each is rendered once."""

    @cache
    def look(name: str, width: int) -> str:
        folder = tmp_path_factory.mktemp(name)
        acts = ACTS if (name, width) == ("rich", 1280) else ""
        return dump(after_drawing(write(folder, name), MEASURES + acts), width, folder)

    return look


@pytest.mark.parametrize(
    "name",
    [
        "rich",
        "hostile",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("simple", "huge", "eventful", "crowded", "scanned", "placed", "climbed", "spread")
        ),
    ],
)
def test_every_chart_is_drawn_without_a_complaint(name: str, seen: Look) -> None:
    document = seen(name, 1280)
    assert attribute(document, "problem") == ""
    assert attribute(document, "warning") == ""
    assert attribute(document, "violation") == ""
    assert attribute(document, "drawn") == "yes"
    assert len(places(document)) >= 6
    assert all("<svg" in place for place in places(document))


def test_marks_have_a_size(seen: Look) -> None:
    document = seen("rich", 1280)
    assert "NaN" not in "".join(re.findall(r'<path[^>]* d="[^"]*"', document))
    paths = re.findall(r'role="graphics-symbol"[^>]*? d="([^"]+)"', document)
    assert len(paths) > 100


@pytest.mark.long
@pytest.mark.parametrize("name", ["rich", "hostile"])
def test_a_phone_scrolls_tables_not_the_page(name: str, seen: Look) -> None:
    wide, inner = attribute(seen(name, 500), "wide").split()
    assert int(wide) <= int(inner)


def test_a_case_can_be_looked_at_alone(seen: Look) -> None:
    labels = attribute(seen("rich", 1280), "alone").split(" s ")
    assert float(labels[0]) >= 23.6, "the case began at 24 s, 2 % of it are shown before"
    assert "44" in labels


def test_dragging_over_a_chart_shows_that_part_in_all(seen: Look) -> None:
    document = seen("rich", 1280)
    labels = [float(each) for each in re.findall(r"([0-9.]+) s", attribute(document, "dragged"))]
    assert 27 < labels[0] < 33
    assert 33 < labels[-1] < 39
    assert attribute(document, "reset") == "false"


def after_drawing(page: Path, script: str) -> Path:
    """Have the page run a script once all is drawn; `told.NAME = text` is an attribute of the document then."""
    text = page.read_text()
    assert text.count(DRAWN) == 1
    page.write_text(text.replace(DRAWN, script))
    return page


@pytest.mark.long
@pytest.mark.parametrize("width", [1280, 500])
def test_charts_over_time_share_one_time_axis(width: int, seen: Look) -> None:
    """The same moment is at the same place in every chart of a section: none is moved by its own labels."""
    document = seen("eventful", width)
    assert int(attribute(document, "load")) >= 8
    edges = [tuple(map(int, each.split())) for each in attribute(document, "edges").split(", ")]
    lefts, rights = zip(*edges, strict=True)
    assert len(set(lefts)) == 1, edges
    assert max(rights) - min(rights) <= 3, edges


def test_the_window_is_chosen_by_keyboard_too(seen: Look) -> None:
    document = seen("rich", 1280)
    texts = {name: attribute(document, name) for name in ("whole", "nearer", "moved", "farther", "back")}
    spans = {name: sorted(float(each) for each in re.findall(r"([0-9.]+) s", text)) for name, text in texts.items()}
    assert attribute(document, "focused") == "true"
    assert (spans["whole"][0], spans["whole"][-1]) == (0, 60)
    assert spans["nearer"][0] > 14
    assert spans["nearer"][-1] < 48
    assert spans["moved"][0] > spans["nearer"][0]
    assert attribute(document, "status") == "Charts show 23.25 s to 54.25 s."
    assert spans["farther"][0] < spans["moved"][0]
    assert spans["back"] == spans["whole"]


@pytest.mark.long
@pytest.mark.parametrize("name", ["eventful", "scanned", "climbed"])
def test_every_chart_is_described_in_words(name: str, seen: Look) -> None:
    document = seen(name, 1280)
    lengths = [int(each) for each in attribute(document, "said").split()]
    assert len(lengths) >= 6
    assert min(lengths) > 5
    if name == "climbed":
        assert "Esc shows the whole run" in attribute(document, "keys")


@pytest.mark.long
@pytest.mark.parametrize("width", [1280, 500])
def test_numbers_of_events_do_not_lie_on_each_other(width: int, seen: Look) -> None:
    document = seen("crowded", width)
    assert 4 < int(attribute(document, "numbers")) < 30
    assert attribute(document, "over") == "0"


def test_criteria_heat_and_knee_are_drawn(seen: Look) -> None:
    """Marks of their own, by number and place: an empty chart has none."""
    document = seen("rich", 1280)
    assert "C6: p90 &lt; 40 ms ✗" in attribute(document, "wanted")
    assert {"p50", "p90", "p99"} <= set(attribute(document, "wanted").split())
    assert int(attribute(document, "cells")) > 100
    assert int(attribute(document, "shades")) >= 4


@pytest.mark.long
def test_the_knee_is_marked(seen: Look) -> None:
    assert re.search(r"knee (60|120)", attribute(seen("climbed", 1280), "knee"))


@pytest.mark.long
@pytest.mark.parametrize("name", ["report", "comparison"])
def test_the_theme_follows_the_address(name: str, tmp_path: Path) -> None:
    if name == "report":
        page = write(tmp_path, "empty", probe="")
    else:
        (page := tmp_path / "compared.html").write_bytes(HtmlReport().compared(compared()))
    document = dump(page, 800, tmp_path, "#dark")
    assert attribute(document, "theme") == "dark"
    assert re.search(r'<nav.*<button[^>]*aria-label="Light or dark"', document, re.DOTALL)
    assert attribute(dump(page, 800, tmp_path, "?theme=light"), "theme") == "light"
    assert attribute(dump(page, 800, tmp_path), "theme") == ""


def test_the_button_changes_the_theme(tmp_path: Path) -> None:
    page = write(tmp_path, "empty", probe="")
    click = "<script>addEventListener('load', () => document.querySelector('nav button').click());</script>"
    page.write_text(page.read_text().replace("</head>", f"{click}</head>", 1))
    assert attribute(dump(page, 800, tmp_path, "#dark"), "theme") == "light"


@pytest.mark.long
def test_the_probe_sees_a_broken_chart(tmp_path: Path) -> None:
    page = write(tmp_path, "simple")
    broken = page.read_text().replace('"mark":{"type":"line"', '"mark":{"type":"nonsense"')
    page.write_text(broken)
    document = dump(page, 1280, tmp_path)
    assert "chart" in attribute(document, "problem")
