"""Checks how `best_arms` is to call its function."""

from __future__ import annotations

import inspect
import os
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sureshot._validate.choices import kind
from sureshot._validate.numbers import whole_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._types import Ints

# Calls in progress by default: enough to use the time of waiting, and few enough for most services.
CONCURRENCY = 16


@dataclass(frozen=True, slots=True)
class Calling:
    """How the function of `best_arms` is called, checked."""

    pull: Callable[[Ints, Ints], Any]
    is_coroutine: bool
    executor: Executor | None
    per_call: int | None
    concurrency: int
    retries: int
    journal: Path | None


def calling(
    pull: Any, executor: Any, pulls_per_call: Any, concurrency: Any, retries: Any, journal: Any
) -> Calling:
    """Check how `pull`, which can be called, is to be called."""
    is_coroutine = _is_coroutine_function(pull)
    if not (executor is None or isinstance(executor, Executor)):
        raise TypeError(f"executor must be a concurrent.futures.Executor, got {kind(executor)}")
    if executor is not None and is_coroutine:
        raise ValueError("executor calls ordinary functions, and pull is a coroutine function")
    parallel = is_coroutine or executor is not None
    if pulls_per_call is not None:
        pulls_per_call = whole_number(pulls_per_call, "pulls_per_call", 1)
    elif parallel:
        pulls_per_call = 1
    if concurrency is None:
        concurrency = CONCURRENCY if parallel else 1
    else:
        concurrency = whole_number(concurrency, "concurrency", 1)
        if not parallel:
            message = (
                "concurrency needs a pull that is a coroutine function, or an executor; "
                f"got concurrency={concurrency} without either"
            )
            raise ValueError(message)
    retries = whole_number(retries, "retries", 0)
    return Calling(
        pull, is_coroutine, executor, pulls_per_call, concurrency, retries, _journal(journal)
    )


def _is_coroutine_function(pull: Any) -> bool:
    call = getattr(type(pull), "__call__", None)  # noqa: B004 - an object may be called as one, too
    return inspect.iscoroutinefunction(pull) or inspect.iscoroutinefunction(call)


def _journal(journal: Any) -> Path | None:
    if journal is None:
        return None
    if not isinstance(journal, (str, os.PathLike)) or isinstance(os.fspath(journal), bytes):
        raise TypeError(f"journal must be the name of a file, got {kind(journal)}")
    path = Path(journal)
    if not os.fspath(journal) or path.is_dir() or not path.parent.is_dir():
        message = f"journal must be the name of a file in a folder that is there, got {journal!r}"
        raise ValueError(message)
    return path
