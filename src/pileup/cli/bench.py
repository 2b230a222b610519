"""pileup bench: press a system with one operation, in one line."""

from __future__ import annotations

from typing import Any

import click

from pileup.cli.command import Command
from pileup.cli.one_line import conduct_text, endpoint, said, shared


class Quantity(click.ParamType[str]):
    """A quantity with its unit, kept as it is written."""

    def __init__(self, dimension: str) -> None:
        self.name, self._dimension = dimension, dimension

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text of a quantity. Fails with what was expected."""
        from pileup.model.units import parse

        try:
            parse(value, self._dimension)
        except ValueError as problem:
            self.fail(str(problem), param, ctx)
        return str(value).strip()


@click.command(
    "bench",
    cls=Command,
    examples=[
        (
            "50 clients read for 30 s",
            "pileup bench root://se01.site.org//data/pileup --read --clients 50 --for 30s --token discover",
        ),
        (
            "100 stats per second, whatever the answers",
            "pileup bench davs://se01.site.org/data/pileup --stat --rate 100/s --for 1min --proxy discover",
        ),
    ],
    page="check-and-bench.md",
)
@click.option(
    "--read",
    "operations",
    flag_value="read",
    multiple=True,
    help="Read files whole, every byte verified (the default).",
)
@click.option("--write", "operations", flag_value="write", multiple=True, help="Write files.")
@click.option("--stat", "operations", flag_value="stat", multiple=True, help="Look at files: size and time.")
@click.option("--list", "operations", flag_value="list", multiple=True, help="List a folder.")
@click.option("--copy", "operations", flag_value="copy", multiple=True, help="Copy files to here.")
@click.option(
    "--get", "operations", flag_value="get", multiple=True, help="GET the url itself (the default with --kind http)."
)
@click.option("--query", metavar="SQL", help="Ask a database this [default: SELECT 1].")
@click.option(
    "--clients", type=click.IntRange(1), help="Clients kept busy; with --rate the most in flight [default: 4]."
)
@click.option(
    "--rate",
    type=Quantity("rate"),
    metavar="RATE",
    help="Iterations begun per second, such as 100/s, whatever the system answers.",
)
@click.option(
    "--for",
    "length",
    type=Quantity("time"),
    metavar="TIME",
    default="10 s",
    show_default=True,
    help="How long to measure.",
)
@click.option(
    "--warm-up", type=Quantity("time"), metavar="TIME", default="1 s", show_default=True, help="Time before that."
)
@click.option(
    "--size", type=Quantity("size"), metavar="SIZE", default="1 MiB", show_default=True, help="Size of each file."
)
@click.option("--files", type=click.IntRange(1, 1_000_000), default=16, show_default=True, help="Number of files.")
@shared
@click.pass_context
def command(
    context: click.Context,
    /,
    operations: tuple[str, ...],
    query: str | None,
    clients: int | None,
    rate: str | None,
    length: str,
    warm_up: str,
    size: str,
    files: int,
    url: str,
    kind: str | None,
    token: str | None,
    proxy: str | None,
    ca: str | None,
    **how: Any,
) -> None:
    """Measure one operation of the system at a URL.

    URL may be the name of an endpoint of your configuration, too (`pileup help config`). Several operations are
    measured one after another. Without --rate each client begins again when it has its answer;
    with --rate iterations begin at their times, and a slow answer delays none. The suite that is run is printed, and
    kept with --save: there you can add monitors, criteria and scans.

    Exit codes as those of `pileup run`.
    """
    from pileup.suite.quick import Press, bench

    system = endpoint(url, kind, token, proxy, ca)
    default = {"database": "query", "http": "get"}.get(system.kind, "read")
    chosen = list(dict.fromkeys([*operations, *(["query"] if query else [])])) or [default]
    press = Press(clients, rate, length, warm_up, size, files)
    text = bench(system, chosen, press, query or "SELECT 1", said())
    conduct_text(context, text, "bench", **how)
