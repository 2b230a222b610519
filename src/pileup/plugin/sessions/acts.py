"""What is traced: operations of the engine or a command, each in a session of its own."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from copy import copy
from typing import cast

from pileup.model.errors import TargetError
from pileup.model.program import Keys, Step
from pileup.model.record import Outcome
from pileup.model.units import format_time
from pileup.model.verbs import Verb
from pileup.plugin.options import declared
from pileup.plugin.sessions.span import Act, EngineSessions, Span
from pileup.plugin.target import Target

OPERATIONS = ("list", "stat", "read", "get", "connect")
"""What the engine can be asked to do once, changing nothing."""
OVER = "a url over http, https or root"
OR_COMMAND = "or a command, of any client of TCP"


def default_operation(cls: type[Target]) -> str:
    """Return what is traced of a kind of target if nobody says."""
    return "list" if "files" in cls.provides else "get"


def operation(
    sessions: EngineSessions, target: Target, name: str, path: str, timeout: int, *, resume: bool = False
) -> Act:
    """Return the act that does one of OPERATIONS in each session of the engine; `timeout` in ns.

    Raises TargetError where no relay can be, for a kind that the engine has no client for, and for one that does not
    resume sessions of TLS.
    """
    apart = _apart(target, resume)
    keys = Keys.fixed(path)
    step = Step(name, "request", keys, method="GET") if name == "get" else Step(name, cast(Verb, name), keys)

    def act(via: str, times: int) -> list[Span]:
        apart.via = via
        client = apart.client()
        if client is None:
            raise _no_client(target)
        return sessions(client, step, times, timeout)

    return act


def _apart(target: Target, resume: bool) -> Target:
    """Return a target whose clients have a session for each operation."""
    kind, known = target.kind, declared(type(target))
    if not target.relayed:
        raise TargetError(f"kind {kind!r} has no connection to trace", OVER, OR_COMMAND)
    if type(target).client is Target.client:
        raise _no_client(target)
    if resume and "resume" not in known:
        raise TargetError(f"kind {kind!r} resumes no sessions of TLS", "a url over https, or no --resume")
    found = copy(target)
    for word, value in {"keep_alive": False, "resume": resume}.items():
        if word in known:
            setattr(found, word, value)
    return found


def _no_client(target: Target) -> TargetError:
    return TargetError(f"the engine has no client for kind {target.kind!r}", OVER, OR_COMMAND)


def command(words: Sequence[str], timeout: int) -> Act:
    """Return the act that runs a command for each session: {address}, {host} and {port} are those of the relay.

    `timeout` in ns. Raises TargetError for a command that cannot be started.
    """

    def act(via: str, times: int) -> list[Span]:
        host, _, port = via.rpartition(":")
        filled = [word.replace("{address}", via).replace("{host}", host).replace("{port}", port) for word in words]
        return [_run(filled, timeout) for _ in range(times)]

    return act


def _run(words: list[str], timeout: int) -> Span:
    from pileup._core._native import now  # noqa: PLC0415  no plug-in needs the engine to be imported
    from pileup.plugin.processes import execute  # noqa: PLC0415  kept out of start-up: see cli

    begin = now()
    try:
        done = execute(words, seconds=timeout / 1e9)
    except OSError as problem:
        told = f"{words[0]} cannot be started: {problem.strerror}"
        raise TargetError(told, "a command that runs here", f"as it was given: {shlex.join(words)}") from problem
    end = now()
    if done.code is None:
        return Span(begin, end, f"no end within {format_time(timeout)}", Outcome.AMBIGUOUS)
    if done.code == 0:
        return Span(begin, end)
    said = (done.stderr.text() or done.stdout.text()).strip().splitlines()
    told = f"{words[0]} ended with code {done.code}{f': {said[-1]}' if said else ''}"
    return Span(begin, end, told, Outcome.FAILED)
