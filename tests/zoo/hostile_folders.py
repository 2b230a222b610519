"""Run folders as nobody's pileup has written them: what an attacker, a bug or a bad disk makes of one.

`make` puts them all below a folder. Whatever reads them must execute, end, remove and write nothing outside of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pileup.run.servers.processes import Identity

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "0.1"
SPARSE = 1 << 42
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b1mfine\r\u202egnp"
DEEP = 100_000
HUGE = 10**30


@dataclass(frozen=True, slots=True)
class Victim:
    """What the folders are after."""

    outside: Path
    """A folder with files that must stay as they are: `precious`, `pileup-scratch/`, `level`."""
    pid: int
    """A process that must go on."""
    suite: Path
    """A suite whose commands and plug-in leave a trace in `outside` when they are executed."""
    nonce: str
    """That of a run of the victim's own that has crashed: anybody who may read its folder knows it."""


Change = Callable[[Path, Victim], None]


def make(base: Path, victim: Victim) -> list[Path]:
    """Write all folders below `base`; return them."""
    made = []
    for name, (source, change) in sorted(FOLDERS.items()):
        path = base / name
        shutil.copytree(GOLDEN / source, path)
        (path / ".running").touch()
        _info(suite=_suite(victim), nonce=victim.nonce)(path, victim)
        change(path, victim)
        made.append(path)
    return made


def _swapped(one: str, other: str) -> Change:
    """Exchange two folders of tables."""

    def change(path: Path, victim: Victim) -> None:
        (path / one).rename(path / "between")
        (path / other).rename(path / one)
        (path / "between").rename(path / other)

    return change


def _cut(name: str, share: float) -> Change:
    """Keep the first part of a file alone."""

    def change(path: Path, victim: Victim) -> None:
        data = (path / name).read_bytes()
        (path / name).write_bytes(data[: int(len(data) * share)])

    return change


def _suite(victim: Victim) -> dict[str, Any]:
    digest = hashlib.sha256(victim.suite.read_bytes() + b"\0{}").hexdigest()
    folder = str(victim.suite.parent)
    return {"source": str(victim.suite), "folder": folder, "text": "", "digest": digest, "values": {}}


def _info(**fields: Any) -> Change:
    def change(path: Path, victim: Victim) -> None:
        info = json.loads((path / "run.json").read_bytes()) | fields
        (path / "run.json").write_text(json.dumps(info))

    return change


def _text(name: str, text: str | bytes) -> Change:
    def change(path: Path, victim: Victim) -> None:
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        (path / name).write_bytes(data)

    return change


def _case(**fields: Any) -> Change:
    """Change the first case."""

    def change(path: Path, victim: Victim) -> None:
        info = json.loads((path / "run.json").read_bytes())
        info["cases"][0] |= fields
        (path / "run.json").write_text(json.dumps(info))

    return change


def _journal(*entries: dict[str, Any] | str) -> Change:
    """Append entries, begun by an owner that is gone; words in braces are filled in."""

    def change(path: Path, victim: Victim) -> None:
        owner = {"what": "owner", "state": "begun", "pid": 2**22 - 1, "ticks": 1, "host": socket.gethostname()}
        identity = asdict(Identity.of(victim.pid) or Identity(victim.pid, 0))
        words = {"{outside}": str(victim.outside), "{nonce}": victim.nonce[:12], "{path}": str(path)}
        with (path / "journal.jsonl").open("a") as file:
            for number, entry in enumerate((owner, *entries), 2):
                if isinstance(entry, str):
                    file.write(entry + "\n")
                    continue
                whole = {"number": number, "time": 1, **(identity if entry.pop("victim", False) else {}), **entry}
                entry.update({"victim": True} if "pid" in whole and whole["pid"] == victim.pid else {})
                text = json.dumps(whole)
                for word, value in words.items():
                    text = text.replace(word, value)
                file.write(text + "\n")

    return change


