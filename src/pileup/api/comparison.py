"""Runs compared with a baseline, from Python."""

from __future__ import annotations

from collections.abc import Iterator

from pileup.api import html
from pileup.model.contrast import BETTER, WORSE, Contrast, RunComparison
from pileup.model.contrast_words import change_words, plain_words, sentence, verdict_words


class Comparison:
    """Runs compared with a baseline, as `pileup compare` has them; a notebook shows the sentence and a table."""

    def __init__(self, found: RunComparison) -> None:
        self.found = found
        """All of it, typed: each difference with its interval."""

    @property
    def verdict(self) -> str:
        """What is worse anywhere decides: "worse", "better" or "no difference shown"."""
        return self.found.verdict

    @property
    def worse(self) -> tuple[Contrast, ...]:
        """What is shown to be worse by as much as matters."""
        return tuple(each for against in self.found.against for each in against.worse)

    @property
    def better(self) -> tuple[Contrast, ...]:
        """What is shown to be better by as much as matters."""
        return tuple(each for against in self.found.against for each in against.better)

    def __iter__(self) -> Iterator[Contrast]:
        return (each for against in self.found.against for each in against.contrasts)

    def __repr__(self) -> str:
        return f"<Comparison of pileup: {self.verdict}, {len(self.worse)} worse, {len(self.better)} better>"

    def _repr_html_(self) -> str:
        parts: list[str] = []
        for against in self.found.against:
            word = WORSE if against.worse else BETTER if against.better else ""
            told = f"{against.candidate.name} against the baseline {self.found.baseline.name}"
            parts += [
                html.sentence(sentence(against, self.found.smallest), word),
                html.notes([told, *against.warnings]),
            ]
            rows = [
                (each.name, each.metric, *figures, change_words(each), verdict_words(each, self.found.smallest))
                for each in against.contrasts
                for figures in ((plain_words(each.baseline), plain_words(each.candidate)),)
            ]
            titles = ("", "Metric", "Baseline", "Now", "Change", "Verdict")
            parts.append(html.table(titles, rows))
        return html.framed(parts)
