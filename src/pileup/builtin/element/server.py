"""The practice computing element over HTTP, in the words of the practice batch system.

    python -m pileup.builtin.element.server PORT BATCH_URL SOCKET SETTINGS

SETTINGS are those of `launch`, in JSON.
"""

from __future__ import annotations

import json
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from pileup.builtin.database.mariadb import SLOW_LOG
from pileup.builtin.element.service import Asked, Element
from pileup.builtin.element.settings import ElementSettings
from pileup.builtin.element.tables import DATABASE, Tables
from pileup.builtin.practice.batch import PracticeBatchTarget

SOCKET_NAME = "db.sock"


class Server(ThreadingHTTPServer):
    """The element at a port of 127.0.0.1; each connection has a thread, and that a connection to the database."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, port: int, element: Element, about: dict[str, str]) -> None:
        self.element, self.about = element, about
        super().__init__(("127.0.0.1", port), Handler)


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        """Answer what changes nothing."""
        where = urlsplit(self.path)
        asked = {name: int(values[0]) for name, values in parse_qs(where.query).items()}
        element = self.server.element
        match where.path:
            case "/changes":
                self._answer(element.changes(asked["since"], asked["most"]))
            case "/counts":
                self._answer({"states": element.counts()})
            case "/about" | "/":
                self._answer(self.server.about)
            case _:
                self._answer({"error": f"there is no {where.path}"}, HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Answer what names jobs."""
        asked: Asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        element = self.server.element
        match self.path:
            case "/jobs":
                self._answer({"ids": element.accept(asked["jobs"]), "refused": None}, HTTPStatus.CREATED)
            case "/status":
                self._answer({"jobs": element.status(asked["names"], asked["ids"])})
            case "/history":
                self._answer({"jobs": element.history(asked["names"])})
            case "/cancel":
                self._answer({"left": element.cancel(asked["ids"])})
            case "/purge":
                self._answer(element.purge(asked["ids"], asked["oldest"]))
            case _:
                self._answer({"error": f"there is no {self.path}"}, HTTPStatus.NOT_FOUND)

    def _answer(self, told: object, status: HTTPStatus = HTTPStatus.OK) -> None:
        body = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing about each request."""


def main() -> None:
    """Serve until a signal ends it."""
    port, batch, socket, settings = sys.argv[1:]
    wanted = ElementSettings.model_validate_json(settings)
    tables = Tables(socket)
    tables.make(wanted.rows, wanted.index)
    element = Element(tables, PracticeBatchTarget(batch), wanted.workers, wanted.look)
    slow = (
        SLOW_LOG.replace("{short}", socket.removesuffix(f"/{SOCKET_NAME}")) if wanted.slow_queries is not None else ""
    )
    about = {"database": f"mariadb://root@/{DATABASE}?unix_socket={socket}", "slow_log": slow}
    with Server(int(port), element, about) as server:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    main()
