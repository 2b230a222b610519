"""The `command` monitor: numbers from lines or by expressions, and plain words when there are none."""

from __future__ import annotations

from typing import Any

import pytest

from pileup.builtin.command.monitor import CommandMonitor
from pileup.model.record import Sample
from pileup.plugin import PluginError


def sample(command: str | list[str], **options: Any) -> list[Sample]:
    return list(CommandMonitor(command=command, **options).sample())


def test_every_line_with_a_number() -> None:
    text = (
        'queue 12 files\nload=0.5\n free: 1e3 MB \nqueue[pool=tape,host="a b"] 3\n'
        "no number here\nstate OK\nnegative -4\n"
    )
    assert sample(["printf", "%s", text]) == [
        Sample("queue", 12, "files"),
        Sample("load", 0.5),
        Sample("free", 1000, "MB"),
        Sample("queue", 3, "", "host=a b,pool=tape"),
        Sample("negative", -4),
    ]


def test_numbers_by_expression() -> None:
    numbers = {"waiting": r"waiting\s+(\d+)", "hits": r"^Hits: (\d+)$", "missing": r"nothing (\d+)"}
    command = "printf 'x\\nwaiting   7\\nHits: 9\\nHits: 10\\n'"
    assert sample(command, numbers=numbers, units={"hits": "/s"}) == [Sample("waiting", 7), Sample("hits", 9, "/s")]


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("nonsuch", {}, "there is no program 'nonsuch'; expected one in PATH"),
        ("echo no more", {}, r"'echo' gave no number; expected lines like `queue 12 files` \(it gave 'no more"),
        ("echo 5", {"numbers": {"a": "a=(.)"}}, "gave no number; expected a match of a"),
        ("echo oh >&2; exit 3", {"shell": True}, r"ended with exit code 3; expected 0 \(oh\)"),
        ("sleep 20", {"timeout": "200 ms"}, r"'sleep' took longer than 200 ms"),
        ("/etc/passwd", {}, "cannot be started: Permission denied"),
    ],
)
def test_what_goes_wrong_is_told(command: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(PluginError, match=message):
        sample(command, **options)


def test_nan_is_no_number() -> None:
    assert sample("printf 'a nan\\nb .inf\\nc 1\\n'") == [Sample("c", 1)]


@pytest.mark.parametrize(
    "options", [{"command": ""}, {"command": "echo 'a"}, {"command": "true", "numbers": {"a": "a"}}]
)
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"expected"):
        CommandMonitor(**options)
