"""The instruction sets, and the teams of threads, of the native code."""

from __future__ import annotations

import pytest

from sureshot import _native


def test_the_best_instruction_set_is_used_unless_another_is_asked_for() -> None:
    names = _native.instruction_sets()
    assert names[-1] in ("portable", "neon")
    assert _native.instruction_set() == names[0]
    try:
        for name in names:
            _native.use_instruction_set(name)
            assert _native.instruction_set() == name
        with pytest.raises(ValueError, match=rf"one of {', '.join(names)}; got mmx"):
            _native.use_instruction_set("mmx")
        assert _native.instruction_set() == names[-1]
    finally:
        _native.use_instruction_set(names[0])
