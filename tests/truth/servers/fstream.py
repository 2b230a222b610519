"""What XRootD itself says that it has sent of each file: the f-stream of its monitoring, by UDP.

Layout: XrdXrootdMonData.hh of XRootD 5 (XrdXrootdMonHeader, XrdXrootdMonFileHdr, XrdXrootdMonFileOPN, MonFileXFR,
MonFileCLS). Written apart from pileup, which does not read it.
"""

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator

HEADER = struct.Struct(">cBHI")
RECORD = struct.Struct(">BBhI")
CLOSED, OPENED, TIMES, MOVED = 0, 1, 2, 3
HAS_NAME = 1


class FileStream:
    """The packets of one server: bytes read of each file, by its path."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.2)
        self.port = self.socket.getsockname()[1]
        self.names: dict[int, str] = {}
        self.read: dict[int, tuple[int, int]] = {}
        """Of each open file: bytes by reads and by vector reads so far."""
        self.over = threading.Event()

    @property
    def directives(self) -> tuple[str, ...]:
        """Lines of the server's configuration."""
        to = f"dest fstat 127.0.0.1:{self.port}"
        return (f"xrootd.monitor all flush 1s fstat 1s lfn ops xfr 1 {to}",)

    def sent(self, end: str) -> int:
        """Return the bytes read of all files with a name that ends so."""
        return sum(sum(self.read.get(number, (0, 0))) for number, name in self.names.items() if name.endswith(end))

    def vectored(self, end: str) -> int:
        """Return those of them that went by vector reads."""
        return sum(self.read.get(number, (0, 0))[1] for number, name in self.names.items() if name.endswith(end))

    def listen(self) -> None:
        """Take packets until it is over."""
        while not self.over.is_set():
            with contextlib.suppress(TimeoutError):
                self.take(self.socket.recv(1 << 16))

    def take(self, packet: bytes) -> None:
        """Take one packet."""
        code, _, length, _ = HEADER.unpack_from(packet)
        if code != b"f":
            return
        at = HEADER.size
        while at < length:
            kind, flags, size, number = RECORD.unpack_from(packet, at)
            if kind == OPENED and flags & HAS_NAME:
                # size of the file (8 bytes), number of the user (4), path
                self.names[number] = packet[at + RECORD.size + 12 : at + size].split(b"\0")[0].decode()
            elif kind in (CLOSED, MOVED):
                read, vector, _ = struct.unpack_from(">qqq", packet, at + RECORD.size)
                self.read[number] = read, vector
            at += max(size, RECORD.size)


@contextlib.contextmanager
def file_stream() -> Iterator[FileStream]:
    """Yield what listens."""
    stream = FileStream()
    thread = threading.Thread(target=stream.listen, daemon=True)
    thread.start()
    try:
        yield stream
    finally:
        stream.over.set()
        thread.join()
        stream.socket.close()
