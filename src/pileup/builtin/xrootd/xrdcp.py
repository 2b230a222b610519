"""XRootD's commands as a client of native tests: `client: xrdcp`, a process for each file."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from pileup.builtin.command.pipes import Process, close, ended, received, send
from pileup.builtin.credentials.authorities import is_folder
from pileup.builtin.credentials.token_source import TokenSource
from pileup.builtin.xrootd.location import ClientSettings
from pileup.builtin.xrootd.words import QUICK, failure, server_failure, to_bearer
from pileup.plugin import Call, Failed, FileTarget, ProgramClient, Step, Target
from pileup.plugin.processes import started

COMMAND = "xrdcp"
ASKING = "xrdfs"
"""The command for everything but copies."""
INSTALL = "apt install xrootd-client"
Words = Sequence[str]
COPYING: Words = (COMMAND, "--nopbar", "--silent")
ADLER32 = re.compile(r"adler32 ([0-9a-f]{8})\b")
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
PUSHED = "`client: xrdcp` lets the destination fetch files; expected `mode: pull`"
ONLY_WHOLE = "`client: xrdcp` copies whole files; expected a client that reads parts, or no part"


class XrdCopy(ProgramClient):
    """Copies by xrdcp through a pipe, so that every byte can be known and checked.

    Each file is a process, with a session of its own: its start, its connection and its login count. Its CPU time is
    that of pileup's children. A token goes by a file descriptor or the environment, never by the command line.

    A third-party copy is `xrdcp --tpc only`: the destination fetches the file. Its checksum is asked for with xrdfs.
    """

    name = "xrdcp"

    def __init__(self, settings: ClientSettings, number: int) -> None:
        parts = urlsplit(settings["url"])
        self._host, self._path = f"{parts.scheme}://{parts.netloc}", "/" + parts.path.strip("/")
        self._base = f"{self._host}/{self._path}"
        self._number = number
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
        if step.verb == "copy" and step.destination is not None and not step.destination.pull:
            return PUSHED
        asks = step.checksum != "none" and step.destination is None
        if step.verb in cls.verbs and (asks or (step.verb == "checksum" and step.destination is None)):
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

    def copy(self, call: Call, to: Target, key: str) -> None:
        """Have the other server fetch the file. The token for the source is in the list of files."""
        there, wanted = self._at(to), call.step.destination
        token = self._token.get()
        told = self._listed(call, token) if token else b""
        source = ["--infiles", "/dev/stdin"] if token else [self._url(call.key)]
        force = [] if call.step.new else ["--force"]
        streams = [] if wanted is None or wanted.streams is None else ["--streams", str(wanted.streams)]
        words = ["--tpc", "only", *force, *streams, *source, there._url(key)]
        with there._running(call, words, stdin=bool(told)) as process:
            send(process, call, iter([told] if told else []))
            for _ in received(process, call):  # it has nothing to say there
                pass
            _judge(process, call, token)
        if call.step.content is None and isinstance(to, FileTarget):
            call.came(to.stat(key).size)

    def checksum(self, call: Call) -> int:
        """Ask with xrdfs."""
        return self._checksum(call, call.key)

    def checksum_there(self, call: Call, to: Target, key: str) -> int:
        """Ask the other server with xrdfs."""
        return self._at(to)._checksum(call, key)

    def _checksum(self, call: Call, key: str) -> int:
        words = [self._host, "query", "checksum", f"{self._path}/{key.strip('/')}?cks.type=adler32"]
        with self._running(call, words, stdin=False, command=[ASKING]) as process:
            said = b"".join(received(process, call)).decode("ascii", "replace")
            _judge(process, call, self._token.get())
        found = ADLER32.match(said)
        if found is None:
            raise Failed("checksum: the server states no adler32")
        return int(found[1], 16)

    def _at(self, to: Target) -> XrdCopy:
        """Return the same for the other target."""
        settings: Callable[[], ClientSettings] | None = getattr(to, "official", None)
        if settings is None:
            raise Failed(f"a target of kind {to.kind} is no place for a copy over root://; expected kind xrootd")
        return XrdCopy(settings(), self._number)

    @contextmanager
    def _running(self, call: Call, words: list[str], stdin: bool, command: Words = COPYING) -> Iterator[Process]:
        environment = dict(self._variables)
        if token := self._token.get():
            environment["BEARER_TOKEN"] = token
        try:
            with started([*command, *words], stdin=stdin, environment=environment) as process:
                call.leaves()
                try:
                    yield process
                finally:
                    close(process)
        except FileNotFoundError:
            raise Failed(f"there is no program {command[0]}") from None

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
