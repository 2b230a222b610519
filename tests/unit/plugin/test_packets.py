"""Packets handed out to workers: exact sequences."""

import pytest

from pileup.plugin.packets import CROWD, HOLDERS, READERS, File, Packetizer

TEN = tuple(range(0, 101, 10))
"""Edges of ten clusters of ten events."""


def told(packet):
    return None if packet is None else (packet.file, packet.begin, packet.end)


def joined(files, *workers, seconds=1.0):
    made = Packetizer(files, seconds)
    for worker, node in workers:
        made.join(worker, node)
    return made


def test_sizes_follow_the_rate_and_the_edges_and_shrink_at_the_end():
    made = joined([File("s/a", TEN)], ("w", "s/a"), seconds=1)
    seen = []
    while not made.done:
        packet = made.ask("w", 0)
        seen.append(told(packet))
        assert made.finish("w", packet, packet.events / 35) == [packet]
    assert seen == [
        (0, 0, 10), (0, 10, 40), (0, 40, 70), (0, 70, 80), (0, 80, 90), (0, 90, 100),
    ], "35 events a second: one cluster, then three; half of what is left at most"  # fmt: skip
    assert made.ask("w", 0) is None


def test_a_faster_worker_gets_more():
    made = joined([File("s/a", range(0, 10_001, 10))], ("slow", "s/a"), ("fast", "s/a"))
    for worker, rate in (("slow", 50), ("fast", 200)):
        packet = made.ask(worker, 0)
        made.finish(worker, packet, packet.events / rate)
    assert [made.ask(worker, 0).events for worker in ("slow", "fast")] == [50, 200]


def test_own_files_come_first_then_those_of_the_nearest_node_that_has_most():
    files = [File("far/x", TEN), File("near/b", (0, 10)), File("near/c", (0, 10, 20, 30)), File("near/a", (0, 10))]
    made = joined(files, ("w", "near/a"))
    assert [told(made.ask("w", 0)) for _ in range(6)] == [
        (3, 0, 10), (2, 0, 10), (2, 10, 20), (1, 0, 10), (2, 20, 30), (0, 0, 10),
    ]  # fmt: skip


def held_up():
    """Return one worker that holds two clusters, another that has the other two, and their packets."""
    made = joined([File("s/a", (0, 10, 20, 30, 40))], ("one", "s/a"), ("two", "s/a"), seconds=100)
    made._learn(made._workers["one"], 10.0)
    whole = made.ask("one", 0)
    others = [made.ask("two", 0), made.ask("two", 0)]
    assert [told(each) for each in (whole, *others)] == [(0, 0, 20), (0, 20, 30), (0, 30, 40)]
    return made, whole, others


def test_nobody_gets_what_is_not_late():
    made, _, _ = held_up()
    assert made.ask("two", 3.9) is None, "20 events at 10/s take 2 s, twice of that is late"
    assert told(made.ask("two", 4.0)) == (0, 0, 10)


def test_who_is_idle_gets_a_part_of_a_late_packet_and_the_whole_counts_if_it_is_first():
    made, whole, _ = held_up()
    part = made.ask("two", 5)
    assert made.finish("one", whole, 5.5) == [whole]
    assert made.finish("two", part, 1) == [], "it counts once"
    assert made.uncounted == 20


def test_parts_count_together_if_they_are_back_before_the_whole():
    made, whole, others = held_up()
    first, second = made.ask("two", 5), made.ask("two", 5)
    assert [told(each) for each in (first, second)] == [(0, 0, 10), (0, 10, 20)]
    assert made.finish("two", first, 1) == [], "it waits for the other"
    assert made.finish("two", second, 1) == [first, second]
    assert made.finish("one", whole, 1) == []
    assert [made.finish("two", each, 1) for each in others] == [[each] for each in others]
    assert made.done


def test_one_cluster_is_given_again_and_the_first_answer_counts():
    made = joined([File("s/a", (0, 10))], ("one", "s/a"), ("two", "s/a"), seconds=1)
    slow = made.ask("one", 0)
    assert made.ask("two", 1.9) is None
    assert made.ask("two", 2.0) == slow
    assert made.finish("two", slow, 0.5) == [slow]
    assert made.finish("one", slow, 9) == []


