"""XRootD's copy command as a client of native tests: `client: xrdcp`, a process for each file."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from pileup.builtin.command.pipes import Process, ended, received, send
from pileup.builtin.credentials.authorities import is_folder
from pileup.builtin.credentials.token_source import TokenSource
from pileup.builtin.xrootd.location import ClientSettings
from pileup.builtin.xrootd.words import QUICK, failure, server_failure, to_bearer
from pileup.plugin import Call, Failed, ProgramClient, Step
from pileup.plugin.processes import started

COMMAND = "xrdcp"
INSTALL = "apt install xrootd-client"
SERVER_SAID = re.compile(r"\[(\d{4})\]\s*(.*)")
CLIENT_SAID = {
    "Operation expired": 206,
    "Socket timeout": 103,
    "Socket disconnected": 104,
    "Stream disconnect": 107,
    "Operation interrupted": 207,
    "Connection error": 108,
    "Socket error": 102,
    "Invalid address": 101,
    "TLS error": 110,
    "Invalid message": 201,
    "Hand shake failed": 202,
    "Login failed": 203,
    "Auth failed": 204,
    "Invalid redirect URL": 302,
    "Invalid response": 303,
    "Redirect limit has been reached": 306,
}
"""Words of the client (XrdClStatus.cc) -> its code."""
ONLY_WHOLE = "`client: xrdcp` copies whole files; expected a client that reads parts, or no part"


class XrdCopy(ProgramClient):
    """Copies by xrdcp through a pipe, so that every byte can be known and checked.

    Each file is a process, with a session of its own: its start, its connection and its login count. Its CPU time is
    that of pileup's children. A token goes by a file descriptor or the environment, never by the command line.
    """

    name = "xrdcp"

    def __init__(self, settings: ClientSettings, number: int) -> None:
        parts = urlsplit(settings["url"])
        self._base = f"{parts.scheme}://{parts.netloc}/{'/' + parts.path.strip('/')}"
        self._token = TokenSource(settings.get("token"), settings.get("token_file"))
        quick = {f"XRD_{name.upper()}": str(value) for name, value in QUICK.items()}
        self._variables = {**quick, "XRD_CPUSEPGWRTRD": "1" if settings.get("page_checksums") else "0"}
        if proxy := settings.get("proxy"):
            self._variables["X509_USER_PROXY"] = proxy
        if ca := settings.get("ca"):
            self._variables["X509_CERT_DIR" if is_folder(ca) else "X509_CERT_FILE"] = ca

    @classmethod
    def problem(cls, step: Step) -> str:
        """Refuse what is not a copy of a whole file."""
        if shutil.which(COMMAND) is None:
            return f"`client: xrdcp` needs the program xrdcp; expected it to be installed ({INSTALL})"
        parted = step.offset or step.length is not None or step.span is not None or step.pieces
        if step.verb == "read" and parted:
            return ONLY_WHOLE
        if step.verb in cls.verbs and step.checksum != "none":
            return "`client: xrdcp` asks for no checksum of its own; expected `checksum: none`"
        return super().problem(step)

    def read(self, call: Call, offset: int, length: int | None) -> Iterator[bytes]:
        """Yield what xrdcp writes to its standard output."""
        token = self._token.get()
        words, told = (
            ([self._url(call.key)], b"") if not token else (["--infiles", "/dev/stdin"], self._listed(call, token))
        )
        with self._running(call, [*words, "-"], stdin=bool(told)) as process:
            send(process, call, iter([told] if told else []))
            yield from received(process, call)
            _judge(process, call, token)

    def write(self, call: Call, pieces: Iterator[bytes], size: int) -> None:
        """Give xrdcp the file on its standard input."""
        token = self._token.get()
        force = [] if call.step.new else ["--force"]  # without it xrdcp writes no file that is there
        with self._running(call, [*force, "-", self._url(call.key)], stdin=True) as process:
            send(process, call, pieces)
            for _ in received(process, call):  # it has nothing to say there
                pass
            _judge(process, call, token)

    @contextmanager
    def _running(self, call: Call, words: list[str], stdin: bool) -> Iterator[Process]:
        environment = dict(self._variables)
        if token := self._token.get():
            environment["BEARER_TOKEN"] = token
        try:
            with started([COMMAND, "--nopbar", "--silent", *words], stdin=stdin, environment=environment) as process:
                call.leaves()
                yield process
        except FileNotFoundError:
            raise Failed("there is no program xrdcp") from None

    def _url(self, key: str) -> str:
        return f"{self._base}/{key.strip('/')}"

    def _listed(self, call: Call, token: str) -> bytes:
        """Return the list of the one file to be read, with the token that gives access."""
        return f"{self._url(call.key)}?authz=Bearer%20{token}\n".encode()


def _judge(process: Process, call: Call, token: str) -> None:
    """Wait for its end and judge it by its code and its last words. Raises TimeoutError."""
    code, said = ended(process, call)
    if code != 0:
        raise to_bearer(understood(said) or Failed(f"xrdcp ended with code {code}"), token)


def understood(said: str) -> Exception | None:
    """Return what the words of the command mean; None when they mean nothing."""
    if found := SERVER_SAID.search(said):
        return server_failure(int(found[1]), found[2].removesuffix("(source)").removesuffix("(destination)"))
    code = next((code for words, code in CLIENT_SAID.items() if words in said), None)
    return failure(code, 0, "") if code is not None else None
