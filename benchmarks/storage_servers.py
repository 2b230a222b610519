"""Storage that all clients meet alike, with and without TLS: an XRootD (root, http and https on one port), an nginx."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from meter import SERVER_CORE, Trouble, running, until
from peers import NGINX, XROOTD, Peer

XROOTD_CONFIG = """
all.export /data
all.adminpath FOLDER/admin/adm
all.pidpath FOLDER/admin/run
oss.localroot FOLDER/store
xrd.protocol http libXrdHttp.so
xrd.network nodnr norpipa
xrd.tls FOLDER/host.pem FOLDER/host.key
xrd.tlsca certdir FOLDER/ca
http.desthttps no
http.selfhttps2http no
http.listingdeny no
xrootd.chksum max 4 adler32
"""
NGINX_CONFIG = """
daemon off;
master_process off;
worker_processes 1;
pid FOLDER/nginx/pid;
error_log FOLDER/nginx/error.log;
events { worker_connections 1000; }
http {
    access_log off;
    client_body_temp_path FOLDER/nginx/body;
    proxy_temp_path FOLDER/nginx/proxy;
    fastcgi_temp_path FOLDER/nginx/fastcgi;
    uwsgi_temp_path FOLDER/nginx/uwsgi;
    scgi_temp_path FOLDER/nginx/scgi;
    server { listen 127.0.0.1:PLAIN; root FOLDER/store; }
    server {
        listen 127.0.0.1:SECRET ssl;
        ssl_certificate FOLDER/host.pem;
        ssl_certificate_key FOLDER/host.key;
        root FOLDER/store;
    }
}
"""


@dataclass(frozen=True, slots=True)
class Storage:
    """Where a server is: addresses of the folder that holds the files, by protocol; and who signed its certificate."""

    urls: dict[str, str]
    ca: Path


def prepare(folder: Path, files: dict[str, int]) -> None:
    """Make certificates and files (name and size in bytes) of random content, for both servers."""
    folder.chmod(0o755)  # the server may run as a user of its own
    for name in ("admin", "ca", "nginx", "store/data"):
        (folder / name).mkdir(parents=True)
    _certificates(folder)
    for name, size in files.items():
        with (folder / "store" / "data" / name).open("wb") as sink:
            for begin in range(0, size, 1 << 20):
                sink.write(os.urandom(min(1 << 20, size - begin)))


@contextlib.contextmanager
def xrootd(folder: Path) -> Iterator[Storage]:
    """Serve root://, http and https with XRootD on the server's core while the block lasts."""
    program, port_file = _there(XROOTD), folder / "xrootd.port"
    (folder / "xrootd.cfg").write_text(XROOTD_CONFIG.replace("FOLDER", str(folder)))
    who = []
    if os.geteuid() == 0:  # it refuses to be root; the package makes this user
        who = ["-R", "xrootd"]
        subprocess.run(["chown", "-R", "xrootd:", str(folder)], check=True)
    server = [program, *who, "-I", "v4", "-p", "{port}", "-c", str(folder / "xrootd.cfg"), "-n", "bench"]
    command = [sys.executable, str(Path(__file__).with_name("activated.py")), str(port_file), *server]
    with running(SERVER_CORE, command, folder / "xrootd.log", folder / "admin") as child:
        until(lambda: "initialization completed.\n" in child.text().rpartition("xrootd bench@")[2], 20, "xrootd")
        place = f"127.0.0.1:{port_file.read_text()}"
        urls = {"http": f"http://{place}/data", "https": f"https://{place}/data", "root": f"root://{place}//data"}
        yield Storage(urls, folder / "ca.pem")


@contextlib.contextmanager
def nginx(folder: Path) -> Iterator[Storage]:
    """Serve the same files over http and https with nginx on the server's core while the block lasts."""
    plain, secret = free_port(), free_port()
    text = NGINX_CONFIG.replace("FOLDER", str(folder)).replace("PLAIN", str(plain)).replace("SECRET", str(secret))
    (folder / "nginx.conf").write_text(("user root;\n" if os.geteuid() == 0 else "") + text)
    command = [_there(NGINX), "-c", str(folder / "nginx.conf"), "-p", str(folder)]
    with running(SERVER_CORE, command, folder / "nginx.log"):
        until(lambda: answers(plain) and answers(secret), 10, "nginx")
        yield Storage(
            {"http": f"http://127.0.0.1:{plain}/data", "https": f"https://127.0.0.1:{secret}/data"}, folder / "ca.pem"
        )


def _certificates(folder: Path) -> None:
    """Make a CA, a host certificate of it, and the folder by hash that XRootD wants."""
    openssl = shutil.which("openssl")
    if openssl is None:
        raise Trouble("openssl is not here; expected it to make certificates (apt-get install openssl)")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    ca = ["req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=benchmark CA"]
    ca += ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign"]
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
    request = ["req", *key, "-keyout", "host.key", "-out", "host.csr", "-subj", "/CN=localhost"]
    sign = ["x509", "-req", "-in", "host.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"]
    for words in (ca, request, [*sign, "-extfile", "names", "-out", "host.pem"]):
        subprocess.run([openssl, *words], cwd=folder, check=True, capture_output=True)
    shown = subprocess.run(
        [openssl, "x509", "-hash", "-noout", "-in", "ca.pem"], cwd=folder, check=True, capture_output=True, text=True
    )
    shutil.copy(folder / "ca.pem", folder / "ca" / f"{shown.stdout.strip()}.0")
    (folder / "host.key").chmod(0o400)


def _there(peer: Peer) -> str:
    path = peer.path()
    if path is None:
        raise Trouble(f"{peer.name} is not here; expected it as a server (to get it: {peer.get})")
    return path


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
