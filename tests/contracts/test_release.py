"""Files that only a release reads are well formed and say the same as the package."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import rfsc

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
ON_GITHUB = sorted((ROOT / ".github").rglob("*.yml"))


def test_version_and_address_are_the_same_everywhere():
    address = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
    assert CITATION["version"] == RECIPE["context"]["version"] == rfsc.__version__
    assert CITATION["repository-code"] == RECIPE["about"]["repository"] == address
    assert RECIPE["source"]["url"].startswith(f"{address}/")


def test_recipe_needs_what_the_package_needs():
    needed = [re.sub(r"(>=.*?)(;.*)?$", r" \1", one) for one in PROJECT["project"]["dependencies"]]
    assert RECIPE["requirements"]["run"][1:] == needed
    assert PROJECT["project"]["requires-python"] == f">={RECIPE['context']['python_min']}"


@pytest.mark.parametrize("path", ON_GITHUB, ids=lambda path: path.stem)
def test_workflows_and_forms_are_yaml_and_call_targets_that_exist(path):
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    steps = [step for job in content.get("jobs", {}).values() for step in job["steps"]]
    called = [name for step in steps for name in re.findall(r"\bmake ([a-z -]+)", step.get("run", ""))]
    assert {name for names in called for name in names.split()} <= set(targets)
    assert steps or content["body"]
