"""The pages of reports hold to the accessibility rules that axe-core checks, in each theme, wide and narrow."""

import html
import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from pileup.builtin.reports.html import HtmlReport
from tests.browser.test_report import attribute, dump, write
from tests.support import give_up
from tests.unit.builtin.reports.compared import compared

AXE = "pip install --no-deps axe-playwright-python (make build does it)"
LOOKS = pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 500)])
"""Both themes and both widths: colours depend on the theme alone, what is hidden or stacked on the width."""
NO_MARKS = "document.querySelectorAll('svg').forEach((each) => each.replaceChildren())"
"""Takes the marks out of charts: they are thousands, and of the same kinds on all pages, so one page keeps them."""
CHECK = """<script>
const told = document.documentElement.dataset;
addEventListener("load", () => {
  document.querySelectorAll("details").forEach((each) => { each.open = true; });
  const theme = location.hash.slice(1);
  if (theme) document.documentElement.dataset.theme = theme;
  const drawn = window.pileupDrawAll ? pileupDrawAll() : Promise.resolve();
  drawn.then(() => MARKS).then(() => axe.run(document, { resultTypes: ["violations"] })).then((found) => {
    const nodes = (each) => each.nodes.slice(0, 3).map((one) => one.html.slice(0, 160) + " " + one.failureSummary);
    told.axe = JSON.stringify(found.violations.map((each) => [each.id, each.nodes.length, ...nodes(each)]));
    told.passes = found.passes.length;
  });
});
</script>"""


def axe() -> str:
    """Return the script of axe-core."""
    found = find_spec("axe_playwright_python")
    if found is None or found.submodule_search_locations is None:
        give_up(f"axe-core is not installed: {AXE}")
    return Path(found.submodule_search_locations[0], "axe.min.js").read_text("utf-8")


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "theme", "width", "marks"),
    [
        ("rich", "light", 1280, NO_MARKS),
        ("rich", "dark", 500, NO_MARKS),
        ("scanned", "light", 1280, NO_MARKS),
        ("scanned", "dark", 500, NO_MARKS),
        ("placed", "dark", 500, NO_MARKS),
        ("climbed", "light", 1280, "0"),
    ],
)
def test_axe_finds_nothing(name: str, theme: str, width: int, marks: str, tmp_path: Path) -> None:
    page = write(tmp_path, name, probe=f"<script>{axe()}</script>{CHECK.replace('MARKS', marks)}")
    document = dump(page, width, tmp_path, f"#{theme}")
    assert int(attribute(document, "passes") or 0) > 15
    assert json.loads(html.unescape(attribute(document, "axe"))) == []


@pytest.mark.long
@LOOKS
def test_axe_finds_nothing_in_a_comparison(theme: str, width: int, tmp_path: Path) -> None:
    page = tmp_path / "compared.html"
    text = HtmlReport().compared(compared()).decode()
    text = text.replace("default-src 'none';", "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval';", 1)
    page.write_text(text.replace("<body>", f"<body><script>{axe()}</script>{CHECK.replace('MARKS', '0')}", 1))
    document = dump(page, width, tmp_path, f"#{theme}")
    assert int(attribute(document, "passes") or 0) > 12
    assert json.loads(html.unescape(attribute(document, "axe"))) == []
