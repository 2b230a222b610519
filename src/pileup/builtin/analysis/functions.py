"""Functions of users that a query calls with the events it reads."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pileup.plugin import Failed

if TYPE_CHECKING:
    from hist import Hist

Function = Callable[[Any], Any]
EXPECTED = "a hist.Hist, or a mapping of names to some"


def function_file(named: str, folder: Path) -> Path:
    """Return the file of `./file.py:function`, relative to a folder. Raises ValueError: what; expected."""
    path = (folder / named.rpartition(":")[0]).resolve()
    if not path.is_file():
        raise ValueError(f"function {named!r}: there is no file {path}; expected a Python file beside the suite")
    return path


def load_function(named: str, folder: Path) -> Function:
    """Return what `./file.py:function` names, relative to a folder. Raises ValueError: what; expected."""
    path, name = function_file(named, folder), named.rpartition(":")[2]
    spec = importlib.util.spec_from_file_location(f"pileup_function_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"function {named!r}: {path.name} is no Python file; expected ./file.py:function")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # pickles and dataclasses of the file look it up
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        told = f"function {named!r}: {path.name} cannot be imported: {type(problem).__name__}: {problem}"
        raise ValueError(f"{told}; expected a file that Python imports") from problem
    found = getattr(module, name, None)
    if not callable(found):
        own = sorted(key for key, each in vars(module).items() if callable(each) and not key.startswith("_"))
        raise ValueError(f"{path.name} has no function {name!r}; expected one of {', '.join(own) or 'its functions'}")
    return found  # type: ignore[no-any-return]


def returned(result: Any, named: str) -> dict[str, Hist[Any]]:
    """Return the histograms that a function returned. Raises Failed when it returned something else."""
    import hist  # noqa: PLC0415  `pileup list` loads every plug-in

    if isinstance(result, hist.Hist):
        return {str(result.name or "histogram"): result}
    if isinstance(result, Mapping) and all(isinstance(each, hist.Hist) for each in result.values()):
        return {str(name): each for name, each in result.items()}
    told = f"{named} returned {type(result).__name__}"
    if isinstance(result, Mapping):
        told += f" of {', '.join(sorted({type(each).__name__ for each in result.values()}))}"
    raise Failed(told, EXPECTED, "correct the function")


def add(total: dict[str, Hist[Any]], part: Mapping[str, Hist[Any]], named: str) -> None:
    """Add histograms of a packet. Raises Failed when one has other axes than before."""
    for name, each in part.items():
        if name not in total:
            total[name] = each.copy()
        elif total[name].axes != each.axes:
            told = f"{named} returned the histogram {name!r} with {_axes(each)}, and before with {_axes(total[name])}"
            raise Failed(told, "the same axes for all packets", "make them in one place, independent of the events")
        else:
            total[name] += each


def _axes(histogram: Hist[Any]) -> str:
    return " x ".join(f"{len(axis)} bins from {axis.edges[0]:g} to {axis.edges[-1]:g}" for axis in histogram.axes)
