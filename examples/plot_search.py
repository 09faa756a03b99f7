"""Draw how a search decides: inclusion probabilities over the iterations, and the model's output on unseen samples."""

from __future__ import annotations

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from rfsc import RFSCClassifier


def main() -> None:
    """Fit on two thirds of WDBC and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", help="picture to write, for instance search.png")
    path = parser.parse_args().output

    data = load_breast_cancer(as_frame=True)
    labels = data.target_names[data.target]
    train, test, y_train, y_test = train_test_split(data.data, labels, test_size=1 / 3, stratify=labels, random_state=0)
    clf = RFSCClassifier(basis="polynomial", random_state=0, n_jobs=-1).fit(train, y_train)
    search = min(clf.searches_[0], key=lambda s: s.model.rank)
    rips = [record.rips for record in search.history]

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), width_ratios=(3, 2), layout="constrained")
    tried = np.unique(np.concatenate([r.ids for r in rips]))
    colours = iter(plt.colormaps["tab10"].colors)
    iterations = np.arange(1, len(rips) + 1)
    for term in tried:
        line = np.array([r[np.array([term])][0] for r in rips])
        if term in search.model.ids:
            left.plot(iterations, line, lw=2.2, color=next(colours), label=clf.term_names([term])[0], zorder=3)
        else:
            left.plot(iterations, line, lw=0.5, color="0.75")
    left.set(xlabel="iteration", ylabel="inclusion probability (RIP)", ylim=(-0.02, 1.02))
    left.set_title(f"{clf.n_terms_[0]} candidate terms; thick: the {len(search.model.ids)} of the best model visited")
    left.legend(fontsize=8, loc="upper left", framealpha=0.9)

    f = clf.decision_function(test)
    bins = np.linspace(*np.clip([f.min(), f.max()], -20, 20), 41)
    for label, colour in (("malignant", "tab:red"), ("benign", "tab:blue")):
        right.hist(np.clip(f[y_test == label], bins[0], bins[-1]), bins, alpha=0.65, color=colour, label=label)
    right.axvline(0, color="k", lw=0.8)
    right.set(xlabel="f(x) of unseen samples (ends gather what lies beyond)", ylabel="samples")
    right.set_title(f"accuracy on {len(f)} unseen samples: {clf.score(test, y_test):.3f}")
    right.legend(frameon=False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
