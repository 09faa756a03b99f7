"""Two hundred million candidate terms cost neither their memory nor their time."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest
from benchmarks.torture.memory import allowed, growth

from rfsc._engines.problem import BUDGET
from rfsc._search.rips import RIPs, sample_population

pytestmark = pytest.mark.slow

# The peak is read as VmHWM: the peak of getrusage starts at that of the process that started this one.
FIT_WIDE_TABLE = """
import json, re, sys, warnings
import numpy as np
from rfsc import Restrictions, RFSCClassifier, SearchSettings

def status(field):
    return int(re.search(field + r":\\s+(\\d+) kB", open("/proc/self/status").read()).group(1)) / 1024

def fit(n_features):
    X = np.random.default_rng(0).normal(size=(60, n_features))
    wanted = Restrictions(force=["x0*x2"], forbid=[("x1",), ("x0", "x7")], hierarchy=True) if sys.argv[1:] else None
    search = SearchSettings(max_iter=5, initial_rip="uniform")
    settings = {"n_restarts": 1, "search": search, "random_state": 0}
    return RFSCClassifier(basis="polynomial", restrictions=wanted, **settings).fit(X, X[:, 0] > 0)

warnings.simplefilter("ignore")  # five iterations do not settle anything
fit(8)
before = status("VmRSS")
clf = fit(20_000)
print(json.dumps({"n_terms": clf.n_terms_.tolist(), "growth": status("VmHWM") - before, "names": clf.models_[0].names}))
"""

# default settings but for the number of restarts: more of them take time, not memory
SCREEN_WIDE_TABLE = """
import json, re, warnings
import numpy as np
from rfsc import RFSCClassifier
from tests.making import make

def status(field):
    return int(re.search(field + r":\\s+(\\d+) kB", open("/proc/self/status").read()).group(1)) / 1024

def fit(n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, n_features))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.logistic(size=500) > 0
    return make(basis="polynomial", n_restarts=2, random_state=0).fit(X, y)

warnings.simplefilter("ignore")
fit(8)
before = status("VmRSS")
clf = fit(5000)
report = {"n_terms": clf.n_terms_.tolist(), "began": clf.initial_rip_, "names": clf.models_[0].names}
print(json.dumps({**report, "growth": status("VmHWM") - before, "peak": status("VmHWM")}))
"""

# In a process of its own, so that an overflow in the positions cannot eat the memory of this one.
DRAW_FROM_LARGEST_SPACE = """
import resource
import numpy as np
from rfsc._search.rips import RIPs
from rfsc._search.rips import sample_population
from rfsc._terms.space import MAX_IDS

now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + 2**28, now + 2**28))
rips = RIPs(MAX_IDS, 1 / MAX_IDS, np.empty(0, np.int64), np.empty(0))
drawn = sample_population(rips, 100, 60, np.random.default_rng(0))
assert len(drawn) == 100 and 50 < drawn.ids.size < 150
assert 0 <= drawn.ids.min() < 0.2 * MAX_IDS and 0.8 * MAX_IDS < drawn.ids.max() < MAX_IDS
"""


@pytest.mark.parametrize(("arguments", "n_terms"), [([], 200_030_001), (["restricted"], 200_010_000)])
def test_a_fit_over_200_million_terms_stays_small(arguments, n_terms):
    command = [sys.executable, "-c", FIT_WIDE_TABLE, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    assert report["n_terms"] == [n_terms]
    assert 0 < report["growth"] < 300  # MiB; one vector over all terms would take 1,526
    assert not arguments or {"x0", "x2", "x0*x2"} <= set(report["names"])


def test_screening_and_searching_12_million_terms_stays_small():
    done = subprocess.run([sys.executable, "-c", SCREEN_WIDE_TABLE], capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    assert report["began"] == ["screened"]
    assert report["n_terms"] == [12_507_501]
    assert 0 < report["growth"] < 150  # MiB; the columns of all terms would take 47,700, their statistics alone 95
    assert report["peak"] < 1500 * 1e6 / 2**20
    assert {"x0", "x1*x2"} <= set(report["names"])


@pytest.mark.parametrize("n_terms", [200_030_001, 2**55])
def test_drawing_models_costs_what_is_drawn(n_terms):
    rips = RIPs(n_terms, 1 / n_terms, np.empty(0, np.int64), np.empty(0))
    tracemalloc.start()
    try:
        start = time.perf_counter()
        drawn = [sample_population(rips, 100, 60, np.random.default_rng(seed)) for seed in range(20)]
        seconds = time.perf_counter() - start
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert seconds < 1.0
    assert peak < 2**20
    ids = np.concatenate([supports.ids for supports in drawn])
    assert 1800 < ids.size < 2200  # one term per model is expected, 2000 in all, give or take 4.5 deviations
    assert 0 <= ids.min() < 0.01 * n_terms
    assert 0.99 * n_terms < ids.max() < n_terms


def test_drawing_models_from_the_largest_space_that_can_be_numbered():
    done = subprocess.run([sys.executable, "-c", DRAW_FROM_LARGEST_SPACE], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr


def test_columns_stay_within_their_budget():
    """The store is full, and nothing else has grown; with twice the budget it would be seen."""
    name = "two classes"
    assert BUDGET / 2**20 < growth(name) < allowed(name)
    assert growth(name, 2 * BUDGET) > allowed(name)
