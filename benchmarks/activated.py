"""Bind a free port of 127.0.0.1, hand it to a server as systemd hands over sockets, and become that server.

    python benchmarks/activated.py PORT_FILE PROGRAM [ARGUMENT]...

`{port}` in an argument is the port. XRootD has no option for the address it listens at, but takes a socket it is given
(sd_listen_fds(3)): so it is reachable from this machine alone.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

FIRST = 3
"""The descriptor where such sockets begin."""


def main() -> None:
    """Bind, print the port, become the server."""
    file, program, *arguments = sys.argv[1:]
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    port = listening.getsockname()[1]
    os.dup2(listening.fileno(), FIRST)
    os.set_inheritable(FIRST, True)
    os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
    Path(file).write_text(str(port))
    os.execvp(program, [program, *(word.replace("{port}", str(port)) for word in arguments)])


if __name__ == "__main__":
    main()
