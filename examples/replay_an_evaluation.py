"""Find out what a search would have saved on an evaluation that was paid for already.

The table has a row for each model and a column for each example: whether the model was right. Here it is
that of 30 classifiers on the test images of Fashion-MNIST, which lies beside the documentation; with
``--table FILE`` it is yours, a .npy file of shape (models, examples).

Run with ``python examples/replay_an_evaluation.py``; it needs nothing but numpy, and for ``--plot FILE`` matplotlib.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

import sureshot
from sureshot import evals

RESULTS = Path(__file__).parent.parent / "docs" / "results" / "evals-models.jsonl"
CENTS_PER_ANSWER = 0.2  # about what a call of a large model costs


def committed() -> tuple[list[str], npt.NDArray[np.bool_]]:
    """Return the models and the table of the documentation: a bit for each answer."""
    rows = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    packed = np.array([list(bytes.fromhex(row["right"])) for row in rows], dtype=np.uint8)
    right = np.unpackbits(packed, axis=1, count=rows[0]["examples"]).astype(bool)
    return [row["model"] for row in rows], right


def main() -> None:
    """Replay the table, and show one of the searches."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--table", type=Path, help="a .npy file of shape (models, examples)")
    parser.add_argument("--examples", type=int, default=2_000, help="how many of them to use")
    parser.add_argument("--epsilon", type=float, default=0.02, help="allowed loss of accuracy")
    parser.add_argument("--delta", type=float, default=0.05, help="allowed probability of more")
    parser.add_argument("--orders", type=int, default=20, help="random orders to try")
    parser.add_argument("--plot", type=Path, help="draw the replay into this file")
    asked = parser.parse_args()

    if asked.table is None:
        models, table = committed()
    else:
        table = np.load(asked.table)
        models = [f"model {number}" for number in range(len(table))]
    table = table[:, : asked.examples]

    found = evals.replay(
        table, models=models, epsilon=asked.epsilon, delta=asked.delta, orders=asked.orders
    )
    print(found)
    ours, all_of_them = found["best_arms"], found["everything"]
    saved = (all_of_them.calls - ours.calls) * CENTS_PER_ANSWER / 100
    print(f"\nAt {CENTS_PER_ANSWER} cents an answer the search would have saved $ {saved:.2f}.")

    once = sureshot.best_arms(
        lambda arms, examples: table[np.ix_(arms, examples)],
        *table.shape,
        epsilon=asked.epsilon,
        delta=asked.delta,
        rng=0,
    )
    print(f"One of the searches found: {models[once.indices[0]]}. {once.certificate}")
    if asked.plot is not None:
        found.plot().figure.savefig(asked.plot)


if __name__ == "__main__":
    main()
