# All targets use .venv. `make demo` installs there what running needs, from requirements.lock;
# `make test` adds the tools of developers, from requirements-dev.lock.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TOOLS := $(VENV)/.tools
COMPILED := $(VENV)/.compiled
# Without bytecode, each test worker and each command of a test compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps

PYTEST := $(BIN)/python -m pytest --numprocesses 9 --dist worksteal --quiet --durations 10 --budget

# Installs a lock in six parts, three at a time: some wait for the network while another unpacks.
define install
	@rm -f $(VENV)/part*
	@awk '/^[^ ]/ { n++ } { print >("$(VENV)/part" n % 6 ".lock") }' $(1)
	@ls $(VENV)/part*.lock | xargs -P 3 -I PART sh -c '$(PIP) --require-hashes --requirement PART \
	  && touch PART.done && echo "  $$(ls $(VENV)/part*.done | wc -l) of 6 parts installed"'
endef

# Installs Debian's packages $(2) unless the test $(1) finds them; without root it names them.
define debian
	@$(1) || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && echo "Installing $(2) ..." \
	    && { apt-get update -qq && apt-get install -qq -y --no-install-recommends $(2); } >/dev/null 2>&1; } \
	  || echo "$(3); as root: apt-get install $(2)"
endef

.PHONY: demo rollout-demo lab-demo test test-all soak mutate mutate-text checked lint bench size lock golden site pictures diagrams \
  system twin clean

demo: $(READY)
	@$(BIN)/rocefort demo heps
	@echo 'To run rocefort in this shell: . $(BIN)/activate'

# Demo on emulated switches: a rollout in waves, a stop at the canary, a controller killed and resumed.
rollout-demo: $(READY)
	@$(BIN)/rocefort demo --rollout heps

# Demo on a twin (root): real BGP and kernels, a gate, a fault, a rollback, RDMA between guests.
lab-demo: $(READY) twin
	@$(BIN)/rocefort demo --lab heps

# Tests that every change must pass, quick enough to run before each commit.
# `make test SUITE=rdma` runs those of one folder of tests/ alone.
test: checked system
	@$(PYTEST) $(if $(SUITE),tests/$(SUITE))

# All tests: more examples of every law, every crash point, guests, kills, mutants of the rules.
test-all: checked system
	@$(PYTEST) --effort thorough

# Lint; in parallel, compile the bytecode that the first run of the tests needs.
checked: $(TOOLS)
	@$(MAKE) --silent --no-print-directory --jobs 2 lint $(COMPILED)

lint: $(TOOLS)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/lint-imports --no-logo >/dev/null || $(BIN)/lint-imports
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/python tests/words.py

# Debian's packages for some tests; without root those tests are skipped with a message.
system: twin
	$(call debian,test -x "$$(command -v chromium)",chromium,Tests of the page are skipped)
	$(call debian,test -x "$$(command -v zsh)" -a -x "$$(command -v fish)",zsh fish,Tests of completion are skipped)
	$(call debian,test -x /usr/sbin/slurmctld -a -x "$$(command -v scontrol)",slurmctld \
	  slurm-client,Tests of the topology for Slurm are skipped)

# Debian's packages for a twin: routers and their links, and servers with Soft-RoCE.
twin:
	$(call debian,test -x /usr/lib/frr/bgpd -a -x "$$(command -v nft)" -a -x "$$(command -v \
	  ip)",frr nftables iproute2,A twin needs FRR)
	$(call debian,test -x "$$(command -v qemu-system-x86_64)" -a -x "$$(command -v \
	  ssh)",qemu-system-x86 openssh-client,Servers with Soft-RoCE need QEMU)

bench: $(TOOLS)
	@$(BIN)/python tests/bench/run.py

# Long tests, run by hand before an issue is closed: fuzzing, kills, searches with new seeds, growth.
# Their figures go into docs/reference/figures.md. For other kills set ROCEFORT_SEED=2.
soak: $(TOOLS)
	@$(PYTEST) --effort soak --figures docs/reference/figures.md

