# Two commands do all the set-up: `make demo` and `make test`. Each makes .venv if it is missing.
PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test lint typecheck imports pytest fast local-model bench docs clean

help:
	@echo "make demo         install, roll the scripted policy out on the embedded forecasts, show a rollout"
	@echo "make test         install, then format check, lint, types, import contracts, all tests"
	@echo "make fast         the tests without the slow ones"
	@echo "make local-model  fetch a real small language model and a server for it (160 MB)"
	@echo "make bench        all benchmarks, against named alternatives (a quarter of an hour)"
	@echo "make docs         build the documentation site into site/"
	@echo "PYTHON=python3.12 chooses the interpreter, VENV=DIR the folder, JOBS=4 how many tests run at once;"
	@echo "make clean after a change of them"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed; for example: make demo PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/base.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable .
	touch $@

$(VENV)/dev.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable ".[dev]"
	touch $@ $(VENV)/base.stamp

demo: $(VENV)/base.stamp
	@rm -rf runs/demo
	$(BIN)/zephyrus env rollout --policy scripted -n 64 --output runs/demo
	$(BIN)/zephyrus env show runs/demo --first

test: lint typecheck imports pytest

lint: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

typecheck: $(VENV)/dev.stamp
	$(BIN)/mypy

imports: $(VENV)/dev.stamp
	$(BIN)/lint-imports

pytest: $(VENV)/dev.stamp
	-$(BIN)/python examples/local_model/local_model.py install
	$(BIN)/pytest -n $(JOBS) --dist loadfile

fast: $(VENV)/dev.stamp
	$(BIN)/pytest -n $(JOBS) --dist loadfile -m "not slow"

local-model: $(VENV)/base.stamp
	$(BIN)/python examples/local_model/local_model.py install

bench: $(VENV)/dev.stamp
	$(BIN)/python benchmarks/run.py

docs: $(VENV)/dev.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "site/index.html; with search: $(BIN)/python -m http.server --directory site"

clean:
	rm -rf $(VENV) runs dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
