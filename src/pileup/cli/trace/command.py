"""pileup trace: count the round trips of a session, and check the count by distance."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.command import Command, OneOf
from pileup.cli.messages import echo
from pileup.cli.working import working

if TYPE_CHECKING:
    from pileup.plugin.sessions.span import Act

ADDED = "0 ms, 10 ms, 50 ms, 150 ms"


@click.command(
    "trace",
    cls=Command,
    examples=[
        ("a listing of a storage element", "pileup trace davs://se01.site.org/data --operation list --token discover"),
        ("a session of another program", "pileup trace se01.site.org:1094 -- xrdfs {address} ls /data"),
    ],
    page="distance.md",
)
@click.argument("target")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@click.option("--in", "suite", metavar="SUITE", help="TARGET is the name of a target of this suite.")
@click.option(
    "--operation",
    type=OneOf(("list", "stat", "read", "get", "connect")),
    help="What each session does; `connect` only logs in.  [default: list; get with kind http]",
)
@click.option("--path", default="", help="What is listed, read or looked at, below the url.")
@click.option(
    "--added", default=ADDED, show_default=True, metavar="TIMES", help="Round trips that the relay adds, one by one."
)
@click.option("--times", type=click.IntRange(1, 1000), default=5, show_default=True, help="Sessions at each of them.")
@click.option("--resume", is_flag=True, help="Resume TLS sessions; the first one at each distance is not counted.")
@click.option("--timeout", default="30 s", show_default=True, metavar="TIME", help="What a session may take.")
@click.option("--kind", help="What the url is, where it does not say so: webdav, http, ...")
@click.option("--token", metavar="discover|FILE", help="Bearer token: your own, or that in a file.")
@click.option("--proxy", metavar="discover|FILE", help="X.509 proxy: your own, or that in a file.")
@click.option("--ca", metavar="discover|PATH", help="Who signs the certificate of the server [default: the system's].")
@click.option("--save", type=click.Path(path_type=Path, dir_okay=False), help="Write the waterfall to this HTML file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: times in ns, sizes in bytes.")
def command(
    target: str,
    words: tuple[str, ...],
    suite: str | None,
    operation: str | None,
    path: str,
    added: str,
    times: int,
    resume: bool,
    timeout: str,
    kind: str | None,
    token: str | None,
    proxy: str | None,
    ca: str | None,
    save: Path | None,
    as_json: bool,
) -> None:
    """Count the round trips of a session.

    What a session at TARGET waits for: time = k x RTT + server + client + unexplained.

    TARGET is a url, the name of a target (with --in), or HOST:PORT with a command that is run for each session.
    Sessions go through a relay on this machine: k is counted in the messages that it sees, then checked by the round
    trips that are added: the slope of the time must be k within 2 %.

    Exit codes: 0 the slope is k, 4 it is not, 8 too few sessions to decide, 5 no session passes.
    """
    from pileup.cli.one_line import credentials
    from pileup.cli.trace.text import as_data, print_trace
    from pileup.cli.trace.waterfall import page
    from pileup.model.errors import UsageError
    from pileup.model.exits import ExitCode
    from pileup.run.tracing.trace import trace

    limit, distances = _time(timeout, "--timeout"), sorted({_time(each, "--added") for each in added.split(",")})
    if not limit:
        raise UsageError("--timeout is 0", "a time above 0", "e.g. --timeout '30 s'")
    with _traced(target, words, suite, operation, path, limit, kind, credentials(token, proxy, ca), resume) as found:
        act, to, title = found
        with working("tracing"):
            traced = trace(act, to, distances, times, skip=int(resume))
    if as_json:
        echo(json.dumps(as_data(traced, title), indent=2))
    else:
        print_trace(traced, title)
    if save is not None:
        save.write_text(page(traced, title), encoding="utf-8")
        if not as_json:
            echo(f"waterfall: {save}")
    agrees = True if traced.line is None else traced.line.agrees(traced.round_trips)
    if not agrees:
        code = ExitCode.UNKNOWN if agrees is None else ExitCode.CRITERION_NOT_MET
        click.get_current_context().exit(code)


@contextmanager
def _traced(
    target: str,
    words: tuple[str, ...],
    suite: str | None,
    operation: str | None,
    path: str,
    limit: int,
    kind: str | None,
    credentials: dict[str, str],
    resume: bool,
) -> Iterator[tuple[Act, tuple[str, int], str]]:
    """Yield what is traced, where it leads, and its title."""
    from pileup.cli.relay import address
    from pileup.fleet.sessions import make_sessions
    from pileup.plugin.sessions import acts
    from pileup.run.tracing import targets

    if words:
        yield acts.command(words, limit), address(target, "TARGET"), f"{' '.join(words)}, at {target}"
        return
    with targets.opened(target, suite, kind, credentials) as found:
        chosen = operation or acts.default_operation(type(found))
        act = acts.operation(make_sessions, found, chosen, path, limit, resume=resume)
        yield act, found.endpoint(), f"{chosen} {path}".rstrip() + f" at {found.url}"


def _time(text: str, option: str) -> int:
    """Return a time in ns. Raises UsageError."""
    from pileup.model.errors import UsageError
    from pileup.model.units import parse

    try:
        time = int(parse(text.strip(), "time"))
    except ValueError as problem:
        raise UsageError(f"{option}: {problem}", "times such as '10 ms'", "pileup trace --help") from problem
    if time < 0:
        raise UsageError(f"{option} {text.strip()} is negative", "a time of 0 or more", "pileup trace --help")
    return time
