"""The run folder: what is written reads back, running, ended or torn."""

import os
import threading

import pytest

from pileup.model.errors import NotARun, RecordError
from pileup.model.record import Frame, FrameRow, Sample, SampleRow
from pileup.record import RunFolder, TableReader
from tests.manifests import plain, run_of

START = 1_795_000_000_123_456_789


def frame(time=START, place=0, case=1, rows=2, late=b"late"):
    inner = tuple(
        FrameRow(f"op{number}", number == 0, 3, 7, 1, 2, 3, 4, 5, 2**40, 9, b"\x00resp" * number, b"serv")
        for number in range(rows)
    )
    return Frame(time, 10**9, place, case, 3, 11, 2**33, 5, 6, 123, late, inner)


@pytest.fixture
def folder(tmp_path):
    made = RunFolder.create(tmp_path / "runs", "Copy stress: new disks!", START)
    made.save(run_of({"format": 1, "title": "x", "cases": [], "targets": []}))
    yield made
    made.close()


def test_the_name_tells_when_and_what(folder, tmp_path):
    assert folder.path.name == "2026-11-18T11-06-40Z-copy-stress-new-disks"
    assert RunFolder.create(tmp_path / "runs", "Copy stress: new disks!", START).path.name.endswith("-disks-2")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "(no run.json); expected a run folder"),
        ("{", "cannot be read"),
        ("[]", "has format None; expected format 1"),
        ('{"format": 1, "cases": [{"id": 1}]}', "'cases' is wrong; expected a list of objects with id and name"),
        ('{"format": 1, "targets": 5}', "'targets' is wrong; expected a list of objects with name"),
        ('{"format": 2}', "has format 2; expected format 1 (use a newer pileup)"),
    ],
)
def test_what_is_no_run_folder_is_refused(tmp_path, text, says):
    if text is not None:
        (tmp_path / "run.json").write_text(text)
    with pytest.raises(RecordError) as caught:
        RunFolder.open(tmp_path)
    assert says in str(caught.value)
    with pytest.raises(RecordError, match="there is no folder"):
        RunFolder.open(tmp_path / "none")


def test_a_folder_of_other_things_is_called_that_and_not_a_run_with_something_odd_in_it(tmp_path):
    (tmp_path / "a/b/c/d/e/f/g/h").mkdir(parents=True)
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(NotARun, match=r"is not a run folder \(no run.json\)"):
        RunFolder.open(tmp_path)


def test_info_is_replaced_whole(folder):
    folder.save(run_of({"title": "new"}))
    found = RunFolder.open(folder.path).manifest()
    assert (found.title, found.nonce, found.cases) == ("new", folder.nonce, ())
    assert [path.name for path in folder.path.iterdir() if path.is_file()] == ["run.json"]


def test_info_is_read_again_only_when_it_was_replaced(folder):
    found = RunFolder.open(folder.path)
    first = found.manifest()
    assert found.manifest() is first
    folder.save(run_of({"title": "another"}))
    assert found.manifest().title == "another"


def test_frames_come_back_equal(folder):
    written = [frame(START + number, number % 2, 1 + number % 3, number % 4) for number in range(12)]
    for each in written:
        folder.append_frame(each)
    read = list(RunFolder.open(folder.path).frames())
    assert sorted(read, key=lambda each: each.time) == written
    assert {each.case for each in folder.frames(2)} == {2}


def test_a_tail_gives_what_is_new(folder):
    folder.append_frame(frame(1))
    reader = RunFolder.open(folder.path)
    first, position = reader.tail_frames(None)
    assert [each.time for each in first] == [1]
    folder.append_frame(frame(2))
    own, own_position = folder.tail_frames(position)
    folder.append_frame(frame(3, place=1))
    assert [each.time for each in own] == [2]
    second, position = reader.tail_frames(position)
    assert sorted(each.time for each in second) == [2, 3]
    assert not reader.tail_frames(position)[0]
    assert [each.time for each in reader.tail_frames(own_position)[0]] == [3]


