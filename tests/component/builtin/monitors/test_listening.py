"""The `node` monitor on listening sockets: overflows and drops as the kernel counts them, queues by port."""

import contextlib
import socket
from collections.abc import Iterator

import pytest

from pileup.builtin.monitors import node_text
from pileup.builtin.monitors.node import Node
from pileup.model.errors import PluginError
from pileup.plugin.proc import LocalProc

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
