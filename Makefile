# `make demo` and `make test` set up everything they need in .venv; nothing else has to be installed first
# but Python 3.11 or newer and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
JOBS   ?= 2

.PHONY: demo test lint bench docs soak lock warm clean
.DELETE_ON_ERROR:

demo: $(VENV)/.base
	$(BIN)/sfumato demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow"

soak: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) -m slow

lint: $(VENV)/.dev
	$(BIN)/ruff check src tests benchmarks docs
	$(BIN)/ruff format --check src tests benchmarks docs
	$(BIN)/mypy src

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

docs: $(VENV)/.dev
	$(BIN)/python docs/build.py

# Resolve the newest versions anew; the two lock files are committed.
lock: $(VENV)/.python
	$(PIP) uv
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --python-version 3.11 --extra build pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --python-version 3.11 --extra build --extra all --extra test pyproject.toml -o requirements-dev.lock

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "sfumato needs Python 3.11 or newer: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; exit 1; }
	@touch $@

$(VENV)/.base: requirements.lock pyproject.toml | $(VENV)/.python
	$(PIP) --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml | $(VENV)/.python
	$(PIP) --require-hashes -r requirements-dev.lock
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

clean:
	rm -rf $(VENV) site demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
