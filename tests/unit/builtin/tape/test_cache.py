"""What is in a cache, and when a copy from it is there."""

from pileup.builtin.tape.cache import Cache, Link


def test_what_was_not_used_for_longest_makes_room() -> None:
    cache = Cache(3)
    for path in "abc":
        assert not cache.has(path, 1)
        cache.add(path, 1)
    assert cache.has("a", 1)
    cache.add("d", 1)
    assert [path for path in "abcd" if cache.has(path, 1)] == ["a", "c", "d"]


def test_a_large_file_takes_the_place_of_several_and_one_too_large_is_not_kept() -> None:
    cache = Cache(3)
    for path in "abc":
        cache.add(path, 1)
    cache.add("large", 2)
    cache.add("huge", 4)
    cache.add("large", 2)
    assert [path for path in ("a", "b", "c", "large", "huge") if cache.has(path, 1)] == ["c", "large"]


def test_a_warm_cache_has_what_is_asked_for_first_as_long_as_its_stock_lasts() -> None:
    cache = Cache(4, warm=0.5)
    assert [cache.has(path, 1) for path in "abc"] == [True, True, False]
    assert cache.has("a", 1)
    cache.add("c", 1)
    cache.add("d", 1)
    assert [cache.has(path, 1) for path in "abcd"] == [True] * 4
    cache.add("e", 1)
    assert not cache.has("a", 1), "it was used before the others"


def test_what_comes_from_tape_takes_the_place_of_stock_first() -> None:
    cache = Cache(2, warm=1.0)
    assert cache.has("a", 1)
    cache.add("b", 1)
    assert cache.has("a", 1)
    assert not cache.has("c", 1), "the stock is used up"


def test_a_link_copies_one_after_another() -> None:
    link = Link(2.0)
    assert [link.copy(0, 4), link.copy(10**9, 2), link.copy(9 * 10**9, 2)] == [2 * 10**9, 3 * 10**9, 10 * 10**9]
    assert Link(None).copy(7, 100) == 7
