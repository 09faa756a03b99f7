"""Draw how a model is found: inclusion probabilities during a search, and the log-loss of left-out rows by size."""

from __future__ import annotations

import argparse

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from rfsc import RFSCClassifier
from rfsc.plots import FrontDisplay, RIPEvolutionDisplay


def main() -> None:
    """Fit the model of the README and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", help="picture to write, for instance search.png")
    path = parser.parse_args().output

    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    X_train, _, y_train, _ = train_test_split(X, y, stratify=y, random_state=0)
    clf = RFSCClassifier(basis="step", size=4, random_state=0).fit(X_train, y_train)

    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.6), width_ratios=(8, 5), layout="constrained")
    RIPEvolutionDisplay.from_estimator(clf, ax=left)
    FrontDisplay.from_estimator(clf, ax=right)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
