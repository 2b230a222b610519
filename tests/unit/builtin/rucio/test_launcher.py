"""How a private Rucio is started, and what is said where something is missing."""

import json
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.database import postgresql
from pileup.builtin.rucio import launcher
from pileup.builtin.rucio.settings import RucioSettings
from pileup.builtin.rucio.target import RucioTarget
from pileup.model.suite import Credentials
from pileup.plugin import Daemon, File, Launcher


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A virtual environment with all that it should have, and the other programs."""
    for name in launcher.MODULES:
        (tmp_path / "venv/lib/python3.11/site-packages" / name).mkdir(parents=True)
    (tmp_path / "venv/bin").mkdir()
    (tmp_path / "venv/bin/python").touch()
    programs = tmp_path / "postgresql/15/bin"
    programs.mkdir(parents=True)
    for name in ("postgres", "initdb"):
        (programs / name).touch()
    monkeypatch.setattr(postgresql, "PROGRAMS", tmp_path / "postgresql")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/memcached").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "venv/bin/python"


def made(python: Path, **settings: Any) -> Launcher:
    return launcher.rucio_launcher(RucioSettings.model_validate({"python": str(python), **settings}))


def text_of(found: Launcher, path: str) -> str:
    return next(str(file.content) for file in found.files if file.path.endswith(path))


def test_the_processes_in_order(python: Path) -> None:
    found = made(python)
    assert [each.name for each in found.processes] == ["initdb", "postgres", "memcached", "fill", "rucio"]
    assert [each.name for each in made(python, cache=0).processes] == ["initdb", "postgres", "fill", "rucio"]


def test_its_settings_reach_its_programs(python: Path) -> None:
    settings = {"workers": 3, "threads": 5, "pool": 7, "pool_wait": "2 s", "cache": "32 MiB", "token_lifetime": "90 s"}
    found = made(python, flush="second", **settings)
    words = " ".join(word for each in found.processes for word in each.command)
    assert "-w 3 --threads 5" in words and "-m 32" in words
    assert "synchronous_commit=off" in words and "max_connections=31" in words
    assert "pool_size = 7\n" in text_of(found, "rucio.cfg") and "pool_timeout = 2\n" in text_of(found, "rucio.cfg")
    assert "microseconds=90000000)" in text_of(found, "serve.py")


def test_everything_listens_on_this_machine_alone(python: Path) -> None:
    daemons = [each for each in made(python).processes if isinstance(each, Daemon)]
    words = {each.name: " ".join(each.command) for each in daemons}
    assert "listen_addresses= " in words["postgres"] and "-l 127.0.0.1" in words["memcached"]
    assert "-b 127.0.0.1:" in words["rucio"]


def test_secrets_are_in_the_folder_that_goes(python: Path) -> None:
    first, second = made(python), made(python)
    told = json.loads(text_of(first, "pileup.json"))
    assert told["password"] != json.loads(text_of(second, "pileup.json"))["password"]
    holders = [
        file for file in first.files if told["password"] in str(file.content) or told["token"] in str(file.content)
    ]
    assert holders and all(
        file.path.startswith("{short}/login/") and file.mode == 0o600 and file.keep for file in holders
    )
    assert File("{short}/login", mode=0o700) in first.files


def test_a_target_is_told_who_it_is_beside_the_token(tmp_path: Path, python: Path) -> None:
    (tmp_path / "token").write_text("a-token")
    (tmp_path / "pileup.json").write_text(text_of(made(python), "pileup.json"))
    target = RucioTarget("http://127.0.0.1:1", Credentials(token_file=str(tmp_path / "token")))
    assert target.names_scope == "pileup" and target.storage == ["PILEUP-1", "PILEUP-2"]
    assert target.database_url.startswith("postgresql://rucio@:")


def test_what_is_missing_is_named_with_the_command(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        ValueError, match=r"Rucio is not installed: there is no /nowhere/bin/python; expected it, by `.*venv"
    ):
        made(Path("/nowhere/bin/python"))
    (tmp_path / "venv/lib/python3.11/site-packages/gunicorn").rmdir()
    with pytest.raises(ValueError, match=r"lacks gunicorn; expected it, by `.*/bin/pip install rucio==.* gunicorn"):
        made(python)
    (tmp_path / "venv/lib/python3.11/site-packages/gunicorn").mkdir()
    (tmp_path / "bin/memcached").unlink()
    monkeypatch.setattr(launcher, "PROGRAMS", str(tmp_path / "bin"))
    with pytest.raises(ValueError, match=r"memcached is not installed here; expected it .*apt-get install memcached"):
        made(python)
    assert made(python, cache=0)
    monkeypatch.setattr(postgresql, "PROGRAMS", tmp_path / "none")
    with pytest.raises(ValueError, match="there is no PostgreSQL server"):
        made(python, cache=0)


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"pool_wait": "1 ms"}, {"scopes": 3}, {"token_lifetime": "1 s"}])
def test_a_setting_that_is_wrong_is_refused(python: Path, wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        made(python, **wrong)
