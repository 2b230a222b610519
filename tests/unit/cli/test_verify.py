"""A whole record has no findings; every kind of damage is named."""

import json
import shutil

import pytest

from pileup.cli.app import run_app
from pileup.cli.verify import findings
from pileup.record import RunFolder, TableWriter
from pileup.record.operations import ROW
from tests.manifests import plain, run_of
from tests.unit.stats import scans

MS = 10**6


def made(tmp_path, change=lambda rows: rows, **fields):
    """A run of 40 iterations of 20 ms; the record of rows is changed, the frames are not."""
    rows = scans.rows_of(1, scans.START, 20 * MS)
    told = scans.info([scans.case(1, "copy", scans.START)], {}, exit_code=0, verdict="passed", **fields)
    folder = scans.write(tmp_path, told, [])
    owner = folder.journal("owner", "begun", run=folder.origin)
    folder.event("case", "copy begins", case=1, state="begins")
    folder.event("case", "copy: passed", case=1, state="ended", outcome="passed")
    folder.journal("owner", "ended", of=owner)
    for frame in scans.frames_of(rows):
        folder.append_frame(frame)
    folder.close()
    writer = TableWriter(folder.operations_path(0), "operations", ROW)
    writer.append(change(rows.copy()), [b"copy"], ("key", "error", "operation"))
    writer.close()
    return folder


def told(folder):
    return "\n".join(f"{where}: {what}" for where, what in findings(RunFolder.open(folder.path)))


@pytest.mark.long
def test_a_whole_record_has_no_findings(tmp_path, capsys):
    folder = made(tmp_path)
    assert told(folder) == ""
    folder.convert()
    assert run_app(["verify", str(folder.path)]) == 0
    assert capsys.readouterr().out == "the record is whole\n"


@pytest.mark.parametrize("name", ["journal.jsonl", "events", "events/events.jsonl"])
@pytest.mark.parametrize("nonce", [None, ""])
def test_a_file_that_every_run_writes_is_missed(tmp_path, name, nonce):
    folder = made(tmp_path)
    if nonce is not None:  # a record of an early release
        (folder.path / "run.json").write_text(json.dumps(plain(folder) | {"nonce": nonce}))
    path = folder.path / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    wanted = name if name == "journal.jsonl" else "events/events.jsonl"
    assert f"{wanted}: it is not there, or empty" in told(folder)


BUILD = '{"number": 1, "time": 1, "kind": "build", "text": "a debug build"}\n'


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("journal.jsonl", lambda lines: [], "journal.jsonl: it is not there, or empty"),
        ("journal.jsonl", lambda lines: lines[:1], "journal.jsonl: it does not say that the run has ended"),
        ("journal.jsonl", lambda lines: lines[1:], "journal.jsonl: line 1 is missing"),
        ("events/events.jsonl", lambda lines: lines[1:], "events/events.jsonl: line 1 is missing"),
        ("events/events.jsonl", lambda lines: lines[2:], "events/events.jsonl: lines 1 to 2 are missing"),
        ("events/events.jsonl", lambda lines: [BUILD], "events/events.jsonl: no event is of case copy"),
    ],
)
def test_lines_that_were_cut_out_or_off_are_missed(tmp_path, name, change, words):
    folder = made(tmp_path)
    folder.event("build", "one more")
    path = folder.path / name
    path.write_text("".join(change(path.read_text().splitlines(keepends=True))))
    assert words in told(folder)


def test_a_journal_of_another_run_is_named(tmp_path):
    one, other = made(tmp_path / "one"), made(tmp_path / "other")
    shutil.copy(other.path / "journal.jsonl", one.path / "journal.jsonl")
    assert told(one) == "journal.jsonl: entry 1 is of another run"
    assert told(other) == ""


def longer(rows):
    rows["end"][: len(rows) // 2 + 5] += 2 * MS
    return rows


def failed(rows):
    rows["outcome"][3] = 1
    return rows


def twice(rows):
    rows["id"][1] = rows["id"][0]
    return rows


def orphan(rows):
    rows["parent"][7] = 999_999
    return rows


def backwards(rows):
    rows["end"][2] = rows["start"][2] - 1
    return rows


def test_what_a_kill_has_broken_off_may_have_lost_its_parent(tmp_path):
    assert "parent" in told(made(tmp_path / "whole", orphan))
    assert "parent" not in told(made(tmp_path / "resumed", orphan, void=[[1, 0]]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows[:-1], ["copy, place 0, measure: copy: frames count 40 iterations passed, rows 39"]),
        (failed, ["frames count 0 iterations failed, rows 1", "frames count 40 iterations passed, rows 39"]),
        (twice, ["operations: 1 ids are in more than one row"]),
        (orphan, ["1 operations name a parent that is not in the record"]),
        (backwards, ["1 rows end before they start"]),
        (longer, ["copy, copy: p50 of histograms is 20", "not that of the 40 rows"]),
    ],
)
def test_rows_that_do_not_agree_are_named(tmp_path, change, words):
    found = told(made(tmp_path, change))
    assert all(word in found for word in words), found


