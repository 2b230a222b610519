"""No decision is made by the words of a sentence: kinds, classes and numbers decide, sentences are for people."""

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "pileup"
CRATES = ROOT / "crates"
FOREIGN = {
    "builtin/arc/accounting.py": "what SQLite says of ARC's file",
    "builtin/arc/rest.py": "the reason phrase of A-REX",
    "builtin/database/postgresql_log.py": "what PostgreSQL writes into its log",
    "builtin/database/source.py": "what the driver of a database says",
    "builtin/http/connection.py": "OpenSSL's name of an error",
    "builtin/slurm/commands.py": "what sbatch and sacct print",
    "builtin/slurm/records.py": "what sacct prints",
    "builtin/xrootd/words.py": "what an XRootD server says",
    "cli/pages/commands.py": "the help that click prints",
}
"""Modules that read what other programs print."""
OWN = {
    "builtin/reports/junit.py": "shows an outcome once where the reason begins with it",
    "record/older.py": "records of before have sentences alone",
    "suite/problems.py": "splits a message into its parts, for showing them",
}
"""Modules of ours that may, and why."""
RUST = {
    "pileup-xroot/src/session.rs": "shows a broken connection as one in the handshake; decides nothing",
}
"""Files of the engine that may, and why."""


def finder() -> ModuleType:
    """Return sentences.py beside this file as a module."""
    spec = importlib.util.spec_from_file_location("sentences", Path(__file__).with_name("sentences.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def found() -> dict[str, list[str]]:
    """Return module -> the decisions in it."""
    modules = {path.relative_to(SOURCES).as_posix(): path.read_text() for path in sorted(SOURCES.rglob("*.py"))}
    decisions = finder().decisions
    told = {name: [f"{line}: {text}" for line, text in decisions(source)] for name, source in modules.items()}
    return {name: each for name, each in told.items() if each}


@cache
def found_in_rust() -> dict[str, list[str]]:
    """Return file of a crate -> the decisions in it, tests left out."""
    paths = [path for path in sorted(CRATES.glob("*/src/**/*.rs")) if "tests" not in path.with_suffix("").parts]
    decisions = finder().rust_decisions
    told = {
        path.relative_to(CRATES).as_posix(): [f"{line}: {text}" for line, text in decisions(path.read_text())]
        for path in paths
    }
    return {name: each for name, each in told.items() if each}


def test_nothing_is_decided_by_a_sentence() -> None:
    wrong = {name: each for name, each in found().items() if name not in {*FOREIGN, *OWN}}
    assert not wrong, "decide by an enum, a class or a field; the sentence is for people alone"


def test_every_exemption_is_needed() -> None:
    assert sorted(found()) == sorted({*FOREIGN, *OWN})


def test_nothing_is_decided_by_a_sentence_in_the_engine() -> None:
    assert {name: each for name, each in found_in_rust().items() if name not in RUST} == {}
    assert sorted(found_in_rust()) == sorted(RUST)


@pytest.mark.parametrize(
    "planted",
    [
        'if reason.startswith("set-up failed"): pass',
        "if case.reason.startswith(UNREADABLE): pass",
        'if "limit" in reason: pass',
        'if str(problem).lower().endswith("busy"): pass',
        'if "there is nothing" not in str(problem): pass',
        'code = STOPPED.get(stopped.partition(":")[0])',
        'says = event.text.partition(" lasted ")[0]',
        "refused = [each for each in errors if each.message in OUT_OF]",
        "if error.lower().startswith(CANCELLED): pass",
        'if info["stopped"] == "user": pass',
        'if (told.get("reason") or "").startswith("limit"): pass',
        'if re.match("limit: .*", message): pass',
        'if "disabled" in problem.what: pass',
        'if f"{name} is" in note: pass',
        'if message.strip().rpartition("; ")[2] in OUT_OF: pass',
    ],
)
def test_a_planted_decision_is_caught(planted: str) -> None:
    assert list(finder().decisions(planted)), planted


@pytest.mark.parametrize(
    "harmless",
    [
        "if ending.kind is EndingKind.LIMIT: pass",
        'if each.what == "fault": pass',
        'if not reason or reason != "": pass',
        'notes += [f"{reason}: {why}"]',
        'if path.startswith("/"): pass',
        'if "values" in told: pass',
        "if isinstance(problem, NotThere): pass",
        "if figure.note is Note.TOO_FEW: pass",
    ],
)
def test_what_is_no_such_decision_is_let_through(harmless: str) -> None:
    assert not list(finder().decisions(harmless)), harmless


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ('if failure.message.contains("no route") {}', True),
        ('match trouble.failure.message.strip_suffix(" before the answer") {', True),
        ('if error\n    .to_string()\n    .starts_with("login") {}', True),
        ('if why == "full" {}', True),
        ('match problem.as_str() {\n    "full" => 1,\n    _ => 2,\n}', True),
        ('let told = self.reason().to_lowercase().find("limit");', True),
        ("match failure.kind {\n    Kind::Failed => 1,\n}", False),
        ('if path.starts_with("/") {}', False),
        ('Err(problem) => format!("{problem}: x"),', False),
        ('// error.contains("x")\nlet a = 1;', False),
        ('#[cfg(test)]\nmod tests {\n    fn a() { assert!(error.contains("x")); }\n}', False),
    ],
)
def test_a_decision_planted_in_rust_is_caught(planted: str, found: bool) -> None:
    assert bool(list(finder().rust_decisions(planted))) is found
