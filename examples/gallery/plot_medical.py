"""
Medicine: benign or malignant?
==============================

A fine-needle sample of a breast lump gives thirty measurements of its cell nuclei. Which of them matter, how, and how
sure is the answer for one patient? The data come with scikit-learn.
"""

# %%
# Fit and read
# ------------
# ``basis="polynomial"`` asks for the paper's kind of formula: products of features. A third of the patients is kept
# aside. ``significance=0.01`` keeps the formula short.

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from rfsc import RFSCClassifier
from rfsc.explain import equation, explain, rounded, stability, term_table

data = load_breast_cancer(as_frame=True)
labels = data.target_names[data.target]
train, test, y_train, y_test = train_test_split(data.data, labels, test_size=1 / 3, stratify=labels, random_state=0)

clf = RFSCClassifier(basis="polynomial", random_state=0).fit(train, y_train)
model = clf.models_[0]
print(f"accuracy on {len(test)} unseen patients: {clf.score(test, y_test):.3f}")
print(equation(model))

# %%
# Every term with its coefficient and what the search knew of it. The p-values are marked as naive: the search looked
# at many models before it settled on these terms.

term_table(model).to_frame().round(3)
