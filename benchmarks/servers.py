"""The server that all HTTP generators meet alike: one nginx worker that answers 2 bytes from memory, and counts."""

from __future__ import annotations

import contextlib
import re
import socket
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from meter import SERVER_CORE, Trouble, open_files, running, until
from peers import NGINX

CONFIG = """
daemon off;
master_process off;
worker_processes 1;
worker_rlimit_nofile FILES;
pid FOLDER/nginx.pid;
error_log FOLDER/error.log;
events { worker_connections CONNECTIONS; }
http {
    access_log off;
    client_body_temp_path FOLDER/body;
    proxy_temp_path FOLDER/proxy;
    fastcgi_temp_path FOLDER/fastcgi;
    uwsgi_temp_path FOLDER/uwsgi;
    scgi_temp_path FOLDER/scgi;
    keepalive_requests 100000000;
    keepalive_timeout 300s;
    server {
        listen 127.0.0.1:PORT backlog=16384;
        location / { return 200 "ok"; }
        location = /count { stub_status; }
    }
}
"""


@dataclass(frozen=True, slots=True)
class Server:
    """Where it is."""

    url: str

    def requests(self) -> int:
        """Return how many requests it has had so far, this one included."""
        with urllib.request.urlopen(f"{self.url}count", timeout=10) as answer:
            text = answer.read().decode()
        found = re.search(r"^ (\d+) (\d+) (\d+)", text, re.MULTILINE)
        if not found:
            raise Trouble(f"nginx answers {text!r}; expected its counts (is its stub_status module there?)")
        return int(found.group(3))


@contextlib.contextmanager
def nginx(folder: Path) -> Iterator[Server]:
    """Serve on the server's core while the block lasts."""
    program = NGINX.path()
    if program is None:
        raise Trouble(f"nginx is not here; expected it as the server everybody meets (to get it: {NGINX.get})")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    files = open_files()
    config = CONFIG.replace("FOLDER", str(folder)).replace("PORT", str(port)).replace("FILES", str(files))
    (folder / "nginx.conf").write_text(config.replace("CONNECTIONS", str(files - 100)))
    command = [program, "-c", str(folder / "nginx.conf"), "-p", str(folder)]
    server = Server(f"http://127.0.0.1:{port}/")
    with running(SERVER_CORE, command, folder / "nginx.log"):
        until(lambda: _answers(port), 10, "nginx")
        yield server


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
