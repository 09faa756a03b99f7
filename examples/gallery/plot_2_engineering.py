"""
Engineering: when does the pump fail?
=====================================

A made-up log of a pump whose causes of failure we know: heat together with speed, and a bearing that vibrates. Does the
search find them among sensors that do not matter, in the right form?
"""

# %%
# The log
# -------
# A thousand days and seven sensors. Neither heat nor speed is harmful by itself: failures come when both are high, or
# both low (a cold pump that runs slowly clogs). Vibration begins to matter at 5 mm/s. The other four sensors have no
# effect.

import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
n = 1000
log = pd.DataFrame(
    {
        "temperature": rng.normal(70, 10, n),
        "speed": rng.normal(1500, 200, n),
        "vibration": rng.gamma(4.0, 1.0, n),
        "humidity": rng.uniform(20, 90, n),
        "inlet pressure": rng.normal(3.0, 0.4, n),
        "oil level": rng.uniform(0.4, 1.0, n),
        "voltage": rng.normal(400, 5, n),
    }
).round(2)
together = (log["temperature"] - 70) / 10 * (log["speed"] - 1500) / 200
risk = 1.5 * together + 1.5 * np.maximum(0, log["vibration"] - 5) - 1
state = np.where(risk + rng.logistic(size=n) > 0, "stops", "runs")
print(pd.Series(state).value_counts().to_string())

# %%
# Let the data choose the form
# ----------------------------
# By default the search compares five kinds of terms by how well they predict left-out rows. Products of deviations win,
# because they show an interaction of features that have no effect of their own in a single term.

from rfsc import RFSCClassifier
from rfsc.explain import equation, stability

free = RFSCClassifier(random_state=0).fit(log, state)
for name, loss in sorted(free.basis_losses_.items(), key=lambda item: item[1]):
    print(f"{name:<16} left-out log-loss {loss:.3f}")

# %%
# A formula for the wall of the control room
# ------------------------------------------
# With that kind of terms, and the smallest size that is not clearly worse than the best:

clf = RFSCClassifier(basis="centred", size="1se", random_state=0).fit(log, state)
model = clf.models_[0]
print(f"f > 0 means: the pump {model.label}")
print(equation(model, units="original"))
print("not used:", ", ".join(log.columns[~clf.support_]))
print(stability(clf, of="features"))

# %%
# The product has come back: 0.00075 per degree and turn was put in. The bend at 5 mm/s has become a parabola, the
# nearest that products can say; ``basis="hinge"`` would write it as ``max(0, vibration-5)``. The four sensors without
# effect are out.

from rfsc.plots import CoefficientsDisplay

CoefficientsDisplay.from_estimator(clf)

# %%
# Where it is safe to run
# -----------------------
# A model of the two features that act together, drawn by scikit-learn. The pump runs when one is high and the other
# low.

from sklearn.inspection import DecisionBoundaryDisplay

pair = log[["temperature", "speed"]]
of_two = RFSCClassifier(basis="centred", size="1se", random_state=0).fit(pair, state)
look = {"cmap": "RdBu_r", "alpha": 0.6}
safe = DecisionBoundaryDisplay.from_estimator(of_two, pair, response_method="predict_proba", **look)
safe.ax_.scatter(*pair.to_numpy().T, c=state == "stops", s=6, cmap="RdBu_r")

# %%
# What the engineer knows
# -----------------------
# Suppose that oil level must be in every model, whatever the test says, and that voltage is out of the question:

from rfsc import Restrictions
from rfsc.explain import term_table

rules = Restrictions(force=["oil level"], forbid=[("voltage",)])
ruled = RFSCClassifier(basis="centred", size="1se", restrictions=rules, random_state=0).fit(log, state)
print(term_table(ruled).text())

# sphinx_gallery_thumbnail_number = 2
