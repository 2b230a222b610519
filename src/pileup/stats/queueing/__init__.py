"""A queueing model of staging from tape: fitted to records, asked about other settings.

`history` reads what happened, `fit` makes a system of it, `machine` runs a system, `predict` says what to expect.
"""

from pileup.stats.queueing.fit import CannotPredict, System, fit
from pileup.stats.queueing.history import FIGURES, History, histories
from pileup.stats.queueing.predict import Expected, Prediction, predict

__all__ = ["FIGURES", "CannotPredict", "Expected", "History", "Prediction", "System", "fit", "histories", "predict"]
