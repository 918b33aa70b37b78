# Everything a newcomer needs: `make demo` and `make test` each do all their own set-up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test lint types tests format clean

demo: $(VENV)/.omba
	$(BIN)/omba demo

test: lint types tests

lint: $(VENV)/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.test
	$(BIN)/mypy

tests: $(VENV)/.test
	$(BIN)/pytest

format: $(VENV)/.test
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf $(VENV) omba-demo

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
	@$(PIP) --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.omba
	@echo "installing what the tests need into $(VENV)"
	@$(PIP) --editable '.[test]'
	@touch $@
