"""A task of inspect_ai and models that need no network; as a program, a search that kills itself.

Every answer that a model gives is a line in a file, so that calls are counted across processes.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from sureshot import evals

if TYPE_CHECKING:
    from collections.abc import Callable

N_SAMPLES = 60
QUALITY = (0.3, 0.9, 0.5)  # how often each model is right
MODELS = tuple(f"mockllm/{name}" for name in ("small", "large", "medium"))


def right() -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which model answers which sample rightly."""
    drawn = np.random.default_rng(0).random((len(QUALITY), N_SAMPLES))
    return drawn < np.array(QUALITY)[:, None]


class Asked:
    """A file with a line for every answer: model and sample."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def add(self, model: int, sample: int) -> int:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{model} {sample}\n")
        return len(self.lines())

    def lines(self) -> list[tuple[int, int]]:
        text = self.path.read_text(encoding="utf-8")
        return [(int(a), int(b)) for a, b in (line.split() for line in text.splitlines())]


def mock_models(asked: Asked, stop: Callable[[int, int, int], object] = lambda *_: None) -> Any:
    """Return models that answer "yes" where they are right; `stop(model, sample, count)` may raise."""
    model = importlib.import_module("inspect_ai.model")
    table = right()

    def answering(number: int) -> Callable[..., Any]:
        def answer(messages: Any, *_: Any) -> Any:
            sample = int(messages[-1].text.split()[-1])
            stop(number, sample, asked.add(number, sample))
            said = model.ModelOutput.from_content(
                MODELS[number], "yes" if table[number, sample] else "no"
            )
            said.usage = model.ModelUsage()  # or it is counted with a file from the network
            return said

        return answer

    return [
        model.get_model(name, custom_outputs=answering(number), memoize=False)
        for number, name in enumerate(MODELS)
    ]


def mock_task(ids: list[Any] | None = None, scorer: Any = None) -> Any:
    """Return a task whose right answer is always "yes"."""
    inspect_ai = importlib.import_module("inspect_ai")
    dataset = importlib.import_module("inspect_ai.dataset")
    scoring = importlib.import_module("inspect_ai.scorer")
    samples = [
        dataset.Sample(input=f"question {at}", target="yes", id=ids[at] if ids else None)
        for at in range(len(ids) if ids else N_SAMPLES)
    ]
    return inspect_ai.Task(dataset=dataset.MemoryDataset(samples), scorer=scorer or scoring.match())


def search(pulls: evals.Pulls, journal: Path | None = None) -> sureshot.TopK:
    """Search for the best model."""
    return sureshot.best_arms(pulls, *pulls.shape, epsilon=0.1, delta=0.05, rng=4, journal=journal)


def main() -> None:
    """Search until so many answers were given, then die as kill -9 does it."""
    folder, most = Path(sys.argv[1]), int(sys.argv[2])

    def stop(_model: int, _sample: int, count: int) -> None:
        if count == most:
            os.kill(os.getpid(), signal.SIGKILL)

    models = mock_models(Asked(folder / "asked.txt"), stop)
    pulls = evals.inspect_pull(mock_task(), models, log_dir=str(folder / "logs"))
    search(pulls, folder / "journal.db")


if __name__ == "__main__":
    main()
