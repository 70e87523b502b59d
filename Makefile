# make run   sets up everything and starts the program
# make test  sets up everything, test services too, and runs every check and test
# `make help` lists the rest.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := .make

# Programs that the tests start must find their bytecode, or each start compiles everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test check unit ui e2e services lock bench docs pictures snapshots clean
.DEFAULT_GOAL := help

help:  ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP)/venv: requirements.lock pyproject.toml
	@mkdir -p $(STAMP)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip uv
	$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes --compile-bytecode requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q hermes_tui
	$(BIN)/python -m compileall -q hermes_tui
	@touch $@

run: $(STAMP)/venv  ## Set up and start the program (ARGS="..." passes arguments)
	@$(BIN)/hermes-tui $(ARGS)

services:  ## Install what the service tests need (Debian, root)
	@sh tests/services/install.sh

check: $(STAMP)/venv  ## Lint, format, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(STAMP)/venv  ## Unit tests only
	$(BIN)/pytest tests/unit -n auto -q

ui: $(STAMP)/venv  ## Pilot and snapshot tests only
	$(BIN)/pytest tests/ui -n auto -q

e2e: $(STAMP)/venv  ## The real program in a pseudo-terminal, real services
	$(BIN)/pytest tests/e2e -q

test: $(STAMP)/venv services check  ## Everything: services, checks, all tests
	$(BIN)/pytest tests/unit tests/ui -n auto -q
	$(BIN)/python -m tests.unit.safety.report
	$(BIN)/pytest tests/e2e -q

snapshots: $(STAMP)/venv  ## Take the snapshots anew (look at them afterwards)
	$(BIN)/pytest tests/ui -q --snapshot-update

docs: $(STAMP)/venv  ## Write the generated pages anew
	$(BIN)/python -m hermes_tui.config.document > docs/configuration.md
	$(BIN)/python -c 'from hermes_tui.actions import render_keys_markdown; print(render_keys_markdown(), end="")' > docs/keys.md

pictures: $(STAMP)/venv  ## Make the pictures of the documentation with the program itself
	$(BIN)/python docs/pictures/make_pictures.py

bench: $(STAMP)/venv  ## Measure and print the table
	$(BIN)/python -m bench

lock:  ## Write requirements.lock anew from pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --generate-hashes --no-header --no-emit-index-url --no-annotate -o requirements.lock pyproject.toml

clean:  ## Remove everything that make created
	rm -rf $(VENV) $(STAMP) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
