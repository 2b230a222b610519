"""The report on paper and on a phone: what is folded, hidden, or stacked there."""

from pathlib import Path

import pytest

from tests.browser.test_report import attribute, dump, write

MEASURE = """<script>
const told = document.documentElement.dataset;
const all = (what) => [...document.querySelectorAll(what)];
const shown = (what) => all(what).filter((each) => each.checkVisibility());
const later = (ms) => new Promise((ready) => setTimeout(ready, ms));
addEventListener("load", async () => {%s});
</script>"""
PAPER = """
  const folded = () => all("details:not([open])").filter((each) => !each.matches(".numbers, .output")).length;
  told.folded = folded();
  told.own = shown("#self [data-chart]").length;
  told.tools = shown("nav, .tools label, .foot .numbers").length;
  dispatchEvent(new Event("beforeprint"));
  await later(3000);
  told.printed = folded();
  told.raw = all("details.output:not([open])").length;
  told.drawn = shown("#self [data-chart] svg").length + " of " + all("#self [data-chart]").length;
  dispatchEvent(new Event("afterprint"));
  told.again = folded();
"""
CELLS = """
  const cells = (row) => [...row.cells].filter((each) => each.checkVisibility());
  const rows = shown("table.stack > tbody > tr").map(cells);
  const boxes = rows.filter((row) => row.length > 2).map((row) => row.map((each) => each.getBoundingClientRect()));
  const below = (box, i, row) => !i || box.top >= row[i - 1].bottom - 1;
  told.rows = boxes.length;
  told.stacked = boxes.filter((row) => row.every(below)).length;
  told.cut = boxes.flat().filter((box) => box.right > innerWidth + 1).length;
  const label = (cell) => getComputedStyle(cell, "::before").content;
  told.labels = [...new Set(rows.flat().filter((each) => each.dataset.label).map(label))].sort().join(" ");
"""


@pytest.mark.long
def test_paper_shows_what_is_folded_and_charts_of_pileup_itself(tmp_path: Path) -> None:
    document = dump(write(tmp_path, "rich", probe=MEASURE % PAPER), 1280, tmp_path)
    assert int(attribute(document, "folded")) >= 3
    assert attribute(document, "own") == "0", "pileup's own charts are folded on the screen"
    assert int(attribute(document, "tools")) >= 3
    assert attribute(document, "printed") == "0"
    assert int(attribute(document, "raw")) >= 1, "raw output stays as it is"
    drawn, _, charts = attribute(document, "drawn").partition(" of ")
    assert drawn == charts
    assert int(charts) >= 1
    assert attribute(document, "again") == attribute(document, "folded")


@pytest.mark.long
def test_paper_has_a_style_without_what_is_for_the_screen(tmp_path: Path) -> None:
    """The style of paper is tried as that of the screen: a browser without a printer has no other way."""
    page = write(tmp_path, "rich", probe=MEASURE % PAPER)
    text = page.read_text()
    assert text.count("@media print {") == 1
    page.write_text(text.replace("@media print {", "@media screen {"))
    assert attribute(dump(page, 1280, tmp_path), "tools") == "0"


@pytest.mark.long
@pytest.mark.parametrize("name", ["rich", "scanned"])
def test_a_phone_stacks_the_cells_of_tables(name: str, tmp_path: Path) -> None:
    document = dump(write(tmp_path, name, probe=MEASURE % CELLS), 500, tmp_path)
    rows = int(attribute(document, "rows"))
    assert rows >= 2
    assert int(attribute(document, "stacked")) == rows
    assert attribute(document, "cut") == "0"
    labels = attribute(document, "labels").replace("&quot;", '"')
    assert {'"Measured"', '"Wanted"'} <= set(labels.split())


@pytest.mark.long
def test_a_screen_has_them_side_by_side(tmp_path: Path) -> None:
    document = dump(write(tmp_path, "rich", probe=MEASURE % CELLS), 1280, tmp_path)
    assert int(attribute(document, "rows")) >= 3
    assert attribute(document, "stacked") == "0"
    assert attribute(document, "labels") == "none"
