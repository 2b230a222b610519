"""A server that answers as Rucio's REST server does: what it is told to, in the headers that Rucio uses."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

EPOCH = 1_700_000_000
"""When it is, by this server's clock."""


@dataclass
class FakeRucio:
    """What it answers: path -> status, class of the exception, rows. What it was asked is kept."""

    url: str = ""
    lasts: int = 3600
    answers: dict[str, tuple[int, str, Any]] = field(default_factory=dict)
    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)

    def paths(self) -> list[str]:
        """Return method and path of each request."""
        return [f"{method} {path}" for method, path, _, _ in self.asked]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake: FakeRucio

    def log_message(self, *words: Any) -> None:
        """Keep quiet."""

    def date_time_string(self, timestamp: float | None = None) -> str:
        return formatdate(EPOCH, usegmt=True)

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.lstrip("/").partition("?")[0]
        self.fake.asked.append((self.command, path, dict(self.headers), body))
        status, kind, rows = self.fake.answers.get(path, (200, "", []))
        if path == "auth/userpass" and status == 200:
            rows = b""
        sent = rows if isinstance(rows, bytes) else "".join(f"{json.dumps(each)}\n" for each in rows).encode()
        self.send_response(status)
        if kind:
            self.send_header("ExceptionClass", kind)
            self.send_header("ExceptionMessage", "Something that a person reads")
        if path == "auth/userpass" and status == 200:
            self.send_header("X-Rucio-Auth-Token", "root-pileup-unknown-1")
            self.send_header("X-Rucio-Auth-Account", "root")
            end = formatdate(EPOCH + self.fake.lasts, usegmt=True).replace("GMT", "UTC")
            self.send_header("X-Rucio-Auth-Token-Expires", end)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _answer  # noqa: N815  as the library wants them


@pytest.fixture
def fake() -> Iterator[FakeRucio]:
    told = FakeRucio()
    told.answers["ping"] = (200, "", [{"version": "41.5.1"}])
    told.answers["scopes/"] = (200, "", [["pileup", "user.jdoe"]])
    handler = type("Handler", (_Handler,), {"fake": told})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        told.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield told
        server.shutdown()
