"""Fits of FasterRisk, run by the Python of its own environment: ROWS.npz K...; the last line printed is JSON."""

import json
import sys

import numpy as np
from fasterrisk.fasterrisk import RiskScoreOptimizer

if __name__ == "__main__":
    rows = np.load(sys.argv[1])
    scores = {}
    for k in sys.argv[2:]:
        optimizer = RiskScoreOptimizer(X=rows["X"], y=rows["y"], k=min(int(k), rows["X"].shape[1]))
        optimizer.optimize()
        multiplier, intercept, points = optimizer.get_models(model_index=0)
        points = np.asarray(points).tolist()
        scores[k] = {"multiplier": float(multiplier), "intercept": float(intercept), "points": points}
    sys.stdout.write("\n" + json.dumps(scores) + "\n")
