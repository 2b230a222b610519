"""How library and nodes are started, and what clients are told of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.stager import launcher
from pileup.builtin.stager.site import site_of
from pileup.builtin.stager.target import XrootdTapeTarget
from pileup.plugin import Daemon, Launcher, TargetError


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "_program", lambda name: f"/usr/bin/{name}")


def launched(**settings: Any) -> Launcher:
    made = XrootdTapeTarget.launcher(settings, Path())
    assert made is not None
    return made


def test_each_node_has_a_server_a_stager_and_an_agent() -> None:
    made = launched(nodes=2, max_transfers=7)
    names = [each.name for each in made.processes]
    assert names == ["library", "xrootd-0", "frm-0", "agent-0", "xrootd-1", "frm-1", "agent-1"]
    (library, *others) = [each for each in made.processes if isinstance(each, Daemon)]
    assert library.as_pileup and not any(each.as_pileup for each in others)
    texts = {file.path.rpartition("/")[2]: file.content for file in made.files if isinstance(file.content, str)}
    assert "frm.xfr.copymax 7\n" in texts["node.cfg"]
    assert "{port:library}" in texts["copy"] and "@" not in texts["copy"]


def test_other_settings_have_a_folder_of_their_own() -> None:
    first, second = launched(), launched()
    assert first.url != second.url
    assert {file.path for file in first.files}.isdisjoint(file.path for file in second.files)


@pytest.mark.parametrize("wrong", [{"max_transfers": 0}, {"unreadable": [100]}, {"transfers": 5}])
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        XrootdTapeTarget.launcher(wrong, Path())


def test_clients_read_what_the_launcher_has_written(tmp_path: Path) -> None:
    made = launched(nodes=2, size="5 MB")
    (text,) = (file.content for file in made.files if file.path.endswith("/site.json"))
    assert isinstance(text, str)
    (tmp_path / "site.json").write_text(text)
    site = site_of(f"root://127.0.0.1:1//tape?site={tmp_path}/site.json")
    assert (len(site.nodes), site.size, json.loads(site.rules)["cartridges"]) == (2, 5_000_000, 100)


def test_a_url_is_refused() -> None:
    with pytest.raises(TargetError, match="expected `launch`"):
        XrootdTapeTarget.check_url("root://se01.site.org//tape")
    with pytest.raises(TargetError, match="leads to no nodes"):
        site_of("root://se01.site.org//tape")
