"""The file of starts: whole for this host, in parts for others; what the engine makes of both is the same."""

import json
from pathlib import Path

import numpy as np
import pytest

from pileup.fleet import starts as module
from pileup.fleet.order import Order
from pileup.fleet.starts import Inbox, StartsFile
from pileup.fleet.wire import Message
from pileup.model.loads.load import Load

SECOND = 10**9
NUMBER = 1001


@pytest.fixture
def whole(tmp_path: Path) -> StartsFile:
    times = np.cumsum(np.random.default_rng(3).integers(0, 10**7, NUMBER))
    (times - times[0]).astype("<i8").tofile(tmp_path / "starts")
    return StartsFile(str(tmp_path / "starts"), NUMBER, 4.0, 800.0)


def order(starts: StartsFile | None, **words: object) -> Order:
    load = Load.model_validate({"replay": {"run": "before", "speed": 4}, **words})
    return Order(1, "case", load, SECOND, seed=1, starts=starts)


def due(order: Order, shard: int, shards: int) -> list[tuple[int, int, int]]:
    return order.at_place(0, shard, shards).schedule(10**6)


def test_shards_add_up_to_the_whole_and_each_knows_its_number(whole: StartsFile) -> None:
    told = order(whole)
    recorded = np.fromfile(whole.path, "<i8")
    every = due(told, 0, 1)
    assert [time for _, time, _ in every] == np.floor(recorded / 4 + 0.5).astype(int).tolist()
    parts = [due(told, shard, 3) for shard in range(3)]
    assert sorted(start for part in parts for start in part) == every
    assert [told.share(shard, 3) for shard in range(3)] == [len(part) for part in parts] == [334, 334, 333]


@pytest.mark.parametrize("shards", [1, 2, 3, 7])
def test_what_is_sent_to_another_host_is_its_share(
    whole: StartsFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shards: int
) -> None:
    monkeypatch.setattr(module, "CHUNK", 800)
    told = order(whole)
    for shard in range(shards):
        part = told.part(shard, shards)
        assert part == (shard, shards)
        pieces = list(whole.pieces(part))
        assert max(map(len, pieces)) <= 800
        assert sum(map(len, pieces)) == 8 * len(range(shard, NUMBER, shards))
        inbox = Inbox(tmp_path)
        for piece in pieces:
            inbox.take(Message("starts", {"part": 5, "share": part}, (piece,)))
        here = inbox.found(5, whole)
        assert here is not None
        assert here.part == part
        assert due(order(here), shard, shards) == due(told, shard, shards)
        inbox.forget(5)
        assert not Path(here.path).exists()


def test_a_load_with_fewer_clients_than_places_goes_to_as_many_of_them(whole: StartsFile) -> None:
    few = order(whole, clients=2)
    assert [few.part(shard, 4) for shard in range(4)] == [(0, 2), (1, 2), None, None]
    assert order(whole).part(70, 100, most=64) is None
    assert order(whole).part(70, 100) == (70, 100)


def test_starts_that_did_not_come_whole_are_refused(whole: StartsFile, tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    inbox.take(Message("starts", {"part": 5, "share": (0, 2)}, (bytes(80),)))
    with pytest.raises(ValueError, match="has 80 bytes; expected the 4008 of its starts"):
        due(order(inbox.found(5, whole)), 0, 2)
    with pytest.raises(ValueError, match="part 0 of 2; expected those of shard 1 of 2"):
        due(order(inbox.found(5, whole)), 1, 2)
    nowhere = Inbox(tmp_path / "nowhere")
    nowhere.take(Message("starts", {"part": 6, "share": (0, 2)}, (bytes(80),)))
    with pytest.raises(ValueError, match="cannot be read"):
        due(order(nowhere.found(6, whole)), 0, 2)
    assert (nowhere.found(7, whole), nowhere.found(6, None)) == (whole, None)


def test_the_engine_is_told_the_file_and_the_mean_rate(whole: StartsFile) -> None:
    plain = json.loads(order(whole).to_native(0, 0, 1, 0))
    assert (plain["kind"], plain["rate"], plain["for"]) == ("open", 800, None)
    assert plain["replay"] == {"file": whole.path, "count": NUMBER, "speed": 4, "part": [0, 1]}
    assert plain["endless"] is False
