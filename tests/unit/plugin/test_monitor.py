"""What monitors are reported when they ask for the target that they watch."""

from collections.abc import Iterator

import pytest

from pileup.plugin import Monitor, PluginError, Sample


class Watching(Monitor):
    """Watches a target where one is named."""

    target: str | None = None

    def sample(self) -> Iterator[Sample]:
        yield from ()


def test_who_names_no_target_is_told_so() -> None:
    with pytest.raises(PluginError, match="the option `target` is left out; expected the name of"):
        Watching().watched()
    with pytest.raises(PluginError, match="not known here; expected a monitor without `host`"):
        Watching(target="se").watched()
