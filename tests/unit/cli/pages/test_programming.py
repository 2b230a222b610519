"""The page of classes for authors of plug-ins: all that they have, from their source."""

from dataclasses import fields, is_dataclass
from functools import cache

from pileup import plugin
from pileup.cli.pages.contents import topic
from pileup.cli.pages.markdown import markdown
from pileup.cli.pages.page import Heading, Page, Table, anchor
from pileup.cli.pages.programming import PARTS
from pileup.plugin import Outcome


@cache
def page() -> Page:
    found = topic("plugin")
    assert found is not None
    return found


def rows(name: str) -> dict[str, tuple[str, ...]]:
    """Return what is in the tables below a heading, by its first cell."""
    blocks = page().blocks
    begin = blocks.index(Heading(name)) + 1
    end = next((at for at in range(begin, len(blocks)) if isinstance(blocks[at], Heading)), len(blocks))
    tables = [block for block in blocks[begin:end] if isinstance(block, Table)]
    return {row[0].strip("`"): row for table in tables for row in table.rows}


def test_every_field_of_every_class_has_a_row() -> None:
    for cls in (thing for things in PARTS.values() for thing in things if is_dataclass(thing)):
        public = {each.name for each in fields(cls) if not each.name.startswith("_")}
        assert public <= set(rows(cls.__name__)), cls


def test_a_row_has_type_default_and_meaning() -> None:
    assert rows("Context")["client"] == (
        "`client`",
        "`int`",
        "`0`",
        "Number of the client that this instance belongs to.",
    )
    assert rows("CaseResult")["point"][2] == "`dict()`"
    assert rows("Counts")["ended"] == ("`ended`", "`int`", "", "All that have a row.")
    assert rows("Target")["settable"][1] == "`tuple[str, ...]`"


def test_methods_are_shown_as_they_are_called() -> None:
    assert "watched() -> Target" in rows("Monitor")
    assert "@classmethod check_url(url: str) -> None" in rows("Target")
    assert "op(name: str, key: str='', *, labels: Labels | None=None) -> Operation" in rows("Op")
    assert "run_once(cls: type[Test], target: Target | None=None, *, context" in markdown(page())


def test_each_heading_stands_once_so_that_links_lead_to_it() -> None:
    anchors = [anchor(block.text) for block in page().blocks if isinstance(block, Heading)]
    assert len(set(anchors)) == len(anchors)


def test_it_has_what_plug_ins_derive_from() -> None:
    named = {thing.__name__ for things in PARTS.values() for thing in things}
    assert {"Test", "Target", "FileTarget", "Monitor", "Report", "Exporter", "ProgramClient"} <= named & set(
        plugin.__all__
    )


def test_what_is_compared_with_words_has_all_its_words() -> None:
    assert rows("RunVerdict")["STOPPED"] == ("`STOPPED`", "`'stopped'`", "")
    assert rows("Outcome").keys() == Outcome.__members__.keys()
    assert rows("Verdict")["met"][1] == "`bool`"


def test_fields_of_pydantic_have_their_default_and_description() -> None:
    assert rows("Credentials")["password"] == (
        "`password`",
        "`SecretStr | None`",
        "`None`",
        "password for basic authentication",
    )
