"""
Medicine: benign or malignant?
==============================

Thirty measurements of cell nuclei from a breast lump. Which of them matter, in which combination, and how sure is the
answer for one patient? The data come with scikit-learn.
"""

# %%
# Fit, and read the formula
# -------------------------
# A third of the patients is kept aside. The terms are of the paper's kind: products of at most two measurements. Their
# number is chosen by cross-validation inside the training rows. Measurements that have nothing to do with the diagnosis
# are left out from the start.

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from rfsc import RFSCClassifier, SearchSettings
from rfsc.explain import equation, explain, stability, term_table

data = load_breast_cancer(as_frame=True)
labels = data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(data.data, labels, test_size=1 / 3, stratify=labels, random_state=0)

filtered = SearchSettings(filter_significance=0.001)
clf = RFSCClassifier(basis="polynomial", search=filtered, random_state=0).fit(X_train, y_train)
model = clf.models_[0]
print(f"{model.size} terms out of {clf.n_terms_[0]} candidates")
print(f"accuracy on {len(X_test)} unseen patients: {clf.score(X_test, y_test):.3f}")
print(equation(model))

# %%
# Every measurement is on the [0, 1] scale of its training range here, so the coefficients can be compared. Positive
# terms favour ``malignant``, the second class.
#
# Would fewer terms do?
# ---------------------
# Every size has a model. The log-loss is that of training rows which were left out in turn.

from rfsc.plots import FrontDisplay

print(clf.front_.aligned(["n_terms", "n_features", "log_loss", "above_best", "standard_error", "chosen"]))
FrontDisplay.from_estimator(clf)

# %%
# ``clf.at_size(3)`` is the same fit with the model of three terms:

short = clf.at_size(3)
print(equation(short))
print(f"accuracy on {len(X_test)} unseen patients: {short.score(X_test, y_test):.3f}")

# %%
# How sure are the coefficients?
# ------------------------------

from rfsc.plots import CoefficientsDisplay

CoefficientsDisplay.from_estimator(clf)

# %%
# The intervals take the terms as given. They do not know that the search has looked at many models to find these terms.
# The table shows instead what each term is worth: by how much the log-loss of left-out rows rises without it.

print(term_table(model).text())

# %%
# Which measurements were left out?
# ---------------------------------
# The filter tests every measurement by itself for dependence on the diagnosis, in any form. Those below the threshold
# are not searched.

test = model.evidence.filter
print(f"not above the threshold of {test.threshold:.3g}:", ", ".join(data.data.columns[~test.kept]))

# %%
# How did the search find them?
# -----------------------------
# Every line is the inclusion probability of a term: how often it is drawn. Terms rise when the models that hold them do
# better than the others. The thick ones end up in the model, which is made of the best models of all searches.

from rfsc.plots import RIPEvolutionDisplay

RIPEvolutionDisplay.from_estimator(clf)

# %%
# Would another search find the same?
# -----------------------------------
# Hardly: radius, perimeter and area carry nearly the same information, so one can replace another.

print(stability(clf))
print(stability(clf, of="features"))

# %%
# Can the probabilities be trusted?
# ---------------------------------
# On patients that the search has not seen:

from rfsc.plots import CalibrationDisplay

CalibrationDisplay.from_estimator(clf, X_test, y_test)

# %%
# Why this answer, for one patient?
# ---------------------------------
# The least certain one:

import numpy as np

from rfsc.plots import RowContributionsDisplay

unsure = int(np.argmin(np.abs(clf.decision_function(X_test))))
print(explain(clf, X_test.iloc[unsure]))
RowContributionsDisplay.from_estimator(clf, X_test.iloc[[unsure]])

# sphinx_gallery_thumbnail_number = 3
