# Everything starts from a machine with Python 3.11 or newer and make.
PYTHON ?= python3
VENV := .venv
MODEL := .venv-model
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
NO_PIP := { echo "loomverify: the dependencies could not be installed: is there a network? The lines above say why." >&2; exit 1; }

.PHONY: run test test-engine test-all durations test-model check bench golden golden-mutants format clean

run: $(VENV)/run.stamp
	@exec $(BIN)/loomverify run

test: $(VENV)/dev.stamp
	@exec $(BIN)/python -m tests $(TESTS)

test-engine: $(VENV)/dev.stamp
	@exec $(BIN)/python -m tests --engine $(TESTS)

test-all: $(VENV)/dev.stamp
	@exec $(BIN)/python -m tests --tier extended

durations: $(VENV)/dev.stamp
	rm -f tests/durations.json
	$(BIN)/python -m tests --record
	$(BIN)/python -m tests --tier extended --record
	$(BIN)/python -m tests.durations

test-model: $(VENV)/dev.stamp $(MODEL)/model.stamp
	@exec env LOOMVERIFY_MODEL_PYTHON=$(CURDIR)/$(MODEL)/bin/python $(BIN)/python -m tests -n0 tests/model $(TESTS)

check: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/djade --check --target-version 5.2 $$(git ls-files --cached --others --exclude-standard 'templates/*.html')

bench: $(VENV)/dev.stamp
	@exec $(BIN)/python -m tests.benchmarks $(ROWS)

golden: $(VENV)/dev.stamp
	@exec $(BIN)/loomverify golden run --local $(OPTIONS)

golden-mutants: $(VENV)/dev.stamp
	@exec $(BIN)/python -m tests.mutants $(OPTIONS)

format: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/python.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| { echo "loomverify: Python 3.11 or newer is needed; set PYTHON to one." >&2; exit 1; }
	@echo "Making $(VENV) with $(PYTHON) …"
	@$(PYTHON) -m venv --clear $(VENV) \
		|| { echo "loomverify: Python's venv module is needed (Debian: apt install python3-venv)." >&2; exit 1; }
	@touch $@

$(VENV)/lock.stamp: requirements.lock | $(VENV)/python.stamp
	@echo "Installing the dependencies …"
	@$(PIP) --require-hashes -r requirements.lock || $(NO_PIP)
	@touch $@

$(VENV)/run.stamp: pyproject.toml $(VENV)/lock.stamp
	@$(PIP) --no-deps --no-build-isolation -e . || $(NO_PIP)
	@touch $@

$(VENV)/dev.stamp: requirements-dev.lock $(VENV)/run.stamp
	@echo "Installing what tests and checks need …"
	@$(PIP) --require-hashes -r requirements-dev.lock || $(NO_PIP)
	@touch $@

$(MODEL)/model.stamp: requirements-model.lock
	@echo "Building what serves a small model (some minutes) …"
	@$(PYTHON) -m venv --clear $(MODEL)
	@$(MODEL)/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-model.lock \
		|| { echo "loomverify: it could not be built: a C++ compiler and cmake are needed. See docs/install.md." >&2; exit 1; }
	@touch $@

clean:
	rm -rf $(VENV) $(MODEL) build *.egg-info
