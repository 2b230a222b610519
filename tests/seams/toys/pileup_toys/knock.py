"""A test in Python."""

from pileup.plugin import Op, Test, option


class Knock(Test):
    """Knock at a door and see who is there."""

    name = "toys.knock"
    needs = "knocks"

    who: str = option("me", help="name that is given")

    def run(self, op: Op) -> None:
        """Knock once."""
        with op("knock", self.who):
            answer = self.target.knock(self.who)
        self.expect(answer == f"IT IS {self.who}", f"the answer is {answer!r}, expected the name")
