"""Pages of the reference: what is in them, and how they become Markdown, HTML and text."""

import re
from html.parser import HTMLParser

import pytest

from pileup.cli.pages import language
from pileup.cli.pages.contents import all_pages, topic
from pileup.cli.pages.html import html
from pileup.cli.pages.markdown import markdown
from pileup.cli.pages.page import Code, Heading, Page, Table, Words, anchor, file_name
from pileup.cli.pages.paragraphs import Part, parts
from pileup.model.check import FIELDS, FUNCTIONS
from pileup.model.exits import ExitCode
from pileup.model.suite import Suite
from pileup.model.units import DIMENSIONS

PAGE = Page(
    "tests",
    "x",
    "A <page>",
    "",
    (
        Heading("`a.b`"),
        Words(
            "Say *so*: see [noop](targets/noop).\n\n- one\n- two\n  goes on\n\n"
            "    code <b>\n\n| m | u |\n|---|---|\n| `q` | B |"
        ),
        Code("f(x) < 1"),
        Table(("name", "what"), (("`a|b`", "a < b | c * d <i> [here](#ab)"),)),
    ),
)


def test_markdown_escapes_what_would_be_markup_but_for_code_and_links() -> None:
    text = markdown(PAGE)
    assert "| `a\\|b` | a < b \\| c \\* d \\<i> [here](#ab) |" in text
    assert "see [noop](../targets/noop.md)" in text
    assert "\n    f(x) < 1\n" in text
    assert text.startswith("# A <page>\n\n## `a.b`\n")


def test_html_escapes_everything_and_has_every_part() -> None:
    text = html(PAGE)
    assert "<title>A &lt;page&gt; - pileup</title>" in text
    assert '<h2 id="ab"><code>a.b</code></h2>' in text
    assert '<a href="../targets/noop.html">noop</a>' in text
    assert "<li>two goes on</li>" in text
    assert "<pre><code>code &lt;b&gt;</code></pre>" in text
    assert "<td><code>q</code></td><td>B</td>" in text
    assert '<td>a &lt; b | c * d &lt;i&gt; <a href="#ab">here</a></td>' in text


def test_html_is_linked_to_its_index_where_there_is_one() -> None:
    assert '<a href="../index.html">Reference</a>' in html(PAGE, linked=True)
    assert "Reference" not in html(PAGE)
    assert "http" not in html(PAGE).replace("http-", "")


class Balance(HTMLParser):
    """Counts elements that are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids.add(given.get("id") or "")
        self.links += [given["href"] or ""] if "href" in given else []
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    return all_pages(own=True)


@pytest.mark.long
def test_every_page_is_sound_html_whose_links_lead_somewhere(pages: list[Page]) -> None:
    read = {}
    for page in pages:
        read[file_name(page.path, "html")] = reader = Balance()
        reader.feed(html(page, linked=True))
        assert reader.open == []
    for name, reader in read.items():
        for link in reader.links:
            to, _, place = link.partition("#")
            parents = name.split("/")[:-1]
            while to.startswith("../"):
                parents, to = parents[:-1], to.removeprefix("../")
            target = read["/".join([*parents, to])] if to else reader
            assert not place or place in target.ids, f"{name} links to {link}"


def test_links_of_markdown_lead_to_headings(pages: list[Page]) -> None:
    for page in pages:
        headings = {anchor(block.text) for block in page.blocks if isinstance(block, Heading)}
        for place in re.findall(r"\]\(#([^)]*)\)", markdown(page)):
            assert place in headings, f"{page.path} links to #{place}"


def test_the_page_of_the_suite_has_every_word() -> None:
    text = markdown(language.suite_page())
    for name, field in Suite.model_fields.items():
        assert f"| `{field.alias or name}` |" in text
    assert "| `times` | count, e.g. 100 | none | >= 1 |" in text
    assert "Undefined" not in text
    assert "typing" not in text


def test_the_page_of_checks_has_every_function_and_field() -> None:
    text = markdown(language.checks_page())
    assert all(f"| `{word}` |" in text for word in (*FUNCTIONS, *FIELDS))


def test_its_examples_are_checks() -> None:
    from pileup.model.check import parse

    examples = next(block for block in language.checks_page().blocks if isinstance(block, Code) and "\n" in block.text)
    assert all(parse(line) for line in examples.text.splitlines())


def test_the_pages_of_units_and_verdicts_are_complete() -> None:
    units, verdicts = markdown(language.units_page()), markdown(language.verdicts_page())
    assert all(f"| {name} |" in units for name in DIMENSIONS)
    assert "| `lognormal` | [time, number] |" in units
    assert all(f"| {int(code)} |" in verdicts for code in ExitCode)


def test_metrics_are_taken_from_the_monitors() -> None:
    class Lamp:
        """Is it on?

        | metric | unit | what |
        |---|---|---|
        | `power[of=lamp]` | W | drawn |
        """

    class Plain:
        """As you like."""

    text = markdown(language.metrics_page([("lamp", Lamp), ("plain", Plain)]))
    assert "| `power[of=lamp]` | W | drawn |" in text
    assert "As its options say. Options: [plain](monitors/plain.md)." in text


def test_commands_are_told_with_options_and_defaults(pages: list[Page]) -> None:
    text = markdown(next(page for page in pages if page.name == "commands"))
    assert "## pileup practice storage\n" in text
    assert "| `--out DIRECTORY` | $PILEUP_RUNS, else ./runs | Folder for run folders |" in text


def test_a_word_that_holds_others_has_a_page_of_its_own() -> None:
    page = topic("load")
    assert page is not None
    assert page.title == "`tests[].load` in a suite"
    assert "](suite.md#testsloadstages)" in markdown(page)
    assert topic("weather") is None


def test_parts_of_a_docstring() -> None:
    assert list(parts("one\ntwo\n\n    code\n\n      more\n\nthree")) == [
        Part("text", ("one two",)),
        Part("code", ("code", "", "  more")),
        Part("text", ("three",)),
    ]
