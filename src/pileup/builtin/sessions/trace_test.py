"""Trace a session."""

from __future__ import annotations

from typing import Literal

from pileup.builtin.storage.files import FolderPath, place_of
from pileup.plugin import Ambiguous, Duration, Failed, Op, Outcome, Refused, Test, option, split_command
from pileup.plugin.sessions import acts
from pileup.plugin.sessions.seen import DOWN, UP
from pileup.plugin.sessions.session import Session
from pileup.plugin.sessions.span import Act, Span
from pileup.plugin.sessions.tracer import Tracer

ERRORS = {Outcome.REFUSED: Refused, Outcome.AMBIGUOUS: Ambiguous}


class SessionTrace(Test):
    """Trace a session: count its round trips, and split its time between server and client.

    Each iteration makes one session (connect, TLS, log in, one operation, end) through a relay of its client's own,
    which adds `added` to each round trip and records every message. Then, as `pileup trace` does (docs/distance.md),

        time = round trips x RTT + server + client + unexplained

    Operations, whose times criteria can bound: `session` (with the bytes of all messages), `server` and `client` (the
    think time of each, summed over the session). For example `p90(trace.server) < 100 ms`.

    | number | unit | what |
    |---|---|---|
    | `round_trips` | | round trips that the session waited for: `connects` and `turns` |
    | `connects` `turns` | | those that are connects; questions with their answers |
    | `connections` | | connections made |
    | `messages_there` `messages_back` | | messages each way |
    | `bytes_there` `bytes_back` | B | bytes each way |
    | `tls_full` `tls_resumed` | | TLS handshakes, full and resumed |
    | `rtt` | s | a round trip: what the relay adds, and what connecting to the server took |
    | `explained` | | share of the time that is explained: 1 is all of it |
    | `past_relay` | | redirects that led past the relay, whose connections are not seen |

    For example `max(trace.round_trips) == 5` and `min(trace.explained) > 0.9`. `scan: {trace.added: [0 ms, 50 ms]}`
    shows that the time grows by `round_trips` times what is added. Near by, chance can look like a cause: count at
    10 ms or more.

    The relay leads to the server of the target's url; a target with a `path` has its distance in the suite already, and
    is refused here. A session that does not pass is in none of the figures.
    """

    name = "session.trace"
    needs = "connection"

    operation: Literal["default", "list", "stat", "read", "get", "connect"] = option(
        "default", help="what each session does; `connect` only logs in; default: list, or get from kind http"
    )
    path: FolderPath = option(
        "/",
        help="what is listed, read or looked at: inside the run's own folder below the url of the target; `/name` is "
        "`name` below the url itself, `/` the url",
    )
    command: str | list[str] = option(
        [],
        help="a command that makes the session, in place of `operation`: {address}, {host} and {port} in it are those "
        "of the relay, e.g. `xrdfs {address} ls /data`",
    )
    added: Duration = option(20 * 10**6, ge=0, le=60 * 10**9, help="time added to each round trip, half of it each way")
    resume: bool = option(False, help="resume the TLS session of another session, made before and not counted")

    def check(self) -> None:
        """Refuse a command that cannot be split, and options that say nothing of one."""
        self._words = split_command(self.command) if self.command else []
        if self._words and (self.resume or self.operation != "default"):
            raise ValueError("`command` beside `operation` or `resume`; expected one of them: a command does as it is")

    def setup(self) -> None:
        """Start the relay of this client."""
        if self.target.via:
            raise Failed(
                "the target has a `path`, and a trace puts a relay of its own before it",
                "a target without `path`",
                "the option `added` of session.trace is the latency",
            )
        self._act = self._made_act()
        self._tracer = Tracer(self.target.endpoint())
        self._tracer.add(self.added)

    def _made_act(self) -> Act:
        if self._words:
            return acts.command(self._words, self.context.timeout)
        name = acts.default_operation(type(self.target)) if self.operation == "default" else self.operation
        where = place_of(self.path, self.context.own)
        timeout = self.context.timeout // (2 if self.resume else 1)
        return acts.operation(self.engine_sessions, self.target, name, where, timeout, resume=self.resume)

    def run(self, op: Op) -> None:
        """Make one session, and take it apart."""
        ((span, session),) = self._tracer.sessions(self._act, skip=int(self.resume))
        if span.error:
            raise ERRORS.get(span.outcome, Failed)(*self._why(span))
        if not session.connections:
            hint = "does `command` use {address}, {host} or {port}?"
            raise Failed("no connection came to the relay", "a session over TCP", hint)
        size = session.size(UP) + session.size(DOWN)
        op.record("session", start=span.begin, end=span.end, bytes=size, calls=1)
        for name in ("server", "client"):
            op.record(name, start=span.begin, end=span.begin + getattr(session, name))
        self._report(span, session)

    def _why(self, span: Span) -> tuple[str, ...]:
        """Return why a session did not pass, in parts."""
        refusal = self._tracer.refusal()
        return (refusal.what, refusal.expected, refusal.hint) if refusal else (span.error,)

    def _report(self, span: Span, session: Session) -> None:
        counts = {
            "round_trips": session.round_trips,
            "connects": session.connects,
            "turns": session.turns,
            "connections": len(session.connections),
            "messages_there": session.messages(UP),
            "messages_back": session.messages(DOWN),
            "tls_full": sum(not each.resumed for each in session.tls),
            "tls_resumed": sum(each.resumed for each in session.tls),
            "past_relay": span.beside,
        }
        for name, count in counts.items():
            self.report(name, count)
        self.report("bytes_there", session.size(UP), "B")
        self.report("bytes_back", session.size(DOWN), "B")
        self.report("rtt", (session.added + session.base) / 1e9, "s")
        self.report("explained", 1 - session.unexplained / max(1, session.length))

    def teardown(self) -> None:
        """End the relay."""
        if hasattr(self, "_tracer"):
            self._tracer.close()

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """Four rows each; how much comes back is not known before."""
        return 4 * iterations, None
