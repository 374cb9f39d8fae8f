# Two commands on a fresh machine: `make demo` and `make test`. Both set themselves up in .venv.
PYTHON ?= python3
BIN := .venv/bin
NATIVE := CMakeLists.txt pyproject.toml $(wildcard native/*)

.PHONY: demo test lint types pytest install docs reproduce bench-share bench-speed bench-scale bench-gpu trust clean

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

# The site, into build/docs/html; open index.html there. A warning is an error. `nox -s docs` also looks at it with a browser.
docs: .venv/documented
	$(BIN)/python -m sphinx -W --keep-going -q -j auto -d build/docs/doctrees docs build/docs/html

# The paper's figures and its table, into results/reproduce-small: about a minute. At the paper's sizes, with
# real data, which takes an hour and a half and 9 GB of memory, into results/reproduce-paper:
#   make reproduce REPRODUCE="--scale paper --data FOLDER"
reproduce: .venv/reproducing
	$(BIN)/sureshot reproduce all $(REPRODUCE)

# How much each method reads, at full size: needs 8 GB of memory and some hours; SHARE=--small takes a
# minute. The real data sets are used if their files are named:
#   make bench-share SHARE="--fashion fashion_mnist.npz --spectrograms esc10.npz"
bench-share: .venv/tested
	$(BIN)/python -m measurements.share.run $(SHARE) --out results/share.jsonl
	$(BIN)/python -m measurements.share.table results/share.jsonl

# How fast a search is next to numpy, faiss and usearch, at full size: wants a quiet machine, and
# takes 12 GB of memory and about an hour; SPEED=--small takes a minute or two. An interrupted run goes on
# with the same command. --write puts the tables and the figure into docs/, --check fails if a target is not met:
#   make bench-speed SPEED="--fashion fashion_mnist.npz --spectrograms esc10.npz --write --check"
bench-speed: .venv/benched
	$(BIN)/python -m measurements.speed.run $(SPEED)

# How fast files that are not in memory are searched, cold and warm, next to exact products over the same file, and the
# partitions of two worker processes next to the product of dask: writes files of 40 GB to results/files and takes about an
# hour; SCALE=--small takes a minute. An interrupted run goes on with the same command; --write puts the tables into docs/:
#   make bench-scale SCALE="--write" FILES="--folder FOLDER"
bench-scale: .venv/benched
	$(BIN)/python -m measurements.scale.run $(FILES) $(SCALE)
	$(BIN)/python -m measurements.scale.cluster $(SCALE)

# What docs/trust.md says, found again: a million hostile searches, a hundred thousand hostile inputs, planted mistakes, and
# the sanitizers over the native tests. Takes about two hours of two cores; an interrupted run goes on with the same command.
# Less of it: make trust SEARCHES="--minutes 5" INPUTS="--minutes 5" MUTANTS="--minutes 5"; --write puts it into docs/.
trust: .venv/trusted
	$(BIN)/python -m measurements.trust.run $(SEARCHES)
	$(BIN)/python -m measurements.trust.fuzz $(INPUTS)
	$(BIN)/python -m measurements.trust.mutate $(MUTANTS)
	$(BIN)/nox -s sanitize sanitize_threads

# How fast arrays on a CUDA card are searched next to torch: needs a card with 100 GB of memory for all sizes
# (GPU="--most-gigabytes 40" for less), and takes some ten minutes. An interrupted run goes on with the same command;
# --write puts table and figure into docs/:
#   make bench-gpu GPU="--write"
bench-gpu: .venv/benched
	$(BIN)/python -m pip install --quiet --editable ".[cuda,report]" "torch>=2.9"
	$(BIN)/python -m measurements.gpu.run $(GPU)

# The package is installed in editable mode: only a change of the native code or of the
# dependencies makes a new installation necessary.
.venv/created:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

.venv/installed: .venv/created $(NATIVE)
	$(BIN)/python -m pip install --quiet --editable ".[cli,report]"
	touch $@

# Whoever tests or reproduces has no need of a build for `make demo` before: each of these builds once, for all.
.venv/tested: .venv/created $(NATIVE)
	$(BIN)/python -m pip install --quiet --editable ".[cli,report,sklearn,solvers]" --group test --group lint
	touch .venv/installed $@

.venv/reproducing: .venv/created $(NATIVE)
	$(BIN)/python -m pip install --quiet --editable ".[reproduce]" --group rivals
	touch .venv/installed $@

.venv/documented: .venv/created $(NATIVE)
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch .venv/installed $@

.venv/benched: .venv/tested
	$(BIN)/python -m pip install --quiet --group bench
	touch $@

.venv/trusted: .venv/tested
	$(BIN)/python -m pip install --quiet "nox>=2025.2.9"
	touch $@

clean:
	rm -rf .venv build docs/api docs/gallery .mypy_cache .ruff_cache .pytest_cache .hypothesis
