"""Anything that speaks HTTP."""

from __future__ import annotations

import http.client
from collections.abc import Callable
from functools import cached_property, partial
from typing import ClassVar, Literal

from pydantic import SecretStr

from pileup.builtin.credentials.connected_target import ConnectedTarget
from pileup.builtin.credentials.identity import Identity
from pileup.builtin.credentials.reading import identity_of
from pileup.builtin.credentials.server_certificates import Untrusted, speaks_tls
from pileup.builtin.http.connection import Connections
from pileup.builtin.http.curl import Curl, HttpSettings
from pileup.builtin.http.location import Location, locate
from pileup.plugin import (
    Ambiguous,
    ClientSpec,
    Failed,
    ProgramClient,
    Step,
    TargetError,
    option,
)

BAD_REQUEST = 400


class HttpTarget(ConnectedTarget):
    """A server that speaks HTTP/1.1, with or without TLS.

    The url begins with http:// or https://; paths in tests are relative to it. Credentials: `token` or `token_file`
    (bearer), `user` and `password` (basic), `ca` (CA certificates to verify the server by, a file or a folder; by
    default the system's), `certificate` and `key` (of the client), or `proxy` (both in one file, as the grid has them).
    `token`, `proxy` and `ca` may be `discover`: what the grid's own tools would find. A token file is read again when
    it changes. Tokens and passwords are sent only over TLS, or to this machine.

    Storage tests follow redirects (301, 302, 307, 308; 303 for reads); each hop counts as a call. `http.request` does
    not follow redirects. Credentials, `headers` and the client certificate are sent only to the url's protocol, host
    and port, and to the hosts in `trust`.
    """

    kind = "http"
    provides: ClassVar[frozenset[str]] = frozenset({"any", "http"})

    keep_alive: bool = option(True, help="keep connections open between requests; false: a new one for each")
    resume: bool = option(
        False, help="resume TLS sessions; false: a new connection makes the whole handshake, as one of a new user does"
    )
    redirects: int = option(
        5, ge=0, le=100, help="how many redirects an operation of a storage test follows; 0: a redirect is its answer"
    )
    redirect_writes: Literal["same host", "anywhere"] = option(
        "same host",
        help="where a redirect may send what changes something (PUT, DELETE, MKCOL): to the same path of the same host "
        "(over TLS, at another port), or anywhere, which storage that redirects to its disk servers needs "
        "(dCache, DPM, EOS); reads follow redirects anywhere",
    )
    trust: list[str] = option(
        [], help="hosts, as host or host:port, that get the credentials when a redirect leads there"
    )
    headers: dict[str, SecretStr] = option({}, help="headers to send with every request")
    expect: Literal["auto", "never"] = option(
        "auto",
        help="ask before more than 1 MiB is sent (Expect: 100-continue), and wait at most 1 s for the answer; never: "
        "send at once. Waits without an answer are operations `expect-wait`, and no part of service times",
    )
    client_: Literal["native", "curl"] = option(
        "native", help="what runs the steps of tests: the engine, or the program curl, a process for each operation"
    )

    @classmethod
    def check_url(cls, url: str) -> None:
        """Refuse what is not a url of an HTTP server."""
        locate(url)

    def endpoint(self) -> tuple[str, int]:
        """Return host and port of the url."""
        return self.location.host, self.location.port

    @property
    def location(self) -> Location:
        """The url, taken apart. Raises TargetError for one that is not valid."""
        return locate(self.url)

    @property
    def identity(self) -> Identity:
        """Who pileup is for the target. Raises TargetError for credentials that cannot be used."""
        where = self.location
        tls = where.scheme == "https"
        if not tls and (self.insecure or self.certificate_sha256):
            told = "`insecure` or `certificate_sha256` is given, and the url is without TLS"
            raise TargetError(told, "a url that begins with https://", "take them out, or correct the url")
        found = identity_of(self.credentials, where.host, secret=where.secret, tls=tls)
        return self.believing(found)

    def client(self) -> ClientSpec:
        """Return the engine's HTTP client. The settings hold secrets."""
        return ClientSpec("http", self._settings())

    def _settings(self) -> HttpSettings:
        return {
            "url": self.location.url,
            **self.route(),
            "keep_alive": self.keep_alive,
            "resume": self.resume,
            "redirects": self.redirects,
            "trust": self.trust,
            "redirect_writes": self.redirect_writes == "anywhere",
            "expect": self.expect,
            "reconnect_pause": self.reconnect_pause,
            "headers": [[name, value] for name, value in self.sent_headers().items()],
            **self.identity.to_native(),
        }

    def sent_headers(self) -> dict[str, str]:
        """Return the option `headers`, which may hold secrets."""
        return {name: value.get_secret_value() for name, value in self.headers.items()}

    def program_client(self) -> Callable[[int], ProgramClient] | None:
        """Return what makes a client of the kind chosen."""
        return partial(Curl, self._settings()) if self.client_ == Curl.name else None

    def problem_of(self, step: Step) -> str:
        """Return why the client chosen cannot do a step."""
        if self.client_ != Curl.name:
            return super().problem_of(step)
        if self.trust or self.resume:
            return "`client: curl` knows neither `trust` nor `resume`; expected neither, or `client: native`"
        if self.certificate_sha256:
            return "`client: curl` knows no `certificate_sha256`; expected `ca`, or `client: native`"
        if self.headers and self.redirects:
            return "`client: curl` sends `headers` after redirects, too; expected `redirects: 0` or no headers"
        return Curl.problem(step)

    @cached_property
    def connections(self) -> Connections:
        """Connections for Python tests, one for each thread."""
        return self._connections(self.patience)

    def _connections(self, patience: int) -> Connections:
        return Connections(self.location, self.identity, self.sent_headers(), patience / 1e9, reach=self.reach())

    def probe(self) -> str:
        """Ask for the headers of the url; any answer will do, be it an error."""
        answer = self._look("HEAD")
        return f"{answer.getheader('Server') or 'an unnamed server'}, answers {answer.status}"

    def _look(self, method: str) -> http.client.HTTPResponse:
        """Send one request without a body and return the answer. Raises TargetError when none comes in time."""
        first = self._connections(self.first_answer)
        try:
            answer = first.send(method, "").head
            if answer.status == BAD_REQUEST:  # so nginx and Apache answer what is not TLS
                self._look_for_tls()
            return answer
        except Untrusted as problem:
            raise TargetError(
                f"{self.url}: {problem.what}",
                "a certificate of a known authority",
                "give `ca` among the credentials, or the option `certificate_sha256` (or `insecure: true`)",
            ) from problem
        except (Failed, Ambiguous) as problem:
            if not isinstance(problem.__cause__, TimeoutError):
                self._look_for_tls()
            raise TargetError(
                f"{self.url} cannot be reached: {problem.what}", "an answer", "is it up, is the url right?"
            ) from problem
        finally:
            first.close()

    def _look_for_tls(self) -> None:
        """Raise TargetError where the url is without TLS, and the server expects it."""
        where = self.location
        if where.scheme == "http" and speaks_tls(*self.reach(), self.first_answer / 1e9):
            raise TargetError(
                f"{self.url}: the server speaks TLS on this port, and the url is without",
                "a url that begins with https:// or davs://",
                "correct the url, or its port",
            )
