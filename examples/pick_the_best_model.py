"""Pick the best of 28 classifiers: without running all of them on all of the held-out set.

Every model is an arm, every held-out example a coordinate, and a pull runs one model on one example:
reward 1 if it is right. The search runs bad models on a few examples and good ones on more, and says
with 95 % certainty that no model is better than its answer by more than two points of accuracy.

Run with ``python examples/pick_the_best_model.py``; it needs scikit-learn for models and digits.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import sureshot

Ints = npt.NDArray[np.int64]

TRAINING_SAMPLES = 300  # the other 1,497 digits are held out


def configurations() -> dict[str, Any]:
    """Return 28 classifiers of eleven families, by name."""
    models: dict[str, Any] = {}
    for neighbours in (1, 3, 5, 9):
        models[f"nearest neighbours, {neighbours}"] = KNeighborsClassifier(neighbours)
    models["nearest centroid"] = NearestCentroid()
    for penalty in (0.01, 1, 100):
        models[f"linear SVM, C = {penalty}"] = SVC(kernel="linear", C=penalty)
    for penalty in (0.1, 1, 10):
        models[f"SVM with RBF kernel, C = {penalty}"] = SVC(C=penalty)
    for penalty in (0.01, 1):
        models[f"logistic regression, C = {penalty}"] = LogisticRegression(C=penalty, max_iter=500)
    models["ridge classifier"] = RidgeClassifier()
    models["perceptron"] = Perceptron(random_state=0)
    models["linear discriminants"] = LinearDiscriminantAnalysis()
    models["naive Bayes, Gaussian"] = GaussianNB()
    models["naive Bayes, multinomial"] = MultinomialNB()
    for depth in (3, 6, None):
        tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
        models[f"tree, depth {depth or 'unlimited'}"] = tree
    for trees in (3, 10, 100):
        models[f"forest, {trees} trees"] = RandomForestClassifier(trees, random_state=0)
    models["extra trees, 100"] = ExtraTreesClassifier(100, random_state=0)
    for units in (4, 16, 64):
        network = MLPClassifier((units,), max_iter=400, random_state=0)
        models[f"neural network, {units} units"] = network
    return models


def main() -> None:
    """Fit the models, find the best one, and check the answer against all predictions."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--epsilon", type=float, default=0.02, help="allowed loss of accuracy")
    parser.add_argument("--delta", type=float, default=0.05, help="allowed probability of more")
    parser.add_argument("--seed", type=int, default=0, help="seed of the order of the examples")
    asked = parser.parse_args()

    images, labels = load_digits(return_X_y=True)
    shuffled = np.random.default_rng(0).permutation(len(images))
    train, held_out = shuffled[:TRAINING_SAMPLES], shuffled[TRAINING_SAMPLES:]
    models = configurations()
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some configurations are bad, on purpose
        for model in models.values():
            model.fit(images[train] / 16, labels[train])
    print(f"Fitted {len(models)} models in {time.perf_counter() - started:.1f} s.")

    names, fitted = list(models), list(models.values())
    images, labels = images[held_out] / 16, labels[held_out]
    predictions = np.zeros(len(fitted), dtype=np.int64)

    def is_right(arms: Ints, examples: Ints) -> npt.NDArray[np.bool_]:
        predictions[arms] += len(examples)
        right = [fitted[arm].predict(images[examples]) == labels[examples] for arm in arms]
        return np.array(right)

    found = sureshot.best_arms(
        is_right,
        len(fitted),
        len(labels),
        epsilon=asked.epsilon,
        delta=asked.delta,
        rng=asked.seed,
    )
    best, accuracy = int(found.indices[0]), float(found.scores[0])
    print(f"Best of them on {len(labels):,} held-out digits: {names[best]}, {accuracy:.1%} right.")
    print(found.certificate)
    everything = len(fitted) * len(labels)
    print(
        f"It took {found.work.numbers_read:,} of {everything:,} predictions: {found.work.share:.1%}."
    )

    print("\nWhat they were spent on, and the accuracies that all of them would have shown:\n")
    spent = predictions.copy()
    accuracies = is_right(np.arange(len(fitted)), np.arange(len(labels))).mean(axis=1)
    print(f"{'model':32} predictions  accuracy")
    for arm in np.lexsort((-accuracies, -spent)):
        print(f"{names[arm]:32} {spent[arm]:11,}  {accuracies[arm]:8.1%}")
    loss = accuracies.max() - accuracies[best]
    print(f"\nThe answer is {f'{loss:.2%} below ' if loss else ''}the true best.")


if __name__ == "__main__":
    main()
