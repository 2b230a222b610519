"""pileup relay: a relay before any TCP server, with latency, bandwidth and faults."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pileup.cli.command import Command
from pileup.cli.messages import echo

if TYPE_CHECKING:
    from pileup._core._native import Relay
    from pileup.model.distance import Distance
    from pileup.run.relays.control import Counts

WORDS = ("latency", "jitter", "bandwidth", "window", "resets", "half_open", "after", "slow_close")


@click.command(
    "relay",
    cls=Command,
    examples=[
        (
            "a server 50 ms away, on a port of this machine",
            "pileup relay 127.0.0.1:11094 --to se01.site.org:1094 --latency '50 ms'",
        ),
        ("every connection and message in a file", "pileup relay --to se01.site.org:1094 --trace seen.json"),
    ],
    page="distance.md",
)
@click.argument("listen", default="127.0.0.1:0")
@click.option("--to", required=True, metavar="HOST:PORT", help="Server that connections are passed on to.")
@click.option("--latency", metavar="TIME", help="Added to every round trip, half of it each way: '50 ms'.")
@click.option("--jitter", metavar="LAW", help="Drawn for each piece on top: '2 ms', or '{exponential: 2 ms}'.")
@click.option("--bandwidth", metavar="RATE", help="Each way, of all connections together: '1 Gbit/s'.")
@click.option("--window", metavar="SIZE", help="Most bytes of a connection under way each way.  [default: 64 MiB]")
@click.option("--resets", metavar="SHARE", help="Share of connections that are reset: '1 %'.")
@click.option("--half-open", metavar="SHARE", help="Share of connections on which nothing passes any more.")
@click.option("--after", metavar="SIZE", help="Bytes of the answers that pass before that.")
@click.option("--slow-close", metavar="TIME", help="The end of a connection is passed on later by this.")
@click.option("--seed", type=click.IntRange(0), help="Seed of everything random.  [default: 1]")
@click.option(
    "--trace", type=click.Path(path_type=Path, dir_okay=False), help="JSON file with every connection, at the end."
)
@click.option("--control", type=click.Path(path_type=Path), hidden=True)
def command(listen: str, to: str, seed: int | None, trace: Path | None, control: Path | None, **given: Any) -> None:
    """Put a distance before any TCP server.

    TCP connections are passed on: LISTEN is HOST:PORT, port 0 takes a free one.

    Prints its address when it accepts; ends on Ctrl-C or SIGTERM and says what went through. A connect is answered
    locally and charged with one round trip. What a relay cannot show is the growth of a TCP window, and loss.
    """
    from pileup._core._native import Relay
    from pileup.cli.practice import asked_to_end
    from pileup.model.errors import TargetError, UsageError
    from pileup.run.relays import control as line
    from pileup.run.relays.relays import SETTINGS

    host, port = address(listen, "LISTEN", lowest=0)
    told = json.loads(os.environ.get(SETTINGS, "{}"))
    path = told.get("path") or _path(given).to_native()
    settings = {
        "host": host,
        "port": port,
        "to": address(to, "--to"),
        "seed": told.get("seed", seed or 1),
        "path": path,
    }
    with asked_to_end() as asked:
        try:
            relay = Relay(json.dumps(settings | {"trace": trace is not None}))
        except ValueError as problem:
            raise UsageError(str(problem), "addresses and a path", "pileup relay --help") from problem
        except OSError as problem:
            raise TargetError(str(problem)) from problem
        end = line.serve(relay, control) if control else None
        echo(f"pileup relay ready at {f'[{host}]' if ':' in host else host}:{relay.port}, to {to}")
        asked.recv(1)
        if end is not None:
            end()
        _end(relay, trace)


def _end(relay: Relay, trace: Path | None) -> None:
    """Say what went through, and write the trace."""
    from pileup.model.units import counted, format_size
    from pileup.run.relays.control import told_late

    relay.stop()
    counts: Counts = json.loads(relay.counts())
    there, back = counts["bytes"]
    late = told_late(counts["late"])
    echo(
        f"{counted(counts['connections'], 'connection')}, {format_size(there)} there and {format_size(back)} back in "
        f"{sum(counts['messages'])} messages, {counted(counts['turns'], 'answer')}; {counts['refused']} not taken by "
        f"the server, {counts['resets']} reset and {counts['half_open']} silenced on purpose"
        + (f"; {late}" if late else "")
    )
    if trace is not None:
        trace.write_text(relay.trace(True), encoding="utf-8")


def _path(given: Mapping[str, str | None]) -> Distance:
    """Return the path that the options say. Raises UsageError."""
    from pileup.cli.common import parse_mapping, validated
    from pileup.model.distance import Distance

    said = {word: value for word in WORDS if (value := given[word]) is not None}
    plain: dict[str, object] = {
        word: parse_mapping(value, f"--{word}") if value.lstrip().startswith("{") else value
        for word, value in said.items()
    }
    return validated(Distance, plain)


def address(text: str, word: str, lowest: int = 1) -> tuple[str, int]:
    """Take HOST:PORT apart. Raises UsageError."""
    from pileup.model.errors import UsageError

    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or not lowest <= int(port) < 65536:
        example = "127.0.0.1:11094" if lowest == 0 else "se01.site.org:1094"
        raise UsageError(f"{word} {text!r} is no address", "HOST:PORT", f"e.g. {example}")
    return host.strip("[]"), int(port)
