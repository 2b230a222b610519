"""How many native workers a place has."""

import os
from pathlib import Path

import pytest

from pileup.fleet import cores
from pileup.fleet.order import Order
from pileup.model.loads.load import Load


@pytest.mark.parametrize(
    ("usable", "beside", "expected"),
    [(1, 1, 1), (2, 1, 2), (3, 1, 3), (4, 1, 3), (64, 1, 63), (2, 2, 1), (2, 4, 1), (16, 4, 3)],
)
def test_all_cores_below_four_and_one_less_from_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, usable: int, beside: int, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(usable)))
    assert cores.workers(None, beside, tmp_path) == expected


def test_what_is_asked_for_is_taken() -> None:
    assert cores.workers(7, 3) == 7


@pytest.mark.parametrize(
    ("text", "expected"), [("max 100000", 8), ("200000 100000", 2), ("50000 100000", 1), ("broken", 8)]
)
def test_the_quota_of_a_control_group_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    (tmp_path / "cpu.max").write_text(text)
    assert cores.usable(tmp_path) == expected


@pytest.mark.parametrize(
    ("load", "expected"),
    [(Load(), 1), (Load(times=9), 1), (Load(clients=3, for_=10**9), 3), (Load(clients=300, for_=10**9), 8)],
)
def test_a_load_takes_no_more_than_it_has_clients(load: Load, expected: int) -> None:
    order = Order(1, "a", load, 10**9, 7)
    assert order.at_place(workers=8).used_workers == expected
