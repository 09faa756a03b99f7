"""Draw how a search decides: inclusion probabilities over the iterations, and the model's output on unseen samples."""

from __future__ import annotations

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from rfsc import RFSCClassifier
from rfsc.plots import RIPEvolutionDisplay


def main() -> None:
    """Fit on two thirds of WDBC and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", help="picture to write, for instance search.png")
    path = parser.parse_args().output

    data = load_breast_cancer(as_frame=True)
    labels = data.target_names[data.target]
    train, test, y_train, y_test = train_test_split(data.data, labels, test_size=1 / 3, stratify=labels, random_state=0)
    # with this seed the best model is also the one on which the search settles, which is easier to see
    clf = RFSCClassifier(basis="polynomial", combine="best", random_state=1, n_jobs=-1).fit(train, y_train)

    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 4.6), width_ratios=(8, 5), layout="constrained")
    RIPEvolutionDisplay.from_estimator(clf, ax=left)

    f = clf.decision_function(test)
    bins = np.linspace(*np.clip([f.min(), f.max()], -20, 20), 41)
    for label, colour in (("malignant", "#D55E00"), ("benign", "#0072B2")):
        right.hist(np.clip(f[y_test == label], bins[0], bins[-1]), bins, alpha=0.65, color=colour, label=label)
    right.axvline(0, color="k", lw=0.8)
    right.set(xlabel="f (the outer bins hold all values beyond)", ylabel="samples")
    right.set_title(f"Accuracy on {len(f)} unseen samples: {clf.score(test, y_test):.3f}", loc="left", fontsize=11)
    right.yaxis.get_major_locator().set_params(integer=True)
    right.spines[["top", "right"]].set_visible(False)
    right.legend(frameon=False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
