"""RFSC written from the paper, slowly and plainly: the twin that the fast code must agree with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import stats


def log_loss(target, f):
    """Logistic loss of each row."""
    return np.array(
        [
            np.log1p(np.exp(-t * v)) if t * v > 0 else -t * v + np.log1p(np.exp(t * v))
            for t, v in zip(target, f, strict=True)
        ]
    )


def fit(X, target, weight, penalty):
    """Newton's method on Eq. (6) plus a ridge; X has one row per sample. Returns (coef, G)."""
    coef = np.zeros(X.shape[1])
    for _ in range(200):
        f = X @ coef
        y_tilde = 1.0 / (1.0 + np.exp(target * f))
        R = np.diag(weight * y_tilde * (1.0 - y_tilde))
        G = X.T @ R @ X + np.diag(penalty)
        gradient = X.T @ (weight * target * y_tilde) - penalty * coef
        step = np.linalg.solve(G, gradient)

        def objective(c):
            return weight @ log_loss(target, X @ c) + 0.5 * penalty @ c**2

        while objective(coef + step) > objective(coef) + 1e-9:
            step = step / 2
        coef = coef + step
        if np.abs(step).max() < 1e-12 * (1 + np.abs(coef).max()):
            break
    return coef, G


def significant(coef, G, n, level):
    """Interval (8): which coefficients are told apart from zero."""
    sigma = np.sqrt(np.diag(np.linalg.inv(G)))
    t = stats.t.ppf(1.0 - level, n - coef.size)
    return ~((coef - sigma * t <= 0) & (coef + sigma * t >= 0))


def left_out_predictor(X, target, weight, penalty):
    """Refit without each row in turn (one observation of it) and predict that row."""
    f = np.empty(len(X))
    for k in range(len(X)):
        w = weight.copy()
        w[k] -= min(w[k], 1.0)
        f[k] = X[k] @ fit(X, target, w, penalty)[0]
    return f


def one_step_left_out_predictor(X, target, weight, penalty):
    """One Newton step of the problem without one observation of row k, from the solution with it."""
    coef, G = fit(X, target, weight, penalty)
    f = np.empty(len(X))
    for k, x in enumerate(X):
        p = 1.0 / (1.0 + np.exp(-x @ coef))
        out = min(weight[k], 1.0)
        residual = (1.0 if target[k] > 0 else 0.0) - p
        step = np.linalg.solve(G - out * p * (1 - p) * np.outer(x, x), -out * residual * x)
        f[k] = x @ (coef + step)
    return f


def score(name, target, f, weight):
    """Scores as the method page defines them; an output of zero is an error."""
    right = target * f > 0
    total = weight.sum()
    if name.endswith("log_loss"):
        return np.exp(-(weight @ log_loss(target, f)) / total)
    up = target > 0
    if name == "balanced_accuracy":
        return 0.5 * (weight[up & right].sum() / weight[up].sum() + weight[~up & right].sum() / weight[~up].sum())
    accuracy = weight[right].sum() / total
    if name == "kappa":
        called = np.where(right, up, ~up)
        chance = (weight[called].sum() * weight[up].sum() + weight[~called].sum() * weight[~up].sum()) / total**2
        return max(0.0, (accuracy - chance) / (1.0 - chance))
    return accuracy


def evaluate(problem, ids, leave_one_out=None, hold=None, signs=None):
    """(kept ids, coef, score) of one support: fit, test, drop and refit until nothing is dropped.

    `hold(ids, wrong)`, where given, says what stays when the terms `ids` have passed the test; no term stays whose
    coefficient has not the sign that `signs` requires of it: the terms `wrong`.
    """
    ids, options = np.asarray(ids, dtype=np.int64), problem.options
    target, weight = problem.target, problem.weight
    name = options.criterion.name.lower()
    while ids.size:
        X = problem.space.columns(problem.table, ids).T
        mean = (weight @ X) / weight.sum()
        penalty = options.ridge * (weight @ (X - mean) ** 2) / weight.sum()
        coef, G = fit(X, target, weight, penalty)
        stays = significant(coef, G, weight.sum(), options.significance)
        wrong = np.array([(signs or {}).get(j, 0) * c < 0 for j, c in zip(ids.tolist(), coef, strict=True)])
        stays &= ~wrong
        if hold is not None:
            stays = np.isin(ids, list(hold(set(ids[stays].tolist()), set(ids[wrong].tolist()))))
        if stays.all():
            f = (
                (leave_one_out or left_out_predictor)(X, target, weight, penalty)
                if name.startswith("loo")
                else X @ coef
            )
            return ids, coef, score(name, target, f, weight)
        ids = ids[stays]
    return ids, np.empty(0), (0.5 if name.endswith("log_loss") else 0.0)


def importance(member, scores):
    """Eq. (15), term by term; a mean over no model is zero."""
    out = []
    for held in member.T:
        inside = scores[held].mean() if held.any() else 0.0
        outside = scores[~held].mean() if not held.all() else 0.0
        out.append(inside - outside)
    return np.array(out)


def update(rip, drawn, member, scores, unseen, least=0.0):
    """Eq. (16) and (17) on a dense vector of RIPs; `drawn` and `member` are before and after the test."""
    step = 1.0 / (10.0 * (scores.max() - scores.mean()) + 0.1)
    new = np.minimum(np.maximum(rip + step * importance(member, scores), least), 1.0)
    if unseen == "keep":
        new[~drawn.any(axis=0)] = rip[~drawn.any(axis=0)]
    return new


def stratified_rows(is_upper, size, rng):
    """About `size` of the rows, each class in its share."""
    chosen = []
    for value in (False, True):
        own = [k for k in range(len(is_upper)) if is_upper[k] == value]
        chosen += rng.choice(own, round(size * len(own) / len(is_upper)), replace=False, shuffle=False).tolist()
    return sorted(chosen)


def search(problem, draw, n_iterations, unseen, leave_one_out=None, sample=None, start=None, least=0.0):
    """Algorithm 1 with a least RIP. `draw(rip, common)` gives the supports of an iteration, where `common` is the RIP
    of a term that was never drawn, and `sample()` the rows that they are scored on, where these are not all. Yields
    (RIPs, common, scores, mean sizes). `start`, if given, is (first RIPs, common).
    """
    n = problem.space.n_terms
    rip, common = (np.full(n, 1.0 / n), 1.0 / n) if start is None else start
    for _ in range(n_iterations):
        supports = draw(rip, common)
        part = problem
        if sample is not None:
            rows = sample()
            part = replace(
                problem, table=problem.table[:, rows], target=problem.target[rows], weight=problem.weight[rows]
            )
        drawn, member = np.zeros((len(supports), n), bool), np.zeros((len(supports), n), bool)
        scores = np.zeros(len(supports))
        for m, ids in enumerate(supports):
            kept, _, scores[m] = evaluate(part, ids, leave_one_out)
            drawn[m, ids], member[m, kept] = True, True
        rip = update(rip, drawn, member, scores, unseen, least)
        if unseen == "zero":
            common = max(common - scores.mean() / (10.0 * (scores.max() - scores.mean()) + 0.1), least)
        yield rip, common, scores, drawn.sum(axis=1).mean(), member.sum(axis=1).mean()
