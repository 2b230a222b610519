"""Jobs in xRSL: what ARC's scripts would change on its way is wrapped up."""

import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pileup.builtin.arc.words import ASKED, WAITS, describe, describe_all, quoted
from pileup.plugin.batch import JobSpec, JobState
from tests.support import examples


def argument(text: str) -> str:
    """What the shell of a job is given."""
    found = re.search(r'\(arguments="-c" "((?:[^"]|"")*)"\)', text)
    assert found is not None
    return found[1].replace('""', '"')


def test_a_job_that_sleeps_is_written_as_it_is() -> None:
    text = describe(JobSpec("a-1", 1_500_000_000, delegation="f00"), "batch", "(cpuTime=5)")
    assert text == (
        '&(executable="/bin/sh")(arguments="-c" "exec sleep 1.500")(jobname="a-1")(queue="batch")(delegationid="f00")'
        "(cpuTime=5)"
    )
    assert "queue" not in describe(JobSpec("a"))


def test_several_jobs_are_one_request() -> None:
    one, two = describe(JobSpec("a")), describe(JobSpec("b"))
    assert describe_all([one]) == one
    assert describe_all([one, two]) == f"+({one})({two})"


@pytest.mark.long
@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20), min_size=1, max_size=3))
def test_what_a_node_runs_is_what_was_asked_for(words: list[str]) -> None:
    line = argument(describe(JobSpec("a", work="command", command=("printf", "%s|", *words))))
    assert not set(line) & set('$`"\\\n')  # the script of the job has it in double quotes
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=True)
    assert done.stdout.decode() == "".join(f"{word}|" for word in words)


def test_the_exit_status_of_a_wrapped_job_is_its_own() -> None:
    line = argument(describe(JobSpec("a", work="command", command=("sh", "-c", 'exit "$((3 + 4))"'))))
    assert line.startswith("echo ")
    assert subprocess.run(["/bin/sh", "-c", line], check=False).returncode == 7


def test_a_core_is_kept_busy_by_a_line_that_ends_well() -> None:
    line = argument(describe(JobSpec("a", 50_000_000, work="cpu")))
    assert subprocess.run(["/bin/sh", "-c", line], check=False).returncode == 0


@given(st.text(max_size=30))
def test_a_text_is_quoted_by_doubling(text: str) -> None:
    assert quoted(text)[1:-1].replace('""', "").count('"') == 0
    assert quoted(text)[1:-1].replace('""', '"') == text


def test_every_state_has_its_place() -> None:
    assert {state for word, state in ASKED.items() if word in WAITS} == {JobState.QUEUED}
    assert {word for word, state in ASKED.items() if state.final} == {"FINISHED", "FAILED", "KILLED"}
