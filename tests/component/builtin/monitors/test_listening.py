"""The `node` monitor on listening sockets: overflows and drops as the kernel counts them, queues by port."""

import contextlib
import errno
import socket
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from pileup.builtin.monitors import node_text
from pileup.builtin.monitors.node import Node
from pileup.model.errors import PluginError
from pileup.plugin import listening
from pileup.plugin.proc import LocalProc, Texts

BACKLOG = 4
TCP = b"""  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0446 00000000:0000 0A 00000000:00000011 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0
   1: 0100007F:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 100 0 0 10 0
   2: 0100007F:0446 0100007F:D431 01 00000000:00000063 00:00000000 00000000     0        0 4713 1 0 100 0 0 10 0
"""
TCP6 = TCP.replace(b"0100007F:0446", b"00000000000000000000000001000000:0446")
NETSTAT = b"TcpExt: A ListenOverflows ListenDrops\nTcpExt: 1 7 9\nIpExt: B\nIpExt: 2\n"


def measured(node: Node) -> dict[str, float]:
    return {f"{each.metric}[{each.labels}]" if each.labels else each.metric: each.value for each in node.sample()}


@contextlib.contextmanager
def full_queue(connects: int) -> Iterator[int]:
    """Yield the port of a socket that accepts nothing, with so many clients that have begun to connect."""
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=BACKLOG))
        for _ in range(connects):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]


def test_what_a_full_queue_turns_away_is_counted_as_the_kernel_counts() -> None:
    node = Node(each=True)
    node.open()
    before = node_text.refused(LocalProc().texts(node_text.FILES).files)
    with full_queue(20) as port:
        found = measured(node)
        after = node_text.refused(LocalProc().texts(node_text.FILES).files)
    assert before is not None
    assert after is not None
    # the queue holds one more than its backlog; others of this machine may overflow, too
    assert 20 - BACKLOG - 1 <= found["listen_overflows"] <= after.overflows - before.overflows + 20
    assert found["listen_drops"] >= found["listen_overflows"] > 0
    assert found[f"port_queue[port={port}]"] == BACKLOG + 1
    assert found["listen_queue"] >= BACKLOG + 1


def test_queues_are_those_of_sockets_that_listen() -> None:
    assert node_text.queues({"net/tcp": TCP}) == {1094: 17, 22: 0}
    assert node_text.queues({"net/tcp": TCP, "net/tcp6": TCP6}) == {1094: 34, 22: 0}
    assert node_text.queues({}) == {}


def test_the_kernel_says_the_same_by_netlink_as_in_its_files() -> None:
    with full_queue(3) as port, socket.create_server(("::1", 0), family=socket.AF_INET6) as other:
        there = listening.waiting()
        files = node_text.queues(LocalProc().texts(node_text.LISTENING).files)
        assert there[port] == files[port] == 3
        assert there[other.getsockname()[1]] == files[other.getsockname()[1]] == 0
        assert LocalProc().queues() is not None
    assert LocalProc(Path("/proc/self")).queues() is None, "another folder is not what the kernel would speak of"


def test_connections_are_not_looked_through_to_find_who_listens() -> None:
    read: list[str] = []

    class Watched(LocalProc):
        def texts(self, names: Iterable[str]) -> Texts:
            read.extend(names)
            return super().texts(names)

    node = Node()
    node.proc = Watched()
    node.open()
    with full_queue(2):
        assert measured(node)["listen_queue"] >= 2
    assert read and not set(read) & set(node_text.LISTENING)


@pytest.mark.parametrize(
    "answer",
    [
        listening.HEAD.pack(36, listening.ERROR, 0, 1, 0) + struct.pack("=i", -errno.ENOENT) + bytes(16),
        listening.HEAD.pack(16, listening.ERROR, 0, 1, 0),
        listening.HEAD.pack(20, listening.BY_FAMILY, 0, 1, 0) + bytes(4),
        listening.HEAD.pack(0, listening.BY_FAMILY, 0, 1, 0),
    ],
)
def test_an_answer_that_cannot_be_read_leaves_the_files(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "recv", lambda _self, _size: answer)
    with pytest.raises(OSError, match="refuses"):
        listening.waiting()
    assert LocalProc().queues() is None


def test_an_answer_without_an_end_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "recv", lambda _self, _size: b"")
    with pytest.raises(OSError, match="without end"):
        listening.waiting()


def test_counters_are_those_of_the_kernel_where_it_has_them() -> None:
    assert node_text.refused({"net/netstat": NETSTAT}) == node_text.Refused(7, 9)
    for text in (b"IpExt: B\nIpExt: 2\n", b"TcpExt: A\nTcpExt: 1\n"):
        assert node_text.refused({"net/netstat": text}) is None
    assert node_text.refused({}) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("net/netstat", b"TcpExt: A ListenOverflows ListenDrops\n"),
        ("net/netstat", b"TcpExt: ListenOverflows ListenDrops\nTcpExt: 1\n"),
        ("net/netstat", b"TcpExt: ListenOverflows ListenDrops\nTcpExt: 1 -1\n"),
        ("net/tcp", b"sl\n 0: a b\n"),
        ("net/tcp", b"sl\n 0: 0:x 0:0 0A 0:0\n"),
    ],
)
def test_what_is_no_file_of_the_kernel_is_an_error(name: str, text: bytes) -> None:
    with pytest.raises(PluginError, match=f"/proc/{name} begins with .*expected what proc"):
        (node_text.refused if name == "net/netstat" else node_text.queues)({name: text})
