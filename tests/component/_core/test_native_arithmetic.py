"""Schedules and known content: pure functions, checked against their definitions."""

import struct
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from pileup._core._native import Load, adler32, content

POOL = 1_048_573
MASK = 2**64 - 1
S = 10**9


def schedule(load: str, limit: int) -> list[tuple[int, int, int]]:
    return Load(load).schedule(limit)


def splitmix(state: int) -> int:
    """One step of splitmix64: the output for this state."""
    z = (state + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def test_a_constant_rate_is_exact(load_of: Callable[..., str]) -> None:
    starts = schedule(load_of(kind="open", rate=4.0, for_=2 * S), 100)
    assert starts == [(number, number * S // 4, 3) for number in range(8)]


def test_levels_follow_one_another(load_of: Callable[..., str]) -> None:
    levels = [(4.0, 0, 0, S), (0.0, 0, 0, S), (2.0, 2 * S, S, S)]
    segments = [dict(zip(("level", "ramp", "warm_up", "for"), level, strict=True)) for level in levels]
    starts = schedule(load_of(kind="open", segments=segments), 100)
    ramp = [(4, 2 * S, 1), (5, 2 * S + 1_414_213_562, 1)]
    flat = [(6, 4 * S, 2), (7, 4 * S + S // 2, 2), (8, 5 * S, 3), (9, 5 * S + S // 2, 3)]
    assert starts == [(number, number * S // 4, 3) for number in range(4)] + ramp + flat


def test_an_endless_load_goes_on(load_of: Callable[..., str]) -> None:
    with pytest.raises(ValueError, match=r"expected .* or `endless`"):
        schedule(load_of(kind="open", rate=4.0), 1)
    assert schedule(load_of(kind="open", rate=4.0, endless=True), 10**5)[-1] == (99_999, 99_999 * S // 4, 3)


def test_a_limit_cuts(load_of: Callable[..., str]) -> None:
    assert schedule(load_of(kind="open", rate=4.0, for_=2 * S), 3) == [(0, 0, 3), (1, S // 4, 3), (2, S // 2, 3)]
    assert schedule(load_of(kind="open", rate=4.0, for_=2 * S), 0) == []


def test_phases_follow_the_intended_start(load_of: Callable[..., str]) -> None:
    starts = schedule(load_of(kind="open", rate=10.0, ramp=2 * S, warm_up=S, for_=S), 100)
    assert len(starts) == 30
    for _, at, phase in starts:
        assert phase == (1 if at < 2 * S else 2 if at < 3 * S else 3)
    ramp = [at for _, at, phase in starts if phase == 1]
    assert ramp == pytest.approx([(number / 2.5) ** 0.5 * S for number in range(10)], abs=2)


@pytest.mark.parametrize("arrivals", ["constant", "poisson"])
def test_shards_add_up_to_the_whole(load_of: Callable[..., str], arrivals: str) -> None:
    def starts(**changes: Any) -> list[tuple[int, int, int]]:
        return schedule(load_of(kind="open", rate=200.0, ramp=S, for_=S, arrivals=arrivals, **changes), 10_000)

    parts = [start for shard in range(3) for start in starts(shard=shard, shards=3)]
    assert sorted(parts) == starts()


def test_a_seed_gives_the_same_arrivals(load_of: Callable[..., str]) -> None:
    def starts(seed: int) -> list[tuple[int, int, int]]:
        return schedule(load_of(kind="open", rate=100.0, for_=10 * S, arrivals="poisson", seed=seed), 10_000)

    assert starts(1) == starts(1) != starts(2)
    assert 850 < len(starts(1)) < 1150


@pytest.mark.parametrize("wrong", ["", "[]", '{"kind": "open"}'])
def test_a_wrong_load_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        schedule(wrong, 5)


def test_only_open_loads_have_a_schedule(load_of: Callable[..., str]) -> None:
    with pytest.raises(ValueError, match="expected"):
        schedule(load_of(kind="once"), 5)


def test_content_is_stamped_each_page() -> None:
    data = content(7, 42, 0, 3 * 4096)
    for page in range(3):
        assert struct.unpack_from("<QQ", data, page * 4096) == (42, page)


@pytest.mark.parametrize(("offset", "length"), [(0, 1), (5, 4096), (4095, 2), (POOL - 3, 10_000), (3 * POOL, 4097)])
def test_a_part_is_a_part_of_the_whole(offset: int, length: int) -> None:
    whole = content(7, 42, 0, 3 * POOL + 10_000)
    assert content(7, 42, offset, length) == whole[offset : offset + length]


def test_content_is_the_pool_read_from_its_place() -> None:
    begin = splitmix(7 ^ 42) % POOL
    data = content(7, 42, 0, POOL + 8192)
    other = content(7, 43, 0, 2 * POOL)
    shift = (begin - splitmix(7 ^ 43) % POOL) % POOL
    for at in range(0, POOL + 8000, 9973):
        if at % 4096 >= 16 and (at + shift) % 4096 >= 16:
            assert data[at] == other[at + shift]


def test_different_seeds_give_different_content() -> None:
    assert content(1, 0, 16, 4000) != content(2, 0, 16, 4000)
    assert content(1, 0, 0, 0) == b""


def test_content_does_not_compress() -> None:
    data = content(1, 0, 0, 1 << 20)
    assert len(zlib.compress(data)) > 0.98 * len(data)


@pytest.mark.parametrize(
    "parts", [[], [b""], [b"abc"], [b"a", b"", b"bc"], [bytes(range(256)) * 999, b"\xff" * 70_000]]
)
def test_adler32_is_zlibs(parts: list[bytes]) -> None:
    assert adler32(parts) == zlib.adler32(b"".join(parts))
    assert adler32(iter(parts)) == zlib.adler32(b"".join(parts))


def test_what_is_no_bytes_is_refused() -> None:
    with pytest.raises(TypeError):
        adler32(["text"])  # type: ignore[list-item]