def test_only_so_many_workers_of_other_nodes_read_from_a_node():
    edges = range(0, 1001, 10)
    most = CROWD * READERS
    made = joined([File("s/a", edges)], *((f"w{number}", "s/b") for number in range(most + 1)), ("own", "s/a"))
    far = [made.ask(f"w{number}", 0) for number in range(most + 1)]
    assert [packet is not None for packet in far] == [True] * most + [False]
    assert not made.may_give(0)
    assert made.ask("own", 0) is not None
    made.finish("w0", far[0], 1)
    assert made.may_give(0)
    assert made.ask(f"w{most}", 0) is not None


def test_others_are_helped_first_while_not_too_many_read_from_a_node():
    files = [File("s/a", range(0, 1001, 10)), File("s/b", (0, 10))]
    made = joined(files, *((f"w{number}", "s/c") for number in range(READERS + 2)))
    given = [made.ask(f"w{number}", 0).file for number in range(READERS + 2)]
    assert given == [0] * READERS + [1, 0]


def test_quick_workers_read_first_from_a_node_whose_own_worker_is_late():
    files = [File(f"s/{node}", range(0, 1001, 10)) for node in "abc"]
    made = joined(files, ("late", "s/a"), ("slow", "s/b"), ("quick", "s/c"))
    for worker, rate in (("late", 20), ("slow", 10), ("quick", 50)):
        packet = made.ask(worker, 0)
        made.finish(worker, packet, packet.events / rate)
    assert [made.ask(worker, 0).file for worker in ("late", "slow", "quick")] == [0, 1, 2]
    assert [made.ask(worker, 9).file for worker in ("slow", "quick")] == [1, 0]


def test_a_node_far_away_is_helped_when_it_needs_that_far_more():
    files = [File("near/a", range(0, 101, 10)), File("far/b", range(0, 1001, 10))]
    made = joined(files, ("w", "near/w"), ("a", "near/a"), ("b", "far/b"))
    assert made.ask("w", 0).file == 0, "nothing is known yet"
    for worker in ("a", "b"):
        packet = made.ask(worker, 0)
        made.finish(worker, packet, packet.events / 10)
    assert made.ask("w", 0).file == 1


def test_what_a_lost_worker_held_goes_to_others_and_its_answer_counts_no_more():
    made = joined([File("s/a", (0, 10, 20))], ("one", "s/a"), ("two", "s/b"))
    lost = made.ask("one", 0)
    made.lose("one")
    assert made.unassigned == 20
    again = made.ask("two", 0)
    assert (told(again), again.id == lost.id) == (told(lost), False)
    with pytest.raises(KeyError):
        made.finish("one", lost, 1)


def test_so_many_workers_hold_a_packet_and_no_more():
    made = joined([File("s/a", (0, 10))], *((f"w{number}", "s/a") for number in range(HOLDERS + 2)))
    given = [made.ask(f"w{number}", 10 * number) for number in range(HOLDERS + 2)]
    assert [packet is not None for packet in given] == [True] * HOLDERS + [False] * 2
    for number in range(HOLDERS):
        made.lose(f"w{number}")
    assert told(made.ask(f"w{HOLDERS}", 99)) == (0, 0, 10)


def test_many_are_served_at_once():
    made = joined([File("s/a", TEN)], ("one", "s/a"), ("two", "s/a"))
    first = list(made.exchange([("one", None, 0), ("two", None, 0)], 0))
    assert [(worker, told(packet), counted) for worker, packet, counted in first] == [
        ("one", (0, 0, 10), []),
        ("two", (0, 10, 20), []),
    ]
    second = list(made.exchange([(worker, packet, 1.0) for worker, packet, _ in first], 1))
    assert [counted for _, _, counted in second] == [[packet] for _, packet, _ in first]


def test_nothing_to_read_is_done_at_once():
    assert Packetizer([]).done
    assert Packetizer([File("a", (0,))]).done
