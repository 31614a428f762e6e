# make            the environment, then a first look: every table and figure in results/quick
# make full       the same with twelve layers, harder rows and all of the default config, in results/
# make CONFIG=FILE   that of a config of your own
# make test       the environment, what developers need, then the tests
# make test-mutation MUTANTS="tasks.metrics.*"   small changes of the programs that no test stops
# make slurm      the environment with Snakemake's plugin for Slurm
# make smoke      the whole graph on a handful of rows, in results/smoke
# make bench      speed beside transformers and plain PyTorch: results/bench.csv; make bench-gpu on a GPU
# make CORES=4    on four cores; make PYTHON=python3.12 takes another Python for the environment

CORES ?= all
CONFIG = workflow/config/quick.yaml
PYTHON ?= python3
RUN = .venv/bin/snakemake --cores $(CORES)
READY = .venv/ready
DEV = .venv/ready-dev
PIP = .venv/bin/python -m pip --disable-pip-version-check

# Snakemake waits for ever with no cores.
ifneq ($(CORES),all)
ifeq ($(shell [ "$(CORES)" -gt 0 ] 2> /dev/null && echo yes),)
$(error CORES=$(CORES): give a whole number of at least 1, or all)
endif
endif

.PHONY: all full install dev slurm test test-slow test-faults test-mutation test-slurm smoke bench bench-gpu lint audit clean

all: install
	$(RUN) all --configfile $(CONFIG)

full: install
	$(RUN) all

install: $(READY)

$(READY): requirements.lock requirements-torch.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: $(PYTHON) is not Python 3.11 or newer; give one, as in: make PYTHON=python3.11" >&2; \
	  exit 1; }
	$(PYTHON) -m venv .venv
	$(PIP) install --require-hashes -r requirements.lock
	$(PIP) install -r requirements-torch.lock
	.venv/bin/python -m workflow.configuration schema > workflow/config/config.schema.json
	touch $@

dev: $(DEV)

$(DEV): $(READY) requirements-dev.lock
	$(PIP) install --no-deps --require-hashes -r requirements-dev.lock
	touch $@

# Apart, because every start of Snakemake takes longer with it.
slurm: install
	$(PIP) install --no-deps --require-hashes -r requirements-slurm.lock

test: dev
	.venv/bin/python -m pytest -n 2 --dist worksteal -m "not slow and not slurm and not faults"

# Each property of the fuzzing tries 500 damaged files.
test-slow: dev
	.venv/bin/python -m pytest -m slow
	.venv/bin/python -m pytest tests/fuzz --hypothesis-profile=long

# Kills at random instants, damaged files, full disks, programs that fail, dying processes: a quarter of an hour.
# Small disks are mounted, so it needs root.
test-faults: dev
	.venv/bin/python -m pytest tests/faults tests/distributed -m "not slow"

# Small changes of the programs, and those that no test stops; MUTANTS names some of them. The first run asks
# which tests reach which function, which takes as long as the tests do.
test-mutation: dev
	$(PIP) install --quiet --no-deps --require-hashes -r requirements-mutation.lock
	.venv/bin/python -m mutmut run $(MUTANTS)
	.venv/bin/python -m mutmut results

# On a Slurm of two nodes that the tests start, with the plugin in a folder of its own; TESTS=FILE runs
# some of them.
test-slurm: dev
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
	  --target .slurm --require-hashes -r requirements-slurm.lock
	tests/slurm/run $(TESTS)

smoke: install
	$(RUN) all --configfile workflow/config/smoke.yaml

# About a quarter of an hour.
bench: install
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r bench/requirements.txt
	.venv/bin/python -m bench

bench-gpu: install
	.venv/bin/python -m bench gpu

lint: dev
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/snakefmt --check Snakefile workflow
	.venv/bin/snakemake --lint
	.venv/bin/mypy
	.venv/bin/codespell

# Known vulnerabilities of the pinned packages; fails too where the database cannot be asked. A call for
# each lock, because hashes in one file of a call are demanded of all, and PyTorch's has none.
audit: dev
	for lock in requirements*.lock; do \
	  .venv/bin/pip-audit --strict --disable-pip --no-deps -r $$lock || exit 1; done

# What runs made stays, with Snakemake's records of it.
clean:
	rm -rf .slurm mutants .pytest_cache .ruff_cache .mypy_cache
	find . -name __pycache__ -not -path "./.venv/*" -prune -exec rm -rf {} +
