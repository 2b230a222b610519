"""The kind `database` on SQLite: addresses, versions, switches, and settings of private servers."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.database import mariadb, postgresql
from pileup.builtin.database.mariadb import mariadb_parts
from pileup.builtin.database.sql_text import parse
from pileup.builtin.database.target import DatabaseTarget
from pileup.model.suite import Credentials
from pileup.plugin import Daemon, Launcher, Refused, Step, TargetError
from pileup.plugin.target import NO_CLIENT

INDEX = {
    "set": {"on": "CREATE INDEX IF NOT EXISTS i ON t (n)", "off": ["DROP INDEX IF EXISTS i"]},
    "get": "SELECT CASE count(*) WHEN 0 THEN 'off' ELSE 'on' END FROM sqlite_master WHERE type = 'index'",
}


def target(folder: Path, **options: Any) -> DatabaseTarget:
    made = DatabaseTarget(str(folder), **options)
    with closing(made.session(10**9)) as session:
        session.execute(parse("CREATE TABLE t (n INTEGER)"), {})
    return made


def test_a_folder_holds_a_file_of_sqlite(tmp_path: Path) -> None:
    made = target(tmp_path)
    assert made.url == f"sqlite:///{tmp_path}/pileup.db"
    assert (tmp_path / "pileup.db").is_file()
    assert made.probe().startswith("SQLite 3.")
    assert made.database_url == made.url
    assert made.slow_log == ""


@pytest.mark.parametrize(
    ("url", "credentials", "told"),
    [
        ("", {}, "`url` is not an address of a database; expected one like sqlite:////path/jobs.db"),
        ("mariadb://me:secret@host/db", {}, "`url` holds a password"),
        ("sqlite:////tmp/a.db", {"password": "secret"}, "SQLite knows no passwords"),
        ("mariadb://127.0.0.1:1/db", {"user": "me"}, "no connection to the database: Can't connect to MySQL server"),
    ],
)
def test_an_address_that_is_none_or_does_not_answer(url: str, credentials: dict[str, str], told: str) -> None:
    with pytest.raises(TargetError) as problem:
        DatabaseTarget(url, Credentials.model_validate(credentials)).probe()
    assert told in str(problem.value)
    assert "secret" not in str(problem.value)


def test_a_switch_is_set_and_asked(tmp_path: Path) -> None:
    made = target(tmp_path, switches={"index": INDEX})
    assert made.setting("index") == "off"
    for value in ("on", "on", "off"):
        made.change("index", value)
        assert made.setting("index") == value


@pytest.mark.parametrize(
    ("more", "value"), [({"default": "on"}, "on"), ({"restore": "never"}, None), ({"get": "SELECT 'on'"}, "on")]
)
def test_what_is_restored(tmp_path: Path, more: dict[str, str], value: str | None) -> None:
    made = target(tmp_path, switches={"index": {"set": INDEX["set"], **more}})
    assert made.setting("index") == value


@pytest.mark.parametrize(
    ("switch", "act", "told"),
    [
        ({"get": "SELECT 'perhaps'"}, "get", "`get` of index says 'perhaps'; expected one of on, off"),
        ({"get": "SELECT nonsuch"}, "get", "the database says: no such column: nonsuch"),
        ({"default": "off"}, "half", "index has no value 'half'; expected one of on, off"),
    ],
)
def test_a_switch_that_does_not_work(tmp_path: Path, switch: dict[str, str], act: str, told: str) -> None:
    made = target(tmp_path, switches={"index": {"set": INDEX["set"], **switch}})
    with pytest.raises(TargetError) as problem:
        made.setting("index") if act == "get" else made.change("index", act)
    assert told in str(problem.value)
    with pytest.raises(TargetError, match="there is no switch 'other'; expected one of index"):
        made.change("other", "on")


def test_its_settings_are_its_switches() -> None:
    assert DatabaseTarget.settings_of({}) == {}
    assert DatabaseTarget.settings_of({"switches": {"index": INDEX, "wrong": {}}}) == {
        "index": ("on", "off"),
        "wrong": (),
    }
    assert DatabaseTarget.settings_of({"switches": "text"}) == {}


def test_a_transaction_that_waits_for_nothing_on_sqlite(tmp_path: Path) -> None:
    made = target(tmp_path)
    with closing(made.session(10**9)) as one, closing(made.session(50 * 10**6)) as other:
        one.begin(writes=True)
        with pytest.raises(Refused, match="database is locked"):
            other.begin(writes=True)
        other.rollback()
        one.rollback()
        other.begin(writes=True)
        other.commit()


def test_the_engine_is_not_for_it(tmp_path: Path) -> None:
    made = target(tmp_path)
    assert made.client() is None
    assert made.problem_of(Step("noop", "noop")) == NO_CLIENT


@pytest.fixture
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mariadb.shutil, "which", lambda name, path: f"/usr/bin/{name}")


def command(**settings: Any) -> tuple[str, ...]:
    launcher = DatabaseTarget.launcher(settings, Path())
    assert isinstance(launcher, Launcher)
    daemon = launcher.processes[-1]
    assert isinstance(daemon, Daemon)
    return daemon.command


@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"buffer_pool": "64 MiB"}, "--innodb-buffer-pool-size=67108864"),
        ({"flush": "second"}, "--innodb-flush-log-at-trx-commit=2"),
        ({"slow_queries": "1 s"}, "--slow-query-log-file={short}/slow-queries.log"),
        ({"slow_queries": "1500 ms"}, "--long-query-time=1.500000"),
        ({"lock_wait_timeout": "2 s"}, "--innodb-lock-wait-timeout=2"),
        ({"connections": 500}, "--max-connections=500"),
        ({"variables": {"sort_buffer_size": "4M"}}, "--sort-buffer-size=4M"),
    ],
)
def test_a_setting_is_a_word_of_the_command_line(settings: dict[str, Any], word: str) -> None:
    assert word in command(**settings)
    assert word not in command()
    assert {"--no-defaults", "--skip-networking", "--socket={short}/db.sock"} <= set(command())


@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"buffer_pool": "1 MiB"}, "buffer_pool"),
        ({"flush": "never"}, "flush"),
        ({"variables": {"Datadir; x": "1"}}, "variables"),
        ({"engine": "mysql"}, "engine"),
    ],
)
def test_a_setting_that_is_wrong_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        command(**settings)


def test_settings_of_postgresql(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "PROGRAMS", tmp_path)
    with pytest.raises(ValueError, match=r"there is no PostgreSQL server below .*; expected it .*, or a url"):
        command(server="postgresql")
    for version in ("9", "15"):
        folder = tmp_path / version / "bin"
        folder.mkdir(parents=True)
        for name in ("postgres", "initdb"):
            (folder / name).touch()
    words = command(
        server="postgresql", flush="second", slow_queries="1 s", lock_wait_timeout="2 s", buffer_pool="64 MiB"
    )
    assert words[0] == f"{tmp_path}/15/bin/postgres"
    assert {"shared_buffers=65536kB", "synchronous_commit=off", "lock_timeout=2000ms"} <= set(words)
    assert {"log_min_duration_statement=1000ms", "listen_addresses="} <= set(words)


def test_a_machine_without_mariadb_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mariadb.shutil, "which", lambda name, path: None)
    with pytest.raises(ValueError, match=r"mariadbd is not installed here; expected it .*mariadb-server.*, or a url"):
        mariadb_parts("")
