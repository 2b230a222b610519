"""Suites behind one line: what `check` and `bench` write is a suite, and says what was asked for."""

from pathlib import Path

import pytest

from pileup.model.errors import UsageError
from pileup.model.units import parse
from pileup.suite import load
from pileup.suite.quick import CHECKS, Endpoint, Press, bench, check

SECOND = 1_000_000_000
STORAGE = ["read", "write", "stat", "list", "copy"]


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("root://se01.site.org//data", "xrootd"),
        ("roots://se01.site.org//data", "xrootd"),
        ("davs://se01.site.org/data", "webdav"),
        ("https://se01.site.org/data", "webdav"),
        ("/mnt/scratch", "posix"),
        ("file:///mnt/scratch", "posix"),
        ("mariadb://me@db/mine", "database"),
        ("postgresql://me@db/mine", "database"),
    ],
)
def test_a_url_says_what_it_is_and_is_checked_as_that(url: str, kind: str, tmp_path: Path) -> None:
    endpoint = Endpoint.at(url, None, {})
    assert endpoint.kind == kind
    (tmp_path / "check.yaml").write_text(check(endpoint, f"pileup check {url}"))
    plan = load(tmp_path / "check.yaml")
    (target,) = plan.suite.targets.values()
    assert (target.kind, target.url, target.launch) == (kind, url, None)
    assert plan.suite.criteria


@pytest.mark.parametrize("kind", sorted(CHECKS))
def test_every_check_has_its_target_replaced(kind: str) -> None:
    text = check(Endpoint("https://host.org/x", kind), "pileup check")
    assert f'{{kind: {kind}, url: "https://host.org/x"}}' in text
    assert "launch" not in text


@pytest.mark.parametrize("operation", STORAGE)
@pytest.mark.parametrize("url", ["root://h//d", "https://h/d", "/d"])
def test_a_benchmark_is_a_suite(url: str, operation: str, tmp_path: Path) -> None:
    press = Press(clients=3, length="2 s", warm_up="0 s", size="4 KiB", files=7)
    (tmp_path / "bench.yaml").write_text(bench(Endpoint.at(url, None, {}), [operation], press, "", "pileup bench"))
    plan = load(tmp_path / "bench.yaml")
    load_of = {case.test.name: case.load for case in plan.cases}[operation]
    assert (load_of.clients, load_of.for_, load_of.rate) == (3, 2 * SECOND, None)
    needs = set() if operation == "write" else {"fill"}
    assert {case.test.name for case in plan.cases} == {operation, *needs}
    assert [each.check for each in plan.suite.criteria] == [f"fraction({operation}.passed) == 100 %"]


@pytest.mark.parametrize("operations", [["get"], ["get", "read"]])
def test_a_storage_by_https_answers_requests_too(operations: list[str], tmp_path: Path) -> None:
    endpoint = Endpoint.at("https://h/d/file", None, {})
    (tmp_path / "bench.yaml").write_text(bench(endpoint, operations, Press(), "", "pileup bench"))
    assert {case.test.name for case in load(tmp_path / "bench.yaml").cases} >= set(operations)


def test_a_rate_is_an_open_load_and_clients_bound_it(tmp_path: Path) -> None:
    for press, clients in ((Press(rate="2.5/s"), None), (Press(rate="2.5/s", clients=9), 9)):
        text = bench(Endpoint.at("https://h/d", "http", {}), ["get"], press, "", "pileup bench")
        (tmp_path / "bench.yaml").write_text(text)
        (case,) = load(tmp_path / "bench.yaml").cases
        assert (case.load.rate, case.load.clients) == (2.5, clients)
        assert "files" not in text


@pytest.mark.parametrize(("length", "size"), [("90s", "1234567B"), ("1.2345 min", "3MiB"), ("2 h", "1 B")])
def test_quantities_are_those_of_the_user_to_the_last_digit(length: str, size: str, tmp_path: Path) -> None:
    press = Press(rate="33.3333333/s", length=length, warm_up="0 s", size=size)
    (tmp_path / "bench.yaml").write_text(bench(Endpoint.at("/d", None, {}), ["read"], press, "", "pileup bench"))
    case = load(tmp_path / "bench.yaml").cases[-1]
    assert (case.load.for_, case.load.rate) == (int(parse(length, "time")), 33.3333333)
    assert f"size: {size}}}" in (tmp_path / "bench.yaml").read_text()


def test_a_question_to_a_database_is_kept_whole(tmp_path: Path) -> None:
    query = 'SELECT "a: b" AS x, {1} # no comment'
    text = bench(Endpoint.at("sqlite:////d/x.db", None, {}), ["query"], Press(), query, "pileup bench")
    (tmp_path / "bench.yaml").write_text(text)
    (case,) = load(tmp_path / "bench.yaml").cases
    assert case.test.options["statement"] == query


def test_credentials_are_names_of_files_and_not_secrets() -> None:
    text = check(Endpoint.at("root://h//d", None, {"token": "discover", "ca": "/etc/ca: 1.pem"}), "pileup check")
    assert 'credentials: {token: discover, ca: "/etc/ca: 1.pem"}' in text


@pytest.mark.parametrize(
    ("url", "kind", "operation", "told"),
    [
        ("ftp://h/d", None, "read", "the kind of 'ftp://h/d' is unknown; expected root://"),
        ("h/d", None, "read", "the kind of 'h/d' is unknown"),
        ("/d", None, "get", "a target of kind 'posix' has no get; expected --read, --write"),
        ("mariadb://h/d", None, "read", "a target of kind 'database' has no read; expected --query"),
        ("https://h/arex", "arc", "read", "a target of kind 'arc' has no read; expected a storage"),
    ],
)
def test_what_cannot_be_is_said_in_three_parts(url: str, kind: str | None, operation: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        bench(Endpoint.at(url, kind, {}), [operation], Press(), "", "")


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://me:hidden-42@h/d", "there is a password in the url; expected a url without it"),
        ("https://h/d?authz=Bearer%20hidden-42", "there is a token in the url; expected a url without it"),
        ("root://h//d?x=1&ACCESS_TOKEN=hidden-42", "there is a token in the url"),
    ],
)
def test_a_secret_in_a_url_is_neither_shown_nor_written(url: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as problem:
        Endpoint.at(url, None, {})
    assert "hidden-42" not in str(problem.value)


def test_what_has_no_check_is_said() -> None:
    with pytest.raises(UsageError, match="there is no check for targets of kind 'noop'; expected one of arc, database"):
        check(Endpoint.at("x", "noop", {}), "")


def test_what_a_benchmark_writes_is_not_where_it_counts_entries(tmp_path: Path) -> None:
    """The folder of its writes was one entry more in the folder that `list` expects so many files in."""
    text = bench(Endpoint.at("root://h//d", None, {}), ["write", "list"], Press(files=20), "", "pileup bench")
    (tmp_path / "bench.yaml").write_text(text)
    written = {case.test.name: case.test.options for case in load(tmp_path / "bench.yaml").cases}
    assert written["list"] == {"entries": "20"}, "of the folder that tests of storage take if nothing is said"
    assert not f"{written['write']['folder']}/".startswith("pileup/")
