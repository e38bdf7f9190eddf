# Everything a contributor or a CI machine runs. The first target that needs it makes .venv with the pinned versions of
# requirements.lock; after that nothing is set up again until the lock, pyproject.toml or the version changes.
#
#   make PYTHON=python3.12 test      another Python (3.11 or newer)
#   make test PYTEST="-k edges -x"   more options for pytest
#   make test-long SHARD=1/3         a third of the long tests
#   make bench BENCH="--quick"       options of the benchmark
#   make paper PAPER="--runs 3"      options of the paper's experiments
#   make torture TORTURE="--minutes 5"    options of the hostile campaign

PYTHON ?= python3
PYTEST ?=
SHARD ?= 1/1
BENCH ?=
PAPER ?=
TORTURE ?=

BIN := .venv/bin
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo none)
READY := .venv/ready-$(VERSION)
DOCS_READY := .venv/ready-docs-$(VERSION)
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check install --no-deps
# Files stay together on a worker, so that each kernel is compiled by as few processes as possible.
TESTS := $(BIN)/python -m pytest -n 2 --dist loadfile --doctest-modules src tests

.PHONY: help demo test test-long test-all wording coverage lint format bench bench-quick paper torture docs dist lock clean

help:
	@echo "make demo      a bundled study: its edges, a question or two, and a report to open in a browser"
	@echo "make test      all tests but the long ones"
	@echo "make test-long the long ones; SHARD=1/3 for a third of them"
	@echo "make test-all  all tests, with more random examples"
	@echo "make wording   write the sentences that tests hear to tests/wording, to be reviewed in the diff"
	@echo "make coverage  the tests of 'make test', with the lines that none of them runs"
	@echo "make lint      ruff, mypy and the order of imports; 'make format' mends the layout"
	@echo "make bench     measure, and write a table and JSON to benchmarks/results"
	@echo "make bench-quick  every benchmark on its smallest setting: do they still run?"
	@echo "make paper     the tables of the paper again, beside the printed ones (an hour or two; resumes where it stopped)"
	@echo "make torture   random hostile cases against everything, for an hour; each defect with the command that shows it again"
	@echo "make docs      the documentation, as HTML in docs/_build/html"
	@echo "make dist      sdist, wheel for all platforms, and wheel with compiled kernels for this one, in dist"
	@echo "make lock      new versions in the lock files"
	@echo "make clean     remove everything that was made, .venv too"

demo: $(READY)
	$(BIN)/dagpost demo

test: $(READY)
	$(TESTS) -m "not long" $(PYTEST)

test-long: $(READY)
	$(TESTS) -m long --shard $(SHARD) $(PYTEST)

test-all: $(READY)
	$(TESTS) --hypothesis-profile=thorough $(PYTEST)

wording: $(READY)
	$(TESTS) --refresh-wording $(PYTEST)
	@git --no-pager diff --stat tests/wording || true

coverage: $(READY)
	$(TESTS) -m "not long" --cov --cov-report=term:skip-covered --cov-report=xml $(PYTEST)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m benchmarks.run $(BENCH)

bench-quick: $(READY)
	$(BIN)/python -m benchmarks.quick

paper: $(READY)
	$(BIN)/python -m benchmarks.paper $(PAPER)

torture: $(READY)
	$(BIN)/python -m torture $(TORTURE)

docs: $(DOCS_READY)
	$(BIN)/sphinx-build -M html docs docs/_build --fail-on-warning --keep-going --quiet
	@echo "Open docs/_build/html/index.html"

dist: $(READY)
	rm -rf dist build/compiled
	$(BIN)/python -m build --no-isolation
	$(BIN)/python tools/compile_ahead.py build/compiled
	DAGPOST_COMPILED=$(CURDIR)/build/compiled $(BIN)/python -m build --no-isolation --wheel

# A fresh environment each time: what was installed by hand or for another Python cannot hide in it.
$(READY): requirements.lock pyproject.toml src/dagpost/_version.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "dagpost needs Python 3.11 or newer; '$(PYTHON)' is $(VERSION). Name another: make PYTHON=python3.11 ..." >&2; exit 1; }
	@echo "Setting up .venv with the versions of requirements.lock"
	@$(PYTHON) -m venv --clear .venv
	@$(PIP) -r requirements.lock
	@$(PIP) --no-build-isolation --editable .
	@$(BIN)/python -m pip --disable-pip-version-check check
	@touch $@

$(DOCS_READY): requirements-docs.lock $(READY)
	@$(PIP) -r requirements-docs.lock
	@touch $@

# DoWhy 0.14 does not install on Python 3.14, and below 3.13 it asks for a SciPy older than ours, though it runs with the
# newer one: so it is pinned without asking it what it needs, which is this.
DOWHY_NEEDS := causal-learn cvxpy 'cython>=3' sympy

# The newest versions that pyproject.toml allows, in an environment of its own. Use the oldest Python we support, so
# that the pins hold for all of them.
lock:
	$(PYTHON) -m venv --clear build/lock
	build/lock/bin/python -m pip --quiet install --editable '.[dev]'
	build/lock/bin/python -m pip freeze --exclude-editable > build/requirements.lock
	build/lock/bin/python -m pip --quiet install --editable '.[docs]' --constraint build/requirements.lock
	build/lock/bin/python -m pip --quiet install $(DOWHY_NEEDS) --constraint build/requirements.lock
	build/lock/bin/python -m pip --quiet install --no-deps 'dowhy>=0.14'
	build/lock/bin/python -m pip freeze --exclude-editable | grep -vxFf build/requirements.lock \
	  | sed '/^dowhy==/s/$$/; python_version < "3.14"/' > build/requirements-docs.lock
	{ echo "# Made by 'make lock': what dagpost, its tests and its checks run with."; cat build/requirements.lock; } > requirements.lock
	{ echo "# Made by 'make lock': what 'make docs' needs beside requirements.lock."; cat build/requirements-docs.lock; } > requirements-docs.lock

clean:
	rm -rf .venv build dist docs/_build docs/auto_gallery docs/sg_execution_times.rst benchmarks/results .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage .coverage.* coverage.xml
	find src tests benchmarks torture docs -name __pycache__ -prune -exec rm -rf {} +
