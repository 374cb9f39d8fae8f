"""Sessions that install what other runs do without fail where a test is skipped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[1]
FILES = {
    "pytest.ini": "[pytest]",
    "test_each.py": """
        import pytest
        def test_passes(): pass
        def test_skips(): pytest.importorskip("no_such_library")
        @pytest.mark.skipif(True, reason="never")
        def test_is_skipped(): pass
        @pytest.mark.xfail(strict=True)
        def test_is_expected_to_fail(): assert False
    """,
    "test_whole.py": """
        import pytest
        pytest.importorskip("no_such_library", reason="not installed here")
        def test_never_runs(): pass
    """,
}


def test_what_is_skipped_has_failed(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(dedent(text), encoding="utf-8")
    options = ["-c", str(tmp_path / "pytest.ini"), "-p", "tests.no_skips", "-p", "no:cacheprovider"]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--continue-on-collection-errors", tmp_path],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1, ended.stdout
    # One that is skipped before it begins, and a file that is skipped as a whole, count as errors.
    assert "1 failed, 1 passed, 1 xfailed, 2 errors" in ended.stdout
    assert "not installed here" in ended.stdout
