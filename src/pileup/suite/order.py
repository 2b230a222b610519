"""The order of tests: that of the file, unless `after` says otherwise; and the circles that have none."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence


def order(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names so that each stands after those it needs, otherwise as they are given.

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

    Every name that has no place in the order because of a circle is in one of these or leads to one.
    """
    done = set(order(needs))
    found: list[list[str]] = []
    for start in needs:
        if start in done:
            continue
        trail = _trail(start, needs, done)
        if trail:
            found.append(trail)
        done.update(trail or [start])
    return found


def _trail(start: str, needs: Mapping[str, Sequence[str]], done: set[str]) -> list[str]:
    """Follow what is needed from `start` until a name comes again; empty when it leads to what is told already."""
    trail: list[str] = []
    name = start
    while name not in trail:
        trail.append(name)
        after = [each for each in needs[name] if each in needs and each not in done]
        if not after:
            return []
        name = after[0]
    circle = trail[trail.index(name) :]
    first = min(range(len(circle)), key=lambda number: list(needs).index(circle[number]))
    circle = circle[first:] + circle[:first]
    return [*circle, circle[0]]
