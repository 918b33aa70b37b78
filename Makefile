# Everything a newcomer needs: `make demo` and `make test` each do all their own set-up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Three workers for two cores: a third of the time a test waits, for a browser, a server or Spark.
WORKERS ?= 3

.PHONY: demo test thorough docs docs-serve pictures charts package lower-bounds quick lint types tests quick-tests system bench attack format clean

demo: $(VENV)/.omba
	$(BIN)/omba demo

test: lint types tests

# What to run while one works: everything but what learns at length or needs a browser, Spark or processes of its own.
quick: lint types quick-tests

lint: $(VENV)/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.test
	$(BIN)/mypy

# At the end: the ten slowest tests, the ten modules that the tests cover least, and how much they cover in all. To watch
# lines costs up to half as much again in tests that are plain Python, so it is not done in those marked `slow`;
# `make test COVER=` goes without.
COVER ?= --cov --cov-report=

# The workers share the cores: threads of a matrix product would wait for each other and keep them busy.
tests quick-tests: export OPENBLAS_NUM_THREADS := 1

tests: $(VENV)/.kernels system
	$(BIN)/pytest -rs --numprocesses $(WORKERS) --durations 10 $(COVER)
	@[ -z "$(COVER)" ] || $(BIN)/coverage report --sort=cover | sed -n '1,12p;$$p'

QUICK := tests/test_layers.py tests/test_house.py tests/test_docs.py tests/baskets tests/model tests/rules tests/store \
    $(addprefix tests/sources/test_,rows.py sources.py identity.py fold.py) \
    $(addprefix src/omba/,baskets sources model rules store)

quick-tests: $(VENV)/.kernels
	$(BIN)/pytest --numprocesses $(WORKERS) -m "not slow" $(QUICK)

# What takes a minute or more a test, and tells of tools around the package: the benchmarks' own command, kernels compiled
# against kernels loaded, the notebooks of the documentation and all of the reproduction in small, and rules on Spark.
thorough: $(VENV)/.kernels
	$(BIN)/pytest -m thorough tests

# The dashboard is tested in a real browser, and reading from Redis against a real server; where this machine cannot
# have them, those tests are skipped and say so.
SYSTEM := chromium redis-server

system:
	@missing=$$(for name in $(SYSTEM); do command -v $$name >/dev/null || echo $$name; done); \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing" $$missing "for the tests"; export DEBIAN_FRONTEND=noninteractive; \
	    { apt-get update && apt-get install --yes --no-install-recommends $$missing; } >/dev/null 2>&1 \
	        || echo "these could not be installed:" $$missing >&2; \
	fi

# The peers go into an environment of their own; SUITES="rules current" runs some of them.
bench:
	@$(MAKE) --no-print-directory VENV=.venv-bench .venv-bench/.bench
	.venv-bench/bin/python benchmarks/bench.py $(SUITES)

# Five minutes of what an attacker would try, on loopback alone; it prints how often, and stops by itself.
attack: $(VENV)/.test
	$(BIN)/python tests/attack/attack.py $(MINUTES)

# The site, into build/site: it can be opened from the disk, searched, and needs no network.
docs: $(VENV)/.docs
	$(BIN)/mkdocs build

docs-serve: $(VENV)/.docs
	$(BIN)/mkdocs serve

# The pictures of the pages, taken from the program: MODEL=DIR is a folder that `omba learn` has filled.
MODEL ?= omba-demo/model
pictures: $(VENV)/.test
	$(BIN)/python docs/pictures.py --model $(MODEL)

# The charts of the pages, drawn from the figures that stand in their tables.
charts:
	$(PYTHON) docs/charts.py

# An sdist and the wheel that is built from it, checked; the wheel is installed without the constraints into a fresh
# environment of every Python named, PYTHONS="python3.11 python3.12", and put through a short script.
PYTHONS ?= $(PYTHON)
package:
	rm -rf build/package dist
	$(PYTHON) -m venv build/package/tools
	build/package/tools/bin/python -m pip install --quiet --disable-pip-version-check build twine
	build/package/tools/bin/python -m build --outdir dist
	build/package/tools/bin/python -m twine check --strict dist/*
	for python in $(PYTHONS); do \
	    place=build/package/$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	    $$python -m venv $$place && $$place/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[serve]" \
	        && mkdir -p $$place/work && (cd $$place/work && ../bin/python $(CURDIR)/tests/package/smoke.py .) || exit 1; \
	done

# The oldest versions that pyproject.toml allows, in an environment of their own, and the quick tests on them.
OLDEST := tests/package tests/model/test_manners.py tests/sources tests/rules tests/baskets
lower-bounds:
	$(PYTHON) -m venv build/oldest
	$(PYTHON) tests/lower_bounds.py serve excel redis > build/oldest/oldest.txt
	build/oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint build/oldest/oldest.txt \
	    --editable '.[serve,excel,redis]' pytest pytest-cov hypothesis pandas polars httpx scikit-learn mlxtend import-linter
	build/oldest/bin/python -m pytest -m "not slow" -W ignore $(OLDEST)

format: $(VENV)/.test
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf $(VENV) .venv-bench omba-demo omba-bench build dist

# A stamp a stage, so that a second run is quick and a broken one starts where it stopped.

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "omba needs Python 3.11 or newer, and $(PYTHON) is older: say make PYTHON=python3.12" >&2; exit 2; }
	@# Some systems ship venv without the pip that goes into it; their own pip then puts it there.
	$(PYTHON) -m venv $(VENV) >/dev/null || { $(PYTHON) -m venv --clear --without-pip $(VENV) \
	    && $(PYTHON) -m pip --quiet --python $(BIN)/python install pip; }
	@touch $@

$(VENV)/.omba: $(VENV)/.python pyproject.toml constraints.txt
	@echo "installing omba into $(VENV)"
	@$(PIP) --editable '.[serve]'
	@touch $@

$(VENV)/.test: $(VENV)/.omba
	@echo "installing what the tests need into $(VENV)"
	@$(PIP) --editable '.[test]'
	@touch $@

# Kernels that changed are compiled here, once; else each process of the tests would do so, all at the same time.
$(VENV)/.kernels: $(VENV)/.test tests/compile_kernels.py $(shell grep -rl --include='*.py' njit src)
	@echo "compiling the kernels"
	@$(BIN)/python tests/compile_kernels.py
	@touch $@

$(VENV)/.docs: $(VENV)/.omba
	@echo "installing what the site needs into $(VENV)"
	@$(PIP) --editable '.[docs]'
	@touch $@

$(VENV)/.bench: $(VENV)/.omba
	@echo "installing the peers into $(VENV)"
	@$(PIP) --editable '.[bench]'
	@touch $@
