"""A guarantee as a test: how often did it fail, and is that more often than promised?"""

from __future__ import annotations

from scipy.stats import binom

# Probability that a correct method fails one such test by bad luck.
FALSE_ALARM = 1e-6


def assert_at_most(failures: int, trials: int, delta: float, case: str = "") -> None:
    """Fail if that many failures would be a one-in-a-million event at a true rate of delta."""
    allowed = int(binom.ppf(1 - FALSE_ALARM, trials, delta))
    assert failures <= allowed, (
        f"{failures} failures in {trials} trials, {failures / trials:.4f}, promised {delta}; "
        f"up to {allowed} would be luck{case and f' ({case})'}"
    )
