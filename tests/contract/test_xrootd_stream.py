"""The monitoring stream of a real XRootD against what was asked of it."""

import socket
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from pileup.builtin.xrootd.stream_monitor import XrootdStreamMonitor
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.model.suite import Credentials
from pileup.plugin.testing import MonitorRecord, RecordedOperation
from tests.servers.xrootd import xrootd

FILES, SIZE = 5, 100_000
SECONDS = 15


def test_its_stream_has_every_file_with_its_bytes_and_user(tmp_path: Path) -> None:
    monitor = XrootdStreamMonitor(port=0, prefix="/data/")
    record = MonitorRecord(monitor)
    begin = time.time_ns()
    monitor.open()
    with closing(monitor), xrootd(tmp_path / "se", monitoring=monitor.listens_on) as server:
        target = XrootdTarget(server.root, Credentials(user="p7"))
        for number in range(FILES):
            target.write(f"f{number}", bytes(SIZE))
            assert sum(map(len, target.read(f"f{number}"))) == SIZE
        target.sessions.close()
        found: list[RecordedOperation] = []
        last: dict[str, float] = {}
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and sum(each.name == "file" for each in found) < 2 * FILES:
            last = {each.metric: each.value for each in monitor.sample()}
            found += record.operations()
            time.sleep(0.2)
    assert {name: last[name] for name in ("lost", "malformed", "unpaired")} == {
        "lost": 0,
        "malformed": 0,
        "unpaired": 0,
    }
    moved: Counter[str] = Counter()
    for each in found:
        moved[each.name] += each.bytes
        assert each.start - 10**9 <= time.time_ns()
        assert each.end + 10**9 >= begin
    files = [each for each in found if each.name == "file"]
    assert Counter(each.key for each in files) == dict.fromkeys((f"f{number}" for number in range(FILES)), 2)
    assert {each.client for each in found} == {7}
    assert moved == {"file": 2 * FILES * SIZE, "read": FILES * SIZE, "write": FILES * SIZE, "open": 0, "close": 0}


def test_a_packet_with_a_later_number_shows_what_was_lost(tmp_path: Path) -> None:
    """The stream of the server goes on behind a packet of the same source whose number leaves out 9."""
    monitor = XrootdStreamMonitor(port=0)
    MonitorRecord(monitor)
    monitor.open()
    with closing(monitor), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as relay:
        relay.bind(("127.0.0.1", 0))
        relay.settimeout(SECONDS)
        with xrootd(tmp_path / "se", monitoring=relay.getsockname()[1]) as server:
            target = XrootdTarget(server.root)
            target.write("f", b"x")
            target.sessions.close()
            packet = b""
            while packet[:1] != b"u":
                packet = relay.recv(65536)
        later = packet[:1] + bytes([(packet[1] + 10) % 256]) + packet[2:]
        for each in (packet, later):
            relay.sendto(each, ("127.0.0.1", monitor.listens_on))
        assert {each.metric: each.value for each in monitor.sample()}["lost"] == 9
