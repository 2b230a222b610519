"""pileup check: is a system fit for its users, in one line."""

from __future__ import annotations

from pathlib import Path

import click

from pileup.cli.command import Command
from pileup.cli.one_line import conduct_text, endpoint, said, shared


@click.command(
    "check",
    cls=Command,
    examples=[
        ("a storage element, with your own token", "pileup check root://se01.site.org//data/pileup --token discover"),
        ("a file system", "pileup check /mnt/scratch"),
    ],
    page="check-and-bench.md",
)
@shared
@click.pass_context
def command(
    context: click.Context,
    url: str,
    kind: str | None,
    token: str | None,
    proxy: str | None,
    ca: str | None,
    save: Path | None,
    show: bool,
    out: Path | None,
    quiet: bool,
    summary: str,
    as_json: bool,
) -> None:
    """Check the system at a URL.

    URL may be the name of an endpoint of your configuration, too (`pileup help config`). Each operation of its users
    is done once or a few times. The url of a storage is that of a folder in which you may
    write; what is made lies in a folder of the run's own below it, and is removed. The suite that is run is printed,
    and kept with --save.

    Exit codes as those of `pileup run`.
    """
    from pileup.suite.quick import check

    text = check(endpoint(url, kind, token, proxy, ca), said())
    conduct_text(context, text, "check", save, show, out, quiet, summary, as_json)
