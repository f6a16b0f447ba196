# Needs Python >= 3.11 with venv, make and a package index. All targets share .venv, which is made
# from requirements.lock; the README has the same commands for machines without make.

PYTHON ?= python3
VENV ?= .venv
DATASETS ?=
PYTEST_ARGS ?=
PART ?=
SIZES ?= 100k 1m

# Where it is set, as in some images, some hundred processes would each compile all sources anew.
unexport PYTHONDONTWRITEBYTECODE

BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: book test lint prove bench release lock clean

book: $(READY)
	$(BIN)/recbias book $(DATASETS)

# One thread of linear algebra for each test that runs at once: more of them wait for each other.
test: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n logical --maxprocesses 4 $(PYTEST_ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# What takes longer than a change should wait, in parts that can be stopped and go on (tests/prove.py):
# changed criteria and checks have to fail what judges them; stopped runs leave nothing behind; tables
# of every kind leave complete pages; tests and intervals err as often as they say; all recorded
# results of the data that is here, computed anew (PART=recorded); more examples.
prove: $(READY)
	$(BIN)/python tests/prove.py $(PART)

# The same work by other toolkits, in environments of their own, in one run: SIZES="100k 1m 20m".
bench: $(READY)
	$(BIN)/python benchmarks/peers.py $(SIZES)

# Nothing is released that rests on a part of `prove` that failed, or on code that changed since.
release: $(READY)
	$(BIN)/python tests/prove.py --stale
	$(BIN)/hatchling build --directory _build/release

# Versions and hashes for all platforms and Python versions; no addresses.
lock:
	rm -rf _build/lock && $(PYTHON) -m venv _build/lock && _build/lock/bin/pip install --quiet uv
	_build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --all-extras --upgrade \
		--generate-hashes --no-annotate --no-header --no-emit-index-url --output-file requirements.lock pyproject.toml
	rm -rf _build/lock

clean:
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is older than Python 3.11; name another one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) has no venv module; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
