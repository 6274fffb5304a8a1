.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Certificates of the machine, as pip takes them: networks with their own authority need it.
export UV_SYSTEM_CERTS := true

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 18

$(BIN)/uv:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet uv==0.13.7

$(VENV)/.runtime: $(BIN)/uv requirements/runtime.txt pyproject.toml
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/runtime.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.bench: $(VENV)/.dev requirements/bench.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/bench.txt
	@touch $@

.PHONY: help run setup test lint format pins bench-engine bench-rivals bench-accuracy bench-service clean

run: $(VENV)/.runtime ## Start the service on http://127.0.0.1:8000, with its data in ./data
	@$(BIN)/pith serve

setup: $(VENV)/.dev ## Build .venv with everything the other targets need

test: setup ## Run all tests, in parallel
	$(BIN)/python -m pytest -n 2 --dist loadgroup tests

lint: setup ## ruff, mypy strict, import contracts, container files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml
	POSTGRES_PASSWORD=x REDIS_PASSWORD=x $(VENV)/lib/*/site-packages/compose/docker-compose config --quiet

format: setup ## Rewrite the code the way lint wants it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench-engine: $(VENV)/.bench ## Measure the engine against BLAS and StepMix, ratios in one run
	$(BIN)/python -m benchmarks.engine

bench-rivals: $(VENV)/.bench ## Measure MRMR and JMIM against the Python packages a user would find
	$(BIN)/python -m benchmarks.rivals

bench-accuracy: $(VENV)/.bench ## Run the paper's experiment on every Parquet file in DATA=dir; resumes
	$(BIN)/python -m benchmarks.accuracy $(DATA)

bench-service: $(VENV)/.bench ## Measure the service against a bare route, a socket and the library
	$(BIN)/python -m benchmarks.service

pins: $(BIN)/uv ## Resolve the newest versions and pin them, with hashes and without addresses
	$(BIN)/uv lock --upgrade --quiet
	$(BIN)/uv export --quiet --no-emit-project --no-dev --no-header -o requirements/runtime.txt
	$(BIN)/uv export --quiet --no-emit-project --only-group dev --no-header -o requirements/dev.txt
	$(BIN)/uv export --quiet --no-emit-project --only-group bench --no-header -o requirements/bench.txt
	rm -f uv.lock

clean: ## Remove everything that make built
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache
