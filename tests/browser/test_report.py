"""The HTML report in a real browser: every chart is drawn, nothing is complained of."""

import re
import subprocess
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
PROBE = """<script>
const told = document.documentElement.dataset, complain = console.error, hint = console.warn;
const words = (all) => [...document.querySelectorAll(all)].map((each) => each.textContent).join(" ");
addEventListener("error", (e) => { told.problem = e.message; });
addEventListener("securitypolicyviolation", (e) => { told.violation = e.violatedDirective + " " + e.blockedURI; });
console.error = (...all) => { told.problem = all.join(" "); complain(...all); };
console.warn = (...all) => { told.warning = all.join(" "); hint(...all); };
addEventListener("load", () => {
  document.querySelectorAll("details").forEach((each) => { each.open = true; });
  return pileupDrawAll().then(() => {
  told.drawn = "yes";
  told.wide = document.documentElement.scrollWidth + " " + innerWidth;
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


@pytest.mark.parametrize(
    "name",
    [
        "rich",
        "simple",
        "hostile",
        pytest.param("huge", marks=pytest.mark.long),
        "eventful",
        "crowded",
        "scanned",
        "placed",
        "climbed",
        "spread",
    ],
)
def test_every_chart_is_drawn_without_a_complaint(name: str, tmp_path: Path) -> None:
    document = dump(write(tmp_path, name), 1280, tmp_path)
    assert attribute(document, "problem") == ""
    assert attribute(document, "warning") == ""
    assert attribute(document, "violation") == ""
    assert attribute(document, "drawn") == "yes"
    assert len(places(document)) >= 6
    assert all("<svg" in place for place in places(document))


@pytest.mark.long
def test_marks_have_a_size(tmp_path: Path) -> None:
    document = dump(write(tmp_path, "rich"), 1280, tmp_path)
    assert "NaN" not in "".join(re.findall(r'<path[^>]* d="[^"]*"', document))
    paths = re.findall(r'role="graphics-symbol"[^>]*? d="([^"]+)"', document)
    assert len(paths) > 100


@pytest.mark.long
def test_a_phone_scrolls_tables_not_the_page(tmp_path: Path) -> None:
    for name in ("rich", "hostile"):
        wide, inner = attribute(dump(write(tmp_path, name), 500, tmp_path), "wide").split()
        assert int(wide) <= int(inner), name


@pytest.mark.long
def test_a_case_can_be_looked_at_alone(tmp_path: Path) -> None:
    page = write(tmp_path, "rich")
    choose = """.then(async () => {
      const chooser = document.getElementById("window");
      chooser.value = "3";
      chooser.dispatchEvent(new Event("change"));
      await new Promise((ready) => setTimeout(ready, 500));
      told.axis = words("#chart-rates .role-axis-label text");
    })"""
    page.write_text(page.read_text().replace("pileupDrawAll()", f"pileupDrawAll(){choose}", 1))
    labels = attribute(dump(page, 1280, tmp_path), "axis").split(" s ")
    assert float(labels[0]) >= 23.6, "the case began at 24 s, 2 % of it are shown before"
    assert "44" in labels


@pytest.mark.long
def test_dragging_over_a_chart_shows_that_part_in_all(tmp_path: Path) -> None:
    page = write(tmp_path, "rich")
    drag = """.then(async () => {
      const place = document.querySelector("#chart-rates .plot");
      const box = place.getBoundingClientRect();
      const event = { bubbles: true, pointerType: "mouse", button: 0, clientY: box.top + 40 };
      const at = (kind, share, to) =>
        to.dispatchEvent(new PointerEvent(kind, { ...event, clientX: box.left + share * box.width }));
      at("pointerdown", 0.5, place);
      at("pointermove", 0.6, window);
      at("pointerup", 0.6, window);
      await new Promise((ready) => setTimeout(ready, 500));
      told.axis = words("#chart-in_flight .role-axis-label text");
      told.reset = String(document.querySelector(".reset").hidden);
    })"""
    page.write_text(page.read_text().replace("pileupDrawAll()", f"pileupDrawAll(){drag}", 1))
    document = dump(page, 1280, tmp_path)
    labels = [float(each) for each in re.findall(r"([0-9.]+) s", attribute(document, "axis"))]
    assert 27 < labels[0] < 33
    assert 33 < labels[-1] < 39
    assert attribute(document, "reset") == "false"


def after_drawing(page: Path, script: str) -> Path:
    """Have the page run a script once all is drawn; `told.NAME = text` is an attribute of the document then."""
    page.write_text(page.read_text().replace("pileupDrawAll()", f"pileupDrawAll().then(async () => {{{script}}})", 1))
    return page


@pytest.mark.long
@pytest.mark.parametrize("width", [1280, 500])
def test_charts_over_time_share_one_time_axis(width: int, tmp_path: Path) -> None:
    """The same moment is at the same place in every chart of a section: none is moved by its own labels."""
    measure = """
      const edges = (place) => {
        const box = place.querySelector("svg .background").getBoundingClientRect();
        return [Math.round(box.left), Math.round(box.right)].join(" ");
      };
      const load = [...document.querySelectorAll("#load [data-chart]")].filter((each) => report(each).timed);
      told.edges = [...new Set(load.map(edges))].join(", ");
      told.load = load.length;"""
    measure = measure.replace(
        "report(each)", 'JSON.parse(document.getElementById("data").textContent).charts[each.dataset.chart]'
    )
    document = dump(after_drawing(write(tmp_path, "eventful"), measure), width, tmp_path)
    assert int(attribute(document, "load")) >= 8
    edges = [tuple(map(int, each.split())) for each in attribute(document, "edges").split(", ")]
    lefts, rights = zip(*edges, strict=True)
    assert len(set(lefts)) == 1, edges
    assert max(rights) - min(rights) <= 3, edges


@pytest.mark.long
def test_the_window_is_chosen_by_keyboard_too(tmp_path: Path) -> None:
    keys = """
      const place = document.querySelector("#chart-rates .plot");
      const axis = () => words("#chart-in_flight .role-axis-label text");
      const press = async (key) => {
        place.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        await new Promise((ready) => setTimeout(ready, 300));
        return axis();
      };
      place.focus();
      told.focused = String(document.activeElement === place);
      told.whole = axis();
      told.nearer = await press("+");
      told.moved = await press("ArrowRight");
      told.status = document.getElementById("shown").textContent;
      told.farther = await press("-");
      told.back = await press("Escape");"""
    document = dump(after_drawing(write(tmp_path, "rich"), keys), 1280, tmp_path)
    seen = {name: attribute(document, name) for name in ("whole", "nearer", "moved", "farther", "back")}
    spans = {name: sorted(float(each) for each in re.findall(r"([0-9.]+) s", text)) for name, text in seen.items()}
    assert attribute(document, "focused") == "true"
    assert (spans["whole"][0], spans["whole"][-1]) == (0, 60)
    assert spans["nearer"][0] > 14
    assert spans["nearer"][-1] < 48
    assert spans["moved"][0] > spans["nearer"][0]
    assert attribute(document, "status") == "Charts show 23.25 s to 54.25 s."
    assert spans["farther"][0] < spans["moved"][0]
    assert spans["back"] == spans["whole"]
    assert attribute(document, "warning") == ""


@pytest.mark.long
def test_every_chart_is_described_in_words(tmp_path: Path) -> None:
    told = """
      const one = (id) => document.getElementById(id).textContent.trim();
      const text = (place) => place.getAttribute("aria-describedby").split(" ").map(one);
      told.said = [...document.querySelectorAll("[data-chart]")].map((place) => text(place)[0].length).join(" ");
      told.keys = text(document.querySelector("#chart-rates .plot"))[1];"""
    for name in ("eventful", "scanned", "climbed"):
        document = dump(after_drawing(write(tmp_path, name), told), 1280, tmp_path)
        lengths = [int(each) for each in attribute(document, "said").split()]
        assert len(lengths) >= 6
        assert min(lengths) > 5, name
    assert "Esc shows the whole run" in attribute(document, "keys")


@pytest.mark.long
def test_numbers_of_events_do_not_lie_on_each_other(tmp_path: Path) -> None:
    measure = """
      const boxes = [...document.querySelectorAll("#chart-rates svg .mark-text text")]
        .filter((each) => /^\\d+(-\\d+)?$/.test(each.textContent) && each.getBoundingClientRect().width)
        .filter((each) => each.getAttribute("font-size") === "9px").map((each) => each.getBoundingClientRect());
      const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
      told.numbers = boxes.length;
      told.over = boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => over(a, b))).length;"""
    for width in (1280, 500):
        document = dump(after_drawing(write(tmp_path, "crowded"), measure), width, tmp_path)
        assert 4 < int(attribute(document, "numbers")) < 30
        assert attribute(document, "over") == "0"


@pytest.mark.long
def test_criteria_heat_and_knee_are_drawn(tmp_path: Path) -> None:
    """Marks of their own, by number and place: an empty chart has none."""
    measure = """
      told.wanted = words("#chart-quantiles svg .mark-text text");
      const cells = [...document.querySelectorAll("#chart-heat svg .mark-rect path[aria-label*='iterations']")];
      told.cells = cells.length;
      told.shades = new Set(cells.map((each) => each.getAttribute("fill"))).size;
      told.knee = words("#chart-load0_rate svg .mark-text text");"""
    document = dump(after_drawing(write(tmp_path, "rich"), measure), 1280, tmp_path)
    assert "C6: p90 &lt; 40 ms ✗" in attribute(document, "wanted")
    assert {"p50", "p90", "p99"} <= set(attribute(document, "wanted").split())
    assert int(attribute(document, "cells")) > 100
    assert int(attribute(document, "shades")) >= 4
    document = dump(after_drawing(write(tmp_path, "climbed"), measure), 1280, tmp_path)
    assert re.search(r"knee (60|120)", attribute(document, "knee"))


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
