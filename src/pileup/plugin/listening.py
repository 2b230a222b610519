"""Sockets of this machine that listen for TCP, from the kernel by netlink, as `ss` does (sock_diag(7)).

/proc/net/tcp says the same, but the kernel looks through all connections to make it: milliseconds, with many of them
tens of milliseconds, for each look.
"""

from __future__ import annotations

import socket
import struct

SOCK_DIAG = 4
"""Protocol of netlink: NETLINK_SOCK_DIAG."""
BY_FAMILY, DUMP = 20, 0x301
"""SOCK_DIAG_BY_FAMILY; NLM_F_REQUEST and NLM_F_DUMP."""
ERROR, DONE = 2, 3
"""Types of messages: NLMSG_ERROR, NLMSG_DONE."""
LISTEN = 1 << 10
"""The one state that is asked for: TCP_LISTEN."""
HEAD = struct.Struct("=IHHII")
"""struct nlmsghdr: length, type, flags, sequence, port."""
REQUEST = struct.Struct("=BBBxI48x")
"""struct inet_diag_req_v2: family, protocol, extensions, states, and any id."""
ANSWER = struct.Struct("=BBBB2s46xII12x")
"""struct inet_diag_msg: family, state, timer, retransmits, port of this side, expiry, connections that wait."""
PIECE = 1 << 16
MOST = 10_000
"""Datagrams of one answer that are read."""
PATIENCE = 1.0


def waiting() -> dict[int, int]:
    """Return port -> connections that wait to be accepted, of all sockets that listen. Raises OSError."""
    found: dict[int, int] = {}
    for family in (socket.AF_INET, socket.AF_INET6):
        for port, queue in _listeners(family):
            found[port] = found.get(port, 0) + queue
    return found


def _listeners(family: int) -> list[tuple[int, int]]:
    """Return port and queue of each that listens with addresses of this family."""
    request = REQUEST.pack(family, socket.IPPROTO_TCP, 0, LISTEN)
    found: list[tuple[int, int]] = []
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as asking:
        asking.settimeout(PATIENCE)
        asking.sendto(HEAD.pack(HEAD.size + len(request), BY_FAMILY, DUMP, 1, 0) + request, (0, 0))
        for _ in range(MOST):
            over = _read(asking.recv(PIECE), found)
            if over:
                return found
    raise OSError("the kernel names listening sockets without end")


def _read(datagram: bytes, found: list[tuple[int, int]]) -> bool:
    """Take in the messages of a datagram; return whether the answer is over. Raises OSError for a refusal."""
    at = 0
    while at + HEAD.size <= len(datagram):
        length, kind, *_ = HEAD.unpack_from(datagram, at)
        begin, end = at + HEAD.size, at + length
        if kind == DONE:
            return True
        if kind == ERROR or end - begin < ANSWER.size or end > len(datagram):
            raise OSError(f"netlink refuses to name listening sockets (message of type {kind})")
        *_, port, _expires, queue = ANSWER.unpack_from(datagram, begin)
        found.append((int.from_bytes(port, "big"), queue))
        at += -(-length // 4) * 4
    return False
