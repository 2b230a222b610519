"""Commits say what they change in a subject of 72 characters, and why in a body: those after the rule was written."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BEFORE = "5aeb5fab7c93698f42899b405ac271f9e80dbe0c"
"""The last commit that the rule does not hold for."""
LONGEST = 72


def git(folder: Path, *words: str) -> str:
    """Return what git prints; empty if it fails: no repository, or one that does not have the commit."""
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def messages(folder: Path, before: str) -> dict[str, str]:
    """Return commit -> message of what follows a commit, merges left out; skip the test where that is not known."""
    if not git(folder, "rev-parse", "--verify", "--quiet", f"{before}^{{commit}}"):
        pytest.skip("no history from there on: a shallow clone, or no clone at all")
    told = git(folder, "log", "--no-merges", "-z", "--format=%h%n%B", f"{before}..HEAD")
    return dict(each.split("\n", 1) for each in told.split("\0") if each)


def fault(message: str) -> str:
    """Return what is wrong with the message of a commit; empty if nothing is."""
    subject, _, rest = message.strip().partition("\n")
    if len(subject) > LONGEST:
        return f"a subject of {len(subject)} characters; expected at most {LONGEST}"
    gap, _, body = rest.partition("\n")
    return "" if body.strip() and not gap else "no body; expected an empty line, and then why it was changed"


def test_subjects_are_short_and_bodies_say_why() -> None:
    wrong = {commit: found for commit, message in messages(ROOT, BEFORE).items() if (found := fault(message))}
    assert not wrong, "say it anew with `git commit --amend` or `git rebase -i`"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Give a reason", "no body"),
        ("Give a reason\nright below", "no body"),
        ("Give a reason\n\n \n", "no body"),
        (f"{'x' * 73}\n\nIt is too long.\n", "a subject of 73 characters"),
        (f"{'x' * 72}\n\nIt is not too long.\n", ""),
    ],
)
def test_what_is_missing_is_found(message: str, said: str) -> None:
    assert fault(message).startswith(said) and bool(said) == bool(fault(message))


def test_commits_are_read_from_the_history(tmp_path: Path) -> None:
    me = ("-c", "user.name=me", "-c", "user.email=me@example.org", "-c", "commit.gpgsign=false")
    git(tmp_path, "init", "-q", "-b", "main")
    for subject in ("First", "Second\n\nBecause.", "Third"):
        git(tmp_path, *me, "commit", "-q", "--allow-empty", "-m", subject)
    git(tmp_path, "checkout", "-q", "-b", "other", "HEAD~1")
    git(tmp_path, *me, "commit", "-q", "--allow-empty", "-m", "Fourth")
    git(tmp_path, *me, "merge", "-q", "--no-edit", "main")
    first = git(tmp_path, "rev-list", "--max-parents=0", "HEAD").strip()
    found = messages(tmp_path, first)
    assert sorted(each.strip() for each in found.values()) == ["Fourth", "Second\n\nBecause.", "Third"]
    assert sorted(map(fault, found.values()))[0] == "" and len(set(map(fault, found.values()))) == 2


@pytest.mark.parametrize("there", [True, False], ids=["another history", "no repository"])
def test_without_the_history_there_is_nothing_to_check(there: bool, tmp_path: Path) -> None:
    if there:
        git(tmp_path, "init", "-q")
    with pytest.raises(pytest.skip.Exception):
        messages(tmp_path, BEFORE)
