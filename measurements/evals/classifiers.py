"""Thirty classifiers on the 10,000 test images of Fashion-MNIST: a table of models and examples.

``python -m measurements.evals.classifiers --fashion FILE`` fits them to a few thousand of the images for training and
writes docs/results/evals-models.jsonl: which model is right on which image. Some minutes; what has a row is not
fitted again.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import __version__ as sklearn_version
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from measurements.evals import results
from measurements.harness.command import report
from sureshot.experiments import rows

TRAINED_ON = 5_000
COMPONENTS = 50
SEED = 0


def models() -> dict[str, Any]:
    """Return thirty classifiers of eleven families, by name."""
    found: dict[str, Any] = {}
    for neighbours in (1, 3, 5, 9, 15):
        found[f"nearest neighbours, {neighbours}"] = KNeighborsClassifier(neighbours)
    found["nearest centroid"] = NearestCentroid()
    for penalty in (0.001, 0.1):
        found[f"linear SVM, C = {penalty}"] = SVC(kernel="linear", C=penalty)
    for penalty in (0.1, 1, 3, 10, 100):
        found[f"SVM with RBF kernel, C = {penalty}"] = SVC(C=penalty)
    for penalty in (0.0001, 0.01, 1):
        found[f"logistic regression, C = {penalty}"] = LogisticRegression(C=penalty, max_iter=300)
    found["ridge classifier"] = RidgeClassifier()
    found["perceptron"] = Perceptron(random_state=SEED)
    found["linear discriminants"] = LinearDiscriminantAnalysis()
    found["quadratic discriminants"] = QuadraticDiscriminantAnalysis(reg_param=0.1)
    found["naive Bayes"] = GaussianNB()
    for depth in (4, 8, None):
        tree = DecisionTreeClassifier(max_depth=depth, random_state=SEED)
        found[f"tree, depth {depth or 'unlimited'}"] = tree
    for trees in (10, 100):
        found[f"forest, {trees} trees"] = RandomForestClassifier(trees, random_state=SEED)
    found["extra trees, 100"] = ExtraTreesClassifier(100, random_state=SEED)
    for units in (8, 32, 128):
        found[f"neural network, {units} units"] = MLPClassifier((units,), random_state=SEED)
    return found


def measure(path: Path, out: Path) -> None:
    """Fit the models that have no row yet, and write which of the test images each is right on."""
    there = {row["model"] for row in rows.read(out)}
    wanted = {name: model for name, model in models().items() if name not in there}
    keys = [
        f"{part}_{kind}"
        for part in ("train", "t10k")
        for kind in ("images_idx3_ubyte", "labels_idx1_ubyte")
    ]
    with np.load(path) as file:
        images, labels, held_out, truth = (file[key] for key in keys)
    chosen = np.random.default_rng(SEED).permutation(len(images))[:TRAINED_ON]
    reduced = PCA(COMPONENTS, whiten=False, random_state=SEED)
    train = reduced.fit_transform(images[chosen].reshape(TRAINED_ON, -1) / 255)
    test = reduced.transform(held_out.reshape(len(held_out), -1) / 255)
    for name, model in wanted.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # some settings are bad, on purpose
            right = model.fit(train, labels[chosen]).predict(test) == truth
        report(f"{name}: {right.mean():.2%}")
        row = results.row_of(name, right, trained_on=TRAINED_ON, sklearn=sklearn_version)
        rows.append(out, row)


def main() -> None:
    """Make the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--fashion", type=Path, required=True, help="images_fashion_mnist.npz")
    parser.add_argument("--out", type=Path, default=results.FILE)
    asked = parser.parse_args()
    measure(asked.fashion, asked.out)


if __name__ == "__main__":
    main()
