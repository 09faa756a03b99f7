"""
Emergency care: rules that fit on a card
========================================

Who of the patients that arrive tonight needs intensive care? A sum of single effects cannot say "only if", and a deep
tree cannot be read at the bedside. Rules can do both: conditions on two measurements that hold together. The table is
simulated, so the truth is known.
"""

# %%
# The table
# ---------
# A patient is at risk if a high lactate meets old age, or if the pressure is low while the heart is fast.

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from rfsc import RFSCClassifier
from rfsc.explain import equation, explain, term_table

rng = np.random.default_rng(1)
n = 1500
patients = pd.DataFrame(
    {
        "age": rng.integers(20, 95, n),
        "lactate": rng.gamma(3.0, 0.8, n).round(1),
        "pressure": rng.normal(118, 22, n).round(),
        "heart rate": rng.normal(92, 18, n).round(),
        "temperature": rng.normal(37.4, 0.9, n).round(1),
        "sodium": rng.normal(138, 4, n).round(),
    }
)
is_septic = (patients["age"] > 65) & (patients["lactate"] > 2)
is_in_shock = (patients["pressure"] < 100) & (patients["heart rate"] > 95)
care = np.where(rng.random(n) < np.where(is_septic | is_in_shock, 0.75, 0.06), "yes", "no")
X_train, X_test, y_train, y_test = train_test_split(patients, care, test_size=1 / 3, stratify=care, random_state=0)
print(f"{len(X_train)} patients to learn from, {np.mean(y_train == 'yes'):.0%} of them in intensive care")

# %%
# Nothing is set but the size
# ---------------------------
# The card has room for three lines. Cross-validation inside the training rows compares straight lines, products, rules,
# hinges and radial functions.

clf = RFSCClassifier(size=3, random_state=0).fit(X_train, y_train)
for mix, loss in clf.basis_losses_.items():
    print(f"{mix:16} {loss:.3f}")

# %%
# Rules predict the left-out rows best. ``f`` is the log-odds of intensive care:

print(equation(clf, units="original"))

# %%
# What each rule is worth: by how much the log-loss of left-out rows rises without it.

print(term_table(clf.models_[0]).text())

# %%
# Beside a forest, on patients that neither has seen:

forest = RandomForestClassifier(500, random_state=0).fit(X_train, y_train)
for name, model in (("rules", clf), ("forest of 500 trees", forest)):
    loss = log_loss(y_test, model.predict_proba(X_test))
    print(f"{name:20} log-loss {loss:.3f}, accuracy {model.score(X_test, y_test):.3f}")

# %%
# One patient
# -----------
# The one with the highest risk:

print(explain(clf, X_test.iloc[int(np.argmax(clf.predict_proba(X_test)[:, 1]))]))

# %%
# The card
# --------
# Whole points instead of coefficients, and the risk that belongs to every total. Five folds of the training rows say
# what rounding costs: in each of them rules and points are found again without its rows.

from rfsc.card import card

points = card(clf, X_train, y_train, max_points=5)
print(points)

# %%
# On the patients that nobody has seen:

exact, rounded = (log_loss(y_test, model.predict_proba(X_test)) for model in (clf, points))
print(f"log-loss with coefficients {exact:.3f}, with points {rounded:.3f}")

# %%
# With a ruler instead of sums, and without rounding:

from rfsc.plots import NomogramDisplay

NomogramDisplay.from_estimator(clf, X_train)
