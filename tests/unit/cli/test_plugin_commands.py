"""list and describe: what they print about plug-ins."""

import json
from pathlib import Path

import pytest

from pileup.cli import main
from pileup.cli.options import option_rows, type_words
from pileup.plugin import registry
from pileup.record import RunFolder
from tests import fakes
from tests.manifests import run_of
from tests.support import EXAMPLES, ROOT

pytestmark = pytest.mark.usefixtures("fake_plugins")


def test_plug_ins_are_listed_with_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "tests"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "tests:"
    assert "  storage.write  Write files of known content." in told


def test_what_cannot_be_loaded_is_listed_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "tests"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "xrootd.copy" in line]
    assert "unavailable: " in line
    assert "no_such_module" in line


def test_all_kinds_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    told = capsys.readouterr().out
    kinds = [line.partition(":")[0] for line in told.splitlines() if line[:1].isalpha()]
    assert kinds == ["tests", "targets", "monitors", "reports", "charts", "exporters", "suites"]
    assert kinds[:-1] == list(registry.KINDS)
    assert "charts: none is installed" in told


def test_suites_are_listed_with_the_question_that_they_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "suites", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out).values()
    found = {each["name"]: each["about"] for each in told}
    assert found["suite:storage-check"].startswith("Does this storage do what it should")
    assert all(found.values())
    assert {f"suite:{path.stem}" for path in EXAMPLES.glob("*.yaml")} <= set(found)


