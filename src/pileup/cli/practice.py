"""pileup practice: targets of known truth, to try pileup with no grid and to prove what it measures."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from pileup.cli.arguments import Decorator
from pileup.cli.command import Command, Group
from pileup.cli.messages import echo

if TYPE_CHECKING:
    from pileup.model.practice import ServerSettings

SettingsModel = TypeVar("SettingsModel", bound="ServerSettings")


class PracticeServer(Protocol):
    """A server of known truth that runs."""

    @property
    def port(self) -> int:
        """The port it listens on."""

    def stop(self) -> None:
        """End it in order."""


PORT = click.option(
    "--port", type=click.IntRange(0, 65535), help="Port on 127.0.0.1; 0 takes a free one.  [default: 0]"
)
LOG = click.option(
    "--log", type=click.Path(path_type=Path, dir_okay=False), help="CSV file that says what was done to each request."
)


def _settings(page: str) -> Decorator:
    return click.option(
        "--settings",
        metavar="YAML",
        default="{}",
        envvar="PILEUP_PRACTICE_SETTINGS",
        show_envvar=True,
        help=f"All settings as one mapping, see {page}.",
    )


@click.group(
    "practice",
    cls=Group,
    examples=[
        ("a storage that takes 20 ms for each request", "pileup practice storage --port 8080 --service '20 ms'"),
        ("a batch system with 50 slots", "pileup practice batch --slots 50"),
        ("a token issuer", "pileup practice issuer --lifetime '1 min'"),
        ("a tape library, a minute in a second", "pileup practice tape --drives 4 --speed-up 60"),
    ],
    page="practice.md",
)
def command() -> None:
    """Start a server whose behaviour is known.

    Its service times, limits and faults are set by you, and logged: what pileup measures can be compared with them.
    """


@command.command(
    "storage",
    cls=Command,
    examples=[
        ("16 requests at a time, 20 ms each", "pileup practice storage --port 8080 --threads 16 --service '20 ms'"),
        (
            "drawn service times, with a log",
            "pileup practice storage --service '{lognormal: [20 ms, 0.5]}' --log requests.csv",
        ),
    ],
    page="practice.md",
)
@PORT
@click.option("--threads", metavar="N", help="Requests served at a time.  [default: 16]")
@click.option("--queue", metavar="N", help="Requests that may wait; beyond, 503 is answered.  [default: 1000]")
@click.option(
    "--service", metavar="LAW", help="Service time: '20 ms', or '{lognormal: [20 ms, 0.5]}'.  [default: none]"
)
@click.option("--bandwidth", metavar="B/s", help="Of the whole server, e.g. '200 MB/s'.  [default: unlimited]")
@_settings("`pileup describe practice-storage`")
@LOG
def storage(settings: str, **given: Any) -> None:
    """Start an HTTP/WebDAV storage.

    Its service times, limits and faults are known. Prints its address when it answers; ends on Ctrl-C or SIGTERM and
    then completes its log.
    """
    from pileup._core._native import PracticeStorage
    from pileup.model.practice import StorageSettings

    _serve("storage", PracticeStorage, _wanted(StorageSettings, settings, given))


@command.command(
    "s3",
    cls=Command,
    examples=[
        ("a bucket `pileup`, the key `pileup` with the secret `open-sesame`", "pileup practice s3 --port 8084"),
        (
            "one request in ten is refused with SlowDown, with a log",
            "pileup practice s3 --settings '{faults: [{kind: refuse, share: 10 %}]}' --log requests.csv",
        ),
    ],
    page="s3.md",
)
@PORT
@click.option("--threads", metavar="N", help="Requests served at a time.  [default: 16]")
@click.option(
    "--service", metavar="LAW", help="Service time: '20 ms', or '{lognormal: [20 ms, 0.5]}'.  [default: none]"
)
@click.option("--bandwidth", metavar="B/s", help="Of the whole server, e.g. '200 MB/s'.  [default: unlimited]")
@click.option(
    "--settings",
    metavar="YAML",
    default="{}",
    envvar="PILEUP_PRACTICE_SETTINGS",
    show_envvar=True,
    help="All settings as one mapping, see `pileup describe practice-s3`.",
)
@LOG
def s3(settings: str, **given: Any) -> None:
    """Start an S3 storage.

    It checks signatures, and its service times, limits and faults are known. Prints its address when it answers; ends
    on Ctrl-C or SIGTERM and then completes its log.
    """
    from pileup._core._native import PracticeS3
    from pileup.model.practice import S3Settings

    wanted = _wanted(S3Settings, settings, given)
    _serve("s3", PracticeS3, wanted, ("s3", "s3s"), next(iter(wanted.buckets), ""))


@command.command(
    "batch",
    cls=Command,
    examples=[
        ("50 slots, a cycle of 2 s", "pileup practice batch --port 8081 --slots 50 --cycle '2 s'"),
        ("with what happened to each job", "pileup practice batch --jobs jobs.csv"),
    ],
    page="batch.md",
)
@PORT
@click.option("--slots", metavar="N", help="Jobs that run at the same time.  [default: 100]")
@click.option("--cycle", metavar="TIME", help="Jobs begin at multiples of this; 0: at once.  [default: 1 s]")
@click.option("--limit", metavar="N", help="Most jobs queued and running; beyond, 429.  [default: 200000]")
@click.option("--submit-cost", metavar="LAW", help="Time that a submission takes: '5 ms'.  [default: none]")
@_settings("`pileup describe practice-batch`")
@click.option(
    "--jobs",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV file that says what happened to each job; one that is there is gone on with.",
)
@LOG
def batch(settings: str, **given: Any) -> None:
    """Start a batch system.

    Its queue, limits and losses are known. Prints its address when it answers; ends on Ctrl-C or SIGTERM and then
    forgets nothing. What a kill makes it forget is a setting.
    """
    from pileup._core._native import PracticeBatch
    from pileup.model.practice import BatchSettings

    _serve("batch", PracticeBatch, _wanted(BatchSettings, settings, given))


@command.command(
    "issuer",
    cls=Command,
    examples=[
        (
            "tokens that last a minute, and their keys",
            "pileup practice issuer --port 8082 --lifetime '1 min' --public-keys keys.json",
        ),
        ("20 ms for each token, with a log", "pileup practice issuer --service '20 ms' --log issuer.csv"),
    ],
    page="tokens.md",
)
@PORT
@click.option("--lifetime", metavar="LAW", help="How long a token is good for.  [default: 1 h]")
@click.option("--service", metavar="LAW", help="Time that a token takes: '20 ms'.  [default: none]")
@click.option("--rate", metavar="N/s", help="Most tokens per second; beyond, 429.  [default: any]")
@_settings("`pileup describe practice-issuer`")
@click.option(
    "--public-keys",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for the keys that prove its tokens, for the setting `keys` of other practice targets.",
)
@LOG
def issuer(settings: str, **given: Any) -> None:
    """Start a token issuer (OAuth 2.0).

    Its lifetimes, delays and limits are known. Its client is `pileup` with the secret `open-sesame`, unless the
    settings name others. Prints its address when it answers; ends on Ctrl-C or SIGTERM and then completes its log.
    """
    from pileup._core._native import PracticeIssuer
    from pileup.model.practice import IssuerSettings

    _serve("issuer", PracticeIssuer, _wanted(IssuerSettings, settings, given))


@command.command(
    "tape",
    cls=Command,
    examples=[
        (
            "an hour in a minute, 5 files at the library at a time",
            "pileup practice tape --port 8083 --speed-up 60 --drives 4 --max-transfers 5",
        ),
        ("with what happened to each file", "pileup practice tape --files 1e6 --size '2 GB' --events tape.csv"),
    ],
    page="practice.md",
)
@PORT
@click.option("--speed-up", metavar="N", help="Library time runs so many times faster.  [default: 1]")
@click.option("--drives", metavar="N", help="Tape drives.  [default: 4]")
@click.option("--max-transfers", metavar="N", help="Files at the library at a time; 0: any number.  [default: 0]")
@click.option("--files", metavar="N", help="Files on tape: /tape/0000000 and so on.  [default: 10000]")
@click.option("--size", metavar="SIZE", help="Of a file: '2 GB', or '{lognormal: [1 GB, 0.5]}'.  [default: 1 GB]")
@click.option("--speed", metavar="B/s", help="Of each drive, e.g. '300 MB/s'.  [default: 100 MB/s]")
@_settings("docs/practice.md")
@click.option(
    "--events",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV file that says what happened to each file, in library time and real time.",
)
@LOG
def tape(settings: str, **given: Any) -> None:
    """Start a tape library.

    It speaks the WLCG Tape REST API. Its drives, cartridges, times and faults are known. Prints its address when it
    answers; ends on Ctrl-C or SIGTERM and then completes its events and its log.
    """
    from pileup._core._native import PracticeTape
    from pileup.model.practice import TapeSettings

    _serve("tape", PracticeTape, _wanted(TapeSettings, settings, given))


@command.command(
    "dialogue",
    cls=Command,
    examples=[
        ("a server for `pileup trace`", "pileup practice dialogue --port 4711 &"),
        ("its round trips, counted", "pileup trace 127.0.0.1:4711 -- pileup practice dialogue --talk {address}"),
    ],
    page="distance.md",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1; 0 takes a free one.")
@click.option("--script", help="Who speaks when: > to the server, < back.  [default: 8 there, 6 back]")
@click.option("--wait", default="1.6 s", show_default=True, metavar="TIME", help="Time before the third answer.")
@click.option("--talk", metavar="HOST:PORT", help="Be the client of such a server once, and end.")
def dialogue(port: int, script: str | None, wait: str, talk: str | None) -> None:
    """Serve a dialogue of known round trips.

    It has a known wait, too: `pileup trace` can be tried on it. Prints its address when it answers; ends on Ctrl-C or
    SIGTERM.
    """
    from pileup.cli.relay import address
    from pileup.model.errors import UsageError
    from pileup.model.units import parse
    from pileup.run.tracing import dialogue as practice

    try:
        followed = practice.words(script or practice.SCRIPT)
        seconds = float(parse(wait, "time")) / 1e9
        if seconds < 0:
            raise ValueError(f"--wait {wait} is negative; expected a time of 0 or more")
    except ValueError as problem:
        hint = "pileup practice dialogue --help"
        raise UsageError(str(problem), "a script such as '>><', and a time", hint) from problem
    if talk is not None:
        practice.talk(*address(talk, "--talk"), followed)
        return
    with asked_to_end() as asked:
        try:
            there, end = practice.serve(followed, seconds, port)
        except OSError as problem:
            raise UsageError(f"port {port} of 127.0.0.1: {problem.strerror}", "a free port", "0 takes one") from problem
        echo(f"pileup practice dialogue ready at 127.0.0.1:{there}")
        asked.recv(1)
        end()


def _wanted(model: type[SettingsModel], settings: str, given: dict[str, object]) -> SettingsModel:
    """Join the mapping of all settings and the options that were given; these win."""
    from pileup.cli.common import parse_mapping, validated

    plain = parse_mapping(settings, "--settings")
    for name, value in given.items():
        if isinstance(value, str) and value.lstrip().startswith("{"):
            plain[name] = parse_mapping(value, f"--{name}")
        elif value is not None:
            plain[name] = str(value) if isinstance(value, Path) else value
    return validated(model, plain)


def _serve(
    what: str,
    kind: Callable[[str], PracticeServer],
    wanted: ServerSettings,
    schemes: tuple[str, str] = ("http", "https"),
    path: str = "",
) -> None:
    """Serve until Ctrl-C or SIGTERM. `schemes` of its url are those without and with TLS."""
    with asked_to_end() as asked:
        with _told(what):
            server = kind(json.dumps(wanted.to_native()))
        scheme = schemes[wanted.tls is not None]
        echo(f"pileup practice {what} ready at {scheme}://{wanted.host}:{server.port}/{path}")
        asked.recv(1)
        with _told(what):
            server.stop()


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Raise what a server says as an error of its settings, or of the system."""
    from pileup.model.errors import TargetError, UsageError

    try:
        yield
    except ValueError as problem:
        raise UsageError(str(problem), "settings of this server", f"pileup practice {what} --help") from problem
    except OSError as problem:
        raise TargetError(str(problem)) from problem  # in three parts already


@contextmanager
def asked_to_end() -> Iterator[socket.socket]:
    """Yield a socket with something to be read once Ctrl-C or SIGTERM has come.

    The signal itself writes there. A handler in Python may come too late: of a signal just before the main thread
    waits it is called after the wait alone, and it must not touch a lock (an Event) that this thread may hold.
    """
    near, far = socket.socketpair()
    with near, far:
        far.setblocking(False)
        signal.set_wakeup_fd(far.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        try:
            yield near
        finally:
            signal.set_wakeup_fd(-1)
