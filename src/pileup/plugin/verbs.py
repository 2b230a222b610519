"""The verbs of native tests: what each does, whether it changes or deletes, which names it takes."""

from pileup.model.verbs import VERBS, Moves, Names, Verb

__all__ = ["VERBS", "Moves", "Names", "Verb"]