def test_runs_are_listed_with_their_verdicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = ROOT / "tests" / "golden" / "0.1"
    assert main(["list", "runs", "--out", str(golden), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["runs"]
    info = RunFolder.open(golden / "ended").manifest()
    assert [(each["name"], each["verdict"], each["exit_code"]) for each in told] == [
        (str(golden / "ended"), "ended", None),
        (str(golden / "running"), "broken off", None),
    ]
    assert told[0]["about"] == info.title
    assert main(["list", "runs", "--out", str(tmp_path / "nowhere")]) == 0
    assert capsys.readouterr().out == "runs: none in this folder\n"


def test_a_simulation_that_has_not_ended_may_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody holds its lock, so it cannot be called broken off."""
    folder = RunFolder.create(tmp_path, "Simulated", 0)
    folder.save(run_of({"title": "Simulated", "simulated": True}))
    assert main(["list", "runs", "--out", str(tmp_path), "--json"]) == 0
    assert [each["verdict"] for each in json.loads(capsys.readouterr().out)["runs"]] == ["running"]


def test_a_plug_in_is_described_with_its_options(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["describe", "storage.write"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("test storage.write\n\nWrite files of known content.")
    assert "Needs a target that provides 'files'. Runs in the native engine." in told
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in told.splitlines() if "│" in line]
    assert rows[1] == ["files", "count, e.g. 100", "1", ">= 1", "number of files"]
    assert rows[2] == ["size", "size, e.g. 64 MiB", "1 MiB", "<= 1 TiB", "size of each"]
    assert rows[3] == ["order", "one of sequential, random", "sequential", "", "order of the files"]


def test_plug_ins_of_several_kinds_are_all_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "noop"]) == 0
    told = capsys.readouterr().out
    assert "test noop" in told
    assert "target noop" in told
    assert main(["describe", "noop", "--kind", "target"]) == 0
    assert "test noop" not in capsys.readouterr().out


def test_settings_of_a_server_that_pileup_starts_are_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "practice-storage"]) == 0
    told = capsys.readouterr().out
    rows = [
        [cell.strip() for cell in line.split("│")[1:-1]]
        for line in told.partition("Settings")[2].splitlines()
        if "│" in line
    ]
    assert rows == [
        ["threads", "count, e.g. 100", "16", ">= 1", "slots"],
        ["service", "time, fixed or drawn", "none", "", ""],
    ]


def test_an_unknown_name_is_told_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "storage.wirte"]) == 2
    assert "expected 'storage.write'" in capsys.readouterr().err


def test_what_is_unavailable_is_told_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "xrootd.copy"]) == 3
    assert "no_such_module" in capsys.readouterr().err


def test_a_users_file_is_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.py").write_text(
        'from pileup.plugin import Monitor\n\n\nclass Lamp(Monitor):\n    """Is it on? [yes/no]"""\n\n'
        "    room: str\n\n    def sample(self):\n        return []\n"
    )
    monkeypatch.chdir(tmp_path)
    assert main(["describe", "./own.py:Lamp"]) == 0
    told = capsys.readouterr().out
    assert "monitor ./own.py:Lamp" in told
    assert "Is it on? [yes/no]" in told
    assert "required" in told
    assert main(["describe", "./own.py:Lampe"]) == 3


def test_types_are_told_in_words() -> None:
    from typing import Literal

    from pileup.plugin import Duration

    assert type_words(Duration | None) == "time, e.g. 30 s"
    assert type_words(list[str]) == "list of text"
    assert type_words(str | list[int]) == "text or list of whole number"
    assert type_words(dict[str, float]) == "mapping of names to number"
    assert type_words(Literal["a", "b"] | None) == "one of a, b"


def test_options_of_every_fake_can_be_shown() -> None:
    for cls in (each for kind in ("tests", "targets", "monitors") for each in fakes.CLASSES[kind]):
        assert all(len(row) == 5 for row in option_rows(cls))


def test_a_page_comes_as_markdown_and_html(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "storage.write", "--format", "md"]) == 0
    assert "| `files` | count, e.g. 100 | 1 | >= 1 | number of files |" in capsys.readouterr().out
    assert main(["describe", "storage.write", "--format", "html"]) == 0
    assert "<td><code>files</code></td>" in capsys.readouterr().out


@pytest.mark.long
def test_all_pages_are_written_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "--out", str(tmp_path / "pages")]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "pages")
    index = (tmp_path / "pages/index.html").read_text()
    assert '<a href="tests/storage.write.html">storage.write</a>' in index
    assert '<a href="../index.html">' in (tmp_path / "pages/tests/storage.write.html").read_text()
    assert "unavailable" in (tmp_path / "pages/tests/xrootd.copy.html").read_text()


def test_describe_without_anything_to_describe_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe"]) == 2
    assert "expected a NAME, or --out FOLDER" in capsys.readouterr().err
    assert main(["describe", "suite", "--format", "text", "--out", str(tmp_path)]) == 2
    assert "expected md or html" in capsys.readouterr().err
    (tmp_path / "file").touch()
    (tmp_path / "units.html").mkdir()
    assert main(["describe", "units", "--out", str(tmp_path)]) == 2
    assert "units.html cannot be written" in capsys.readouterr().err
    assert main(["describe", "units", "--out", str(tmp_path / "file")]) == 2
    assert "is a file" in capsys.readouterr().err


@pytest.mark.long
def test_the_language_is_described_too(capsys: pytest.CaptureFixture[str]) -> None:
    for name, said in (("suite", "criteria"), ("checks", "p99.9"), ("load", "warm_up"), ("commands", "--set")):
        assert main(["describe", name]) == 0
        assert said in capsys.readouterr().out


LACKING = """from pileup.plugin import FileTarget, Test


class Store(FileTarget):
    kind = "store"


class Ask(Test):
    def run(self, op):
        pass
"""


def test_of_a_class_in_a_file_the_mistake_of_its_own_kind_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A target without what it must have was told to be no Test."""
    (tmp_path / "t.py").write_text(LACKING)
    for name, said in {
        "Store": "t.py:4: Store has no delete expected `def delete(self, ...)` in it",
        "Stor": "t.py has no plug-in 'Stor' expected one of Ask, Store",
    }.items():
        assert main(["describe", f"{tmp_path}/t.py:{name}"]) == 3
        assert said in " ".join(capsys.readouterr().err.split())
