"""How tests are shared out among workers: what stays together, what comes first."""

from tests.sharing import FIRST, IN_TURN, place, shared
from tests.support import ROOT


def test_what_comes_first_is_there() -> None:
    files = [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")]
    assert [begin for begin in FIRST if not any(file.startswith(begin) for file in files)] == []
    assert place("tests/e2e/test_simulate.py::test_a") < place("tests/e2e/test_find.py::test_a") < place("tests/unit/a")


def test_tests_that_share_what_is_set_up_stay_together() -> None:
    own, beside, none = "contract/test_batch_systems.py", "truth/test_levels.py", "e2e/test_find_truth.py"
    assert [shared(ROOT / "tests" / each) for each in (own, beside, none)] == [True, True, False]


def test_what_is_for_one_worker_is_there() -> None:
    assert [file for file in IN_TURN if not (ROOT / file).exists()] == []
