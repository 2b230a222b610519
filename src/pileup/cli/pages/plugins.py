"""The page of a plug-in: its docstring, what a suite's author must know beside, options, settings of `launch`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pileup.cli.options import option_rows
from pileup.cli.pages.models import linked, sections
from pileup.cli.pages.page import HEAD, Block, Heading, Page, Words, first_sentence, without_empty_columns
from pileup.plugin.target import offers
from pileup.plugin.test import needs_of

if TYPE_CHECKING:
    from pileup.plugin import Test
    from pileup.plugin.registry import Found


def plugin_page(kind: str, name: str, cls: type) -> Page:
    """Return the page of a plug-in of a kind ("test", "target", "monitor", "report", "chart" or "exporter")."""
    text = docstring(cls)
    return Page(f"{kind}s", name, f"{kind} {name}", first_sentence(text), (Words(text), *_blocks(kind, cls)))


def missing_page(found: Found) -> Page:
    """Return the page of a plug-in that cannot be loaded here: it says why."""
    kind = found.kind.removesuffix("s")
    return Page(found.kind, found.name, f"{kind} {found.name}", "unavailable", (Words(found.reason),))


def docstring(cls: type) -> str:
    """Return the docstring of the class itself; that of a base is about something else."""
    return (inspect.getdoc(cls) or "") if cls.__doc__ else "(no description)"


def _blocks(kind: str, cls: Any) -> Iterator[Block]:
    for fact in facts(kind, cls):
        yield Words(fact)
    rows = option_rows(cls)
    if rows:
        yield Heading("Options")
        yield without_empty_columns(HEAD, [(f"`{name}`", linked(kind), *rest) for name, kind, *rest in rows])
    elif kind in ("test", "target", "monitor"):
        yield Words("No options.")
    launch = getattr(cls, "launch_settings", None)
    if launch is not None:
        yield from sections(launch, "Settings of `launch`")


def _needs(cls: type[Test]) -> str:
    several = [f"`{word}`, a target that provides {what!r}" for word, what in needs_of(cls).items() if word]
    if several:
        return f"several targets: {'; '.join(several)}"
    return f"a target that provides {cls.needs!r}" if cls.needs else "no target"


def facts(kind: str, cls: Any) -> list[str]:
    """Return what a suite's author must know beside the options."""
    if kind == "test":
        return [f"Needs {_needs(cls)}. Runs {'in the native engine' if cls.native() else 'as Python'}."]
    if kind == "target":
        given = ", ".join(sorted(offers(cls)))
        return [f"Provides {given}." + (" Without a url it gets a scratch folder." if cls.scratch else "")]
    if kind == "report":
        when = ", by every run whose suite names no `reports`" if cls.by_default else ""
        return [f"Written to {cls.file_name} in the run folder{when}."]
    if kind == "chart":
        return [f"In the section {cls.section!r} of the report for people, and in `pileup export --charts`."]
    if kind == "exporter":
        return [f"Writes a file `TABLE.{cls.suffix or cls.name}` for each table."]
    return []
