# Nightshift. `make help` lists the targets; everything runs in .venv, nothing is installed outside this folder.
SHELL := /bin/bash
.DEFAULT_GOAL := help
VENV := .venv
BIN := $(VENV)/bin
# Where PyTorch's CPU build comes from: empty takes what pip is configured with; see the README for other machines.
TORCH_INDEX_URL ?=
export TORCH_INDEX_URL
# Without bytecode at hand each of the many processes of a test run or an Airflow would compile the same modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup up down demo test test-fast test-slow lint format typecheck check clean

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 16

setup: ## Create .venv and install what requirements.lock pins (a second run installs nothing)
	@bash scripts/setup.sh

up: setup ## Start the embedded PostgreSQL, migrate the store, load the sample company
	@$(BIN)/nightshift up

down: ## Stop Airflow and the embedded PostgreSQL
	@if [ -x $(BIN)/nightshift ]; then $(BIN)/nightshift down; else echo "nothing is installed here"; fi

demo: setup ## Run the main job to a published report on the sample company (KEEP=1 leaves everything running)
	@$(BIN)/python -m nightshift_airflow.demo $(if $(KEEP),--keep)

test: setup ## Run the tests, with the real parts that fit (PostgreSQL, Airflow)
	$(BIN)/pytest -q -n 2 --durations 25 --dist loadfile -m "not slow and not llm and not browser"

test-fast: setup ## Run only the tests that need no service
	$(BIN)/pytest -q

test-slow: setup ## Run the long tests (real documents, attacks, load) and those that drive Chromium (skipped without)
	$(BIN)/pytest -q -n 2 --durations 25 --dist loadfile -m "slow or browser"

lint: setup ## Check style, imports between the rooms, SQL
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/sqlfluff lint --processes 2 sql

format: setup ## Format Python and SQL
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

typecheck: setup ## Check the types
	$(BIN)/mypy

check: lint typecheck ## Everything that needs no test run

clean: ## Remove the environment, the state and the caches of this folder
	@if [ -x $(BIN)/nightshift ]; then $(BIN)/nightshift down; fi
	rm -rf $(VENV) .nightshift .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
