"""The suites for storage in small form, each against a private XRootD, or against a server that is there."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pileup.record import RunFolder
from tests.servers.xrootd import xrootd
from tests.support import ROOT, check_passed, code_of, explained, pileup, require_program, run_folder

Results = dict[str, Any]


@pytest.fixture(autouse=True)
def _server_program() -> None:
    require_program("xrootd", "apt-get install xrootd-server xrootd-server-plugins xrootd-scitokens-plugins")


def run(suite: str, tmp_path: Path, **values: str) -> Results:
    """Run an example with these values and return its results; the verdict may hang on how busy the machine is."""
    given = [word for name, value in values.items() for word in ("--set", f"{name.replace('__', '.')}={value}")]
    done = pileup("run", f"suite:{suite}", "--quiet", *given, cwd=tmp_path)
    found: Results = json.loads((tmp_path / run_folder(done) / "results.json").read_text())
    assert done.returncode == code_of(found), done.stdout + done.stderr
    assert "not met" not in {each["verdict"] for each in found["criteria"]}, explained(found)
    return found


def totals(results: Results) -> dict[str, dict[str, int]]:
    """Return how many iterations of each test ended how, all its cases together."""
    found: dict[str, dict[str, int]] = {}
    for case in results["cases"]:
        into = found.setdefault(case["test"], {})
        for outcome, number in case["operations"][0]["counts"].items():
            into[outcome] = into.get(outcome, 0) + number
    return found


def wrong(results: Results) -> list[str]:
    """Return what did not pass."""
    return [f"{each['outcome']} {each['message']}" for each in results["errors"]]


@pytest.mark.long
def test_the_acceptance_of_a_storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"clients": "12", "readers": "6", "size": "256 KiB", "duration": "1 s", "warm_up": "200 ms"}
    few = {"moves": "10", "movers": "4", "delivered": "1 MB/s", "taken": "100 kB/s"}
    results = run("vendor-acceptance", tmp_path, **small, **few)
    assert wrong(results) == []
    counts = totals(results)
    assert {name: counts[name]["passed"] for name in ("fill", "sums", "kept", "fill_far", "sums_far")} == dict.fromkeys(
        ("fill", "sums", "kept", "fill_far", "sums_far"), 12
    )
    assert all(counts[name]["passed"] > 12 for name in ("out", "in", "direct", "far", "s3"))
    assert {name: counts[name]["passed"] for name in ("fetched", "sent")} == {"fetched": 10, "sent": 10}
    criteria = {each["id"]: each for each in results["criteria"]}
    met = (*range(1, 9), *range(14, 19))
    assert {criteria[f"C{number}"]["verdict"] for number in met} <= {"met", "met, not shown"}
    assert (criteria["C1"]["says"], criteria["C13"]["verdict"]) == ("12 copies out at once, none fails", "not covered")
    assert {each["coverage"] for each in results["criteria"]} == {"full", "partial", "none"}
    checked = {each["operation"]: each for each in _case(results, "out")["operations"]}
    assert checked["checksum"]["counts"]["passed"] == checked["copy"]["counts"]["passed"]
    for name in ("fetched", "sent"):
        moved = {each["operation"]: each for each in _case(results, name)["operations"]}
        assert moved["checksum"]["counts"]["passed"] == moved["copy"]["counts"]["passed"] == 10
        assert moved["copy"]["bytes"] == 10 * 256 * 1024
    (folder,) = (tmp_path / "runs").iterdir()
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    acceptance = import_module("acceptance")
    record, server = acceptance.recorded(folder), acceptance.counted(folder)
    assert min(record.values()) > 0 and acceptance.agree(record, server), (record, server)


@pytest.mark.long
def test_the_acceptance_of_a_server_that_is_there_needs_one_url(tmp_path: Path) -> None:
    small = {"clients": "4", "readers": "2", "size": "64 KiB", "duration": "300 ms", "warm_up": "100 ms"}
    (tmp_path / "server").mkdir()
    with xrootd(tmp_path / "server") as server:
        url = server.root
        results = run("vendor-acceptance", tmp_path, targets__se__url=url, **small, delivered="1 MB/s", taken="10 kB/s")
        left = list(server.data.iterdir())
    assert wrong(results) == []
    assert {target["url"] for target in results["run"]["targets"] if target["name"] != "peer"} == {url}
    check_passed(results)
    verdicts = {each["id"]: (each["verdict"], each["remark"]) for each in results["criteria"]}
    assert {verdicts[f"C{number}"] for number in (15, 16, 17, 18)} == {
        ("not covered", "se_https has a url, and peer has none")
    }
    assert left == [], "the suite removes what it has made"


@pytest.mark.long
def test_the_acceptance_of_a_storage_from_far_covers_its_criterion_fully(tmp_path: Path) -> None:
    words = {"targets__se_https__path__latency": "50 ms", "delivered": "10 kB/s"}
    small = {"clients": "6", "readers": "2", "size": "64 KiB", "duration": "1 s", "warm_up": "200 ms"}
    results = run("vendor-acceptance", tmp_path, **words, **small, taken="10 kB/s")
    (far,) = (each for each in results["criteria"] if each["id"] == "C8")
    assert (far["verdict"].partition(",")[0], far["coverage"]) == ("met", "full")
    copies = _case(results, "far")["operations"][0]["response"]
    assert copies["smallest"] >= 3 * 50e6, "connect, TLS, GET"
    door = next(each for each in results["run"]["targets"] if each["name"] == "se_https")
    assert "adds 50 ms to a round trip" in " ".join(door["remarks"])


def _case(results: Results, name: str) -> Results:
    return next(case for case in results["cases"] if case["test"] == name)


def counters(folder: Path) -> dict[str, float]:
    """Return what the server has counted at the end of a run."""
    rows = [row for row in RunFolder.open(folder).samples() if row.monitor == "xrootd"]
    return {row.sample.metric: row.sample.value for row in rows}


@pytest.mark.long
def test_the_counters_of_the_server_are_those_of_the_record(tmp_path: Path) -> None:
    size = 300_000
    options = {"files": 20, "size": f"{size} B"}
    suite = {
        "pileup": 1,
        "title": "counters",
        "targets": {"se": {"kind": "xrootd", "launch": {}}},
        "options": options,
        "tests": [
            {"name": "fill", "use": "storage.write", "load": {"clients": 4, "times": 20}},
            {"name": "out", "use": "storage.copy", "after": ["fill"], "load": {"clients": 8, "times": 200}},
            {
                "name": "look",
                "use": "storage.read",
                "options": {"layers": "control"},
                "load": {"clients": 8, "times": 50},
            },
            {"name": "rest", "use": "noop", "after": ["out", "look"], "options": {"cost": "600 ms"}},
        ],
        "monitors": [{"use": "xrootd", "target": "se", "every": "200 ms"}],
    }
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    last = counters(tmp_path / run_folder(done))
    assert last["opens"] == 20 + 200 + 50
    assert last["errors"] == 0
    assert 200 * size <= last["out"] < 1.02 * 200 * size
    assert 20 * size <= last["in"] < 1.05 * 20 * size


@pytest.mark.long
def test_the_namespace_of_a_server_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    with xrootd(tmp_path / "server", tls=True) as server:
        se = {"targets__se__url": server.roots, "targets__se__credentials__ca": server.ca}
        small = {"clients": "4", "files": "60", "duration": "300 ms", "warm_up": "100 ms", "repeats": "1"}
        results = run("namespace", tmp_path, **se, **small)
        left = list(server.data.iterdir())
    assert wrong(results) == []
    assert left == [], "the suite removes what it has made"
    counts = totals(results)
    assert counts["delete"]["passed"] == 60
    assert all(each["passed"] > 0 for each in counts.values())
    rates = [each for each in results["comparisons"] if (each["test"], each["metric"]) == ("create", "rate")]
    assert [point["values"]["create.folders"] for point in results["points"]] == ["1", "8", "64"]
    assert len(rates[0]["points"]) == 3


@pytest.mark.long
def test_buffers_and_read_ahead_are_compared(tmp_path: Path) -> None:
    small = {"readers": "2", "size": "2 MiB", "duration": "300 ms", "warm_up": "100 ms", "repeats": "1"}
    results = run("read-ahead", tmp_path, **small)
    assert wrong(results) == []
    assert totals(results)["read"]["passed"] > 12
    calls = {}
    for case in results["cases"]:
        if case["test"] == "read":
            figures = case["operations"][0]
            calls[tuple(case["point"].values())] = figures["calls"] / figures["counts"]["passed"]
    assert calls["128 KiB", "0 B"] > 16 > calls["8 MiB", "0 B"], "a request for each buffer"
    watched = {f"{each['test']}.{each['operation']}" for each in results["comparisons"] if each["monitor"]}
    assert {"node.load1", "node.cpu[mode=system]", "xrootd.out_rate", "xrootd.threads"} <= watched
    assert any(name.startswith("process.cpu") for name in watched), "of the server alone"


@pytest.fixture
def disk() -> Iterator[tuple[str, Path]]:
    """A disk of its own in a file, with a folder on it that any user can reach."""
    require_program("losetup", "apt-get install mount")
    require_program("mkfs.ext4", "apt-get install e2fsprogs")
    with tempfile.TemporaryDirectory() as folder:
        image, at = Path(folder, "image"), Path(folder, "at")
        with image.open("wb") as file:
            file.truncate(64 << 20)
        made = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True, check=False)
        if made.returncode:
            pytest.skip(f"no disk can be made of a file: {made.stderr.strip()} (needs root and loop devices)")
        device = made.stdout.strip()
        try:
            subprocess.run(["mkfs.ext4", "-q", device], check=True)
            at.mkdir()
            subprocess.run(["mount", device, at], check=True)
            try:
                place = at / "pileup"
                place.mkdir()
                for each in (Path(folder), at, place):
                    each.chmod(0o777)
                yield device, place
            finally:
                subprocess.run(["umount", at], check=True)
        finally:
            subprocess.run(["losetup", "--detach", device], check=True)


def read_ahead(device: str) -> int:
    """Return the read-ahead of a disk, sectors of 512 bytes."""
    found = subprocess.run(["blockdev", "--getra", device], capture_output=True, text=True, check=True)
    return int(found.stdout)


@pytest.mark.long
def test_the_read_ahead_of_a_disk_is_an_axis_and_is_restored(disk: tuple[str, Path], tmp_path: Path) -> None:
    device, folder = disk
    before = read_ahead(device)
    small = {"readers": "2", "size": "4 MiB", "repeats": "2", "delivered": "1 kB/s"}
    results = run("disk-read-ahead", tmp_path, disk=device, folder=str(folder), **small)
    assert wrong(results) == []
    assert [point["values"]["disk.read_ahead"] for point in results["points"]] == ["256"] * 4 + ["16384"] * 4
    assert totals(results)["read"]["passed"] == 8 * 2 * 2, "each file once at each point and repeat"
    assert len([each for each in results["events"] if each["kind"] == "setting"]) >= 3, "to and fro, and back"
    effects = [each for each in results["comparisons"] if (each["test"], each["metric"]) == ("read", "throughput")]
    assert len(effects[0]["points"]) == 8
    assert read_ahead(device) == before
    assert list(folder.iterdir()) == [], "the files of the run are removed"


@pytest.mark.timed
def test_new_tls_connections_cost_several_times_a_kept_one(tmp_path: Path) -> None:
    small = {"size": "256 KiB", "files": "1", "duration": "400 ms", "warm_up": "100 ms", "repeats": "3"}
    results = run("protocols", tmp_path, scan="{options.target: [https, https_new]}", **small)
    assert wrong(results) == []
    look = next(each for each in results["comparisons"] if (each["test"], each["metric"]) == ("look", "p50"))
    assert look["differences"][0]["relative"]["value"] > 4, "five times: seven to eleven were seen"


@pytest.mark.timed
def test_page_checksums_cost_a_multiple_of_plain_reads(tmp_path: Path) -> None:
    small = {"size": "32 MiB", "files": "1", "duration": "500 ms", "warm_up": "200 ms", "repeats": "2"}
    results = run("protocols", tmp_path, scan="{options.target: [root_pages, root]}", **small)
    assert wrong(results) == []
    read = next(each for each in results["comparisons"] if (each["test"], each["metric"]) == ("read", "throughput"))
    assert read["differences"][0]["relative"]["value"] > 1, "2.5 more on a machine that is free"
    fastest = fastest_of(results, "read")
    assert fastest["root_pages"] > 3.5 * fastest["root"], "what other programs take of the machine is in all others"


def fastest_of(results: Results, test: str) -> dict[str, float]:
    """Return the shortest response of a test at each target."""
    found: dict[str, float] = {}
    for case in results["cases"]:
        if case["test"] == test:
            (target,) = case["point"].values()
            least = case["operations"][0]["response"]["smallest"]
            found[target] = min(least, found.get(target, least))
    return found


@pytest.mark.long
def test_the_same_files_are_read_over_every_protocol(tmp_path: Path) -> None:
    small = {"size": "256 KiB", "files": "2", "duration": "100 ms", "warm_up": "50 ms", "repeats": "1"}
    results = run("protocols", tmp_path, **small)
    assert wrong(results) == []
    names = ["root", "root_pages", "root_tls", "http", "https", "https_new", "s3"]
    assert [point["values"]["options.target"] for point in results["points"]] == names
    assert all(each["passed"] > 0 for each in totals(results).values())
