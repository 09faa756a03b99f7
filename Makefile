PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: help demo test test-all house system lint audit docs dist bench raw-tables bench-gpu bench-scale torture accuracy calibrate cards reproduce clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

$(VENV)/created:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/package: $(VENV)/created pyproject.toml
	$(PIP) install -e .
	touch $@

# one marker per extra: pip runs again only when pyproject.toml changes
$(VENV)/extra-%: $(VENV)/package
	$(PIP) install -e '.[$*]'
	touch $@

demo: $(VENV)/extra-demo  ## fit the breast-cancer data and print the model found
	$(BIN)/python examples/demo.py

# a folder with bupa.csv, ionosphere.csv and sonar.csv, which scikit-learn does not ship, and tabmini/ with the sets of
# TabMini; empty: fetch them from OpenML and with pmlb
RFSC_DATA ?= $(wildcard ../shared/data)
# two workers with one thread each
PYTEST := RFSC_DATA=$(RFSC_DATA) LOKY_MAX_CPU_COUNT=1 $(BIN)/python -m pytest -q -n 2 --durations=10

test: $(VENV)/extra-test  ## run the tests that guard correctness (under three minutes on two cores)
	$(PYTEST) -m "not slow" tests

test-all: test  ## the same, then those with processes, clusters, kills, a browser, servers and the paper's comparators
	$(PYTEST) -m slow

house: $(VENV)/extra-test $(VENV)/extra-lint  ## measure the package against its limits: lines, files, layers, names
	$(BIN)/python -m benchmarks.house

# exports are tested in PostgreSQL, LibreOffice and as compiled C, reports in a real browser; without root they are skipped
DEBIAN := postgresql libreoffice-calc chromium chromium-driver gcc libc6-dev fonts-dejavu-core
system:  ## Debian packages for the tests of exports and reports (as root)
	test "$$(id -u)" = 0
	dpkg -s $(DEBIAN) > /dev/null 2>&1 || ( apt-get update -qq && \
	  timeout 300 apt-get install -y -qq --no-install-recommends $(DEBIAN) > /dev/null )

lint: $(VENV)/extra-test $(VENV)/extra-lint  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# --strict: where the database cannot be reached the audit fails, rather than pass unseen
audit: $(VENV)/extra-all $(VENV)/extra-audit  ## known vulnerabilities of all packages that are installed here (asks PyPI)
	$(BIN)/python -m pip freeze --exclude-editable > $(VENV)/installed.txt
	$(BIN)/pip-audit --strict --no-deps --disable-pip --progress-spinner off -r $(VENV)/installed.txt

# extra-cli: the gallery runs `rfsc`
docs: $(VENV)/extra-docs $(VENV)/extra-cli  ## the documentation as a site, in docs/_build/html
	$(BIN)/python -m sphinx -q -W --keep-going docs docs/_build/html

dist: $(VENV)/extra-release  ## build the package, and try it in clean environments, with each extra and the oldest packages
	.ci/dist

# extra-cli: `rfsc fit` is one of the rows
bench: $(VENV)/extra-bench $(VENV)/extra-cli  ## measure the speed bars (more than an hour); writes docs/performance.md and sections of docs/certificate.md and docs/atlas.md
	RFSC_DATA=$(RFSC_DATA) $(BIN)/python -m benchmarks.default_fits --write docs/performance.md
	RFSC_DATA=$(RFSC_DATA) $(BIN)/python -m benchmarks.rules --write docs/performance.md
	RFSC_DATA=$(RFSC_DATA) $(BIN)/python -m benchmarks.speed --write docs/performance.md
	$(BIN)/python -m benchmarks.long --write docs/performance.md
	$(BIN)/python -m benchmarks.wide --write docs/performance.md
	$(BIN)/python -m benchmarks.certificates --write docs

# SQLite always; DuckDB, ONNX, Node.js, gcc and Chromium as far as they are there
raw-tables: $(VENV)/extra-test  ## from raw files to report, card and exports that agree (ten minutes); writes docs/performance.md
	$(BIN)/python -m benchmarks.raw_tables --write docs/performance.md

bench-gpu: $(VENV)/extra-bench $(VENV)/extra-torch  ## the same on an NVIDIA GPU
	$(BIN)/python -m benchmarks.gpu --raw docs/performance/gpu.json --write docs/performance.md

bench-scale: $(VENV)/extra-bench $(VENV)/extra-dask  ## rows on several workers, and very wide data beside relatives (an hour); writes docs/scale.md and docs/wide.md
	$(BIN)/python -m benchmarks.dask_rows --write docs/scale.md
	$(BIN)/python -m benchmarks.very_wide --write docs/wide.md

torture: $(VENV)/extra-test $(VENV)/extra-torture  ## faults, kills and hostile input by the thousand (most of an hour); writes docs/reliability.md
	$(BIN)/python -m benchmarks.torture --raw docs/reliability.json --write docs/reliability.md

.venv-fasterrisk/created:
	$(PYTHON) -m venv .venv-fasterrisk
	.venv-fasterrisk/bin/python -m pip --disable-pip-version-check -q install 'fasterrisk>=0.1.10' 'numpy<2'
	touch $@

# FasterRisk's outcomes are in docs/accuracy/faster_risk.jsonl; others need its environment, .venv-fasterrisk/created
accuracy: $(VENV)/extra-experiments  ## measure the accuracy bars (two hours); writes docs/accuracy.md
	RFSC_DATA=$(RFSC_DATA) $(BIN)/python -m paper accuracy --output docs/accuracy --write docs/accuracy.md

# MOST=20 runs twenty tables of each cell; finished tables are kept in docs/certificate/tables.csv
calibrate: $(VENV)/extra-calibration  ## how often certificates are wrong on simulated tables (ten hours); writes docs/certificate.md
	RFSC_DATA=$(RFSC_DATA) $(BIN)/python -m paper calibrate $(if $(MOST),--most $(MOST)) --output docs/certificate --write docs/certificate.md

cards: $(VENV)/extra-experiments  ## score cards beside FasterRisk on the paper's sets (half an hour); writes docs/card.md
	-$(MAKE) .venv-fasterrisk/created
	RFSC_DATA=$(RFSC_DATA) $(BIN)/python -m paper.cards --write docs/card.md

reproduce: $(VENV)/extra-experiments  ## the paper's tables and figures beside ours; writes docs/reproduction
	RFSC_DATA=$(RFSC_DATA) $(BIN)/python -m paper reproduce --output docs/reproduction

clean:  ## remove what make has made
	rm -rf dist $(VENV) .venv-drfsc .venv-distfeatselect .venv-fasterrisk .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/_build docs/gallery docs/api/generated
