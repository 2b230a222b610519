"""The HTML report in a real browser: every chart is drawn, nothing is complained of."""

import re
import subprocess
from pathlib import Path

import pytest

from pileup.builtin.reports.html import HtmlReport
from tests.support import require_program
from tests.unit.builtin.reports import synthetic

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


def write(tmp_path: Path, name: str, probe: str = PROBE) -> Path:
    text = HtmlReport().render(getattr(synthetic, name)(), synthetic.outputs()).decode()
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
    "name", ["rich", "simple", "hostile", pytest.param("huge", marks=pytest.mark.long), "eventful", "scanned"]
)
def test_every_chart_is_drawn_without_a_complaint(name: str, tmp_path: Path) -> None:
    document = dump(write(tmp_path, name), 1280, tmp_path)
    assert attribute(document, "problem") == ""
    assert attribute(document, "warning") == ""
    assert attribute(document, "violation") == ""
    assert attribute(document, "drawn") == "yes"
    assert len(places(document)) >= 6
    assert all("<svg" in place for place in places(document))


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


def test_the_theme_follows_the_address(tmp_path: Path) -> None:
    page = write(tmp_path, "empty", probe="")
    assert attribute(dump(page, 800, tmp_path, "#dark"), "theme") == "dark"
    assert attribute(dump(page, 800, tmp_path, "?theme=light"), "theme") == "light"
    assert attribute(dump(page, 800, tmp_path), "theme") == ""


def test_the_probe_sees_a_broken_chart(tmp_path: Path) -> None:
    page = write(tmp_path, "simple")
    broken = page.read_text().replace('"mark":{"type":"line"', '"mark":{"type":"nonsense"')
    page.write_text(broken)
    document = dump(page, 1280, tmp_path)
    assert "chart" in attribute(document, "problem")
