# Every target sets up .venv by itself: nothing is needed beyond Python 3.11 and make.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test lint format docs bench torture fuzz clean help

help:           ## what there is to make
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/'

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("germline needs Python 3.11 or newer; set PYTHON=…") if sys.version_info < (3, 11) else 0'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "setting up .venv (once) …" >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,bench]'
	@touch $@

demo: $(READY)  ## the whole story on recorded logs: import, scan, evolve, why, revert
	@$(BIN)/germline demo

# Bytecode is kept: else each worker, and each process that a test starts, compiles all it imports again.
test: $(READY)  ## every test, on all cores
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -q -n auto --dist loadgroup

lint: $(READY)  ## ruff with all rules, formatting, mypy strict
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(READY)  ## rewrite the code in the project's format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(READY)  ## the pages that are made from the code: events, presets, signals, claims, keys
	@$(BIN)/python -m tui.docs.make_docs

bench: $(READY) ## the claims of speed, as ratios against a peer in the same run
	@for b in $$(grep -l ArgumentParser bench/*.py); do echo "== $$b"; $(BIN)/python $$b || exit 1; done

torture: $(READY) ## kills, flipped bits, full disks; prints what was lost (SEED=N repeats a run)
	@$(BIN)/python -m tests.torture $(if $(SEED),--seed $(SEED))

fuzz: $(READY)  ## a minute of coverage-guided fuzzing of the readers
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[fuzz]'
	@$(BIN)/python tests/fuzz_readers.py -max_total_time=60 -max_len=6000

clean:          ## forget .venv and what tools left behind
	rm -rf .venv .mypy_cache .ruff_cache dist
