# Two commands on a fresh machine: `make demo` and `make test`. Both set themselves up in .venv.
PYTHON ?= python3
BIN := .venv/bin
NATIVE := CMakeLists.txt pyproject.toml $(wildcard native/*)

.PHONY: demo test lint types pytest install clean

demo: .venv/installed
	$(BIN)/sureshot demo

test: lint types pytest

lint: .venv/tested
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: .venv/tested
	$(BIN)/mypy

pytest: .venv/tested
	$(BIN)/pytest -n 2

install: .venv/installed

# The package is installed in editable mode: only a change of the native code or of the
# dependencies makes a new installation necessary.
.venv/created:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

.venv/installed: .venv/created $(NATIVE)
	$(BIN)/python -m pip install --quiet --editable ".[cli,report]"
	touch $@

.venv/tested: .venv/installed
	$(BIN)/python -m pip install --quiet --group test --group lint
	touch $@

clean:
	rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache .hypothesis