# Mutation tests: flip comparisons of the rules one at a time. For all of them set SAMPLE=100000.
SAMPLE ?= 20
SEED ?= 1
mutate: $(TOOLS)
	@$(BIN)/python tests/mutate.py --sample $(SAMPLE) --seed $(SEED)

# Faults in texts of random fabrics, by area: what check and verify find. For others set SEED=2.
FAULTS ?= 300
mutate-text: $(TOOLS)
	@PYTHONPATH=tests/support/vrp $(BIN)/python tests/mutate_text.py --sample $(FAULTS) --seed $(SEED) $(LIST)

# Lines of code, classes and modules. WHAT=--once or WHAT=--single lists parts that could be joined.
WHAT ?=
size: $(TOOLS)
	@$(BIN)/python tests/bench/size.py $(WHAT)

# Rewrite the golden files; review the diff like code.
golden: $(TOOLS)
	@$(BIN)/python -m pytest --quiet tests/golden --golden-update

# The documentation as a site, in the folder site/; a dead link or anchor is an error. It is read with
# any web server, such as `python3 -m http.server --directory site`.
site: $(TOOLS)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "site/: $$(find site -name '*.html' | wc -l) pages, $$(du -sm site | cut -f1) MB"

# Take the pictures of docs/pictures again, with Chromium.
pictures: $(TOOLS)
	@$(BIN)/python -m pytest --quiet --effort thorough tests/docs/test_pictures.py --golden-update

# Draw the diagrams of the documentation for the site; MERMAID is mermaid.tiny.js of its npm package.
diagrams: $(TOOLS)
	@$(BIN)/python tests/docs/diagrams.py $(MERMAID)

# Resolve the dependencies again (needs uv). The second lock has what the first one lacks; a site's
# repository gets the versions that it runs.
RESOLVE := uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
  --no-emit-package napalm-cloudengine --no-emit-index-url --no-emit-find-links --no-header --quiet
lock:
	@cat requirements.lock requirements-dev.lock >all.lock
	$(RESOLVE) --extra lab --extra clone --output-file requirements.lock
	$(RESOLVE) --all-extras --constraint requirements.lock --output-file all.lock
	$(RESOLVE) --extra batfish --no-annotate --constraint all.lock \
	  --output-file templates/site/requirements.lock
	@sed -i '/^$$/,$$d' requirements.lock all.lock templates/site/requirements.lock  # note on the driver
	@awk 'NR == FNR { if (/^[^ ]/) run[$$1]; next } /^[^ ]/ { kept = !($$1 in run) } kept' \
	  requirements.lock all.lock >requirements-dev.lock
	@rm all.lock

# The pip of the lock comes first, because an older pip resolves twice as long. The setuptools of the
# environment would be replaced while other parts are installed.
$(READY): requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Rocefort needs Python 3.11 or later; name one: make PYTHON=python3.12"; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || test "$$(id -u)" != 0 \
	  || { apt-get update -qq && apt-get install -qq -y python3-venv >/dev/null; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "Python's venv is missing; as root: apt-get install python3-venv"; exit 2; }
	@echo "Setting up $(VENV): $$(grep -c '^[^ #]' requirements.lock) packages of requirements.lock ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip uninstall --quiet --yes setuptools 2>/dev/null
	@sed -n '/^pip==/,/# via/p' requirements.lock >$(VENV)/pip.lock
	@$(PIP) --require-hashes --requirement $(VENV)/pip.lock
	$(call install,requirements.lock)
	@$(PIP) --no-build-isolation --editable ./napalm_cloudengine --editable .
	@touch $@

$(TOOLS): $(READY) requirements-dev.lock
	@echo "Adding to $(VENV): $$(grep -c '^[^ #]' requirements-dev.lock) packages of requirements-dev.lock ..."
	$(call install,requirements-dev.lock)
	@touch $@

# One collection compiles the tests and their imports; otherwise each worker compiles them.
$(COMPILED): $(TOOLS)
	@out=$$($(BIN)/python -m pytest --collect-only --quiet) || { echo "$$out" | tail -n 40; exit 2; }
	@touch $@

clean:
	@rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .hypothesis
