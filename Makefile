# Python 3.11 or newer and make are all this needs; everything else comes from requirements/*.txt.
PYTHON ?= python3
BIN := .venv/bin
# The demo says how `reward` is found in the shell that called make.
CALLERS_PATH := $(PATH)
# Node and npm are the locked wheel's, whatever the machine has.
export PATH := $(CURDIR)/$(BIN):$(CURDIR)/node_modules/.bin:$(PATH)
# The tests start hundreds of interpreters, each of which would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# What takes long ends with make, even where make was killed.
TIED := $(BIN)/python -I -S .ci/end_with_make.py
# A process for each processor, and one more (tests/parallel.py); `pytest` alone is one process.
PYTEST := $(BIN)/pytest --numprocesses auto --durations 10

.PHONY: help setup demo test check costs nightly test-fast matrix lint types unit compat adapters bench mutants options scoreboard sizes notebooks pages docs site pins clean
.DEFAULT_GOAL := help

help:  ## What can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/dev .venv/emulator/ready node_modules/.package-lock.json  ## The whole development environment, in .venv

demo: .venv/base .venv/emulator/ready node_modules/.package-lock.json  ## Deploy to a local AWS emulator, and score there what ships with the project
	@PATH="$(CALLERS_PATH)" exec $(TIED) $(BIN)/reward demo --deployed

test: .venv/dev .venv/emulator/ready node_modules/.package-lock.json lint  ## Everything that must pass: linters, types, tests
	@$(TIED) $(MAKE) --no-print-directory --jobs=2 types unit

check: .venv/dev  ## What changed since the last commit: linters, types, the nearest tests; SINCE="HEAD~3"
	@$(TIED) $(BIN)/python -m tests.check $(if $(SINCE),--since $(SINCE))

costs:  ## Whether the tests of the last whole run kept to the budget of each room
	@$(BIN)/python -m tests.costs

nightly: .venv/dev .venv/emulator/ready node_modules/.package-lock.json  ## What is too long for `make test`: fuzz, soak, kills, late threads, benchmarks, options, hosts; PARTS="events soak" for some
	@$(TIED) $(BIN)/python -m tests.nightly $(PARTS)

test-fast: .venv/dev  ## The tests that take no seconds: no emulator, no CDK, few processes
	$(TIED) $(PYTEST) -m "not slow"

matrix: .venv/dev  ## The library's tests under every Python from 3.11 to 3.14 that is found
	@$(TIED) $(BIN)/python -m tests.matrix

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev
	$(TIED) $(BIN)/mypy

unit: .venv/dev .venv/emulator/ready node_modules/.package-lock.json
	$(TIED) $(PYTEST)

# The root conftest needs what only the development environment has, and mlflow warns when imported.
compat: .venv/compat/ready  ## Our rollouts beside sagemaker-train, and over every framework of agents
	$(TIED) .venv/compat/bin/python -m pytest --confcutdir tests/compat -o filterwarnings=default \
	  -p no:cacheprovider tests/compat

adapters: .venv/dev  ## TRL, verl and the like beside our adapters; HOSTS="trl" for one
	@$(TIED) $(BIN)/python -m tests.hosts $(HOSTS)

pages: .venv/dev requirements/pages/node_modules/.package-lock.json  ## Every page in a Chromium: pictures in build/pages, axe, layout, times
	@$(TIED) $(BIN)/python -m tests.gallery $(PAGES)

bench: .venv/dev  ## The benchmarks: ratios in one run, each beside a yardstick
	$(BIN)/python -m tests.benchmarks

mutants: .venv/dev .venv/emulator/ready node_modules/.package-lock.json  ## Break lines one at a time, and count what the tests see; SINCE="HEAD~1", ROOMS="jobs reports"
	@$(TIED) $(BIN)/python -m tests.mutants $(if $(SINCE),--since $(SINCE)) --rooms $(ROOMS)

options: .venv/dev node_modules/.package-lock.json  ## Every option of cdk.json synthesised alone and with all others; OPTIONS="feedback" for some
	@$(TIED) $(BIN)/python -m tests.options $(OPTIONS)

scoreboard: .venv/dev  ## How often rules are right: ../shared/data/public, or FILES="…"; the record goes to build/
	$(BIN)/python -m tests.scoreboard $(FILES) --out build/scoreboard.json

sizes: .venv/dev  ## What pip installs, for the base and for each extra: megabytes, packages, seconds
	@$(TIED) $(BIN)/python -m tests.sizes $(EXTRAS)

