"""What the kind slurm says before it has spoken to any."""

import base64
import json
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from pileup.builtin.slurm.location import Place, place_of
from pileup.builtin.slurm.records import CompletionRecords, DatabaseRecords, SacctRecords
from pileup.builtin.slurm.target import SlurmTarget
from pileup.model.errors import Failed, Refused, TargetError
from pileup.model.suite import Credentials
from pileup.plugin.batch import JobSpec


def token(name: str) -> str:
    middle = base64.urlsafe_b64encode(json.dumps({"sun": name, "exp": 2_000_000_000}).encode()).decode().rstrip("=")
    return f"e30.{middle}.signature"


def launched(folder: Path, **told: str | list[str]) -> str:
    """Return the url of a Slurm that seems to have been launched."""
    (folder / "etc").mkdir()
    known = {"user": "nobody", "conf": "/x/slurm.conf", "users": []}
    empty = dict.fromkeys(("database", "completions", "slow_log", "port"), "")
    (folder / "etc" / "pileup.json").write_text(json.dumps(empty | known | told))
    return f"unix:{folder}/run/rest.sock"


def test_one_that_was_launched_tells_where_everything_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = launched(tmp_path, completions="/x/log", port="12345")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    target = SlurmTarget(url)
    assert (target.run_as, target.environment()) == ("nobody", {"SLURM_CONF": "/x/slurm.conf"})
    assert isinstance(target.records, CompletionRecords)
    assert str(target.place.gate) == "127.0.0.1:12345"
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert SlurmTarget(url).run_as == "", "who runs pileup runs it"


def test_of_another_one_only_what_the_suite_says_is_known(tmp_path: Path) -> None:
    assert place_of("unix:/run/rest.sock") == place_of("http://x/run/rest.sock") == place_of("") == Place()
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "pileup.json").write_text("{half")
    assert place_of(f"unix:{tmp_path}/run/rest.sock") == Place()
    assert isinstance(SlurmTarget("unix:/run/rest.sock").records, SacctRecords)
    site = SlurmTarget("unix:/run/rest.sock", database="mariadb://reader@db/slurm_acct", config="/etc/s.conf")
    assert isinstance(site.records, DatabaseRecords)
    assert site.environment() == {"SLURM_CONF": "/etc/s.conf"}


def test_its_commands_find_the_slurm_of_our_environment_whoever_they_run_as(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user's process does not get our variables: squeue could not find a configuration."""
    monkeypatch.setenv("SLURM_CONF", "/opt/slurm/slurm.conf")
    site = SlurmTarget("unix:/run/rest.sock", user="slurm")
    assert site.commands.environment == {"SLURM_CONF": "/opt/slurm/slurm.conf"}
    assert SlurmTarget("", driver="sbatch", config="/etc/s.conf").environment() == {"SLURM_CONF": "/etc/s.conf"}


def test_a_token_tells_who_we_are_and_goes_to_nobody_in_plain() -> None:
    secret = Credentials(token=SecretStr(token("alice")))
    near = SlurmTarget("http://127.0.0.1:1", secret)
    assert near.commands.environment["SLURM_JWT"] == token("alice")
    assert near._me == "alice"
    with pytest.raises(TargetError, match="in plain"):
        SlurmTarget("http://ce.example.org:6820", secret).identity  # noqa: B018
    assert SlurmTarget("https://ce.example.org:6820", secret).identity.token == token("alice")


def test_what_is_missing_or_wrong_is_told() -> None:
    with pytest.raises(TargetError, match=r"has no url; expected that of slurmrestd, or the option `driver: sbatch`"):
        SlurmTarget("").probe()
    with pytest.raises(TargetError, match="is not a url of slurmrestd"):
        SlurmTarget("root://x//y").probe()
    with pytest.raises(ValidationError, match="holds a password"):
        SlurmTarget("", database="mariadb://me:secret@db/slurm_acct")
    with pytest.raises(ValidationError, match="driver"):
        SlurmTarget("", driver="drmaa")
    with pytest.raises(TargetError, match="there is no file /nowhere"):
        SlurmTarget("", database="mariadb://me@db/x", password_file="/nowhere").records  # noqa: B018


def test_a_job_goes_with_a_delegation_that_is_known_for_a_user_that_may() -> None:
    target = SlurmTarget("unix:/nowhere", user="alice")
    with pytest.raises(Failed, match="not known to this process"):
        target.submit([JobSpec("a", delegation="1234")])
    assert target.one_user
    for user in ("alice", "bob"):  # all users of a suite are who we are
        with pytest.raises(Failed, match="no connection"):
            target.submit([JobSpec("a", user=user)])


def test_who_makes_tokens_for_others_submits_for_nobody_without_one() -> None:
    target = SlurmTarget("unix:/nowhere", user="alice", others=True)
    assert not target.one_user
    with pytest.raises(Refused, match="no job for user 'bob' with credentials of alice; expected a token of that user"):
        target.submit([JobSpec("a", user="bob")])
    with pytest.raises(Failed, match="no connection"):
        target.submit([JobSpec("a", user="alice")])
