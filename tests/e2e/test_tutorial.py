"""Every file and every command of the tutorial, in order, in one folder: each does and prints what the page says.

Blocks are distinguished by the word behind their language: `file=` and `append=` are written, `part=` is in a file,
`console` is typed: a `$` before each command, below it what it prints (`…` is anything). `sh` is looked at below.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import ROOT, pileup

pytestmark = pytest.mark.long

PAGE = (ROOT / "docs/tutorial.md").read_text()
FENCE = re.compile(r"^```(\S+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "@@ended with@@"


@dataclass(frozen=True)
class Block:
    """A block of the page and the line on which it begins."""

    language: str
    word: str
    value: str
    text: str
    line: int


BLOCKS = [
    Block(found[1], *(found[2] or "").partition("=")[::2], found[3], PAGE[: found.start()].count("\n") + 1)
    for found in FENCE.finditer(PAGE)
]
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name != "PILEUP_RUNS"},
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "COLUMNS": "120",
}


def commands(block: Block) -> list[tuple[str, str]]:
    """Each command with what the page says that it prints."""
    parts = re.split(r"^\$ (.*)\n", block.text, flags=re.MULTILINE)
    assert parts[0] == "", f"line {block.line}: a console block begins with a command"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def pattern(shown: str) -> str:
    """What is shown as a regular expression; spaces are as wide as they like, a lonely … is any number of lines."""
    lines = []
    for line in shown.splitlines():
        words = [r"[ \t]+".join(map(re.escape, part.split())) for part in line.split("…")]
        any_lines = line.strip() == "…"
        lines.append(r"(?:.*\n)*?" if any_lines else r"[ \t]*" + r".*".join(words) + r"[ \t]*\n")
    return "".join(lines)


def check(block: Block, command: str, shown: str, printed: str) -> None:
    assert not shown or re.fullmatch(pattern(shown) + r"\s*", printed + "\n"), (
        f"tutorial line {block.line}: `{command}` printed\n{printed}\nand the page says\n{shown}"
    )


def typed(block: Block, folder: Path) -> None:
    """Type the commands of a block into one shell."""
    pairs = commands(block)
    script = "".join(f"{{ {command}\n}} 2>&1\necho '{MARK}' $?\n" for command, _ in pairs)
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False
    )
    printed = re.split(rf"{MARK} (\d+)\n", done.stdout)
    codes = [0] * (len(pairs) - 1) + [int(block.value or 0)]
    for (command, shown), text, code, wanted in zip(pairs, printed[::2], printed[1::2], codes, strict=False):
        assert int(code) == wanted, f"tutorial line {block.line}: `{command}` ended with {code}\n{text}"
        check(block, command, shown, text)
    assert len(printed) == 2 * len(pairs) + 1


def passed(folder: Path) -> int:
    """How many cases of the run below a folder have passed so far."""
    for path in folder.glob("*/run.json"):
        return sum(case.get("outcome") == "passed" for case in json.loads(path.read_text())["cases"])
    return 0


def stopped(block: Block, folder: Path) -> None:
    """Type the command of a block, and Ctrl-C when two cases have passed."""
    ((command, shown),) = commands(block)
    with (folder / "printed").open("w+") as out:
        process = subprocess.Popen(
            command.split(), cwd=folder, env=ENVIRONMENT, stdout=out, stderr=out, start_new_session=True
        )
        deadline = time.monotonic() + 120
        while passed(folder / "stopped") < 2:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 6
    check(block, command, shown.replace("^C\n", ""), (folder / "printed").read_text())


def played(block: Block, folder: Path) -> None:
    match block.word:
        case "file":
            (folder / block.value).write_text(block.text)
        case "append":
            with (folder / block.value).open("a") as file:
                file.write(block.text)
        case "part":
            there = (folder / block.value).read_text().splitlines()
            assert not [line for line in block.text.splitlines() if line not in there]
        case "stopped":
            stopped(block, folder)
        case _:
            typed(block, folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of somebody who has done all that the page says."""
    folder = tmp_path_factory.mktemp("tutorial")
    for block in BLOCKS:
        if block.language != "sh":
            played(block, folder)
    return folder


def test_everything_happens_as_the_page_says(folder: Path) -> None:
    assert len(list(folder.glob("runs/*my-first-suite"))) == 3
    assert {"mine.yaml", "scan.yaml", "keep_file.py", "data", "stopped"} <= {path.name for path in folder.iterdir()}


def test_the_criteria_of_the_last_run_are_met(folder: Path) -> None:
    last = max(folder.glob("runs/*my-first-suite"))
    results = json.loads((last / "results.json").read_text())
    verdicts = [criterion["verdict"].removesuffix(", not shown") for criterion in results["criteria"]]  # it is short
    assert verdicts == ["met"] * 3


def test_the_resumed_run_has_the_cases_of_the_whole_one(folder: Path) -> None:
    whole, resumed = (next(folder.glob(f"{name}/*how-many-threads/run.json")) for name in ("runs", "stopped"))
    cases = [
        [(case["name"], case["outcome"]) for case in json.loads(each.read_text())["cases"]] for each in (whole, resumed)
    ]
    assert cases[0] == cases[1]
    assert len(cases[0]) == 12


def test_what_is_not_typed_here_is_right_too(folder: Path) -> None:
    first, last = (block.text for block in BLOCKS if block.language == "sh")
    assert first.startswith("make build\n")
    assert re.search(r"^build:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    program, verb, *arguments = last.split()
    assert (program, verb) == ("pileup", "run")
    done = pileup("validate", *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr


def test_the_page_shows_a_picture_and_has_no_block_of_another_kind() -> None:
    assert {block.language for block in BLOCKS} == {"sh", "console", "yaml", "python"}
    assert PAGE.count("```") == 2 * len(BLOCKS)
    picture = ROOT / "docs/images/report.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 200_000
