"""A plugin of pytest for environments that have everything a test may want: one that is skipped has failed.

``python -m pytest -p tests.no_skips``. A library that is there and cannot be imported is skipped like one that is not,
and a run that was to test it would pass without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator


def refuse(report: pytest.CollectReport | pytest.TestReport) -> None:
    """Turn a report of something skipped into one of a failure; what is expected to fail is not skipped."""
    if report.skipped and not hasattr(report, "wasxfail"):
        why = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"expected a test that runs, got one that is skipped. {why}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Refuse a test that is skipped."""
    report = yield
    refuse(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Refuse a file that is skipped as a whole."""
    report = yield
    refuse(report)
    return report
