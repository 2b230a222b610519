"""Scripts of completion in the shells that are here; manual pages through groff."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pileup.cli import main
from pileup.cli.app import app
from pileup.cli.completion import BASH, PLACES, script
from tests.support import give_up


@pytest.mark.parametrize("shell", PLACES)
def test_a_shell_takes_its_script(shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        give_up(f"{shell} is not installed; as root: apt-get install {shell}")
    subprocess.run([program, "-n"], input=script(shell, app), text=True, check=True, timeout=20)


def test_bash_completes_words_with_a_colon(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash, "the tests need bash"
    fake = tmp_path / "pileup"
    fake.write_text('#!/bin/sh\necho "$COMP_CWORD" > "$0.word"\necho plain,suite:find\necho plain,suite:first-run\n')
    fake.chmod(0o755)
    script = f"""{BASH}
compopt() {{ :; }}
COMP_WORDBREAKS=': ' COMP_LINE='pileup run suite:fi' COMP_POINT=19
_pileup_completion {fake}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run([bash, "-c", script], capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout.split() == ["find", "first-run"]
    assert (tmp_path / "pileup.word").read_text().strip() == "2"


def test_manual_pages_are_roff_without_warnings(tmp_path: Path) -> None:
    groff = shutil.which("groff")
    if groff is None:
        give_up("groff is not installed; as root: apt-get install groff-base")
    assert main(["man", "--out", str(tmp_path)]) == 0
    command = [groff, "-man", "-Tutf8", "-ww", *map(str, sorted(tmp_path.iterdir()))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
