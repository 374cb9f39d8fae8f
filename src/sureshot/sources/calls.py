"""How `pull` is called: in the caller's thread, by an executor or in an event loop, with retries.

Every way is an executor that takes a call and returns a future, so that other code need not know which.
"""

from __future__ import annotations

import signal
import threading
from collections import deque
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from sureshot.errors import PullError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sureshot._types import Ints

P = ParamSpec("P")
T = TypeVar("T")

# How many arms or coordinates an error message lists.
MOST_LISTED = 3


class Caller(Protocol):
    """What calls `pull`: any ``concurrent.futures.Executor``, or a `sureshot.sources.loop.Loop`."""

    def submit(self, pull: Callable[..., Any], arms: Ints, coordinates: Ints, /) -> Future[Any]:
        """Call ``pull(arms, coordinates)`` and return the future of what it returns."""
        ...


class CallerThread(Executor):
    """Makes each call at once, in the caller's own thread."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call the function and return a finished future.

        Ctrl-C is not stored in the future: it is raised at once.
        """
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - raised or retried by the user of the future
            future.set_exception(error)
        return future


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """Some arms and some coordinates, and where their rewards belong in a table."""

    arms: Ints
    coordinates: Ints
    rows: Ints
    columns: Ints

    def __str__(self) -> str:
        return f"{_listed('arm', self.arms)} at {_listed('coordinate', self.coordinates)}"


class CallsInProgress:
    """Calls that run at the same time: at most `most`, each repeated up to `retries` times if it fails.

    A completed call stays here until its rewards are recorded, so that an interruption loses none.
    """

    def __init__(
        self,
        caller: Caller,
        pull: Callable[..., Any],
        calls: Iterator[Call],
        most: int,
        retries: int,
    ) -> None:
        self._caller = caller
        self._pull = pull
        self._calls = calls
        self._most = most
        self._retries = retries
        self._again: deque[tuple[Call, int]] = (
            deque()
        )  # to be repeated, and the number of the retry
        self._running: dict[Future[Any], tuple[Call, int]] = {}

    def next_completed(self) -> dict[Future[Any], Call]:
        """Start as many calls as allowed, wait, and return some that have returned rewards.

        Empty if there are no calls left. A call that fails after all its retries raises `PullError`.
        """
        completed: dict[Future[Any], Call] = {}
        while not completed:
            self._start()
            if not self._running:
                break
            for future in wait(self._running, return_when=FIRST_COMPLETED).done:
                call, retry = self._running[future]
                error = _error(future)
                if error is None:
                    completed[future] = call
                    continue
                if not isinstance(error, Exception):
                    raise error  # such as SystemExit: not a failure to retry
                if retry == self._retries:
                    raise _pull_error(call, retry + 1, error) from error
                del self._running[future]
                self._again.append((call, retry + 1))
        return completed

    def remove(self, recorded: dict[Future[Any], Call]) -> None:
        """Remove calls whose rewards have been recorded."""
        for future in recorded:
            del self._running[future]

    def cancel(self) -> None:
        """Cancel the calls that have not begun; a call that runs in an executor cannot be stopped."""
        for future in self._running:
            future.cancel()

    def last_completed(self) -> dict[Future[Any], Call]:
        """Cancel, wait for the calls that cannot be cancelled, and return those with rewards.

        A call that failed may have rewards, too: those that its `PullError` has.
        """
        self.cancel()
        wait(self._running)
        return {
            future: call
            for future, (call, _) in self._running.items()
            if _error(future) is None or paid_by(future) is not None
        }

    def _start(self) -> None:
        while len(self._running) < self._most:
            call, retry = self._again.popleft() if self._again else (next(self._calls, None), 0)
            if call is None:
                return
            # An interruption between the start of a call and its entry here would lose it. A call
            # in this thread is interrupted itself.
            with nullcontext() if isinstance(self._caller, CallerThread) else _uninterrupted():
                future = self._caller.submit(self._pull, call.arms, call.coordinates)
                self._running[future] = call, retry


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C for a moment; Python delivers it to the main thread only."""
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    held = []
    signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held:
            signal.raise_signal(signal.SIGINT)


def paid_by(future: Future[Any]) -> Any:
    """Return the rewards of a call that has ended: all, or those that its error has; None without any."""
    error = _error(future)
    if error is None:
        return future.result()
    return error.rewards if isinstance(error, PullError) else None


def _error(future: Future[Any]) -> BaseException | None:
    try:
        return future.exception()
    except CancelledError as error:
        return error


def _pull_error(call: Call, attempts: int, error: Exception) -> PullError:
    tried = "" if attempts == 1 else f" {attempts} times"
    message = f"pull failed{tried} for {call}: {type(error).__name__}: {error}"
    return PullError(message.rstrip(": "), call.arms.tolist(), call.coordinates.tolist())


def _listed(noun: str, numbers: Ints) -> str:
    """List the numbers, or the first few of many."""
    shown = ", ".join(str(number) for number in numbers[:MOST_LISTED])
    if len(numbers) > MOST_LISTED:
        shown += f", … ({len(numbers)} in all)"
    return f"{noun}{'' if len(numbers) == 1 else 's'} {shown}"
