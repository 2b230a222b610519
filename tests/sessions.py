"""Sessions made by hand, as a relay would record them."""

from pileup.plugin.sessions.seen import DOWN, UP, Connection, Message

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
