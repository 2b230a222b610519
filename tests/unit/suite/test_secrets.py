"""No secret reaches the text, the values or the faults that are shown and recorded."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pileup.model.plan import Plan
from pileup.suite import load

SUITE = """
pileup: 1
title: t
variables: {key: hunter2hunter2, other: plain}
targets:
  a: {kind: http, url: http://127.0.0.1/, credentials: {token: "tok\\u0065n-of-a", user: me, password: pw}}
  b: {kind: http, url: http://127.0.0.1/, credentials: {token: "Bearer $key"}}
tests:
  - {name: x, use: command, options: {command: echo token-of-a hunter2hunter2 plain}}  # hunter2hunter2
"""


def test_secrets_are_hidden_in_the_text(plan: Callable[..., Plan]) -> None:
    made = plan(SUITE)
    for secret in ("tok\\u0065n", "token-of-a", "hunter2", "pw}"):
        assert secret not in made.text
    assert made.text.count("(secret)") == 7
    assert "user: me" in made.text
    assert "other: plain" in made.text


def test_secrets_are_there_for_the_target(plan: Callable[..., Plan]) -> None:
    targets = plan(SUITE).suite.targets
    assert targets["a"].credentials.token.get_secret_value() == "token-of-a"
    assert targets["b"].credentials.token.get_secret_value() == "Bearer hunter2hunter2"
    assert "hunter2" not in repr(targets)
    assert plan(SUITE).suite.variables == {"key": "(secret)", "other": "plain"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("key", "fresh-secret"),
        ("targets.a.credentials.token", "fresh-secret"),
        ("targets.a.credentials", "{password: fresh-secret}"),
    ],
)
def test_secrets_that_were_set_are_hidden_in_the_values(plan: Callable[..., Plan], name: str, value: str) -> None:
    made = plan(SUITE, {name: value})
    assert "fresh" not in str(made.values) + made.text
    assert made.values[name] == "(secret)"


def test_values_that_are_no_secrets_are_kept(plan: Callable[..., Plan]) -> None:
    assert plan(SUITE, {"other": "fancy"}).values == {"other": "fancy"}


def test_the_word_that_looks_for_a_secret_is_none(plan: Callable[..., Plan]) -> None:
    text = SUITE.replace('"Bearer $key"', "discover, ca: discover")
    made = plan(text, {"targets.a.credentials": "{token: discover}", "targets.b.credentials.token": "discover"})
    assert "{token: discover, ca: discover}" in made.text
    assert made.values["targets.b.credentials.token"] == "discover"
    assert made.suite.targets["b"].credentials.token.get_secret_value() == "discover"


def test_a_secret_of_the_wrong_kind_is_not_shown(faults: Callable[..., list[str]]) -> None:
    found = faults(SUITE.replace("password: pw", "password: [hunter3]"))
    assert found == ["6:103: `password` is (secret); expected text"]


def test_a_password_in_a_url_is_refused_and_not_shown(faults: Callable[..., list[str]]) -> None:
    found = faults(SUITE.replace("url: http://127.0.0.1/", "url: http://me:hunter3@127.0.0.1/"))
    assert len(found) == 2
    assert "hunter3" not in str(found)


def test_secrets_are_hidden_in_xml(tmp_path: Path, fake_plugins: None) -> None:
    path = tmp_path / "suite.xml"
    path.write_text(
        """<suite pileup="1" title="t">
  <variables key="a&lt;b&amp;c&quot;d"/>
  <target name="a" kind="http" url="http://127.0.0.1/"><credentials user="me" password="p&lt;w"/></target>
  <target name="b" kind="http" url="http://127.0.0.1/">
    <credentials><token>
      Bearer $key</token></credentials>
  </target>
  <test name="x" use="command">
    <options command="echo a&lt;b&amp;c&quot;d"/>  <!-- a&lt;b&amp;c"d -->
  </test>
</suite>
"""
    )
    made = load(path)
    assert made.suite.targets["b"].credentials.token is not None
    assert made.suite.targets["b"].credentials.token.get_secret_value() == 'Bearer a<b&c"d'
    for secret in ("&lt;", "b&amp;c", "Bearer"):
        assert secret not in made.text
    assert made.text.count("(secret)") == 5
    assert 'user="me" password="(secret)"/>' in made.text
    assert "<token>(secret)</token>" in made.text
