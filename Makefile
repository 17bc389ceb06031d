# Everything runs in .venv, from requirements.lock. `make demo` and `make test` set it up themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint bench lock golden clean

demo: $(READY)
	@$(BIN)/rocefort demo heps

test: lint
	@$(BIN)/python -m pytest --numprocesses 2 --quiet

lint: $(READY)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/lint-imports --no-logo >/dev/null || $(BIN)/lint-imports
	@$(BIN)/mypy --no-error-summary

bench: $(READY)
	@$(BIN)/python tests/bench.py

# Write the golden files anew; review the difference like code.
golden: $(READY)
	@$(BIN)/python -m pytest --quiet tests/golden --golden-update

# Resolve the dependencies anew (needs uv).
lock:
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-header --quiet --output-file requirements.lock

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Rocefort needs Python 3.11 or later; name one: make PYTHON=python3.12"; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || test "$$(id -u)" != 0 \
	  || { apt-get update -qq && apt-get install -qq -y python3-venv >/dev/null; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "Python's venv is missing; as root: apt-get install python3-venv"; exit 2; }
	@echo "Setting up $(VENV) from requirements.lock ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
	  --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  --no-build-isolation --editable .
	@touch $@

clean:
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