def test_a_frame_of_which_a_part_is_written_is_whole_when_it_is_read(folder):
    """Also where what is missing is all of its rows, and its strings are there: they are read with them."""
    written = frame(1)
    folder.append_frame(written)
    path = folder.path / "frames" / "0.table"
    whole, begin = path.read_bytes(), TableReader(path).begin
    edges = {block.end for block in TableReader(path).blocks()}
    assert len(edges) == 2, "strings, then rows"
    for edge in (begin, begin + 5, *sorted(edges)):
        path.write_bytes(whole[:edge])
        reader = RunFolder.open(folder.path)
        early, position = reader.tail_frames(None)
        path.write_bytes(whole)
        assert [*early, *reader.tail_frames(position)[0]] == [written], edge


@pytest.mark.parametrize("converted", [False, True])
def test_samples_come_back_equal(folder, converted):
    rows = [
        SampleRow(START + number, "node", "ho st", Sample(f"m{number % 3}", number / 7, "%", "a=b" * (number % 2)))
        for number in range(10)
    ]
    folder.append_samples(rows[:4])
    before, position = folder.tail_samples(None)
    folder.append_samples(rows[4:])
    assert (before, folder.tail_samples(position)[0]) == (rows[:4], rows[4:])
    if converted:
        folder.convert()
        assert sorted(path.name for path in (folder.path / "samples").iterdir()) == ["samples.parquet"]
    found = RunFolder.open(folder.path)
    assert list(found.samples()) == rows
    with found.operations().bare() as connection:
        found.check_tables(connection)
        assert list(found.samples(connection)) == rows


def test_a_run_that_is_taken_up_again_goes_on_at_a_place_with_a_number_of_its_own(folder):
    folder.append_frame(frame(1))
    folder.close()
    again = RunFolder.open(folder.path)
    assert again.next_place() == 1
    again.append_frame(frame(2, place=1))
    again.close()
    assert again.next_place() == 2
    assert sorted(each.time for each in again.frames()) == [1, 2]


def test_frames_of_an_attempt_that_was_broken_off_are_left_out(folder):
    folder.append_frame(frame(1))
    folder.append_frame(frame(2, place=1))
    folder.append_frame(frame(3, case=2))
    folder.save(run_of({**plain(folder), "void": [[1, 0]]}))
    assert sorted((each.time, each.case) for each in folder.frames()) == [(2, 1), (3, 2)]


def test_the_journal_goes_on_behind_a_torn_line(folder):
    assert folder.journal("server", "started", pid=5) == 1
    path = folder.path / "journal.jsonl"
    with path.open("ab") as file:
        file.write(b'{"number": 2, "what": "to')
    again = RunFolder.open(folder.path)
    assert again.journal("server", "ended", of=1) == 2
    assert [(entry.number, entry.state) for entry in again.journal_entries()] == [(1, "started"), (2, "ended")]


def test_journal_entries_are_on_the_disk_before_it_goes_on(folder, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.fstat(number).st_ino))
    folder.journal("objects", "made")
    folder.event("case", "begins", case=1)
    assert synced == [path.stat().st_ino for path in (folder.path / "journal.jsonl", folder.path)], "S24: its name, too"
    assert [entry.text for entry in folder.events()] == ["begins"]


def test_threads_write_frames_and_samples_at_once(folder):
    def write(place):
        for number in range(20):
            folder.append_frame(frame(number, place))
            folder.append_samples([SampleRow(number, f"m{place}", "h", Sample("x", place))])
            folder.event("tick", str(place))

    threads = [threading.Thread(target=write, args=(place % 2,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(folder.frames())) == len(list(folder.samples())) == 80
    assert sorted(entry.number for entry in folder.events()) == list(range(1, 81))


def test_reports_are_replaced(folder):
    folder.write_report("report.html", b"old")
    folder.write_report("report.html", b"new")
    assert (folder.path / "report.html").read_bytes() == b"new"


@pytest.mark.parametrize("name", ["", "../x", "/tmp/x", "a/b", ".x", "x.part", "run.json", "journal.jsonl", "frames"])
def test_a_report_takes_no_name_of_the_record_and_none_elsewhere(folder, name):
    before = sorted(folder.path.parent.rglob("*"))
    with pytest.raises(RecordError, match=r"is not a name for a report|is a file or folder of the record"):
        folder.write_report(name, b"x")
    assert sorted(folder.path.parent.rglob("*")) == before


def test_a_file_that_cannot_be_written_is_an_error(folder):
    (folder.path / "run.json").unlink()
    (folder.path / "run.json").mkdir()
    with pytest.raises(RecordError, match="cannot be written"):
        folder.save(run_of({"title": "x"}))
