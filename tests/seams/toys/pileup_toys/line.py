"""A report."""

from pileup.plugin import Report, RunResults, option


class Line(Report):
    """One line for a chat channel."""

    name = "toy-line"
    file_name = "line.txt"

    greeting: str = option("hello", help="first word")

    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        """Return the line."""
        return f"{self.greeting}, {results.verdict}: {len(results.cases)} cases\n".encode()
