"""An event loop in a separate thread, for a `pull` that is a coroutine function."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from sureshot._types import Ints


class Loop:
    """Runs coroutines in an event loop, for as long as a search takes.

    In a separate thread, because the caller's thread waits for the rewards, and may already run a
    loop (for example in a notebook). One loop for all calls, because clients of a service keep their
    connections in the loop where they were first used.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="sureshot pulls", daemon=True
        )
        self._thread.start()

    def submit(
        self,
        pull: Callable[[Ints, Ints], Coroutine[Any, Any, Any]],
        arms: Ints,
        coordinates: Ints,
        /,
    ) -> Future[Any]:
        """Begin a call and return the future of what it returns.

        Only the call in the loop can be cancelled, not the future: so a cancellation that comes just
        after a reward was returned does not lose it.
        """
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()

        async def call() -> None:
            try:
                future.set_result(await pull(arms, coordinates))
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # noqa: BLE001 - some of them would end the loop
                future.set_exception(error)

        def begin() -> None:
            task = self._loop.create_task(call())
            self._tasks.add(task)
            task.add_done_callback(end)

        def end(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            if task.cancelled():  # perhaps before its first line
                future.set_exception(CancelledError("the call was cancelled"))

        self._loop.call_soon_threadsafe(begin)
        return future

    def cancel(self) -> None:
        """Cancel all calls that have not returned."""

        def cancel_all() -> None:
            for task in self._tasks:
                task.cancel()

        self._loop.call_soon_threadsafe(cancel_all)

    def close(self) -> None:
        """Cancel the running calls, let them clean up, and end the thread."""

        async def end() -> None:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await self._loop.shutdown_asyncgens()
            await self._loop.shutdown_default_executor()

        asyncio.run_coroutine_threadsafe(end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
