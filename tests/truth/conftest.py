"""Runs that several tests read, each made once and only when one of them is wanted."""

import pytest

from tests.truth import conditions
from tests.truth.press import Pressed

Runs = dict[str, Pressed]


@pytest.fixture(scope="session")
def overloads(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The overload table."""
    return conditions.pressed(conditions.overloads(tmp_path_factory.mktemp("overloads")))


@pytest.fixture(scope="session")
def singles(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Servers that are calm, refuse, stop, are slower than a timeout, or send for long."""
    return conditions.pressed(conditions.singles(tmp_path_factory.mktemp("singles")), 4)


@pytest.fixture(scope="session")
def disturbed(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """pileup is stopped, or the server is killed."""
    return conditions.pressed(conditions.disturbed(tmp_path_factory.mktemp("disturbed")))


@pytest.fixture(scope="session")
def on_busy_machine(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Beside busy loops."""
    return conditions.pressed(conditions.on_busy_machine(tmp_path_factory.mktemp("busy")), 1)


@pytest.fixture(scope="session")
def levels(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Levels that are found or held, and pairs."""
    return conditions.pressed(conditions.levels(tmp_path_factory.mktemp("levels")))
