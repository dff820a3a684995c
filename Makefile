# Each target does all of its own set-up, as root or through sudo, and says nothing when nothing is missing.
VENV   ?= .venv
PYTHON ?= python3
DEAL   ?= examples/gb300-prepaid-hyperscaler.yaml
# What the memo of the demo computes beside the score; the default of slakit score takes minutes.
DEMO   ?= --outer 20
SUDO   := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
BIN    := $(VENV)/bin

# Pango lays out documents; without libharfbuzz-subset0 fonts are still embedded, but several times slower.
APT      := python3-venv libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0
APT_TEST := $(APT) poppler-utils qpdf libreoffice-calc-nogui

# Compiled code survives between runs, outside the source tree.
export NUMBA_CACHE_DIR := $(abspath $(VENV))/numba-cache
# So does the bytecode of the packages, whatever the caller's environment says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint bench app lock apt-run apt-test
.DEFAULT_GOAL := demo
.DELETE_ON_ERROR:

define apt
	@missing=$$(for p in $(1); do \
	    dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then \
	    $(SUDO) apt-get -o DPkg::Lock::Timeout=600 update -q && \
	    $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 \
	        install -y -q --no-install-recommends $$missing; \
	fi
endef

apt-run:
	$(call apt,$(APT))

apt-test:
	$(call apt,$(APT_TEST))

# The installer itself comes from the lock too, by its hash; so do the tools that build packages without a wheel.
$(VENV)/.ok: requirements.lock pyproject.toml hatch_build.py | apt-run
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV)
	@[ -x $(BIN)/uv ] || { awk '/^[a-z0-9]/ {keep = /^uv==/} keep' requirements.lock > $(VENV)/installer.lock && \
	    $(BIN)/pip install -q --disable-pip-version-check --require-hashes -r $(VENV)/installer.lock; }
	@$(BIN)/uv pip sync -q --require-hashes --build-constraints requirements.lock -p $(BIN)/python requirements.lock
	@$(BIN)/uv pip install -q --no-deps --no-build-isolation -p $(BIN)/python -e .
	@touch $@

# The first deal, end to end: its agreement, its score, its credit memo. Agreement and score are made side by side.
demo: $(VENV)/.ok | apt-run
	@mkdir -p out; $(BIN)/slakit draft $(DEAL) -o out > out/draft.log 2>&1 & draft=$$!; \
	$(BIN)/slakit score $(DEAL) --workers 2 $(DEMO) -o out/credit-memo.pdf --save-json out/score.json; score=$$?; \
	wait $$draft; drafted=$$?; cat out/draft.log; rm -f out/draft.log; \
	[ $$score = 0 ] && [ $$drafted = 0 ] && ls -l out

lint: $(VENV)/.ok
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(VENV)/.ok lint | apt-test
	$(BIN)/python -m pytest -n auto --dist loadscope $(PYTEST)

# Times whole commands and prints a table; it decides nothing.
bench: $(VENV)/.ok | apt-run
	$(BIN)/python benchmarks/run.py

app: $(VENV)/.ok | apt-run
	$(BIN)/slakit serve

# Keeps the versions that still fit pyproject.toml; `make lock UPGRADE=--upgrade` takes the newest of all.
lock: $(VENV)/.ok
	$(BIN)/uv pip compile -q pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes \
	    --no-header --no-annotate --no-emit-index-url $(UPGRADE) -o requirements.lock
