"""A browser for pages that must be looked at, if there is one."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def opened() -> Iterator[Any]:
    """Open Debian's chromium, or playwright's own; without either the test is skipped."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    installed = shutil.which("chromium")
    with api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=installed, args=["--no-sandbox"])
        except Exception as error:
            if installed or "Executable doesn't exist" not in str(error):
                raise
            pytest.skip("no chromium: install Debian's, or run playwright install chromium")
        yield browser
        browser.close()