@pytest.mark.parametrize("share", [0.2, 0.5, 0.7])
def test_a_flipped_bit_of_a_parquet_file_is_named_wherever_it_is(tmp_path, share):
    folder = made(tmp_path)
    folder.convert()
    path = folder.path / "operations" / "operations.parquet"
    data = bytearray(path.read_bytes())
    data[int(len(data) * share)] ^= 1
    path.write_bytes(data)
    assert "operations/operations.parquet: its checksum is not that of SHA256SUMS" in told(folder)
    (folder.path / "SHA256SUMS").unlink()
    assert "operations/operations.parquet: SHA256SUMS has no checksum of it" in told(folder)
    run_json = folder.path / "run.json"
    run_json.write_text(json.dumps(plain(folder) | {"nonce": ""}))
    assert "SHA256SUMS" not in told(folder), "records of before have none"


def test_columns_that_are_not_those_of_a_record_are_told(tmp_path):
    folder = made(tmp_path)
    folder.convert()
    path = folder.path / "operations" / "operations.parquet"
    path.write_bytes(path.read_bytes().replace(b"intended", b"intendee"))
    (folder.path / "SHA256SUMS").unlink()
    assert "operations: they cannot be read: " in told(folder)


def test_a_parquet_file_that_is_gone_is_named(tmp_path):
    folder = made(tmp_path)
    folder.convert()
    (folder.path / "operations" / "operations.parquet").unlink()
    assert "operations/operations.parquet: the file is not there" in told(folder)


def test_a_torn_tail_and_a_damaged_block_are_told_apart(tmp_path):
    torn = made(tmp_path / "torn")
    path = torn.operations_path(0)
    path.write_bytes(path.read_bytes()[:-100])
    assert "operations/0.table: the last " in told(torn)
    damaged = made(tmp_path / "damaged")
    path = damaged.path / "frames" / "0.table"
    data = bytearray(path.read_bytes())
    data[data.index(b"PBLK") + 40] ^= 0xFF
    path.write_bytes(bytes(data))
    assert "is damaged: its checksum is wrong" in told(damaged)


def test_a_damaged_parquet_file_is_named(tmp_path):
    folder = made(tmp_path)
    folder.convert()
    (path,) = (folder.path / "operations").glob("*.parquet")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert "operations/operations.parquet: " in told(folder)
    assert "cannot be read" in told(folder)


def test_what_was_left_open_and_torn_lines_are_named(tmp_path):
    folder = made(tmp_path)
    folder.journal("server", "begun", target="se")
    kept = folder.journal("objects", "made", case="fill", target="se", remove={"steps": []}, cleanup="never")
    closed = folder.journal("setting", "changed", target="se")
    folder.journal("setting", "restored", of=closed)
    with (folder.path / "events" / "events.jsonl").open("a") as file:
        file.write('{"torn')
    found = told(folder)
    assert "journal: entry 3 (server) was never closed" in found
    assert f"entry {kept}" not in found
    assert "setting" not in found
    assert "events/events.jsonl: line 3 is incomplete or not a JSON object" in found


@pytest.mark.long
def test_events_and_verdicts_are_held_against_run_json(tmp_path):
    folder = made(tmp_path, ended=None, sessions=[{"started": 1, "ended": None}])
    folder.event("case", "copy failed", case=1, state="ended", outcome="failed")
    assert "run.json: the run has not ended" in told(folder)
    assert "copy: its newest event says failed, run.json passed" in told(folder)
    folder.save(run_of({**plain(folder), "ended": scans.START + 10**10, "exit_code": 4, "verdict": "failed"}))
    found = told(folder)
    assert "run.json: verdict is failed, computed again from the record it is passed" in found
    assert "run.json: exit_code is 4, computed again from the record it is 0" in found


@pytest.mark.long
def test_criteria_are_judged_anew(tmp_path):
    criterion = {"id": "C1", "says": "fast", "check": "p50(copy) < 1 s", "coverage": "full"}
    folder = made(tmp_path, criteria=[criterion])
    folder.write_report("results.json", json.dumps({"criteria": [{"id": "C1", "verdict": "not met"}]}).encode())
    assert "results.json: C1 was not met, computed again from the record it is met" in told(folder)
    info = plain(folder)
    folder.save(run_of({**info, "equivalent": [["a", "b"]]}))
    alike = {"tests": ["a", "b"], "verdict": "passed"}
    folder.write_report("results.json", json.dumps({"criteria": [], "equivalences": [alike]}).encode())
    assert "results.json: a, b was passed, computed again from the record it is unknown" in told(folder)
    folder.save(run_of(info))
    folder.write_report("results.json", b"[]")
    assert "results.json: it cannot be read" in told(folder)


def test_findings_are_counted_and_given_as_json(tmp_path, capsys):
    folder = made(tmp_path, twice)
    assert run_app(["verify", str(folder.path)]) == 1
    assert capsys.readouterr().out.endswith("1 finding\n")
    assert run_app(["verify", str(folder.path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["whole"] is False
    assert found["findings"] == [{"where": "operations", "what": "1 ids are in more than one row"}]
    assert run_app(["verify", str(tmp_path)]) == 2


def test_what_is_no_run_folder_is_an_error_of_the_command_line(tmp_path, capsys):
    assert run_app(["verify", str(tmp_path / "nothing")]) == 2
    told = capsys.readouterr().err
    assert "there is no folder" in told
    assert "expected a run folder" in told
    assert run_app(["verify", str(tmp_path)]) == 2
    whole = made(tmp_path)
    whole.convert()
    assert run_app(["merge", str(whole.path), str(whole.path), "--out", str(tmp_path / "out")]) == 2
