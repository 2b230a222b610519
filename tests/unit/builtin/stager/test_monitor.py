"""What the monitor of the stagers makes of their logs and queues."""

from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.stager.monitor import BROKEN, PLACE, RECORD, THIS, XrootdTapeMonitor, requests_in
from pileup.builtin.stager.site import Site
from pileup.builtin.stager.target import XrootdTapeTarget
from pileup.plugin import Outcome, PluginError, Sample, Target

S = 10**9
HEAD = "time,library,event,request,path,read,drive,cartridge,value\n"


class Folder:
    """Logs and queues of two nodes."""

    def __init__(self, folder: Path) -> None:
        self.transfers, self.events = folder / "transfers.csv", folder / "library.csv"
        self.transfers.touch()
        self.events.write_text(HEAD)
        self.queues = [folder / node / "a/admin/pileup/frm/Queues" for node in ("n0", "n1")]
        for each in self.queues:
            each.mkdir(parents=True)
        self.target = XrootdTapeTarget("root://127.0.0.1:1//tape?site=x")
        nodes = ("127.0.0.1:1", "127.0.0.1:2")
        self.target.__dict__["site"] = Site(nodes, "/tape", self.transfers, self.events, "{}", 100, 1000)
        self.recorded: list[dict[str, Any]] = []

    def monitor(self) -> XrootdTapeMonitor:
        made = XrootdTapeMonitor(target="tape")
        made.check()
        made.watched = lambda: self.target  # type: ignore[method-assign]  # as the runner finds it
        made.record = lambda name, key, **given: self.recorded.append({"name": name, "key": key, **given})  # type: ignore[method-assign]  # the test's own
        return made

    def note(self, path: Path, *lines: str) -> None:
        with path.open("a") as log:
            log.writelines(f"{line}\n" for line in lines)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def values(samples: list[Sample]) -> dict[str, float]:
    return {f"{each.metric}[{each.labels}]": each.value for each in samples}


def queue(*places: bool) -> bytes:
    """A queue file of frm_xfrd: a head, and records that are taken or free."""
    content = bytearray(RECORD * (len(places) + 1))
    for number, taken in enumerate(places, 1):
        PLACE.pack_into(content, number * RECORD + THIS, number * RECORD if taken else 0)
    return bytes(content)


def test_requests_are_counted_where_frm_xfrd_keeps_them(tmp_path: Path) -> None:
    (tmp_path / "q").write_bytes(queue(True, False, True, True))
    assert requests_in(tmp_path / "q") == 3
    (tmp_path / "q").write_bytes(b"")
    assert requests_in(tmp_path / "q") == 0


def test_what_is_copied_is_not_in_the_queue(folder: Folder) -> None:
    (folder.queues[1] / "pstgQ.1").write_bytes(queue(True, True, True, False))
    monitor = folder.monitor()
    folder.note(folder.transfers, f"{5 * S},n1,started,/tape/1,,,")
    found = values(list(monitor.sample()))
    assert (found["queue[node=n0]"], found["transfers[node=n0]"]) == (0, 0)
    assert (found["queue[node=n1]"], found["transfers[node=n1]"]) == (2, 1)
    monitor.close()


def test_copies_are_recorded_when_they_have_ended(folder: Folder) -> None:
    monitor = folder.monitor()
    folder.note(
        folder.transfers,
        f"{5 * S},n0,started,/tape/1,,,",
        f"{5 * S},n1,started,/tape/2,,,",
        f"{5 * S},n1,started,/tape/3,,,",
        f"{9 * S},n0,done,/tape/1,{3 * S},{S},",
        f"{9 * S},n1,failed,/tape/2,,,its cartridge cannot be read",
        f"{11 * S},n1,started,/tape/3,,,",
    )
    list(monitor.sample())
    assert [(each["key"], each["outcome"], each["error"], each["first_byte"]) for each in folder.recorded] == [
        ("/tape/1", Outcome.PASSED, "", 8 * S),
        ("/tape/2", Outcome.FAILED, "its cartridge cannot be read", 0),
        ("/tape/3", Outcome.FAILED, BROKEN, 0),
    ]
    assert [each["labels"] for each in folder.recorded] == [{"node": "n0"}, {"node": "n1"}, {"node": "n1"}]
    monitor.close()


def test_drives_and_the_library(folder: Folder) -> None:
    monitor = folder.monitor()
    folder.note(folder.events, f"{1 * S},0,queued,,/tape/1,0,,3,0", f"{1 * S},0,queued,,/tape/2,1,,4,1")
    found = values(list(monitor.sample()))
    assert found["library[of=queued]"] == 2
    folder.note(folder.events, f"{2 * S},0,assigned,,/tape/1,0,0,3,", f"{3 * S},0,begun,,/tape/1,0,0,3,")
    folder.note(folder.events, f"{3 * S},0,assigned,,/tape/2,1,1,4,")
    found = values(list(monitor.sample()))
    assert (found["drive[drive=d0]"], found["drive[drive=d1]"]) == (2, 1)
    assert (found["library[of=queued]"], found["library[of=coming]"], found["library[of=reading]"]) == (0, 1, 1)
    folder.note(folder.events, f"{4 * S},0,delivered,,/tape/1,0,0,3,")
    folder.note(folder.events, f"{4 * S},0,drive down,,,,1,,", f"{4 * S},0,requeued,,/tape/2,1,1,4,")
    found = values(list(monitor.sample()))
    assert (found["drive[drive=d0]"], found["drive[drive=d1]"], found["library[of=queued]"]) == (0, 3, 1)
    (read,) = folder.recorded
    assert (read["key"], read["start"], read["first_byte"], read["end"]) == ("/tape/1", 2 * S, 3 * S, 4 * S)
    assert read["labels"] == {"drive": "d0"}
    monitor.close()


def test_another_kind_is_refused(folder: Folder) -> None:
    monitor = folder.monitor()
    monitor.watched = Target  # type: ignore[method-assign]  # another one
    with pytest.raises(PluginError, match="one of kind xrootd-tape"):
        list(monitor.sample())
