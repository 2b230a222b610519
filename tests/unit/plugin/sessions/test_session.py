"""Round trips counted in what a relay has seen: sessions made by hand, with known causes."""

from __future__ import annotations

import pytest

from pileup.plugin.sessions.seen import DOWN, UP, Connection, Handshake, Message, read
from pileup.plugin.sessions.session import session
from tests.sessions import MS, Made


@pytest.mark.parametrize("added", [0, 10 * MS, 150 * MS])
@pytest.mark.parametrize("base", [0, 3 * MS])
def test_each_question_is_a_round_trip_and_the_connect_is_one(added: int, base: int) -> None:
    made = Made(1000 * MS, added, base)
    made.ask(10, 7 * MS)
    made.ask(20, 0, client=5 * MS)
    made.ask(30, 100 * MS)
    found = session([made.connection()], 998 * MS, made.now + 1 * MS, added)
    assert (found.round_trips, found.connects, found.turns) == (4, 1, 3)
    assert (found.messages(UP), found.messages(DOWN), found.size(UP)) == (3, 3, 60)
    assert found.network == 4 * (added + base)
    assert found.server == 107 * MS
    assert found.client == 8 * MS
    assert found.unexplained == 0
    assert found.chain[0].begin == found.begin and found.chain[-1].end == found.end


def test_a_second_connection_after_the_first_is_another_connect() -> None:
    first = Made(0, 20 * MS)
    first.ask(10, 1 * MS)
    second = Made(first.now + 2 * MS, 20 * MS, number=1)
    second.ask(10, 1 * MS)
    found = session([first.connection(), second.connection()], 0, second.now, 20 * MS)
    assert (found.connects, found.turns, found.server, found.client, found.unexplained) == (2, 2, 2 * MS, 2 * MS, 0)


def test_what_goes_on_beside_costs_nothing() -> None:
    slow, quick = Made(0, 20 * MS), Made(0, 20 * MS, number=1)
    slow.ask(10, 90 * MS)
    for _ in range(2):
        quick.ask(10, 1 * MS)
    found = session([slow.connection(), quick.connection()], 0, slow.now, 20 * MS)
    assert (found.connects, found.turns, found.server) == (1, 1, 90 * MS)
    assert found.messages(UP) == 3


def test_questions_that_do_not_wait_for_one_another_are_one_round_trip() -> None:
    half, up, down = 10 * MS, [], []
    for number in range(3):
        came = 20 * MS + number * 2 * MS
        up.append(Message(UP, (came, came), (came + half, came + half), 10))
        answered = came + half + MS
        down.append(Message(DOWN, (answered, answered), (answered + half,) * 2, 10))
    messages = tuple(sorted(up + down, key=lambda each: each.came))
    end = down[-1].due[1]
    found = session([Connection(0, 0, 20 * MS, 30 * MS, 30 * MS, end, False, messages)], 0, end, 20 * MS)
    assert (found.connects, found.turns, found.unexplained) == (1, 1, 0)


def test_a_server_that_speaks_first_costs_two_round_trips() -> None:
    half = 10 * MS
    greeting = Message(DOWN, (35 * MS,) * 2, (45 * MS,) * 2, 80)
    made = Connection(0, 0, 20 * MS, 30 * MS, 30 * MS, 50 * MS, False, (greeting,))
    found = session([made], 0, 45 * MS, 2 * half)
    assert (found.round_trips, found.server, found.client, found.unexplained) == (2, 5 * MS, 0, 0)


def test_a_session_without_an_answer_is_all_the_clients() -> None:
    made = Connection(0, 5, 5, 5, 5, 9, False, (Message(UP, (6, 6), (6, 6), 1),))
    found = session([made], 0, 10, 0)
    assert (found.round_trips, found.client, found.unexplained) == (0, 10, 0)


def test_what_a_relay_writes_is_read() -> None:
    text = """[{"number": 3, "accepted": 1, "sent": 2, "asked": 3, "reached": 5, "closed": 9,
      "refused": false, "cut": false, "messages": [{"way": 0, "came": [1, 1], "due": [3, 3], "bytes": 5}],
      "tls": {"version": 772, "resumed": true, "again": false}}]"""
    (found,) = read(text)
    assert (found.number, found.base, found.tls) == (3, 2, Handshake(0x0304, resumed=True, again=False))
    assert str(found.tls) == "TLS 1.3, resumed"
    assert str(Handshake(0x0303, resumed=False, again=True)) == "TLS 1.2, full, asked for another hello"
    assert found.messages == (Message(UP, (1, 1), (3, 3), 5),)
