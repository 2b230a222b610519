"""The order of tests: that of the file, unless `after` says otherwise; and the circles that have none."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence


def order(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names so that each comes after those it needs, otherwise as they are given.

    Names that are in a circle, or need one that is, are left out.
    """
    rank = {name: number for number, name in enumerate(needs)}
    waiting = {name: len(set(before)) for name, before in needs.items()}
    followers: dict[str, list[str]] = {name: [] for name in needs}
    for name, before in needs.items():
        for each in set(before):
            followers.setdefault(each, []).append(name)
    ready = [number for name, number in rank.items() if not waiting[name]]
    names, found = list(needs), []
    while ready:
        name = names[heapq.heappop(ready)]
        found.append(name)
        for each in followers[name]:
            waiting[each] -= 1
            if not waiting[each]:
                heapq.heappush(ready, rank[each])
    return found


def circles(needs: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return circles among the names, each begun with its first name and closed with it: [a, b, a].

    Each name is visited once (depth first, without recursion), so circles that share names may be reported as one.
    """
    rank = {name: number for number, name in enumerate(needs)}
    done = set(order(needs))
    found: list[list[str]] = []
    for start in needs:
        trail: dict[str, Iterator[str]] = {}
        name: str | None = start
        while name is not None:
            if name in trail:
                found.append(_closed(list(trail), name, rank))
            elif name not in done and name in needs:
                trail[name] = iter(needs[name])
            name = _next(trail, done)
    return found


def _next(trail: dict[str, Iterator[str]], done: set[str]) -> str | None:
    """Return what to visit next, stepping back from names that have nothing more."""
    while trail:
        last = next(reversed(trail))
        after = next(trail[last], None)
        if after is not None:
            return after
        done.add(last)
        del trail[last]
    return None


def _closed(trail: list[str], name: str, rank: Mapping[str, int]) -> list[str]:
    """Return the circle at the end of a trail, begun with its first name in the suite."""
    circle = trail[trail.index(name) :]
    first = min(range(len(circle)), key=lambda number: rank[circle[number]])
    circle = circle[first:] + circle[:first]
    return [*circle, circle[0]]