notebooks: .venv/notebooks/ready .venv/emulator/ready node_modules/.package-lock.json  ## Run every notebook in a kernel, on a local AWS emulator, and keep its outputs
	@$(TIED) .venv/notebooks/bin/python -m tests.notebooks $(NOTEBOOKS)

docs: .venv/dev  ## Write the generated tables of the documentation again
	$(BIN)/python -m tests.generated

site: .venv/base .venv/site/ready  ## The documentation as pages that open from a file, in build/site
	rm -rf build/site build/site-source build/site-cache
	$(BIN)/python -m docs.site build/site-source
	$(TIED) .venv/site/bin/python -m sphinx --builder html --conf-dir docs/site --doctree-dir build/site-cache \
	  --fail-on-warning --keep-going --quiet build/site-source build/site
	@echo "Open build/site/index.html"

pins: .venv/dev  ## Resolve requirements/*.in again into hashed pins
	cd requirements && for set in dev base cdk runtime emulator compat notebooks site; do \
	  case $$set in dev|emulator|compat|site) constraints= ;; *) constraints="--constraints dev.txt" ;; esac; \
	  ../$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --upgrade \
	    --python-version 3.11 $$constraints $$set.in --output-file $$set.txt || exit 1; \
	done
	cd requirements/adapters && for set in $$(ls *.in | sed 's/\.in$$//'); do \
	  ../../$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --upgrade --python-version 3.11 \
	    --override without-torch.txt $$set.in --output-file $$set.txt || exit 1; \
	done
	$(BIN)/npm install --package-lock-only
	$(BIN)/npm install --package-lock-only --prefix requirements/pages

clean:  ## Remove the environment and every cache
	rm -rf .venv node_modules requirements/pages/node_modules build/pages build/hosts build/node-compile-cache cdk.out .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@command -v $(firstword $(PYTHON)) >/dev/null || \
	  { echo "reward-functions needs Python 3.11 or newer; $(PYTHON) is not there. Try: make PYTHON=python3.13 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "reward-functions needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.13 $(MAKECMDGOALS)"; exit 1; }
	@echo "Making .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv

# The wheel is installed without dependencies: pyproject.toml names aws-cdk-lib, the pin files do not.
.venv/base: .venv/bin/python requirements/base.txt pyproject.toml
	@echo "Installing requirements/base.txt"
	@$(PIP) install --require-hashes -r requirements/base.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

.venv/dev: .venv/base requirements/dev.txt
	@echo "Installing requirements/dev.txt"
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@

# The local AWS emulator pins another botocore than the Lambda carries.
.venv/emulator/ready: .venv/bin/python requirements/emulator.txt
	@echo "Installing requirements/emulator.txt"
	@$(BIN)/python -m venv .venv/emulator
	@.venv/emulator/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements/emulator.txt
	@touch $@

# What a reader has in Jupyter: the library, and a kernel.
.venv/notebooks/ready: .venv/bin/python requirements/base.txt requirements/notebooks.txt pyproject.toml
	@echo "Installing requirements/notebooks.txt"
	@$(BIN)/python -m venv .venv/notebooks
	@.venv/notebooks/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements/base.txt
	@.venv/notebooks/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements/notebooks.txt
	@.venv/notebooks/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --editable .
	@touch $@

# A gigabyte, for the platform's toolkit: pandas, mlflow and scipy come with it.
.venv/compat/ready: .venv/bin/python requirements/compat.txt pyproject.toml
	@echo "Installing requirements/compat.txt"
	@$(BIN)/python -m venv .venv/compat
	@.venv/compat/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements/compat.txt
	@.venv/compat/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --editable .
	@touch $@

# Sphinx and its theme read what `docs.site` gathers; the package itself is not there.
.venv/site/ready: .venv/bin/python requirements/site.txt
	@echo "Installing requirements/site.txt"
	@$(BIN)/python -m venv .venv/site
	@.venv/site/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements/site.txt
	@touch $@

# As pip does, npm trusts the certificates that the system trusts: those of a company, say.
node_modules/.package-lock.json: .venv/base package.json package-lock.json
	@echo "Installing package-lock.json"
	@NODE_USE_SYSTEM_CA=1 $(BIN)/npm ci --loglevel error --no-audit --no-fund
	@touch $@

# A Chromium that no other target needs, 70 MB. Nothing of these packages runs when they are installed.
requirements/pages/node_modules/.package-lock.json: .venv/base requirements/pages/package.json requirements/pages/package-lock.json
	@echo "Installing requirements/pages/package-lock.json"
	@NODE_USE_SYSTEM_CA=1 $(BIN)/npm ci --prefix requirements/pages --ignore-scripts --loglevel error --no-audit --no-fund
	@touch $@
