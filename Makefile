# Everything a developer types. `make` alone lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PROFILE ?= release
# Tests mostly wait: more at a time than there are cores.
WORKERS ?= 3
# What a busy machine made fail is tried once more, alone: only what fails twice has failed.
AGAIN = $(BIN)/pytest --last-failed --last-failed-no-failures none

.PHONY: help demo test lint build bench dist docs clean rust-test python-test system

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade -c constraints.txt pip maturin
	touch $@

build: $(STAMP)  ## make .venv, install pileup into it, rebuild the engine when its sources changed
	@$(BIN)/python tools/build.py

demo: build  ## run the first suite against practice storage and the local disk
	@$(BIN)/pileup run examples/first-run.yaml

test: build system lint rust-test python-test  ## everything: linters, layer contract, Rust and Python tests

lint: build  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets -- -D warnings

rust-test:  ## unit and property tests of the engine
	cargo test --quiet --workspace

python-test: build  ## unit, property, contract, golden, end-to-end and browser tests: WORKERS at a time, the timed ones alone
	@failed=0; \
	$(BIN)/pytest -m "not timed" -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations=40 || $(AGAIN) -m "not timed" || failed=1; \
	$(BIN)/pytest -m timed --durations=20 || $(AGAIN) -m timed || failed=1; \
	exit $$failed

system:  ## install the real servers that the tests use, when run as root on Debian
	@sh tools/system.sh

bench: build  ## measure pileup against its peers (BENCH=name takes one, BENCH_PAIRS=3 is a quick look)
	@$(BIN)/python benchmarks/bench.py $(BENCH) --pairs $(or $(BENCH_PAIRS),10)

dist: $(STAMP)  ## make dist/: an sdist and a wheel for any Linux, installed and used where no Rust is
	@$(BIN)/python tools/dist.py

docs: build  ## write docs/reference/ anew from the schema, the plug-ins and the commands
	@$(BIN)/python tools/reference.py

clean:  ## remove what builds and tests have made
	rm -rf $(VENV) target dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
