"""The monitor `xrootd-stream`, which gets packets over UDP."""

import socket

import pytest

from pileup.builtin.xrootd.stream_monitor import XrootdStreamMonitor
from pileup.plugin import PluginError
from pileup.plugin.testing import MonitorRecord
from tests.unit.builtin.xrootd.test_stream import LOGIN, mapped, whole


def test_the_monitor_records_and_reports_the_gap() -> None:
    monitor = XrootdStreamMonitor(port=0, prefix="/data/")
    record = MonitorRecord(monitor)
    monitor.open()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        for one in (*whole(), mapped("u", 6, 3, LOGIN), b"rubbish"):
            server.sendto(one, ("127.0.0.1", monitor.listens_on))
    found = {each.metric: each.value for each in monitor.sample()}
    monitor.close()
    assert found == {"packets": 6, "operations": 4, "lost": 2, "malformed": 1, "unpaired": 0, "window": 1}
    assert [text for text in record.told if "were lost" in text]
    operations = record.operations()
    assert [(each.name, each.key, each.client) for each in operations][-1] == ("file", "f1", 7)
    assert operations[-1].labels == {"user": "p7"}


def test_a_port_that_is_taken_is_an_error_in_three_parts() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        with pytest.raises(PluginError, match=r"cannot be listened on.*expected.*choose another"):
            XrootdStreamMonitor(port=other.getsockname()[1]).open()
