"""Plug-ins made from a plan: options merged in one place."""

from collections.abc import Callable
from pathlib import Path

from pileup.model.plan import Plan
from pileup.suite import instances
from tests.unit.suite.conftest import HEAD

SUITE = (
    HEAD
    + """
seed: 7
options: {folder: /common, files: 3}
targets:
  disk: {kind: posix}
  se: {kind: practice-storage, launch: {threads: 4}, options: {keep_alive: no}, credentials: {token: secret}}
tests:
  - {name: a, use: storage.write, target: disk, options: {files: 5, size: 2 KiB}, timeout: 3 s, load: {times: 2}}
  - {name: b, use: noop}
monitors: [{use: process, match: x, every: 2 s}]
"""
)


def test_a_tests_own_options_win_over_those_of_the_suite(plan: Callable[..., Plan]) -> None:
    made = plan(SUITE)
    test = instances.make_test(made, made.case(1), lambda name: None, 4)
    assert (test.folder, test.files, test.size) == ("/common", 5, 2048)
    assert (test.context.name, test.context.client, test.context.seed, test.context.timeout) == ("a", 4, 7, 3 * 10**9)
    assert test.context.load == made.case(1).load
    assert test.context.folder == Path(made.folder)


def test_options_that_a_test_has_not_do_not_reach_it(plan: Callable[..., Plan]) -> None:
    made = plan(SUITE)
    assert instances.make_test(made, made.case(2), lambda name: None, 0).cost == 0


def test_a_target_knows_its_address_and_who_we_are(plan: Callable[..., Plan]) -> None:
    target = instances.make_target(plan(SUITE), "se", "http://127.0.0.1:1/")
    assert target.url == "http://127.0.0.1:1/"
    assert target.keep_alive is False
    assert target.credentials.token.get_secret_value() == "secret"


def test_a_launcher_is_made_where_the_suite_asks_for_one(plan: Callable[..., Plan]) -> None:
    made = plan(SUITE)
    assert instances.make_launcher(made, "se", Path("x")).processes[0].command == ("true", "4")
    assert instances.make_launcher(made, "disk", Path("x")) is None


def test_a_monitor_gets_the_words_that_are_not_the_suites(plan: Callable[..., Plan]) -> None:
    made = plan(SUITE)
    assert instances.make_monitor(made, made.suite.monitors[0]).match == "x"
