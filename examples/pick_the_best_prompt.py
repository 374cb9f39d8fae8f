"""Pick the best of 12 prompts: for a paid service, in parallel, without paying for an answer twice.

Every prompt is an arm, every test question a coordinate, and a pull asks the service one question
with one prompt: reward 1 if the answer is right. The service here is simulated: it takes some
time, sometimes fails, and counts its calls. For a real service, replace the body of `Service.ask`.

The example interrupts its search half-way, as Ctrl-C does, and then calls it again with the same
journal: the search continues and pays only for new answers.

Run with ``python examples/pick_the_best_prompt.py``. With ``--journal FILE`` the journal is kept:
a second run costs nothing, and a run that was stopped with Ctrl-C or kill -9 can be continued.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import tempfile
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

import sureshot

Ints = npt.NDArray[np.int64]

PROMPTS = (
    "Answer the question.",
    "Answer briefly.",
    "Answer with one word.",
    "You are an expert. Answer the question.",
    "Think step by step, then answer.",
    "Think step by step, check each step, then answer.",
    "Restate the question, then answer it.",
    "List what is given and what is asked, then answer.",
    "Answer, then look for a mistake in your answer and correct it.",
    "Give two answers that differ, and choose the better one.",
    "Explain it to a child, then answer.",
    "Answer in verse.",
)
# How often the stand-in is right with each of them.
QUALITY = (0.62, 0.58, 0.49, 0.63, 0.74, 0.81, 0.66, 0.70, 0.76, 0.68, 0.55, 0.31)
QUESTIONS = 1_500
CENTS_PER_ANSWER = 0.2


class Service:
    """A stand-in for a paid service: slow, not always there, and with a meter."""

    def __init__(self, latency: float, failures: float) -> None:
        drawn = np.random.default_rng(0).random((len(PROMPTS), QUESTIONS))
        self.right = drawn < np.array(QUALITY)[:, None]
        self.latency = latency
        self.failures = failures
        self.charged = 0
        self.failed = 0
        self.interrupt_at = 0
        self.random = np.random.default_rng(1)

    async def ask(self, prompt: int, question: int) -> bool:
        """Return whether the answer is right. This is where the call of a real service goes."""
        await asyncio.sleep(self.random.exponential(self.latency))
        if self.random.random() < self.failures:
            self.failed += 1
            raise ConnectionError("the service is overloaded")
        self.charged += 1
        if self.charged == self.interrupt_at:
            os.kill(os.getpid(), signal.SIGINT)  # what Ctrl-C does
        return bool(self.right[prompt, question])


def search(service: Service, journal: Path, concurrency: int) -> sureshot.TopK:
    """Find the best prompt up to two points, 95 % sure."""

    async def pull(prompts: Ints, questions: Ints) -> list[list[bool]]:
        # A call asks for one prompt and one question, unless pulls_per_call says otherwise.
        return [[await service.ask(int(prompts[0]), int(questions[0]))]]

    return sureshot.best_arms(
        pull,
        len(PROMPTS),
        QUESTIONS,
        epsilon=0.02,
        delta=0.05,
        rng=0,
        concurrency=concurrency,
        retries=5,
        journal=journal,
    )


def main() -> None:
    """Search, be interrupted, search on, and show the bill."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--journal", type=Path, help="file to keep; a temporary one otherwise")
    parser.add_argument(
        "--interrupt-after", type=int, default=1_200, help="answers before Ctrl-C; 0 for never"
    )
    parser.add_argument("--latency", type=float, default=0.005, help="mean seconds for an answer")
    parser.add_argument("--failures", type=float, default=0.03, help="share of calls that fail")
    parser.add_argument("--concurrency", type=int, default=32, help="calls in progress at once")
    asked = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        journal = asked.journal or Path(folder) / "prompts.db"
        service = Service(asked.latency, asked.failures)
        service.interrupt_at = asked.interrupt_after
        print(f"{len(PROMPTS)} prompts, {QUESTIONS:,} questions, {asked.concurrency} at a time.")
        started = time.perf_counter()
        try:
            found = search(service, journal, asked.concurrency)
        except KeyboardInterrupt as interruption:
            print(f"Interrupted after {time.perf_counter() - started:.1f} s:")
            print(*interruption.__notes__, sep="\n")
            print(f"Charged so far: {bill(service.charged)}. Now the same call again.")
            found = search(service, journal, asked.concurrency)
        print(f"Done after {time.perf_counter() - started:.1f} s.\n")

    print(f"Best prompt: “{PROMPTS[found.indices[0]]}” Right in {found.scores[0]:.1%}.")
    print(found.certificate)
    known = found.work.numbers_read - found.work.pulls_paid
    print(f"\nThe last call looked at {found.work.numbers_read:,} answers:", end=" ")
    print(f"{known:,} from the journal, {found.work.pulls_paid:,} paid then.")
    print(f"Charged in all: {bill(service.charged)}; {service.failed:,} failed calls tried again.")
    everything = len(PROMPTS) * QUESTIONS
    print(f"Every prompt on every question: {bill(everything)}.")


def bill(answers: int) -> str:
    """Write down what some answers cost."""
    return f"{answers:,} answers, $ {answers * CENTS_PER_ANSWER / 100:.2f}"


if __name__ == "__main__":
    main()
