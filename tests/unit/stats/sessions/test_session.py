"""Round trips counted in what a relay has seen: sessions made by hand, with known causes."""

from __future__ import annotations

import pytest

from pileup.stats.sessions.seen import DOWN, UP, Connection, Message, read
from pileup.stats.sessions.session import session
from pileup.stats.sessions.slope import Line, line

MS = 10**6


class Made:
    """A connection as a relay would write it down, with `added` to each round trip."""

    def __init__(self, begin: int, added: int, base: int = 0, number: int = 0) -> None:
        self.half, self.base, self.number, self.accepted = added // 2, base, number, begin
        self.sent = begin + added
        self.asked = self.sent + self.half
        self.reached = self.asked + base
        self.now = begin
        """The client's time."""
        self.messages: list[Message] = []

    def ask(self, size: int, think: int, client: int = 0, extra: int = 0) -> None:
        """The client asks after `client`, and has the answer after the round trip and what the server thinks."""
        came = max(self.sent, self.now + client)
        due = max(came + self.half, self.asked)
        self.messages.append(Message(UP, (came, came), (due, due), size))
        first = not any(each.way == DOWN for each in self.messages)
        answered = due + self.base * (2 if first else 1) + think
        self.messages.append(Message(DOWN, (answered, answered), (answered + self.half,) * 2, size + extra))
        self.now = answered + self.half

    def connection(self) -> Connection:
        """What the relay has of it."""
        return Connection(
            self.number, self.accepted, self.sent, self.asked, self.reached, self.now, False, tuple(self.messages)
        )


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


def test_the_slope_is_the_number_of_round_trips() -> None:
    sessions = []
    for added in (0, 10 * MS, 50 * MS, 150 * MS):
        for noise in (-1, 0, 1):
            made = Made(0, added)
            for _ in range(7):
                made.ask(10, 2 * MS)
            sessions.append(session([made.connection()], 0, made.now + (3 + noise) * MS, added))
    found = line(sessions)
    assert found is not None
    assert found.slope == pytest.approx(8, abs=1e-9)
    assert found.low <= 8 <= found.high and found.high - found.low < 0.02
    assert found.intercept == pytest.approx(14 * MS)
    assert found.agrees(8) is True and found.agrees(7) is False
    assert Line(9.0, 5.0, 13.0, 0.0).agrees(8) is None
    assert line(sessions[:3]) is None and line(sessions[:2]) is None


def test_what_a_relay_writes_is_read() -> None:
    text = """[{"number": 3, "accepted": 1, "sent": 2, "asked": 3, "reached": 5, "closed": 9,
      "refused": false, "cut": false, "messages": [{"way": 0, "came": [1, 1], "due": [3, 3], "bytes": 5}],
      "tls": {"version": 772, "resumed": true, "again": false}}]"""
    (found,) = read(text)
    assert (found.number, found.base, found.tls) == (3, 2, "TLS 1.3, resumed")
    assert found.messages == (Message(UP, (1, 1), (3, 3), 5),)
