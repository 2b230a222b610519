"""Private MariaDB and PostgreSQL servers on free ports of 127.0.0.1, run by an ordinary user, with TLS."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pileup.plugin import Daemon, File, Launcher, Line, Task
from pileup.run.servers.supervisor import Supervisor
from tests.servers.certificates import make_certificate
from tests.servers.launched import NAME, supervised
from tests.support import require_program

PASSWORD = "Sesam-öffne-dich"
READER = "reader"
ASCII_PASSWORD, ASCII_READER = "plain-sesame", "plain_reader"
"""Another user of MariaDB: PyMySQL reads passwords in option files as Latin-1."""
USER = "nobody"
"""Who runs the servers when the tests run as root: PostgreSQL refuses root."""


@dataclass(frozen=True)
class Private:
    """A running database server. `url` names READER, who has PASSWORD and may do anything there."""

    supervisor: Supervisor
    url: str
    socket_url: str
    ca: str

    def kill(self) -> None:
        self.supervisor.kill(NAME)

    def restart(self) -> None:
        self.supervisor.restart(NAME)


INIT = f"""
CREATE DATABASE IF NOT EXISTS jobs CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS {READER}@'%' IDENTIFIED BY '{PASSWORD}';
GRANT ALL ON jobs.* TO {READER}@'%';
CREATE USER IF NOT EXISTS {ASCII_READER}@'%' IDENTIFIED BY '{ASCII_PASSWORD}';
GRANT SELECT ON jobs.* TO {ASCII_READER}@'%';
"""


def mariadb_launcher(certificate: str, key: str) -> Launcher:
    """Return how to start MariaDB; its url is the folder of its socket."""
    server = require_program("mariadbd", "apt-get install mariadb-server-core")
    install = require_program("mariadb-install-db", "apt-get install mariadb-server-core")
    require_program("my_print_defaults", "apt-get install mariadb-client-core")
    words = ("--no-defaults", "--datadir={short}/data", "--skip-name-resolve", "--innodb-log-file-size=8M")
    make = (install, *words, "--auth-root-authentication-method=normal", "--skip-test-db")
    listen = ("--socket={short}/db.sock", "--port={port}", "--bind-address=127.0.0.1", "--pid-file={short}/pid")
    files = ("--init-file={short}/init.sql", "--ssl-cert={short}/cert.pem", "--ssl-key={short}/key.pem")
    run = (server, *words, *listen, *files, "--character-set-server=utf8mb4", "--innodb-buffer-pool-size=16M")
    return Launcher(
        (
            Task(make, folder="{short}", within=120 * 10**9),
            Daemon(run, Line("ready for connections"), folder="{short}", ready_within=60 * 10**9),
        ),
        url="{short}",
        files=(File("{short}/init.sql", INIT), *_tls(certificate, key)),
        user=USER,
    )


def postgresql_launcher(certificate: str, key: str) -> Launcher:
    """Return how to start PostgreSQL; its url is the folder of its socket. Its first user is READER."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    folder = f"{found[-1]}/" if found else ""
    server = require_program(f"{folder}postgres", "apt-get install postgresql")
    initdb = require_program(f"{folder}initdb", "apt-get install postgresql")
    make = (initdb, "-D", "{short}/data", "-U", READER, "--pwfile={short}/password", "--auth=scram-sha-256")
    settings = ("fsync=off", "ssl=on", "ssl_cert_file={short}/cert.pem", "ssl_key_file={short}/key.pem")
    options = tuple(word for setting in (*settings, "listen_addresses=127.0.0.1") for word in ("-c", setting))
    run = (server, "-D", "{short}/data", "-p", "{port}", "-k", "{short}", *options)
    ready = Line("database system is ready to accept connections")
    return Launcher(
        (
            Task((*make, "--encoding=UTF8", "--locale=C", "--no-sync"), folder="{short}", within=120 * 10**9),
            Daemon(run, ready, folder="{short}", stop="INT", ready_within=60 * 10**9),
        ),
        url="{short}",
        files=(File("{short}/password", PASSWORD + "\n"), *_tls(certificate, key)),
        user=USER,
    )


def _tls(certificate: str, key: str) -> tuple[File, ...]:
    return File("{short}/cert.pem", certificate), File("{short}/key.pem", key)


@contextlib.contextmanager
def mariadb(folder: Path) -> Iterator[Private]:
    """Yield a private MariaDB."""
    certificate, key = make_certificate()
    folder.mkdir(exist_ok=True)
    (folder / "ca.pem").write_text(certificate)
    with supervised(mariadb_launcher(certificate, key), folder / "server") as supervisor:
        url = f"mariadb://{READER}@127.0.0.1:{supervisor.port(NAME)}/jobs"
        local = f"mariadb://{READER}@/jobs?unix_socket={supervisor.url(NAME)}/db.sock"
        yield Private(supervisor, url, local, str(folder / "ca.pem"))


@contextlib.contextmanager
def postgresql(folder: Path) -> Iterator[Private]:
    """Yield a private PostgreSQL."""
    certificate, key = make_certificate()
    folder.mkdir(exist_ok=True)
    (folder / "ca.pem").write_text(certificate)
    with supervised(postgresql_launcher(certificate, key), folder / "server") as supervisor:
        port = supervisor.port(NAME)
        url = f"postgresql://{READER}@127.0.0.1:{port}/postgres"
        local = f"postgresql://{READER}@:{port}/postgres?host={supervisor.url(NAME)}"
        yield Private(supervisor, url, local, str(folder / "ca.pem"))
