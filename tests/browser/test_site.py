"""The site of the docs in a real browser, opened from the disk: search, navigation, dark, a phone."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.test_report import attribute, dump
from tests.support import ROOT

PROBE = """<script>
const told = document.documentElement.dataset;
addEventListener("error", (e) => { told.problem = e.message + " " + e.filename; });
const wait = (time) => new Promise((ready) => setTimeout(ready, time));
addEventListener("load", async () => {
  await wait(300);
  told.wide = document.documentElement.scrollWidth + " " + innerWidth;
  told.back = getComputedStyle(document.body).backgroundColor;
  told.tall = String(document.querySelector("h1").getBoundingClientRect().height);
  QUESTION
  told.done = "yes";
});
</script>"""
SEARCH = """
  document.querySelector(".md-search__button").click();
  await wait(300);
  const root = [...document.querySelectorAll("*")].find((each) => each.shadowRoot).shadowRoot;
  const box = root.querySelector("input");
  box.value = "WORDS";
  box.dispatchEvent(new InputEvent("input", { bubbles: true }));
  for (let n = 0; n < 50 && !root.querySelector("a[href]"); n++) await wait(100);
  told.found = [...root.querySelectorAll("a[href]")].map((each) => each.getAttribute("href")).join(" ");
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make site` makes it, which takes seconds."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(ROOT / "tools/docs_site.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return folder / "html"


def asked(site: Path, name: str, tmp_path: Path, question: str = "", width: int = 1280) -> str:
    """The document of a page after a question was put to it."""
    page = site / name
    probe = page.with_name(f"probe-{page.name}")
    probe.write_text(page.read_text().replace("<body", PROBE.replace("QUESTION", question) + "<body", 1))
    document = dump(probe, width, tmp_path)
    probe.unlink()
    assert attribute(document, "done") == "yes"
    assert attribute(document, "problem") == ""
    return document


@pytest.mark.long
def test_search_works_from_the_disk(site: Path, tmp_path: Path) -> None:
    document = asked(site, "index.html", tmp_path, SEARCH.replace("WORDS", "coordinated omission"))
    found = attribute(document, "found").split()
    assert f"file://{site}/glossary.html" in found[0]
    assert found[0].endswith("#coordinated-omission")


@pytest.mark.long
def test_search_finds_from_a_folder_below_and_says_when_there_is_nothing(site: Path, tmp_path: Path) -> None:
    for words, some in (("storage.contend", True), ("xyzzy", False)):
        document = asked(site, "reference/suite.html", tmp_path, SEARCH.replace("WORDS", words))
        assert bool(attribute(document, "found")) == some, words


@pytest.mark.long
def test_a_phone_scrolls_tables_not_the_page(site: Path, tmp_path: Path) -> None:
    for name in ("index.html", "suite-file.html"):
        wide, inner = attribute(asked(site, name, tmp_path, width=500), "wide").split()
        assert int(wide) <= int(inner), name


@pytest.mark.long
def test_dark_and_light_follow_what_was_chosen(site: Path, tmp_path: Path) -> None:
    choose = """
      document.querySelector('[data-md-color-scheme="SCHEME"][name="__palette"]').click();
      await wait(600);
      told.back = getComputedStyle(document.body).backgroundColor;"""
    light, dark = (
        sum(map(int, re.findall(r"\d+", attribute(asked(site, "index.html", tmp_path, question), "back"))[:3]))
        for question in ("", choose.replace("SCHEME", "slate"))
    )
    assert light > 600
    assert dark < 150


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text()
        if "measured" in page.parts:  # reports of runs, whose own tests hold them to that
            continue
        fetched = re.findall(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"(\w+:[^\"]*)\"", text)
        fetched += [each for each in re.findall(r"<link\b[^>]*>", text) if re.search(r"href=\"(?!data:)\w+:", each)]
        assert not fetched, page


def test_every_file_that_a_page_leads_to_is_in_the_site(site: Path) -> None:
    """Zensical checks links between pages; pictures, reports and folders are looked for here."""
    for page in site.rglob("*.html"):
        if "measured" in page.parts or page.name == "404.html":
            continue
        for target in re.findall(r"<(?:a|img)\b[^>]*\b(?:href|src)=\"([^\"#?]+)", page.read_text()):
            if not re.match(r"\w+:", target):
                assert (page.parent / target).is_file(), f"{page.relative_to(site)}: {target}"
