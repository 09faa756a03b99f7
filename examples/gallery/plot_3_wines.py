"""
Three classes: which wine is it?
================================

Thirteen chemical measurements of three kinds of Italian wine. With more than two classes every class has a formula of
its own, and the largest value wins. The data come with scikit-learn.
"""

# %%
# One formula for each wine
# ---------------------------

from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from rfsc import RFSCClassifier
from rfsc.explain import equations, explain

data = load_wine(as_frame=True)
X = data.data.rename(columns={"od280/od315_of_diluted_wines": "protein"})
y = data.target.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)

clf = RFSCClassifier(basis="polynomial", random_state=0).fit(X_train, y_train)
print(f"accuracy on {len(X_test)} unseen wines: {clf.score(X_test, y_test):.3f}")
for label, formula in equations(clf, digits=3).items():
    print(f"{label:<11} {formula}")
print("never read:", ", ".join(X.columns[~clf.support_]))

# %%
# What makes a Barbera a Barbera
# ------------------------------
# Plots and tables look at one output at a time; ``clf.classes_`` has their order.

import matplotlib.pyplot as plt

from rfsc.plots import CoefficientsDisplay

output = list(clf.classes_).index("Barbera")
CoefficientsDisplay.from_estimator(clf, output=output)

# %%
# The least certain wine
# ----------------------

import numpy as np

best_two = np.sort(clf.predict_proba(X_test), axis=1)[:, -2:]
unsure = int(np.argmin(best_two[:, 1] - best_two[:, 0]))
print(explain(clf, X_test.iloc[unsure]))
print("it was a", y_test.iloc[unsure])

# %%
# Which wines are confused
# ------------------------
# Everything of scikit-learn works as with any classifier.

from sklearn.metrics import ConfusionMatrixDisplay

ConfusionMatrixDisplay.from_estimator(clf, X_test, y_test, cmap="Blues", colorbar=False)
plt.show()

# sphinx_gallery_thumbnail_number = 1
