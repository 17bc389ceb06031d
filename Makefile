# All targets use .venv, installed from requirements.lock. `make demo` and `make test` set it up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
COMPILED := $(VENV)/.compiled
# Without bytecode, each test worker and each command of a test compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps

PYTEST := $(BIN)/python -m pytest --numprocesses 9 --dist worksteal --quiet --durations 10 --budget

.PHONY: demo rollout-demo lab-demo test test-all soak mutate checked lint bench size lock golden system clean

demo: $(READY)
	@$(BIN)/rocefort demo heps

# Demo on emulated switches: a rollout in waves, a stop at the canary, a controller killed and resumed.
rollout-demo: $(READY)
	@$(BIN)/rocefort demo --rollout heps

# Demo on a twin (root): real BGP and kernels, a gate, a fault, a rollback; RDMA if QEMU is installed.
lab-demo: $(READY)
	@$(BIN)/rocefort demo --lab heps

# Tests that every change must pass, quick enough to run before each commit.
test: checked system
	@$(PYTEST)

# All tests: more examples of every law, every crash point, guests, kills, mutants of the rules.
test-all: checked system
	@$(PYTEST) --effort thorough

# Lint; in parallel, compile the bytecode that the first run of the tests needs.
checked: $(READY)
	@$(MAKE) --silent --no-print-directory --jobs 2 lint $(COMPILED)

lint: $(READY)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/lint-imports --no-logo >/dev/null || $(BIN)/lint-imports
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/python tests/words.py

# Debian's packages for some tests; without root those tests are skipped with a message.
system:
	@command -v chromium >/dev/null || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null \
	  || { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium; } \
	  >/dev/null 2>&1 || echo "chromium could not be installed; its tests are skipped"
	@test -x /usr/lib/frr/bgpd -a -x "$$(command -v nft)" -a -x "$$(command -v ip)" \
	  || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null \
	  || { apt-get update -qq && apt-get install -qq -y --no-install-recommends frr nftables iproute2; } \
	  >/dev/null 2>&1 || echo "FRR could not be installed; tests of the twin are skipped"
	@test -x "$$(command -v qemu-system-x86_64)" -a -x "$$(command -v ssh)" \
	  || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null \
	  || { apt-get update -qq && apt-get install -qq -y --no-install-recommends qemu-system-x86 openssh-client; } \
	  >/dev/null 2>&1 || echo "QEMU could not be installed; tests of Soft-RoCE guests are skipped"

bench: $(READY)
	@$(BIN)/python tests/bench/run.py

# Long tests, run by hand before an issue is closed: fuzzing, kills, searches with new seeds, growth.
# Their figures go into docs/figures.md. For other kills set ROCEFORT_SEED=2.
soak: $(READY)
	@$(PYTEST) --effort soak --figures docs/figures.md

# Mutation tests: flip comparisons of the rules one at a time. For all of them set SAMPLE=100000.
SAMPLE ?= 20
SEED ?= 1
mutate: $(READY)
	@$(BIN)/python tests/mutate.py --sample $(SAMPLE) --seed $(SEED)

# Lines of code, classes and modules. WHAT=--once or WHAT=--single lists parts that could be joined.
WHAT ?=
size: $(READY)
	@$(BIN)/python tests/bench/size.py $(WHAT)

# Rewrite the golden files; review the diff like code.
golden: $(READY)
	@$(BIN)/python -m pytest --quiet tests/golden --golden-update

# Resolve the dependencies again (needs uv).
lock:
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-header --quiet --output-file requirements.lock

# The pip of the lock comes first, because an older pip resolves twice as long. Then two processes
# install a half of the lock each, which lists every package: one waits for the network while the
# other unpacks.
$(READY): requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Rocefort needs Python 3.11 or later; name one: make PYTHON=python3.12"; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || test "$$(id -u)" != 0 \
	  || { apt-get update -qq && apt-get install -qq -y python3-venv >/dev/null; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "Python's venv is missing; as root: apt-get install python3-venv"; exit 2; }
	@echo "Setting up $(VENV) from requirements.lock ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@sed -n '/^pip==/,/# via/p' requirements.lock >$(VENV)/pip.lock
	@$(PIP) --require-hashes --requirement $(VENV)/pip.lock
	@awk '/^[^ ]/ { n++ } { print >("$(VENV)/half" n % 2 ".lock") }' requirements.lock
	@$(PIP) --require-hashes --requirement $(VENV)/half0.lock & half0=$$!; \
	  trap 'kill $$half0' INT TERM; \
	  $(PIP) --require-hashes --requirement $(VENV)/half1.lock; half1=$$?; \
	  wait $$half0 && exit $$half1
	@$(PIP) --no-build-isolation --editable .
	@touch $@

# One collection compiles the tests and their imports; otherwise each worker compiles them.
$(COMPILED): $(READY)
	@out=$$($(BIN)/python -m pytest --collect-only --quiet) || { echo "$$out" | tail -n 40; exit 2; }
	@touch $@

clean:
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
