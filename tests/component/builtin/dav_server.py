"""A small WebDAV server over a dictionary, for the tests of targets: what it was asked is in `seen`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote, unquote


class DavServer(ThreadingHTTPServer):
    """Files and folders (None) by path; `answers` maps (method, path) to a raw answer that is sent instead."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.tree: dict[str, bytes | None] = {"/": None}
        self.seen: list[tuple[str, str]] = []
        self.headers_seen: list[dict[str, str]] = []
        self.answers: dict[tuple[str, str], bytes] = {}
        self.connections = 0
        self.propfind = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def shutdown_request(self, request: Any) -> None:
        """Close at once: what comes later is reset. The library first ends its own way alone, and acknowledges what
        comes until it closes, as if it had been read."""
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up in the middle are part of the tests."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: DavServer

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append((self.command, self.path))
        self.server.headers_seen.append(dict(self.headers))
        raw = self.server.answers.get((self.command, self.path))
        if raw is not None:
            self.wfile.write(raw)
            self.close_connection = True
            return
        getattr(self, f"do_{self.command}", lambda *_: self.answer(501))(unquote(self.path), body)
        self.wfile.flush()

    def do_OPTIONS(self, path: str, body: bytes) -> None:
        self.answer(200, DAV="1, 2")

    def do_PUT(self, path: str, body: bytes) -> None:
        known = path in self.server.tree
        self.server.tree[path] = body
        self.answer(204 if known else 201)

    def do_GET(self, path: str, body: bytes) -> None:
        content = self.server.tree.get(path)
        self.answer(404 if content is None else 200, content or b"")

    do_HEAD = do_GET  # noqa: N815  the name http.server looks for

    def do_DELETE(self, path: str, body: bytes) -> None:
        gone = [each for each in self.server.tree if each == path or each.startswith(path.rstrip("/") + "/")]
        for each in gone:
            del self.server.tree[each]
        self.answer(204 if gone else 404)

    def do_MKCOL(self, path: str, body: bytes) -> None:
        known = path in self.server.tree or path.rstrip("/") in self.server.tree
        if not known:
            self.server.tree[path] = None
        self.answer(405 if known else 201)

    def do_PROPFIND(self, path: str, body: bytes) -> None:
        tree = self.server.tree
        bare = path.rstrip("/")
        path = next((each for each in (path, f"{bare}/", bare) if each in tree), "")
        if not self.server.propfind or path not in tree:
            self.answer(404 if self.server.propfind else 405)
            return
        inside = [each for each in tree if each != path and each.rstrip("/").rpartition("/")[0] + "/" == path]
        listed = [path, *(inside if self.headers["Depth"] == "1" else ())]
        xml = "".join(response(self.server.url, each, tree[each]) for each in listed)
        self.answer(207, f'<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">{xml}</D:multistatus>'.encode())


def response(url: str, path: str, content: bytes | None) -> str:
    kind = "<D:resourcetype><D:collection/></D:resourcetype>" if content is None else "<D:resourcetype/>"
    size = "" if content is None else f"<D:getcontentlength>{len(content)}</D:getcontentlength>"
    href = (url if content is None else "") + quote(path)  # servers write both forms
    return f"<D:response><D:href>{href}</D:href><D:propstat><D:prop>{kind}{size}</D:prop></D:propstat></D:response>"


@contextmanager
def serving() -> Iterator[DavServer]:
    """Serve until the block ends."""
    with DavServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
