"""A private `rclone serve webdav` on a free port of 127.0.0.1, launched as a suite's server is."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from pileup.plugin import Accepts, Daemon, Launcher
from tests.servers.launched import launched
from tests.support import require_program


@contextlib.contextmanager
def rclone(folder: Path) -> Iterator[str]:
    """Yield the url of a WebDAV server whose files lie in folder/data."""
    program = require_program("rclone", "apt-get install rclone")
    (folder / "data").mkdir(exist_ok=True)
    words = ("serve", "webdav", "--addr", "127.0.0.1:{port}", "--config", "{folder}/rclone.conf", "--cache-dir")
    command = (program, *words, "{folder}/cache", "{folder}/data")
    server = Launcher((Daemon(command, Accepts()),), url="http://127.0.0.1:{port}/")
    with launched(server, folder) as url:
        yield url
