"""A kind of target with a machine in virtual time, and tests of it, as users write them."""

import asyncio

from pileup.plugin import Duration, Failed, Op, Refused, Target, Test, option


class Counter(Target):
    """One slot: whoever comes holds it for `takes`; the others wait in order."""

    kind = "counter"

    @classmethod
    def launcher(cls, settings, folder):
        return None

    def simulated(self, settings, time):
        made = Counter()
        made.time, made.free = time, time.now()
        made.takes = int(settings.get("takes", 10)) * 10**9
        if made.takes < 0:
            raise ValueError(f"takes {made.takes}; expected 0 or more")
        return made

    async def ask(self):
        answer = asyncio.get_running_loop().create_future()
        self.free = max(self.free, self.time.now()) + self.takes
        self.time.at(self.free, lambda: answer.done() or answer.set_result(None))
        await answer


class Ask(Test):
    """Ask once."""

    needs = "any"

    pause: Duration = option("0 s", help="before it asks")
    wrong: str = option("", help="what goes wrong")

    async def setup(self):
        if self.wrong == "setup":
            raise Failed("no client today")
        if self.wrong == "stuck":
            await asyncio.get_running_loop().create_future()

    async def run(self, op: Op):
        await asyncio.sleep(self.pause / 1e9)
        if self.wrong == "refused":
            raise Refused("not now")
        async with op("ask", f"k{op.number}", labels={"client": f"c{op.client}"}) as asked:
            await self.target.ask()
            asked.bytes, asked.calls = 100, 1
        op.check("fine", True)
        self.report("turn", op.number)
        print(f"iteration {op.number}")
        if self.wrong == "thread":
            await asyncio.to_thread(print)


class Leave(Test):
    """Begin what another test ends."""

    async def run(self, op: Op):
        op.begin("job", f"j{op.number}")


class End(Test):
    """End what has been begun."""

    async def run(self, op: Op):
        for key in self.ledger.keys("job"):
            self.ledger.turn("job", key, "later")
            self.ledger.end("later", key)


class Plain(Test):
    """Not async."""

    needs = "any"

    def run(self, op: Op):
        """Do nothing."""


class Alone(Test):
    """Needs no target."""

    async def run(self, op: Op):
        await asyncio.sleep(0)
