"""A server with one worker, first come first served: written apart from pileup, on plain sockets and one thread each.

    python benchmarks/queue_server.py FACTOR...

Path `/N` takes a service time of 5 ms (median of a log-normal law, sigma 0.2) times the factor of that number. The port
is printed; it ends when it is terminated.
"""

from __future__ import annotations

import queue
import random
import socket
import sys
import threading
import time

SERVICE = 0.005
SIGMA = 0.2
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Waiting = queue.Queue[tuple[socket.socket, float]]


def serve(waiting: Waiting) -> None:
    """Answer one request after another."""
    draw = random.Random(2004)
    while True:
        connection, factor = waiting.get()
        time.sleep(SERVICE * factor * draw.lognormvariate(0, SIGMA))
        try:
            connection.sendall(ANSWER)
        except OSError:
            connection.close()


def listen_to(connection: socket.socket, factors: list[float], waiting: Waiting) -> None:
    """Put the requests of one connection in the queue."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    held = b""
    try:
        while more := connection.recv(65536):
            held += more
            while b"\r\n\r\n" in held:
                head, _, held = held.partition(b"\r\n\r\n")
                place = head.split(b" ", 2)[1].lstrip(b"/")
                waiting.put((connection, factors[int(place)] if place.isdigit() else 1.0))
    except OSError:
        pass
    finally:
        connection.close()


def main() -> None:
    """Listen on a free port of this machine."""
    factors, waiting = [float(each) for each in sys.argv[1:]], Waiting()
    threading.Thread(target=serve, args=(waiting,), daemon=True).start()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=listen_to, args=(connection, factors, waiting), daemon=True).start()


if __name__ == "__main__":
    main()
