"""A launched server says who may come in, and may come back elsewhere; what the suite says of that goes before."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pileup.model.errors import PluginError, TargetError
from pileup.model.suite import Credentials
from pileup.plugin import Monitor
from pileup.record import RunFolder
from pileup.run.servers.supervisor import Supervisor
from pileup.run.targets.opening import Targets
from pileup.suite import instances, load

DOOR = '''
import sys
from pileup.plugin import Accepts, ClientSpec, Daemon, File, Launcher, Target

CODE = """
import socket, sys, time
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
time.sleep(60)
"""


class Door(Target):
    """A server whose settings change its address and who may come in."""

    kind = "./door.py:Door"
    provides = frozenset({"any", "files"})

    @classmethod
    def launcher(cls, settings, folder):
        scheme, port = settings.get("scheme", "http"), settings.get("port", "main")
        given = {"ca": "{folder}/ca.pem"} if scheme == "https" else {}
        if settings.get("token"):
            given["token_file"] = "{folder}/token"
        daemon = Daemon((sys.executable, "-c", CODE, "{port:%s}" % port), Accepts("{port:%s}" % port))
        return Launcher((daemon,), scheme + "://127.0.0.1:{port:%s}/" % port, credentials=given)

    def client(self):
        return ClientSpec("noop")
'''
SUITE = """
pileup: 1
title: t
targets: {se: {kind: "./door.py:Door", launch: {LAUNCH}, credentials: {CREDENTIALS}}}
tests: [{name: a, use: noop, target: se}]
"""


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    supervisor = Supervisor()
    yield supervisor
    supervisor.end_all()


def opened(folder: Path, supervisor: Supervisor, launch: str = "", credentials: str = "") -> Targets:
    (folder / "door.py").write_text(DOOR)
    (folder / "s.yaml").write_text(SUITE.replace("LAUNCH", launch).replace("CREDENTIALS", credentials))
    targets = Targets(load(folder / "s.yaml"), RunFolder.create(folder, "t", 0), supervisor)
    (told,) = targets.open()
    assert "unavailable" not in told.about, told.about
    return targets


def again(targets: Targets, supervisor: Supervisor, **settings: str) -> str:
    """Start the server with other settings; return its url."""
    cls = instances.class_of_target("./door.py:Door", Path(targets.plan.folder))
    return supervisor.restart("se", cls.launcher(settings, Path()))


def test_what_the_server_offers_is_used_where_the_suite_says_nothing(tmp_path: Path, supervisor: Supervisor) -> None:
    target = opened(tmp_path, supervisor, "scheme: https, token: yes").open_target("se")
    assert Path(target.credentials.ca or "").name == "ca.pem"
    assert Path(target.credentials.token_file or "").name == "token"
    assert "{" not in f"{target.credentials.ca}{target.credentials.token_file}"


@pytest.mark.parametrize("given", [{"token": "mine"}, {"user": "me"}, {"proxy": "/p"}, {"certificate": "/c"}])
def test_who_the_suite_says_we_are_is_who_we_are(given: dict[str, str]) -> None:
    found = Credentials(**given).beside({"ca": "/ca", "token_file": "/token"})
    assert (found.ca, found.token_file) == ("/ca", None)
    assert Credentials(ca="/own").beside({"ca": "/ca", "token_file": "/token"}) == Credentials(
        ca="/own", token_file="/token"
    )


def test_a_server_that_comes_back_with_another_address_or_key_is_another_target(
    tmp_path: Path, supervisor: Supervisor
) -> None:
    targets = opened(tmp_path, supervisor)
    first, before = targets.open_target("se"), targets.where()
    assert targets.renew("se", again(targets, supervisor)) is first
    assert targets.where() == before
    second = targets.renew("se", again(targets, supervisor, scheme="https"))
    assert second is not first
    assert second is targets.get("se")
    assert second.url == first.url.replace("http:", "https:")
    assert targets.plan.suite.targets["se"].credentials.ca == second.credentials.ca
    assert json.loads(targets.where())[0] == {"se": second.url}
    third = targets.renew("se", again(targets, supervisor, scheme="https", token="yes"))
    assert third.credentials.token_file
    assert targets.renew("se", again(targets, supervisor)).credentials == Credentials()


def test_a_server_that_comes_back_at_another_port_is_a_fault(tmp_path: Path, supervisor: Supervisor) -> None:
    targets = opened(tmp_path, supervisor)
    with pytest.raises(TargetError, match=r"came back at .*; expected the same address .*its launcher should use"):
        targets.renew("se", again(targets, supervisor, port="other"))


class Looking(Monitor):
    target: str = "se"

    def sample(self) -> Iterator[None]:
        return iter(())


def test_a_monitor_finds_the_target_that_there_is_now(tmp_path: Path, supervisor: Supervisor) -> None:
    targets, monitor = opened(tmp_path, supervisor), Looking()
    with pytest.raises(PluginError, match="not known here"):
        monitor.watched()
    monitor.attach(lambda: targets.open_target("se"))
    assert monitor.watched() is targets.get("se")
    assert [monitor.watched().folder] == list(tmp_path.glob("*/servers/se"))
    targets.renew("se", again(targets, supervisor, scheme="https"))
    assert monitor.watched() is targets.get("se")
    assert [monitor.watched().folder] == list(tmp_path.glob("*/servers/se"))
