"""How `pull` is called: now, by an executor or in an event loop; so many at once, and again if it fails.

Every way is an executor that takes a call and gives a future, so that the rest need not know which.
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

# Arms or coordinates that an error message lists.
MOST_LISTED = 3


class Caller(Protocol):
    """What calls `pull`: any ``concurrent.futures.Executor``, or a `sureshot.sources.loop.Loop`."""

    def submit(self, pull: Callable[..., Any], arms: Ints, coordinates: Ints, /) -> Future[Any]:
        """Call ``pull(arms, coordinates)`` and return the future of what it returns."""
        ...


class Here(Executor):
    """Makes each call at once, in the caller's own thread."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call the function and return a future that is done.

        Ctrl-C is not an answer of the function: it goes to the caller at once.
        """
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - judged by whoever asks the future
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


class Flights:
    """Calls in flight: never more than `most` at once, each tried again up to `retries` times.

    What has landed stays here until it is settled, so that an interruption at any moment finds it.
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
        self._again: deque[tuple[Call, int]] = deque()  # to be tried again, and which retry it is
        self._flying: dict[Future[Any], tuple[Call, int]] = {}

    def land(self) -> dict[Future[Any], Call]:
        """Start the calls that may be started, wait, and return those that brought rewards.

        None if there is nothing left to wait for. A call that failed once too often raises
        `PullError`.
        """
        landed: dict[Future[Any], Call] = {}
        while not landed:
            self._start()
            if not self._flying:
                break
            for future in wait(self._flying, return_when=FIRST_COMPLETED).done:
                call, retry = self._flying[future]
                error = _error(future)
                if error is None:
                    landed[future] = call
                    continue
                if not isinstance(error, Exception):
                    raise error  # someone called sys.exit: not for us to try again
                if retry == self._retries:
                    raise _pull_error(call, retry + 1, error) from error
                del self._flying[future]
                self._again.append((call, retry + 1))
        return landed

    def settle(self, landed: dict[Future[Any], Call]) -> None:
        """Forget calls whose rewards have been taken."""
        for future in landed:
            del self._flying[future]

    def cancel(self) -> None:
        """Cancel what has not begun; what runs in an executor cannot be stopped."""
        for future in self._flying:
            future.cancel()

    def rest(self) -> dict[Future[Any], Call]:
        """Start nothing more, wait for what cannot be cancelled, and return what brought rewards."""
        self.cancel()
        wait(self._flying)
        return {
            future: call for future, (call, _) in self._flying.items() if _error(future) is None
        }

    def _start(self) -> None:
        while len(self._flying) < self._most:
            call, retry = self._again.popleft() if self._again else (next(self._calls, None), 0)
            if call is None:
                return
            # Between the start of a call and its entry here, an interruption would lose it. A call
            # that is made here and now is interrupted itself.
            with nullcontext() if isinstance(self._caller, Here) else _uninterrupted():
                future = self._caller.submit(self._pull, call.arms, call.coordinates)
                self._flying[future] = call, retry


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back for a moment; only the main thread ever hears of it."""
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
    """Name the numbers, or the first few of many."""
    shown = ", ".join(str(number) for number in numbers[:MOST_LISTED])
    if len(numbers) > MOST_LISTED:
        shown += f", … ({len(numbers)} in all)"
    return f"{noun}{'' if len(numbers) == 1 else 's'} {shown}"
