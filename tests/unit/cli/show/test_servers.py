"""The server's share of the time on the screen."""

from pileup.cli.show.servers import tables
from tests.unit.builtin.reports import synthetic


def test_a_share_that_is_not_known_says_why() -> None:
    shares, _ = tables(synthetic.rich())
    rows = {str(name): tuple(map(str, cells)) for name, *cells in shares.rows}
    assert rows["copy.stat, stream"] == ("50 of 50", "not known", "-", "-", "-", "-")
    assert rows["copy.read, log"][:2] == ("98 of 100", "33.3 %")
    assert rows["copy.write, log"][:2] == ("0 of 7", "-")
    assert shares.notes[0] == "not known: the times of stream are in steps of 1 s"
