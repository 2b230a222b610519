"""S13: options of shipped plug-ins that are secret by their type are hidden in what is recorded."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pileup.model.errors import SuiteError
from pileup.model.plan import Plan
from pileup.suite import load

BY_TYPE = """
pileup: 1
title: t
variables: {db_password: in-a-variable, mode: plain}
environment: {set: {MYSQL_PWD: of-mysql-1, AWS_SECRET_ACCESS_KEY: of-aws-12, MODE: quick}}
targets:
  a: {kind: http, url: http://127.0.0.1/, options: {headers: {Authorization: Bearer of-target, X-Site: at-home}}}
tests:
  - {name: x, use: command, options: {command: "echo of-mysql-1 in-a-variable", environment: {LEVEL: of-command}}}
  - {name: y, use: http.request, target: a, options: {headers: {X-Api-Key: of-request}}}
monitors:
  - {use: sql, url: "mysql://me@127.0.0.1:3306/x", query: select 1, password: of-monitor}
scan: {x.environment: [{LEVEL: shown}]}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Callable[..., Plan]:
    """Write a suite and load it, with the plug-ins that are shipped."""

    def make(text: str, values: dict[str, str] | None = None) -> Plan:
        path = tmp_path / "suite.yaml"
        path.write_text(text)
        return load(path, values or {})

    return make


def test_s13_secrets_are_known_by_type_and_by_the_end_of_their_names(plan: Callable[..., Plan]) -> None:
    made = plan(BY_TYPE)
    hidden = (
        "of-mysql",
        "of-aws",
        "of-target",
        "of-command",
        "of-request",
        "of-monitor",
        "in-a-var",
        "at-home",
    )
    assert [each for each in (*hidden, "quick") if each in made.text] == []
    assert "MODE: (secret)" in made.text
    assert "mode: plain" in made.text
    assert made.suite.variables == {"db_password": "(secret)", "mode": "plain"}
    assert not any(each in str(made.values) for each in hidden)


@pytest.mark.parametrize(
    "name",
    [
        "db_password",
        "targets.a.options.headers",
        "targets.a.options.headers.X-Site",
        "tests.x.options.environment.LEVEL",
        "environment",
        "environment.set.MODE",
        "monitors.sql.password",
    ],
)
def test_s13_secrets_that_were_set_are_hidden_by_their_type(plan: Callable[..., Plan], name: str) -> None:
    value = {"headers": "{X-Site: fresh-one}", "environment": "{set: {A: fresh-one}}"}.get(
        name.rpartition(".")[2], "fresh-one"
    )
    made = plan(BY_TYPE, {name: value})
    assert made.values[name] == "(secret)"
    assert "fresh" not in made.text


@pytest.mark.parametrize("axis", ["y.headers: [{A: fresh}]", "x.environment: [{MYSQL_PWD: fresh}]"])
def test_s13_a_secret_is_no_axis_of_a_scan(plan: Callable[..., Plan], axis: str) -> None:
    with pytest.raises(SuiteError, match="a secret is a value of a scan") as caught:
        plan(BY_TYPE.replace("x.environment: [{LEVEL: shown}]", axis))
    assert "fresh" not in str(caught.value)
