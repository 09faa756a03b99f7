"""One fit of FasterRisk, run by the Python of its own environment: ROWS.npz K; the last line printed is JSON."""

import json
import sys

import numpy as np
from fasterrisk.fasterrisk import RiskScoreOptimizer

if __name__ == "__main__":
    rows = np.load(sys.argv[1])
    optimizer = RiskScoreOptimizer(X=rows["X"], y=rows["y"], k=min(int(sys.argv[2]), rows["X"].shape[1]))
    optimizer.optimize()
    multiplier, intercept, points = optimizer.get_models(model_index=0)
    found = {"multiplier": float(multiplier), "intercept": float(intercept), "points": np.asarray(points).tolist()}
    sys.stdout.write("\n" + json.dumps(found) + "\n")
