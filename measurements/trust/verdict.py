"""What may come of any input: an answer that is right, or an error that says what is wrong."""

from __future__ import annotations

import traceback
import warnings
from typing import TYPE_CHECKING

import numpy as np

import sureshot
from measurements.trust.searches import SMALLEST_FIRST, Task, scores_of, verdicts

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot import TopK
    from sureshot._types import Array, Floats

# What a call may raise. An IndexError, an AttributeError or an AssertionError is no answer to an argument.
CLEAR = (
    ValueError,
    TypeError,
    OSError,
    sureshot.PullError,
    NotImplementedError,
)
SHORTEST_MESSAGE = 10


class WrongAnswer(Exception):
    """An answer that its certificate does not allow."""


def outcome(call: Callable[[], object]) -> str:
    """Return ``"answer"`` or ``"error"``, or else what is wrong, in words. A warning is wrong, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            call()
        except WrongAnswer as error:
            return f"wrong answer: {error}"
        except CLEAR as error:
            if isinstance(error, UnicodeError) or len(str(error)) < SHORTEST_MESSAGE:
                return f"unclear error: {_shown(error)}"
            return "error"
        except BaseException as error:  # noqa: BLE001 - this is what is looked for
            return f"unexpected {type(error).__name__}: {_shown(error)}"
    return "answer"


def _shown(error: BaseException) -> str:
    """Return an error with the last lines of ours that it passed."""
    ours = [
        f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if "sureshot" in frame.filename
    ]
    return f"{error!r} by {' '.join(ours[-3:])}"


def refuse_wrong(
    found: TopK, data: Array, query: Floats, metric: str, factors: Floats | None = None
) -> None:
    """Raise `WrongAnswer` if an answer is worse than a certificate of so small a delta allows."""
    values = np.asarray(data, np.float64)
    if not np.isfinite(values).all():
        return  # which values are met, and refused, depends on the order
    with np.errstate(all="ignore"):
        truth, allowance = scores_of(values, query, metric)
        if factors is not None:
            truth, allowance = truth * factors, 2 * allowance * factors
    if not np.isfinite(truth).all():
        return
    if len(set(found.indices.tolist())) != len(found.indices):
        raise WrongAnswer(f"the same arm twice: {found.indices}")
    task = Task(values, query, len(found.indices), 0.0, truth, allowance)
    said = set(verdicts(found, task, metric)) - {"certain", "excused"}
    if said:
        best = np.argsort(-truth, kind="stable")[: len(found.indices)]
        sign = -1 if metric in SMALLEST_FIRST else 1
        raise WrongAnswer(
            f"{found.indices} with {found.scores}, expected {best} with {sign * truth[best]}; {found.certificate}"
        )
