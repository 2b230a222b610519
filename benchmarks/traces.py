"""Count the round trips of sessions with XRootD, nginx, Rucio and practice targets, and hold them to the standards.

    python benchmarks/traces.py [--times 5] [--only NAME] [--keep]

Each row is `pileup trace --added '0 ms, 10 ms, 50 ms, 150 ms'` against a server started here: k as it was counted, the
slope of the time over the added round trip with its interval of 95 %, and the k that follows from the standards. Ends
with code 1 when a k is another, or a slope is not k within 2 %. `--keep` writes the table into docs/distance.md.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import storage_servers  # noqa: E402

from tests.servers.nginx import nginx  # noqa: E402
from tests.servers.rucio import rucio  # noqa: E402
from tests.servers.xrootd import xrootd  # noqa: E402

PAGE = ROOT / "docs" / "distance.md"
MARK = "<!-- made by benchmarks/traces.py -->\n"
ADDED = "0 ms, 10 ms, 50 ms, 150 ms"
HEAD = "| session | k counted | slope, its 95 % interval | k by the standards |\n|---|---|---|---|\n"
DIALOGUE = "pileup practice dialogue --talk {address}"


@dataclass(frozen=True)
class Row:
    """A session, and what it must wait for."""

    name: str
    words: tuple[str, ...]
    """Of `pileup trace`."""
    trips: int
    why: str


CONNECT = "connect (RFC 9293, 3.5)"
TLS13 = "TLS 1.3 (RFC 8446, 2)"
PSK = "TLS 1.3 with a pre-shared key (RFC 8446, 2.2)"
LOGIN = "handshake with kXR_protocol, kXR_login (XRootD protocol reference, 2 and 3)"
ASKED = "request and answer (RFC 9112, 9.3)"


def of_xrootd(folder: Path) -> Iterator[Row]:
    """Yield the sessions with XRootD while it runs."""
    with xrootd(folder / "plain") as server:
        server.put("f", b"x")
        yield Row("`connect`, root://", (server.root, "--operation", "connect"), 3, f"{CONNECT}; {LOGIN}")
        yield Row("`list`, root://", (server.root,), 4, f"{CONNECT}; {LOGIN}; kXR_dirlist")
        yield Row("`stat`, root://", (server.root, "--operation", "stat", "--path", "f"), 4, "the same with kXR_stat")
        yield Row("`list`, http from XRootD", (server.http,), 2, f"{CONNECT}; {ASKED}")
    with xrootd(folder / "tls", tls=True, authorization="tokens", directives=["http.tlsreuse on"]) as server:
        who = ("--token", server.token_file, "--ca", server.ca)
        yield Row("`list`, roots:// with a token", (server.roots, *who), 5, f"as root://, and {TLS13}")
        yield Row("`list`, https from XRootD, full", (server.https, *who), 3, f"{CONNECT}; {TLS13}; {ASKED}")
        yield Row("the same, resumed", (server.https, *who, "--resume"), 3, f"{CONNECT}; {PSK}; {ASKED}")


def of_nginx(folder: Path) -> Iterator[Row]:
    """Yield the sessions with nginx while it runs."""
    (folder / "dav").mkdir()
    with nginx(folder / "dav") as url:
        yield Row("`list`, WebDAV from nginx", (url, "--kind", "webdav"), 2, f"{CONNECT}; {ASKED}")
    files = folder / "https"
    files.mkdir()
    storage_servers.prepare(files, {"f": 1000})
    with storage_servers.nginx(files) as server:
        words = (f"{server.urls['https']}/f", "--kind", "http", "--ca", str(server.ca))
        full = "TLS 1.2, two round trips (RFC 5246, 7.3)"
        yield Row("`get`, https from nginx, full", words, 4, f"{CONNECT}; {full}; {ASKED}")
        short = "TLS 1.2 resumed, one (RFC 5077, 3.1)"
        yield Row("the same, resumed", (*words, "--resume"), 3, f"{CONNECT}; {short}; {ASKED}")


def of_rucio(folder: Path) -> Iterator[Row]:
    """Yield a login at a private Rucio while it runs."""
    (folder / "rucio").mkdir()
    with rucio(folder / "rucio") as server:
        login = server.login()
        headers = {"Username": login["user"], "Password": login["password"], "Account": "root"}
        said = [word for name, text in headers.items() for word in ("-H", f"X-Rucio-{name}: {text}")]
        curl = ("curl", "-sf", "-o", "/dev/null", *said, "http://{address}/auth/userpass")
        yield Row(
            "login at Rucio by curl, http", (server.url.partition("//")[2], "--", *curl), 2, f"{CONNECT}; {ASKED}"
        )


def of_practice(folder: Path) -> Iterator[Row]:
    """Yield the sessions with practice targets while they run."""
    with practice("storage", "--service", "20 ms") as said:
        (url,) = re.findall(r"http://\S+", said)
        yield Row("`list`, practice storage", (url, "--kind", "webdav"), 2, f"{CONNECT}; {ASKED}")
    with practice("dialogue") as said:
        (address,) = re.findall(r"127\.0\.0\.1:\d+", said)
        why = f"{CONNECT}; 6 questions with their answers (its script)"
        yield Row("practice dialogue of 14 messages", (address, "--", *DIALOGUE.split()), 7, why)


@contextlib.contextmanager
def practice(*words: str) -> Iterator[str]:
    """Yield what a practice target has printed when it was ready."""
    command = [sys.executable, "-m", "pileup", "practice", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline()
        finally:
            process.terminate()


def line_of(row: Row, times: int) -> tuple[str, bool]:
    """Return the line of a row, and whether it is as it should be."""
    words = [*row.words[:1], "--added", ADDED, "--times", str(times), "--json", *row.words[1:]]
    done = subprocess.run(
        [sys.executable, "-m", "pileup", "trace", *words], capture_output=True, text=True, timeout=900, check=False
    )
    if not done.stdout.strip():
        return f"| {row.name} | - | {done.stderr.strip()} | {row.trips} |\n", False
    found = json.loads(done.stdout)
    line, k = found["line"], found["round_trips"]
    tls = {name for each in found["sessions"] for name in each["tls"]}
    name = f"{row.name} ({', '.join(sorted(tls))})" if tls else row.name
    slope = f"{line['slope']:.3f} ({line['low']:.3f} to {line['high']:.3f})"
    good = k == row.trips and line["agrees"] is True
    return f"| {name} | {k} | {slope} | {row.trips}: {row.why} |\n", good


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5, help="sessions at each distance")
    parser.add_argument("--only", default="", help="rows whose name has this in it")
    parser.add_argument("--keep", action="store_true", help="write the table into docs/distance.md")
    given = parser.parse_args()
    lines, wrong = [], []
    with tempfile.TemporaryDirectory(prefix="pileup-traces-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        for rows in (of_xrootd, of_nginx, of_rucio, of_practice):
            for row in rows(folder):
                if given.only in row.name:
                    text, good = line_of(row, given.times)
                    print(text, end="", flush=True)
                    lines.append(text)
                    wrong += [] if good else [row.name]
    if given.keep:
        before, _, after = PAGE.read_text().partition(MARK)
        rest = after.partition("\n\n")[2]
        PAGE.write_text(f"{before}{MARK}{HEAD}{''.join(lines)}\n{rest}")
    if wrong:
        sys.exit(f"not as the standards say on {platform.node()}: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
