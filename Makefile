# Everything a developer types. `make` alone lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PROFILE ?= release
# Tests mostly wait: more at a time than there are cores.
WORKERS ?= 4
BESIDE = -n $(WORKERS) --no-loadscope-reorder
# Files with tests that have a mark: reading all 600 takes each worker a quarter of a minute.
MARKED = $(sort $(shell grep -rlE '$(1)' tests --include='test_*.py'))

# every worker of every step reads the tests: what is compiled once is kept
unexport PYTHONDONTWRITEBYTECODE

# cargo makes no use of the job server of make
CARGO := env -u MAKEFLAGS -u MFLAGS cargo

.PHONY: help demo check test test-all nightly prepared packages lint lint-python lint-rust build bench train dist docs site image pictures clean rust-test unit-test fast-test long-test idle-test timed-test system

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(STAMP): pyproject.toml constraints.txt tools/dependencies.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade -c constraints.txt pip maturin
	@$(BIN)/python tools/dependencies.py
	touch $@

build: $(STAMP)  ## make .venv, install pileup into it, rebuild the engine when its sources changed
	@env -u MAKEFLAGS -u MFLAGS $(BIN)/python tools/build.py

demo: build  ## run the first suite against practice storage and the local disk
	@$(BIN)/pileup run examples/first-run.yaml

check:  ## the loop of a developer: linters, types, layers, unit and property tests
	@$(MAKE) --no-print-directory -j3 lint-rust rust-test lint-python unit-test

test: prepared fast-test  ## what a newcomer types: all of check, and the tests with real servers but the longest

test-all: test long-test idle-test timed-test  ## everything: test, the long tests, and those that hold times to the truth

nightly: build  ## fuzzing, large property tests, the largest cases, oldest dependencies, the stubs of the engine
	@sh tools/nightly.sh

# The release build ends on one core, and so do the linters: two at a time. The tests of the engine wait for the servers
# that they use; in `make check` they take those that are there.
prepared:
	@$(MAKE) --no-print-directory -j2 FIRST=packages build packages lint-rust rust-test system lint-python

lint: lint-python lint-rust  ## style, types, layers, words

lint-python: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports
	$(BIN)/python tools/prose/lint.py

lint-rust:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --quiet --workspace --all-targets -- -D warnings

rust-test: lint-rust $(FIRST)  ## unit and property tests of the engine
	$(CARGO) test --quiet --workspace

unit-test: build
	HYPOTHESIS_PROFILE=check $(BIN)/pytest -q -n 2 --dist loadfile tests/unit tests/property -m "not timed and not long"

fast-test: build
	$(BIN)/python tools/tests.py fast -m "not timed and not long" $(BESIDE) --dist loadfile --durations=20

long-test: build
	$(BIN)/python tools/tests.py long -m "long and not timed and not nightly" $(BESIDE) --dist loadgroup --durations=20 $(call MARKED,mark\.long|others_long)

idle-test: build
	$(BIN)/python tools/tests.py idle -m "timed and idle" $(BESIDE) --dist loadgroup --durations=20 $(call MARKED,mark\.idle)

timed-test: build
	$(BIN)/python tools/tests.py timed -m "timed and not idle" --durations=20 $(call MARKED,mark\.timed)

packages:
	@sh tools/system.sh

system: build packages  ## install the real servers that the tests use, when run as root on Debian
	@$(BIN)/python tools/rucio.py

bench: build  ## measure pileup against its peers (BENCH=name takes one, BENCH_PAIRS=3 is a quick look)
	@$(BIN)/python benchmarks/bench.py $(BENCH) --pairs $(or $(BENCH_PAIRS),10)

train: build  ## count which ways the engine goes under load, for the compiler: crates/pileup-py/trained/
	@env -u MAKEFLAGS -u MFLAGS $(BIN)/python benchmarks/train.py

dist: $(STAMP)  ## make dist/: an sdist, and wheels for any Linux, installed and used where no Rust is
	@$(BIN)/python tools/dist.py

image:  ## build the image of the Containerfile, and run the first suite in it
	@$(PYTHON) tools/image.py

site: build  ## make the site of the docs, with search, to be read from the disk
	@$(BIN)/python tools/docs_site.py

docs: build  ## write docs/reference/ anew from the schema, the plug-ins and the commands
	@$(BIN)/python tools/reference.py

pictures: build  ## make the pictures in docs/images/ anew, of one first run (needs chromium)
	@$(BIN)/python tools/pictures.py

clean:  ## remove what builds and tests have made
	rm -rf $(VENV) target dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
