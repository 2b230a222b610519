"""Settings of real stagers."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from pileup.builtin.stager.settings import FILES, StagerSettings
from pileup.model.practice import TapeSettings


def test_the_library_gets_all_but_the_words_of_the_nodes() -> None:
    given: dict[str, Any] = {
        "nodes": 3,
        "max_transfers": 4,
        "patience": "1 h",
        "drives": 2,
        "mount": "30 s",
        "size": "2 GB",
    }
    told = json.loads(StagerSettings.model_validate(given).for_library(given.items()))
    assert told == {"drives": 2, "mount": "30 s", "size": "2 GB", "files": FILES, "threads": 28, "queue": 28}
    library = TapeSettings.model_validate(told)
    assert (library.drives, library.max_transfers, library.mount.fixed) == (2, 0, 30 * 10**9)


def test_both_draw_the_same_cartridges() -> None:
    given: dict[str, Any] = {"seed": 7, "cartridges": 50}
    ours = StagerSettings.model_validate(given)
    library = TapeSettings.model_validate_json(ours.for_library(given.items()))
    assert (ours.seed, ours.cartridges) == (library.seed, library.cartridges)
    plain, native = StagerSettings(), TapeSettings()
    for word in ("seed", "cartridges", "drives", "arms", "order", "speed", "mount", "dismount", "seek"):
        assert getattr(plain, word) == getattr(native, word), word


def test_a_copy_command_waits_in_real_time() -> None:
    assert StagerSettings.model_validate({"patience": "2 h", "speed_up": 100}).patience_here == 72


@pytest.mark.parametrize("wrong", [{"max_transfers": 0}, {"nodes": 0}, {"speed_up": 0}, {"size": 0}, {"node": 3}])
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        StagerSettings.model_validate(wrong)
