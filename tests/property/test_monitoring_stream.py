"""Whatever comes as XRootD's monitoring is counted, never raises, and what is read of it can be recorded."""

from hypothesis import given
from hypothesis import strategies as st

from pileup.builtin.xrootd.stream_monitor import XrootdStreamMonitor
from pileup.plugin.testing import MonitorRecord
from tests.unit.builtin.xrootd.test_stream import packet, taken, whole


@given(st.lists(st.binary(max_size=200), max_size=5))
def test_rubbish_is_counted_and_never_raises(packets: list[bytes]) -> None:
    decoder, _ = taken(*packets)
    assert decoder.packets == len(packets)
    assert 0 <= decoder.malformed <= len(packets)


@given(st.sampled_from("=udiptrxTUf"), st.lists(st.binary(max_size=200), max_size=5), st.data())
def test_rubbish_behind_a_right_header_never_raises(kind: str, bodies: list[bytes], data: st.DataObject) -> None:
    """What comes back is what a record takes: times behind 2001, no negative counts."""
    changed = bytearray(data.draw(st.sampled_from([*(one[8:] for one in whole()), *bodies])))
    for at in data.draw(st.lists(st.integers(0, len(changed) - 1), max_size=4)) if changed else ():
        changed[at] = data.draw(st.integers(0, 255))
    decoder, found = taken(*whole(), packet(kind, 4, bytes(changed)))
    assert decoder.packets == 5
    monitor = XrootdStreamMonitor()
    MonitorRecord(monitor)
    for each in found:
        monitor.record_served(each)
