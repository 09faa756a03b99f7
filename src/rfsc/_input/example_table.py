"""A made-up table for the demo: patients with text columns, blanks, an identifier, and a known truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pandas import DataFrame


def patients(n_rows: int = 400, seed: int = 0) -> DataFrame:
    """Patients of whom about half are sick.

    Age, CRP and smoking raise the risk, haemoglobin lowers it; a CRP that was not measured raises it, too. Body mass
    and ward have no effect.
    """
    from pandas import DataFrame

    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(58, 15, n_rows), 18, 95).round()
    haemoglobin = rng.normal(13.5, 1.6, n_rows).round(1)
    crp = np.exp(rng.normal(1.5, 1.0, n_rows)).round(1)
    mass = rng.normal(27, 4.5, n_rows).round(1)
    smokes = rng.choice(["never", "former", "current"], n_rows, p=[0.5, 0.3, 0.2])
    sex = rng.choice(["female", "male"], n_rows)
    ward = rng.choice(["north", "south", "east", "west", "annex"], n_rows, p=[0.34, 0.3, 0.22, 0.13, 0.01])
    unmeasured = rng.random(n_rows) < 0.15
    f = 0.1 * (age - 58) + 1.2 * np.where(unmeasured, 1.0, np.log(crp) - 1.5) - 0.8 * (haemoglobin - 13.5)
    f += 2.0 * (smokes == "current") + 0.8 * (sex == "male") - 1.0
    sick = rng.random(n_rows) < 1.0 / (1.0 + np.exp(-f))
    table = DataFrame(
        {
            "patient": [f"P{number:05d}" for number in rng.permutation(90_000)[:n_rows] + 10_000],
            "age": age.astype(int).astype(str),
            "sex": sex,
            "smokes": smokes,
            "body mass": mass.astype(str),
            "CRP": np.where(unmeasured, "", crp.astype(str)),
            "haemoglobin": haemoglobin.astype(str),
            "ward": ward,
            "country": "NL",
            "diagnosis": np.where(sick, "sick", "healthy"),
        },
        dtype=object,
    )
    table.loc[rng.random(n_rows) < 0.04, "body mass"] = "n/a"
    table.loc[rng.random(n_rows) < 0.06, "smokes"] = ""
    return table
