"""Command lines of places."""

import sys

import pytest

from pileup.fleet.launch import by_ssh, process
from pileup.model.errors import TargetError


def test_a_process_here_is_this_python() -> None:
    assert process(2).command == (sys.executable, "-P", "-m", "pileup", "place")
    assert process(2).name == "process 2"


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("node1", ["--", "node1"]),
        ("me@node1.site.org", ["-l", "me", "--", "node1.site.org"]),
        ("me@10.0.0.1:2222", ["-p", "2222", "-l", "me", "--", "10.0.0.1"]),
        ("[::1]:22", ["-p", "22", "--", "::1"]),
    ],
)
def test_a_host_has_user_and_port(host: str, words: list[str]) -> None:
    command = by_ssh(host).command
    assert command[0] == "ssh"
    assert "BatchMode=yes" in command
    assert list(command[-len(words) - 1 : -1]) == words
    assert command[-1] == f"exec {sys.executable} -P -m pileup place"


@pytest.mark.parametrize("host", ["", "-oProxyCommand=x", "a b", "me@-x", "a:b", "a:1:2", "@x", "me@", "x;y z"])
def test_what_is_no_host_is_refused(host: str) -> None:
    with pytest.raises(TargetError, match="is not a host"):
        by_ssh(host)


def test_the_command_and_the_python_may_be_others() -> None:
    start = by_ssh("node1", "/opt/my python", "ssh -F 'my file'")
    assert start.command[:3] == ("ssh", "-F", "my file")
    assert start.command[-1] == "exec '/opt/my python' -P -m pileup place"
