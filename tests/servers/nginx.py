"""A private nginx with its dav module on a free port of 127.0.0.1, ended by pid."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.support import require_program

CONFIG = """
daemon off;
master_process off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
{modules}
events {{ worker_connections 2048; }}
http {{
    access_log off;
    client_max_body_size 0;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_requests 1000000;
    server {{
        listen 127.0.0.1:{port};
        root {folder}/data;
        location / {{
            dav_methods PUT DELETE MKCOL COPY MOVE;
            dav_ext_methods PROPFIND OPTIONS;
            create_full_put_path off;
            min_delete_depth 1;
        }}
    }}
}}
"""


@contextlib.contextmanager
def nginx(folder: Path) -> Iterator[str]:
    """Yield the url of a WebDAV server whose files lie in folder/data."""
    program = require_program("nginx", "apt-get install nginx-light libnginx-mod-http-dav-ext")
    module = Path("/usr/lib/nginx/modules/ngx_http_dav_ext_module.so")
    require_program(str(module), "apt-get install libnginx-mod-http-dav-ext")
    (folder / "data").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = folder / "nginx.conf"
    config.write_text(CONFIG.format(folder=folder, port=port, modules=f"load_module {module};"))
    os.chmod(folder, 0o755)  # noqa: PTH101
    process = subprocess.Popen([program, "-c", str(config), "-p", str(folder)], stderr=subprocess.PIPE)
    try:
        _await_port(process, port)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)
        if process.stderr:
            process.stderr.close()


def _await_port(process: "subprocess.Popen[bytes]", port: int) -> None:
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise RuntimeError(f"nginx did not start: {process.stderr.read() if process.stderr else b''!r}")
