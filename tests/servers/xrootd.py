"""A private XRootD server at 127.0.0.1, launched as a suite's is: root://, roots://, http and https on one port."""

import contextlib
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pileup.builtin.xrootd.launcher import xrootd_launcher
from pileup.run.servers.supervisor import Supervisor
from tests.servers.launched import NAME, supervised
from tests.support import require_program

ANEW = {"keep_alive": False}
"""Options of a target that asks this server for checksums over HTTP: a new connection for each request.

XRootD before 6.0 makes a checksum that it does not have yet in a thread beside the connection's. When that is done
before the other has gone to rest, as on a busy machine, two threads serve the connection (xrootd/xrootd#2602): bytes of
the file before come in place of the next answer, a part of it never comes, or the server crashes. Of 3,800 checksums
over kept connections beside three busy loops on 2 cores 3 ended so, of 6,000 over new ones none (5.5.3).
"""


@dataclass(frozen=True)
class Xrootd:
    """A running server. Its url is `root`, `roots` (with TLS), `http` or `https` (with TLS), each of a folder."""

    supervisor: Supervisor

    @property
    def port(self) -> int:
        return self.supervisor.port(NAME)

    @property
    def pid(self) -> int:
        return self.supervisor.pids(NAME)[0]

    @property
    def root(self) -> str:
        return f"root://127.0.0.1:{self.port}//data/"

    @property
    def roots(self) -> str:
        return f"roots://127.0.0.1:{self.port}//data/"

    @property
    def http(self) -> str:
        return f"http://127.0.0.1:{self.port}/data/"

    @property
    def https(self) -> str:
        return f"https://127.0.0.1:{self.port}/data/"

    @property
    def home(self) -> Path:
        """The folder of everything that is its own, which goes with it."""
        short = self.supervisor._find(NAME)[0].filling.short
        assert short is not None
        return short

    @property
    def data(self) -> Path:
        """The folder with its files."""
        return self.home / "data"

    @property
    def ca(self) -> str:
        """File with the CA that has signed its certificate, empty without TLS."""
        return self.supervisor.credentials(NAME).get("ca", "")

    @property
    def token_file(self) -> str:
        """File with a token that it accepts, empty where anybody may come in."""
        return self.supervisor.credentials(NAME).get("token_file", "")

    @property
    def token(self) -> str:
        return Path(self.token_file).read_text().strip()

    def put(self, name: str, content: bytes) -> Path:
        """Write a file behind its back, which it can read and write."""
        path = self.data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        owner = self.data.stat()
        for each in (path, *path.parents):
            if each == self.data:
                break
            shutil.chown(each, owner.st_uid, owner.st_gid)
        return path


def figures(xml: bytes) -> dict[str, int]:
    """Return the integers of a statistics document by the way to them: "xrootd.ops.open", "link.in"."""
    found: dict[str, int] = {}

    def walk(node: ET.Element, way: str) -> None:
        if (text := (node.text or "").strip()).lstrip("-").isdigit() and not len(node):
            found[way] = int(text)
        for child in node:
            walk(child, f"{way}.{child.get('id') or child.tag}".lstrip("."))

    walk(ET.fromstring(xml), "")
    return found


@contextlib.contextmanager
def xrootd(folder: Path, /, **settings: Any) -> Iterator[Xrootd]:
    """Yield a server with these settings (of a suite's `launch`); its log is folder.logs/xrootd.log."""
    require_program("xrootd", "apt-get install xrootd-server xrootd-server-plugins")
    if settings.get("authorization") == "tokens":
        found = sorted(Path("/usr/lib").glob("*/libXrdAccSciTokens-*.so"))
        require_program(str(found[0] if found else "libXrdAccSciTokens"), "apt-get install xrootd-scitokens-plugins")
    with supervised(xrootd_launcher(settings, "root", "roots"), folder) as supervisor:
        yield Xrootd(supervisor)
