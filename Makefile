# Everything happens in .venv; nothing is needed beforehand but Python 3.11, pip and make.
PYTHON ?= python3
BIN := .venv/bin
UV := $(BIN)/uv
DISTRIBUTIONS := -e core -e plugins/fake
OPTIONAL := -e plugins/aws[testing] -e plugins/gce[testing] -e plugins/grpc -e plugins/least-cost
SITE := .venv/site/bin
EXPORT := $(UV) export --quiet --no-emit-workspace --no-header --format requirements.txt
EXAMPLES := -e examples/near-data -e examples/shed

# Bytecode is kept, in the environment: tests start hundreds of processes that would all compile everything anew.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/bytecode

# Many tests wait, for processes and for time-outs: with a worker for each core, a quarter of the time goes unused. A
# container may see more cores than it can have.
WORKERS ?= $(shell $(PYTHON) -c "import os; print(min(8, os.cpu_count() * 3 // 2))")

.DEFAULT_GOAL := help
.PHONY: help demo test collect soak bench check format manifests surface site release lock clean

help: ## what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(UV):
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

.venv/.run: $(UV) core/pyproject.toml plugins/fake/pyproject.toml
	$(UV) pip install --quiet --python $(BIN)/python $(DISTRIBUTIONS)
	@touch $@

.venv/.dev: .venv/.run requirements-dev.lock plugins/aws/pyproject.toml plugins/gce/pyproject.toml plugins/grpc/pyproject.toml plugins/least-cost/pyproject.toml examples/near-data/pyproject.toml examples/shed/pyproject.toml
	$(UV) pip install --quiet --python $(BIN)/python --requirement requirements-dev.lock $(DISTRIBUTIONS) $(OPTIONAL) $(EXAMPLES)
	@touch $@

demo: .venv/.run ## a small cluster breathes on the screen for a minute
	@$(BIN)/nodewright demo $(ARGS)

test: .venv/.dev ## all tests
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(ARGS)

collect: .venv/.dev ## read all tests without running them, so that each process of `make test` finds them compiled
	@$(BIN)/pytest --collect-only --quiet --quiet > .venv/collected || { cat .venv/collected; exit 1; }

check: .venv/.dev ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

soak: .venv/.dev ## a day of faults in a cluster of 500 nodes; takes a quarter of an hour. SOAK_HOURS, SOAK_NODES, SOAK_SEED
	SOAK_HOURS=$${SOAK_HOURS:-24} SOAK_NODES=$${SOAK_NODES:-500} $(BIN)/pytest -s -p no:logging --timeout=0 tests/end_to_end/test_day.py $(ARGS)

bench: .venv/.dev ## how fast it is, each result checked; ARGS=--full for all shapes, ARGS="load update" for some
	$(BIN)/python -m bench $(ARGS)

format: .venv/.dev ## put the code into shape
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

manifests: .venv/.dev ## write anew, from the chart, what `nodewright manifests` prints
	PATH="$(BIN):$$PATH" helm template nodewright deploy/chart --namespace kube-system --values deploy/manifests.values.yaml > core/src/nodewright/cli/manifests.yaml

surface: .venv/.dev ## write anew what is public; ARGS=--release with a new version
	$(BIN)/python -m docsite.surface $(ARGS)

.venv/.site: $(UV) requirements-site.lock core/pyproject.toml
	$(UV) venv --quiet --clear --python $(BIN)/python .venv/site
	$(UV) pip install --quiet --python $(SITE)/python --requirement requirements-site.lock --constraint requirements-dev.lock -e core
	@touch $@

site: .venv/.site ## the documentation as pages in build/site; has an environment of its own
	@$(SITE)/python -m docsite build/site
	@echo "read build/site/index.html"

release: .venv/.dev ## make a release, VERSION=0.2.0; ARGS=--dry-run keeps nothing of it
	$(BIN)/python -m release $(VERSION) $(ARGS)

lock: $(UV) ## write the lock files anew from the pyproject files
	$(EXPORT) --all-packages --output-file requirements-dev.lock
	$(EXPORT) --only-group site --output-file requirements-site.lock
	$(EXPORT) --only-group build --output-file deploy/tools.lock
	for each in core plugins/*; do \
	  $(EXPORT) --package "$$(sed -n 's/^name = "\(.*\)"/\1/p' $$each/pyproject.toml)" --output-file $$each/requirements.lock || exit 1; \
	done

clean: ## forget the environment and everything built
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist build
