"""Fit the breast-cancer data that scikit-learn ships with nothing set, show the model, and compare it with peers."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from rfsc import RFSCClassifier
from rfsc.explain import summary

N_FOLDS = 5
COLUMNS = ("n_terms", "n_features", "log_loss", "above_best", "standard_error", "chosen")


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
    started = time.perf_counter()
    model = RFSCClassifier(random_state=0).fit(X, y)
    seconds = time.perf_counter() - started
    rows = f"{X.shape[0]} samples, {X.shape[1]} features"
    print(f"Wisconsin breast cancer, {rows}: fitted in {seconds:.1f} s with nothing set\n\n{summary(model)}")
    print(f"\nOther sizes (log-loss of left-out rows):\n{model.front_.aligned(COLUMNS)}\n", flush=True)

    methods: dict[str, Any] = {
        "RFSC": RFSCClassifier(random_state=0),
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "RBF SVM": make_pipeline(StandardScaler(), CalibratedClassifierCV(SVC(), ensemble=False)),
        "random forest": RandomForestClassifier(random_state=0),
    }
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y))
    print(f"{f'{N_FOLDS}-fold cross-validation':<25} {'accuracy':>9} {'log-loss':>9}   model size", flush=True)
    done, total = 0, len(methods) * len(folds)
    for name, method in methods.items():
        accuracy, loss, size = [], [], []
        for train, test in folds:
            progress(done, total, name)
            fitted = method.fit(X.iloc[train], y[train])
            accuracy.append(accuracy_score(y[test], fitted.predict(X.iloc[test])))
            loss.append(log_loss(y[test], fitted.predict_proba(X.iloc[test]), labels=fitted.classes_))
            if isinstance(method, RFSCClassifier):
                size.append(fitted.models_[0].size)
            done += 1
        words = f"{np.mean(size):.1f} terms" if size else f"all {X.shape[1]} features"
        print(f"{name:<25} {np.mean(accuracy):>9.3f} {np.mean(loss):>9.3f}   {words}", flush=True)
    progress(total, total, "done")


if __name__ == "__main__":
    main()
