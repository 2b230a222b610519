"""pileup check: is a system fit for its users, in one line."""

from __future__ import annotations

from pathlib import Path

import click

from pileup.cli.one_line import conduct_text, credentials, said, shared


@click.command("check")
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
    as_json: bool,
) -> None:
    """Check the system at URL: each operation of its users, once or a few times.

    The url of a storage is that of a folder in which you may write; what is made lies in a folder of the run's own
    below it, and is removed. The suite that is run is printed, and kept with --save.

    \b
        pileup check root://se01.site.org//data/pileup --token discover
        pileup check davs://se01.site.org/data/pileup --proxy discover --ca discover
        pileup check /mnt/scratch

    Exit codes as those of `pileup run`.
    """  # noqa: D301  \b is click's
    from pileup.suite.quick import Endpoint, check

    text = check(Endpoint.at(url, kind, credentials(token, proxy, ca)), said())
    conduct_text(context, text, "check", save, show, out, quiet, as_json)