def _link(name: str, to: str) -> Change:
    """Put a link in the place of a file or folder."""

    def change(path: Path, victim: Victim) -> None:
        _gone(path / name)
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).symlink_to(to.replace("{outside}", str(victim.outside)))

    return change


def _fifo(name: str) -> Change:
    def change(path: Path, victim: Victim) -> None:
        _gone(path / name)
        os.mkfifo(path / name)

    return change


def _sparse(name: str, keep: bool = False) -> Change:
    """Make a file huge, with nothing on the disk; its first bytes may stay."""

    def change(path: Path, victim: Victim) -> None:
        with (path / name).open("ab") as file:
            if not keep:
                file.truncate(0)
            file.truncate(SPARSE)

    return change


def _directory(name: str) -> Change:
    def change(path: Path, victim: Victim) -> None:
        _gone(path / name)
        (path / name).mkdir()

    return change


def _device(name: str) -> Change:
    """Put /dev/zero in the place of a file, where we may make one; else a pipe."""

    def change(path: Path, victim: Victim) -> None:
        _gone(path / name)
        try:
            os.mknod(path / name, 0o600 | 0o020000, os.makedev(1, 5))
        except OSError:
            os.mkfifo(path / name)

    return change


def _gone(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _all(*changes: Change) -> Change:
    def change(path: Path, victim: Victim) -> None:
        for each in changes:
            each(path, victim)

    return change


def _nested(path: Path, victim: Victim) -> None:
    (path / "output" / "/".join(100 * "d")).mkdir(parents=True)


SERVER = {"what": "server", "state": "begun", "target": "se", "process": "x"}
STARTED = {**SERVER, "state": "started", "of": 3, "victim": True, "mark": "f" * 32}
SETTING = {"what": "setting", "state": "changed", "target": "se", "setting": "level", "value": "9", "before": "1"}
SCRATCH = {"what": "scratch", "state": "made", "target": "se"}
DELETE = {"operation": "delete", "verb": "delete", "repeat": 1, "headers": [], "size": 0}
OBJECTS = {"what": "objects", "state": "made", "case": "fill", "target": "se", "cleanup": "always"}
KEYS = {"prefix": "", "count": 1, "names": ["precious"]}

FOLDERS: dict[str, tuple[str, Change]] = {
    "harmless": ("ended", lambda path, victim: None),
    # What would be executed.
    "setting": ("running", _journal(SETTING)),
    "setting-ended": ("ended", _journal(SETTING)),
    "suite-is-a-fifo": ("ended", _all(_fifo("evil.yaml"), _journal(SETTING))),
    "suite-elsewhere": ("ended", _all(_info(suite={"folder": "/dev", "source": "zero", "digest": "", "values": {}}))),
    "suite-is-a-list": ("ended", _all(_info(suite=[1, 2]), _journal(SETTING))),
    "suite-with-nul": ("ended", _all(_info(suite={"folder": "a\0", "source": "", "digest": "", "values": {}}))),
    "case-to-run": ("running", _all(_case(outcome=None), _journal())),
    # What would be ended, removed, unmounted.
    "server": ("running", _journal(SERVER, STARTED)),
    "server-without-mark": ("running", _journal(SERVER, {**STARTED, "mark": ""})),
    "server-of-init": ("running", _journal(SERVER, {**STARTED, "pid": 1})),
    "server-of-pid-0": ("running", _journal(SERVER, {**STARTED, "pid": 0})),
    "server-of-all": ("running", _journal(SERVER, {**STARTED, "pid": -1})),
    "server-of-huge-pid": ("running", _journal(SERVER, {**STARTED, "pid": HUGE})),
    "pause": ("running", _journal({**STARTED, "what": "pause", "state": "begun", "of": None})),
    "fault": ("running", _journal({**STARTED, "what": "fault", "state": "begun", "do": "command", "test": "copy"})),
    "scratch": ("running", _journal({**SCRATCH, "path": "{outside}/pileup-scratch"})),
    "scratch-with-nonce": ("running", _journal({**SCRATCH, "path": "{outside}/pileup-{nonce}-1"})),
    "scratch-dots": ("running", _journal({**SCRATCH, "path": "/tmp/pileup-{nonce}-1/../../{outside}"})),
    "scratch-root": ("running", _journal({**SCRATCH, "path": "/"})),
    "disk": ("running", _journal({**SCRATCH, "what": "disk", "path": "/proc"})),
    "objects": ("ended", _journal({**OBJECTS, "remove": {"steps": [{**DELETE, "keys": KEYS}]}})),
    "objects-many": ("ended", _journal({**OBJECTS, "remove": {"steps": [{**DELETE, "repeat": HUGE}]}})),
    "jobs": ("ended", _journal({**OBJECTS, "what": "jobs", "stamp": "0" * 10})),
    "delegations": ("ended", _journal({**OBJECTS, "what": "delegations"})),
    # Journals that are none.
    "journal-without-path": ("running", _journal(SCRATCH)),
    "journal-deep": ("running", _journal("[" * DEEP, '{"number":' * 5000, SCRATCH)),
    "journal-numbers": ("running", _journal('{"number": 1e999, "time": 1}', f'{{"number": {HUGE}, "time": -1}}')),
    "journal-kinds": ("running", _journal('{"number": 9, "time": 1, "what": ["a"], "state": {}, "of": []}')),
    "journal-owner": ("running", _journal({"what": "owner", "state": "begun", "pid": "x", "host": [1]}, SCRATCH)),
    "journal-alive": ("running", _journal({"what": "owner", "state": "begun", "pid": 1, "host": "elsewhere"})),
    "journal-binary": ("running", _text("journal.jsonl", bytes(range(256)) * 1000)),
    "journal-is-a-link": ("ended", _link("journal.jsonl", "{outside}/precious")),
    "journal-is-a-fifo": ("ended", _fifo("journal.jsonl")),
    "journal-sparse": ("ended", _sparse("journal.jsonl")),
    "events-are-a-fifo": ("ended", _fifo("events/events.jsonl")),
    "events-numbers": (
        "ended",
        _text("events/events.jsonl", '{"number": 1, "time": 1, "kind": 7, "text": null, "case": [1], "begin": "x"}\n'),
    ),
    # Links and other things in the place of files.
    "run-json-is-a-link": ("ended", _link("run.json", "{outside}/precious")),
    "run-json-is-a-device": ("ended", _device("run.json")),
    "run-json-is-a-folder": ("ended", _directory("run.json")),
    "run-json-sparse": ("ended", _sparse("run.json")),
    "report-is-a-link": ("ended", _link("report.html", "{outside}/precious")),
    "part-is-a-link": ("ended", _link(".report.html.part", "{outside}/precious")),
    "results-are-a-link": ("ended", _link("results.json", "{outside}/precious")),
    "operations-are-a-link": ("ended", _link("operations", "{outside}")),
    "parquet-is-a-link": ("ended", _link("operations/operations.parquet", "/dev/zero")),
    "sums-part-is-a-link": ("running", _link("SHA256SUMS.part", "{outside}/precious")),
    "output-is-a-link": ("ended", _link("output/copy/stdout.txt", "/etc/passwd")),
    "notes-are-a-link": ("ended", _link("notes.jsonl", "/etc/passwd")),
    "running-is-a-link": ("ended", _link(".running", "{outside}/precious")),
    "running-is-a-fifo": ("ended", _fifo(".running")),
    "servers-is-a-link": ("ended", _link("servers", "{outside}")),
    "folders-without-end": ("ended", _nested),
    # Tables and sums.
    "sums-outside": ("ended", _text("SHA256SUMS", f"{'0' * 64}  ../../outside/precious\n{'0' * 64}  /dev/zero\n")),
    "sums-sparse": ("ended", _sparse("SHA256SUMS")),
    "parquet-is-text": ("ended", _text("operations/operations.parquet", "PAR1 no PAR1")),
    "frames-sparse": ("ended", _sparse("frames/0.table", keep=True)),
    "frames-header": ("ended", _text("frames/0.table", b"PILEUP1\n\x02\x00\x00\x00{}")),
    "frames-are-text": ("ended", _text("frames/0.table", "nothing")),
    # run.json.
    "future": ("ended", _info(format=99)),
    "future-words": ("ended", _info(format="\x1b[2J" * 10)),
    "run-json-deep": ("ended", _text("run.json", "[" * DEEP)),
    "run-json-list": ("ended", _text("run.json", "[]")),
    "run-json-numbers": ("ended", _info(started=HUGE, ended=-HUGE, sessions=[{"started": HUGE, "ended": None}])),
    "run-json-nan": (
        "ended",
        _text("run.json", '{"format": 1, "title": NaN, "started": NaN, "cases": []}'),
    ),
    "run-json-words": ("ended", _info(started="now", ended=[], sessions=7, void="x", places=[{"number": "a"}])),
    "void": ("ended", _info(void=[["1); DROP TABLE x; --", 1]])),
    "cases-are-words": ("ended", _info(cases=["a", 1])),
    "case-twice": ("ended", _case(id=2)),
    "case-numbers": ("ended", _case(id=HUGE, visit=HUGE, repeat=-1)),
    "case-words": ("ended", _case(id="1", name=["a"], load_kind={}, point=3, outcome=7)),
    "case-name-dots": ("ended", _case(name="../../../outside/precious")),
    "points": ("ended", _info(points={"a": 1}, scan=[1], repeat="many", monitors=3, equivalent=[["x"]], hosts=[1])),
    "escapes": ("ended", _all(_info(title=ESCAPES), _case(name=ESCAPES, reason=ESCAPES, outcome="failed"))),
    # run.json as a disk or an editor leaves it.
    "damaged-empty": ("ended", _text("run.json", "")),
    "damaged-half": ("ended", _cut("run.json", 0.5)),
    "damaged-twice": ("ended", _all(_info(), _text("run.json", '{"format": 1}{"format": 1}'))),
    "damaged-null": ("ended", _text("run.json", "null")),
    "damaged-binary": ("ended", _text("run.json", bytes(range(256)))),
    "damaged-object": ("ended", _text("run.json", "{}")),
    "damaged-format": ("ended", _info(format=True)),
    "damaged-title": ("ended", _info(title=[1])),
    "damaged-cases": ("ended", _info(cases={})),
    "damaged-cases-null": ("ended", _info(cases=[None])),
    "damaged-id-float": ("ended", _case(id=2.0)),
    "damaged-id-negative": ("ended", _case(id=-2)),
    "damaged-outcome": ("ended", _case(outcome="great")),
    "damaged-spans": ("ended", _case(spans=[["a", "b"]])),
    "damaged-rate": ("ended", _case(rate="fast")),
    "damaged-point": ("ended", _case(point=["a"])),
    "damaged-length": ("ended", _case(**{"for": HUGE, "longest": -1, "timeout": "x"})),
    "damaged-times": ("ended", _info(started=-1, ended=5)),
    "damaged-verdict": ("ended", _info(verdict="good", exit_code="0", state="asleep")),
    "damaged-suite": ("ended", _info(suite=None, targets=None)),
    "damaged-target": ("ended", _info(targets=[{}])),
    "damaged-check": ("ended", _info(criteria=[{"id": "C", "says": "", "check": 3}])),
    "damaged-overhead": ("ended", _info(overhead={"native": "slow"}, hosts=[{"cpus": "many"}])),
    "damaged-audits": ("ended", _info(audits=[{}], until={"figure": 1}, merged=[{"folder": 1}])),
    "damaged-nonce": ("ended", _info(nonce=7)),
    "swapped-operations-frames": ("running", _swapped("operations", "frames")),
    "swapped-operations-samples": ("ended", _swapped("operations", "samples")),
    "swapped-frames-samples": ("running", _swapped("frames", "samples")),
    "escapes-journal": ("ended", _journal({**SCRATCH, "target": ESCAPES, "path": ESCAPES})),
}
