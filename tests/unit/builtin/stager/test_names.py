"""Names of files by their cartridge."""

from pileup._core._native import TapeLibrary
from pileup.builtin.stager.names import FileNames
from pileup.builtin.stager.settings import StagerSettings

RULES = StagerSettings(cartridges=30).rules(5)


def test_files_of_a_folder_lie_on_one_cartridge_and_each_is_given_once() -> None:
    names, library = FileNames(RULES, 100_000_000), TapeLibrary(RULES, 1, 0, 0)
    found = {folder: [names.take(folder) for _ in range(20)] for folder in ("/a", "/b", "/c", "/d", "/e")}
    cartridges = {folder: {library.cartridge(int(name)) for name in given} for folder, given in found.items()}
    assert all(len(each) == 1 for each in cartridges.values())
    assert len(set.union(*cartridges.values())) > 1
    given = [name for each in found.values() for name in each]
    assert len(set(given)) == 100
    assert all(len(name) >= 7 and int(name) < 100_000_000 for name in given)
