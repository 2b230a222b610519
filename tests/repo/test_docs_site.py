"""What `make site` makes of docs/: all pages are in the navigation, links and blocks of code are as the site needs.

That the site is made, and how it looks in a browser, is in tests/browser/test_site.py.
"""

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/docs_site.py"


@pytest.fixture(scope="module")
def tool() -> dict[str, Any]:
    return runpy.run_path(str(TOOL))


def places(entries: object) -> set[str]:
    """The pages of a navigation, however deep."""
    if isinstance(entries, str):
        return {entries}
    assert isinstance(entries, list)
    return set().union(*(places(value) for _, value in entries))


def changed(tool: dict[str, Any], line: str, source: str = "docs/tutorial.md") -> str:
    """A line of a page with its links as the site has them."""
    known = tool["sources"]()
    return str(tool["LINK"].sub(lambda found: tool["link"](found, Path(source), known), line))


def test_every_page_is_in_the_navigation(tool: dict[str, Any]) -> None:
    there = {str(place) for place in tool["sources"]().values() if place.suffix == ".md"}
    assert places(tool["navigation"]()) == there, "name the page in docs/README.md"


def test_roles_and_words_have_pages_that_the_first_page_names(tool: dict[str, Any]) -> None:
    sections = dict(tool["navigation"]())
    assert [title for title, _ in sections["By role"]] == [
        "I run a storage element",
        "I buy a storage system",
        "I write a service",
        "I analyse data",
    ]
    assert {"glossary.md", "coming-from.md", "when-not.md", "which-suite.md", "install.md"} <= places(sections["Begin"])


def test_links_that_leave_the_docs_lead_to_copies_or_are_names(tool: dict[str, Any]) -> None:
    assert changed(tool, "[plan](../ARCHITECTURE.md#words)") == "[plan](project/architecture.md#words)"
    assert changed(tool, "[suite](../examples/find.yaml)") == "[suite](examples/find.yaml.md)"
    assert changed(tool, "[all](../examples/)") == "[all](examples/README.md)"
    assert changed(tool, "[steady.py](../src/pileup/stats/loads/steady_state.py)") == "steady.py"
    assert changed(tool, "[x](docs/find.md)", "CHANGELOG.md") == "[x](../find.md)"


def test_a_page_that_is_named_by_its_file_has_its_title_in_the_site(tool: dict[str, Any]) -> None:
    assert changed(tool, "see [clients.md](clients.md#x)") != "see [clients.md](clients.md#x)"
    title = (ROOT / "docs/install.md").read_text().partition("\n")[0].removeprefix("# ")
    assert changed(tool, "see [install.md](install.md)") == f"see [{title}](install.md)"
    assert changed(tool, "`[a](b)` and [c](https://x.org)") == "`[a](b)` and [c](https://x.org)"


def test_a_link_to_what_is_not_there_ends_it(tool: dict[str, Any]) -> None:
    with pytest.raises(Exception, match=r"docs/tutorial.md: gone.md: no such file; expected .*; fix the link"):
        changed(tool, "[gone](gone.md)")


def test_a_block_of_a_file_has_its_name_as_the_title(tool: dict[str, Any]) -> None:
    def made(line: str) -> str:
        return str(tool["FENCE"].sub(tool["fence"], line))

    assert made("```yaml file=mine.yaml") == '```yaml title="mine.yaml"'
    assert made("```console exit=3") == "```console"
    assert made("```console stopped") == "```console"
    assert made("```python") == "```python"


def test_a_link_to_no_heading_ends_it(tool: dict[str, Any], tmp_path: Path) -> None:
    tool["stage"](tmp_path)
    with (tmp_path / "pages/find.md").open("a") as file:
        file.write("\n[nothing](hold.md#no-such-heading)\n")
    said = tool["make"](tmp_path)
    assert "find.md:" in said
    assert "1 issue found" in said
    assert said.endswith("expected every link to lead to a page or heading; fix those above")
