"""A private nginx with its dav module on a free port of 127.0.0.1, launched as a suite's server is."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from pileup.plugin import Accepts, Daemon, File, Launcher
from tests.servers.launched import launched
from tests.support import require_program

MODULE = "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so"

CONFIG = """
daemon off;
load_module MODULE;
master_process off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log info;
events { worker_connections 2048; }
http {
    LOG
    client_max_body_size 0;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_requests 1000000;
    server {
        listen 127.0.0.1:{port};
        root {folder}/data;
        location / {
            dav_methods PUT DELETE MKCOL COPY MOVE;
            dav_ext_methods PROPFIND OPTIONS;
            create_full_put_path off;
            min_delete_depth 1;
        }
    }
}
"""


TIMED = """log_format timed '$msec $request_time $status $bytes_sent $request_method $uri';
    access_log {folder}/access.log timed buffer=64k flush=500ms;"""


@contextlib.contextmanager
def nginx(
    folder: Path, *, lists: bool = True, deletes: bool = True, logs: bool = False, log: str = TIMED
) -> Iterator[str]:
    """Yield the url of a WebDAV server whose files lie in folder/data.

    Unless it `lists` it has no PROPFIND, unless it `deletes` no DELETE. If it `logs`, then into folder/access.log, in
    pieces, as busy servers do; `log` is the directive for that.
    """
    program = require_program("nginx", "apt-get install nginx-light libnginx-mod-http-dav-ext")
    require_program(MODULE, "apt-get install libnginx-mod-http-dav-ext")
    folder.chmod(0o755)
    command = (program, "-c", "{folder}/nginx.conf", "-p", "{folder}")
    config = CONFIG.replace("MODULE", MODULE).replace("LOG", log if logs else "access_log off;")
    if not lists:
        config = config.replace("dav_ext_methods PROPFIND OPTIONS;", "")
    if not deletes:
        config = config.replace("PUT DELETE MKCOL", "PUT MKCOL")
    files = (File("{folder}/data", mode=0o755), File("{folder}/nginx.conf", config))
    server = Launcher((Daemon(command, Accepts()),), url="http://127.0.0.1:{port}/", files=files)
    with launched(server, folder) as url:
        yield url
