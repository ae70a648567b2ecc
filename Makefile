# Each target sets up what it needs in .venv; nothing has to be activated.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check -q -c requirements.txt -e
NOTEBOOKS := $(wildcard book/*.ipynb)
MODULES := information induction windows staged one_layer

.PHONY: help book test test-library test-notebooks test-colab test-versions mutants execute ledger benchmark lecture lint spelling repository student clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

book: $(VENV)/.book ## build the HTML book
	$(BIN)/jupyter-book build book --config "$(CURDIR)/_config.yml" --toc "$(CURDIR)/_toc.yml" --path-output . -W --keep-going -q
	@echo "The book is built: open _build/html/index.html"

test: test-library test-notebooks ## run every test

test-library: $(VENV)/.test ## run the library's tests and the examples in its docstrings
	$(BIN)/python -m pytest -q -n auto --dist worksteal

test-notebooks: $(VENV)/.test ## replay every notebook against its stored outputs
	$(BIN)/python -m pytest -q -n auto --dist loadfile -p tests.replay --nbval --nbval-current-env $(NOTEBOOKS)

test-colab: $(VENV)/.test ## run a chapter alone in an environment like Colab's
	COLAB=1 $(BIN)/python -m pytest -q tests/test_colab.py

test-versions: ## run the library's tests with the oldest, the newest and Colab's versions of what it needs
	$(PYTHON) tools/versions.py

mutants: $(VENV)/.test ## change one sign or constant of a module at a time; a test must notice: make mutants MODULES=one_layer
	$(BIN)/python tools/mutate.py $(MODULES)

execute: $(VENV)/.test ## run every notebook afresh and store its outputs
	$(BIN)/python tools/execute.py $(NOTEBOOKS)

ledger: $(VENV)/.test ## check every claim in full and store the outcome for the book
	$(BIN)/python -m markov_transformers reproduce --json > $(VENV)/ledger.json
	mv $(VENV)/ledger.json src/markov_transformers/claims/ledger.json

benchmark: $(VENV)/.test ## time everything and store the results for the book
	$(BIN)/python -m markov_transformers benchmark --store $(VENV)/results.json
	mv $(VENV)/results.json src/markov_transformers/benchmark/results.json

lecture: $(VENV)/.lecture ## open the explorers alone, one to a screen, for a lecture
	$(BIN)/python tools/lecture.py

lint: spelling ## check style and spelling, notebooks included
	$(BIN)/ruff check . && $(BIN)/ruff format --check src tests tools book/_ext

spelling: $(VENV)/.test ## check the spelling of prose and code
	$(BIN)/codespell

repository: ## point buttons, badges and notebooks at a copy: make repository URL=https://github.com/OWNER/NAME
	$(if $(filter command,$(firstword $(origin URL))),,$(error Say where: make repository URL=https://github.com/OWNER/NAME (an empty URL= takes it back)))
	@$(PYTHON) tools/repository.py "$(URL)"

student: $(VENV)/.test ## write copies of the notebooks without solutions into student/, for a class
	$(BIN)/python tools/student.py student $(NOTEBOOKS)

clean: ## remove what the other targets made
	rm -rf $(VENV) .venv-versions student _build .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0] or 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.book: $(BIN)/python requirements.txt pyproject.toml
	$(INSTALL) ".[book]"
	@touch $@

$(VENV)/.test: $(BIN)/python requirements.txt pyproject.toml
	$(INSTALL) ".[book,test,torch]"
	@touch $@

$(VENV)/.lecture: $(BIN)/python requirements.txt pyproject.toml
	$(INSTALL) ".[lecture]"
	@touch $@
