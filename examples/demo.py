"""Fit the breast-cancer data that scikit-learn ships, show the model, and compare honestly by 10-fold CV."""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, cohen_kappa_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from rfsc import RFSCClassifier
from rfsc.explain import summary

SEED = 0


def progress(done: int, total: int, what: str) -> None:
    """Redraw one line on a terminal; print nothing elsewhere."""
    if not sys.stderr.isatty():
        return
    bar = "━" * (30 * done // total) + "─" * (30 - 30 * done // total)
    sys.stderr.write(f"\r{bar} {done}/{total} {what:<40}" + ("\n" if done == total else ""))
    sys.stderr.flush()


def main() -> None:
    """Fit, print, compare."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    print(f"Wisconsin breast cancer (WDBC): {X.shape[0]} samples, {X.shape[1]} features\n", flush=True)

    started = time.perf_counter()
    model = RFSCClassifier(basis="polynomial", random_state=SEED, n_jobs=-1, verbose=1).fit(X, y)
    print(f"\n{summary(model.models_[0])}\n")
    print(
        f"found among {model.n_terms_[0]} candidate terms in {time.perf_counter() - started:.1f} s\n",
        flush=True,
    )

    methods = {
        "RFSC, polynomials": RFSCClassifier(basis="polynomial", random_state=SEED, n_jobs=-1),
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "RBF SVM": make_pipeline(StandardScaler(), SVC()),
        "random forest": RandomForestClassifier(random_state=SEED),
    }
    folds = list(StratifiedKFold(10, shuffle=True, random_state=SEED).split(X, y))
    print("10-fold cross-validation, everything chosen inside the training folds:")
    rows, done, total = [], 0, len(methods) * len(folds)
    for name, method in methods.items():
        accuracy, kappa, size = [], [], []
        for train, test in folds:
            progress(done, total, name)
            predicted = method.fit(X.iloc[train], y[train]).predict(X.iloc[test])
            accuracy.append(accuracy_score(y[test], predicted))
            kappa.append(cohen_kappa_score(y[test], predicted))
            if isinstance(method, RFSCClassifier):
                size.append(len(method.models_[0].terms))
            done += 1
        size_text = f"{np.mean(size):.1f} terms" if size else f"all {X.shape[1]} features"
        rows.append(f"{name:<20} {np.mean(accuracy):>9.3f} {np.mean(kappa):>7.3f}   {size_text}")
    progress(total, total, "done")
    print(f"\n{'':<20} {'accuracy':>9} {'kappa':>7}   model size")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
