"""Classifiers whose search settings are written beside the other parameters, as tests like them."""

from __future__ import annotations

from dataclasses import fields, replace

from rfsc import RFSCClassifier, SearchSettings

SEARCH = {field.name for field in fields(SearchSettings)}


def make(basis="auto", *, paper=False, **params):
    """An unfitted classifier; settings of the search may stand among the parameters."""
    search = {name: params.pop(name) for name in SEARCH & params.keys()}
    clf = RFSCClassifier.paper(**params) if paper else RFSCClassifier(basis, **params)
    return clf.set_params(search=replace(clf.search or SearchSettings(), **search)) if search else clf
