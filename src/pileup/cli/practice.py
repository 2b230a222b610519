"""pileup practice: targets of known truth, to try pileup with no grid and to prove what it measures."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path
from typing import Any

import click


@click.group("practice")
def command() -> None:
    """Serve a practice target of known truth on this machine."""


@command.command("storage")
@click.option("--port", type=click.IntRange(0, 65535), help="Port on 127.0.0.1; 0 takes a free one.  [default: 0]")
@click.option("--threads", metavar="N", help="Requests served at a time.  [default: 16]")
@click.option("--queue", metavar="N", help="Requests that may wait; beyond, 503 is answered.  [default: 1000]")
@click.option(
    "--service", metavar="LAW", help="Service time: '20 ms', or '{lognormal: [20 ms, 0.5]}'.  [default: none]"
)
@click.option("--bandwidth", metavar="B/s", help="Of the whole server, e.g. '200 MB/s'.  [default: unlimited]")
@click.option(
    "--settings",
    metavar="YAML",
    default="{}",
    help="All settings as one mapping, see `pileup describe practice-storage`.",
)
@click.option(
    "--log", type=click.Path(path_type=Path, dir_okay=False), help="CSV file that tells what was done to each request."
)
def storage(settings: str, **given: Any) -> None:
    """Serve an HTTP/WebDAV storage whose service times, limits and faults are known.

    Prints its address when it answers; ends on Ctrl-C or SIGTERM and then completes its log.
    """
    from pileup._core._native import PracticeStorage
    from pileup.cli.common import parse_mapping, validated
    from pileup.model.practice import StorageSettings

    plain = parse_mapping(settings, "--settings")
    for name, value in given.items():
        if value is not None:
            plain[name] = (
                parse_mapping(value, f"--{name}") if name == "service" and value.lstrip().startswith("{") else value
            )
    wanted = validated(StorageSettings, {**plain, **({"log": str(plain["log"])} if plain.get("log") else {})})
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    server = PracticeStorage(json.dumps(wanted.to_native()))
    scheme = "https" if wanted.tls else "http"
    click.echo(f"pileup practice storage ready at {scheme}://{wanted.host}:{server.port}/")
    while not ended.wait(3600):
        pass
    server.stop()
