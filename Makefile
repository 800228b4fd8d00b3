# The commands of the project; each installs what it needs into .venv, once.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check

# Where PyTorch comes from: its usual index, or another one, such as PyTorch's own for CPU builds:
#   make demo TORCH_INDEX=https://download.pytorch.org/whl/cpu
ifdef TORCH_INDEX
TORCH_FLAGS := --index-url $(TORCH_INDEX)
endif

# Tests and experiments find the paper's data here.
ifneq ($(wildcard ../shared/data),)
export FEATUREMASK_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test check nightly audit min-deps bench docs package clean

$(VENV)/.base: constraints.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade "pip>=25.1"
	$(PIP) install --quiet -c constraints.txt $(TORCH_FLAGS) torch
	$(PIP) install --quiet -c constraints.txt -e ".[all]"
	touch $@

$(VENV)/.dev: $(VENV)/.base
	$(PIP) install --quiet -c constraints.txt --group test --group lint
	touch $@

$(VENV)/.browser: $(VENV)/.dev
	$(PIP) install --quiet -c constraints.txt --group browser
	touch $@

$(VENV)/.docs: $(VENV)/.base
	$(PIP) install --quiet -c constraints.txt --group docs
	touch $@

$(VENV)/.package: $(VENV)/.base
	$(PIP) install --quiet -c constraints.txt --group package
	touch $@

$(VENV)/.bench: $(VENV)/.base
	$(PIP) install --quiet -c constraints.txt --group bench
	touch $@

demo: $(VENV)/.base  ## select features of bundled data, print the result, write a picture
	$(BIN)/featuremask demo

test: $(VENV)/.browser  ## the whole suite; with Chromium, that of the reports too
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term --durations=10

check: $(VENV)/.dev  ## lint, types, import contract and the quick tests; under 2 minutes
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2 -m "not slow"

nightly: $(VENV)/.browser $(VENV)/.bench  ## the long jobs
	FEATUREMASK_KILLS=100 FEATUREMASK_FITS=1000 FEATUREMASK_MINUTES=10 $(BIN)/python -m pytest -n 2 -m slow
	FEATUREMASK_KILLS=100 FEATUREMASK_MUTATIONS=10000 $(BIN)/python -m pytest -n 2 -rP \
		tests/hostile tests/interruption
	$(BIN)/featuremask reproduce paper --jobs 2
	$(BIN)/featuremask report paper

audit: $(VENV)/.base  ## licenses, a bill of materials, and known vulnerabilities of what is installed
	$(BIN)/python tools/licenses.py --extra all --sbom out/sbom.cdx.json
	$(PIP) install --quiet pip-audit
	$(PIP) freeze --exclude-editable > out/installed.txt
	$(BIN)/pip-audit -r out/installed.txt --no-deps --disable-pip

min-deps:  ## scikit-learn's checks and the quick tests on the oldest versions that are declared
	$(PYTHON) -m venv .venv-min
	.venv-min/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-min/bin/python -m pip install --quiet -c constraints.txt $(TORCH_FLAGS) torch
	$(PYTHON) tools/floors.py > .venv-min/floors.txt
	.venv-min/bin/python -m pip install --quiet -r .venv-min/floors.txt
	.venv-min/bin/python -m pip install --quiet --no-deps -e .
	.venv-min/bin/python -m pytest -n 2 -m "not slow" -W ignore::DeprecationWarning

bench: $(VENV)/.bench  ## timings, as ratios measured in one run
	$(BIN)/featuremask bench speed --page benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks.subnormals

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

package: $(VENV)/.package  ## wheel and sdist, checked, and tried in an empty environment
	BIN=$(BIN) .ci/package

clean:
	rm -rf $(VENV) .venv-min build dist demo-out docs/_build docs/auto_examples docs/generated
