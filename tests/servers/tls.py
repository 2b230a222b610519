"""An https server in this process that knows who was asked for, and may send readers elsewhere."""

import contextlib
import http.server
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pileup.builtin.credentials.private_ca import make_certificates

BODY = b"x" * 1000


@dataclass
class TlsServer:
    """A running server: https://localhost:PORT/, TLS 1.3, which resumes sessions."""

    port: int
    ca: str
    seen: list[tuple[str, str, str]] = field(default_factory=list)
    """Of each request: the name in the TLS hello, the header Host, the header Authorization."""
    elsewhere: str = ""
    """Where GET is sent on to; empty: it is answered."""

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}/"


@contextlib.contextmanager
def tls_server(folder: Path) -> Iterator[TlsServer]:
    """Yield a server, whose certificate is for localhost, not for 127.0.0.1."""
    made = make_certificates(("localhost",), address="127.0.0.9")
    for name, text in {"ca.pem": made.ca, "server.pem": made.certificate, "server.key": made.key}.items():
        (folder / name).write_text(text)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    context.sni_callback = lambda line, name, _: setattr(line, "asked_for", name)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            self.request = context.wrap_socket(self.request, server_side=True)
            super().setup()

        def finish(self) -> None:
            with contextlib.suppress(OSError):
                super().finish()
            self.connection.close()

        def do_GET(self) -> None:
            name = getattr(self.connection, "asked_for", None) or ""
            served.seen.append((name, self.headers["Host"], self.headers["Authorization"] or ""))
            self.send_response(302 if served.elsewhere else 200)
            if served.elsewhere:
                self.send_header("Location", served.elsewhere)
            body = b"" if served.elsewhere else BODY
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *_: object) -> None:
            """Say nothing."""

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Forget clients that have gone."""

    with Server(("127.0.0.1", 0), Handler) as server:
        served = TlsServer(server.server_address[1], str(folder / "ca.pem"))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join(5)
