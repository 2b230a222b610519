"""The registry: entry points of anybody's package, and what it says when something is wrong with them."""

from __future__ import annotations

import importlib
import re
import tomllib
from importlib.metadata import EntryPoint, PackageNotFoundError, version
from pathlib import Path

import pytest
from pydantic import BaseModel

from pileup.model.errors import PluginError
from pileup.plugin import ClientSpec, Target, option, registry
from tests.support import ROOT

PROJECT = ROOT / "pyproject.toml"
OURS = {
    kind: tomllib.loads(PROJECT.read_text())["project"]["entry-points"][f"pileup.{kind}"] for kind in registry.KINDS
}


def register(monkeypatch: pytest.MonkeyPatch, **entries: str) -> None:
    """Let these be all tests that are registered."""
    found = [EntryPoint(name.replace("__", "."), value, "pileup.tests") for name, value in entries.items()]
    monkeypatch.setattr(registry, "_entries", lambda kind: iter(found))


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in ("tests", "targets", "monitors") for name in OURS[kind]]
)
def test_every_shipped_plugin_is_what_it_is_registered_as(kind: str, name: str) -> None:
    module, _, class_name = OURS[kind][name].partition(":")
    cls = getattr(importlib.import_module(module), class_name)
    assert issubclass(cls, registry.KINDS[kind])
    assert (cls.kind if kind == "targets" else cls.name) == name
    page = cls.__doc__ or ""
    assert re.match(r"[A-Z].*[.:]\n", page), "its page begins with one line"


def test_an_install_registers_all_of_them() -> None:
    try:
        version("pileup")
    except PackageNotFoundError:
        pytest.skip("pileup is not installed, it runs from its sources")
    for kind, ours in OURS.items():
        found = {each.name: each for each in registry.find_all(kind)}
        assert ours.keys() <= found.keys()
        assert {name: found[name].reason for name in ours} == dict.fromkeys(ours, "")


def test_every_option_of_ours_has_a_help_text() -> None:
    for kind in ("tests", "targets", "monitors"):
        for value in OURS[kind].values():
            module, _, class_name = value.partition(":")
            cls = getattr(importlib.import_module(module), class_name)
            declared = registry_options(cls)
            assert {name for name, help_text in declared.items() if not help_text} == set(), cls


def registry_options(cls: type) -> dict[str, str]:
    from pileup.plugin.options import declared, options_model

    options_model(cls)
    return {name: declaration.help for name, (_, declaration) in declared(cls).items()}


def test_a_registered_class_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, noop="pileup.builtin.noop.test:Noop")
    assert registry.load("tests", "noop").__name__ == "Noop"
    assert registry.names("tests") == ["noop"]
    (found,) = registry.find_all("tests")
    assert (found.kind, found.name, found.cls, found.reason) == ("tests", "noop", registry.load("tests", "noop"), "")


def test_an_unknown_name_gets_near_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, storage__read="a:B", storage__write="a:B")
    with pytest.raises(PluginError, match=r"there is no test 'storage\.raed'; expected 'storage\.read'"):
        registry.load("tests", "storage.raed")
    with pytest.raises(
        PluginError, match=r"there is no test 'xyz'; expected a name from `pileup list tests`, or \./file\.py:Class"
    ):
        registry.load("tests", "xyz")
    with pytest.raises(PluginError, match=r"expected \./mine\.py:NAME_OF_THE_CLASS"):
        registry.load("tests", "./mine.py")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_package_73:Mine", "ModuleNotFoundError: No module named 'no_such_package_73'"),
        ("pileup.builtin.noop.test:Nop", "AttributeError"),
        ("broken_plugin_of_the_test:Mine", "SyntaxError"),
        ("exiting_plugin_of_the_test:Mine", "SystemExit: 4"),
    ],
)
def test_a_package_that_does_not_load_is_unavailable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str, reason: str
) -> None:
    (tmp_path / "broken_plugin_of_the_test.py").write_text("def f(:\n")
    (tmp_path / "exiting_plugin_of_the_test.py").write_text("raise SystemExit(4)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    register(monkeypatch, mine=value)
    with pytest.raises(PluginError, match=re.escape(f"test 'mine' is unavailable: {reason}")):
        registry.load("tests", "mine")
    (found,) = registry.find_all("tests")
    assert found.cls is None
    assert reason in found.reason


def test_a_registered_name_that_is_no_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, mine="pathlib:Path")
    with pytest.raises(
        PluginError, match=r"'mine' .* is pathlib:Path, which is none; expected a class that derives from"
    ):
        registry.load("tests", "mine")


class Settings(BaseModel):
    """Words of `launch`, one declared as options of plug-ins are."""

    keys: int = option(1000, ge=1)


class Launched(Target):
    """A kind whose settings are wrong."""

    launch_settings = Settings

    def client(self) -> ClientSpec:
        return ClientSpec("noop", {})


def test_a_package_whose_settings_are_declared_as_options_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, mine=f"{__name__}:Launched")
    with pytest.raises(PluginError, match=r"'keys' of launch_settings is declared with option\(\), which"):
        registry.load("targets", "mine")
    (found,) = registry.find_all("targets")
    assert found.cls is None
