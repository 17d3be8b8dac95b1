"""What `make` would run of a project of another language: its recipes, where they are plain."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from verification.engine.gating.components import Component, Language
from verification.engine.gating.given import Named
from verification.engine.gating.makefiles import MAX_BYTES, expanded, made
from verification.engine.gating.recipes import Files

MAKEFILE = """\
# A project of everyday.
.DEFAULT_GOAL := help
.PHONY: help install test unit lint all nested
SHELL := /bin/bash
VENV ?= .venv
BIN = $(VENV)/bin
FLAGS := -q
FLAGS += --strict
-include .env

help: ## Show this
\t@grep -E '^[a-z]+:' $(MAKEFILE_LIST)

$(BIN)/activate: requirements.txt
\tpython3 -m venv $(VENV)
\t$(BIN)/pip install -r requirements.txt

install: $(BIN)/activate

test: install  # all of them
\t@echo "Testing $(BIN)"
\t$(BIN)/pytest $(FLAGS) $(ARGS) \\
\t\ttests

unit: ; pytest tests/unit

lint:
\t-ruff check .

all: lint test

nested:
\t$(MAKE) unit ARGS=x
\tcd docs && ./build.sh
\techo $$HOME > out
"""
THERE = {"requirements.txt", "Makefile", "tests"}


def said(*commands: str, content: str = MAKEFILE) -> Sequence[str] | None:
    found = expanded(commands, content.encode(), THERE.__contains__)
    return None if found is None else list(found)


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("make unit", ["pytest tests/unit"]),
        ("make -s lint", ["ruff check . || true"]),
        (
            "make test",
            [
                "python3 -m venv .venv",
                ".venv/bin/pip install -r requirements.txt",
                ".venv/bin/pytest -q --strict tests",
            ],
        ),
        (
            "make test VENV=env ARGS=-x",
            [
                "python3 -m venv env",
                "env/bin/pip install -r requirements.txt",
                "env/bin/pytest -q --strict -x tests",
            ],
        ),
        ("make lint unit", ["ruff check . || true", "pytest tests/unit"]),
        ("make lint && make unit", ["ruff check . || true", "pytest tests/unit"]),
        ("make nested", ["pytest tests/unit", "(cd docs && ./build.sh)", "echo $HOME > out"]),
    ],
)
def test_recipes_are_what_make_would_run(command: str, found: list[str]) -> None:
    assert said(command) == found


def test_other_commands_stay_around_it() -> None:
    assert said("./before.sh", "make unit") == ["./before.sh", "pytest tests/unit"]


def test_what_it_exports_goes_for_all_of_it() -> None:
    content = "export PYTHONPATH := it's\ntest:\n\tpytest\n"

    assert said("make test", content=content) == ["export PYTHONPATH='it'\"'\"'s'", "pytest"]


def test_what_it_exports_has_the_values_of_its_variables() -> None:
    content = "export PYTHONPATH = $(SRC)/lib\nSRC = src\ntest:\n\tpytest\n"

    assert said("make test", content=content) == ["export PYTHONPATH=src/lib", "pytest"]
    assert said("make test", content=content.replace("src\n", "$(shell pwd)\n")) is None


def test_without_a_target_it_is_the_first() -> None:
    assert said("make", content=".PHONY: a\na:\n\tpytest -x\nb:\n\tpytest\n") == ["pytest -x"]


def test_what_only_speaks_is_left_out() -> None:
    content = "test:\n\t@echo '10 passed'\n\t@printf \"%s\" it\n"

    assert said("make test", content=content) == []


@pytest.mark.parametrize("command", ["pytest", "cmake test", "make -k test", "make -f other test",
                                     "make test | tee log", "cd x && make test", "make $(x)"])  # fmt: skip
def test_what_is_no_plain_call_of_make_stays(command: str) -> None:
    assert said(command) is None


@pytest.mark.quick_rows(5)
@pytest.mark.parametrize(
    "content",
    [
        "test:\n\tpytest $(shell ls)\n",
        "test:\n\tpytest $@\n",
        "test:\n\tpytest $(HOME)\n",
        "test: nowhere\n\tpytest\n",
        "test: %.o\n\tpytest\n",
        "ifeq ($(CI),1)\nendif\ntest:\n\tpytest\n",
        "include requirements.txt\ntest:\n\tpytest\n",
        "include missing.mk\ntest:\n\tpytest\n",
        ".ONESHELL:\ntest:\n\tcd a\n\tpytest\n",
        "test: A = 1\ntest:\n\tpytest\n",
        "test:\n\t$(MAKE) -C sub test\n",
        "test:\n\tmake test\n",
        "A = $(A)\ntest:\n\tpytest $(A)\n",
        "A = $(B)$(B)$(B)$(B)\n" + "".join(f"{a} = $({b})$({b})$({b})$({b})$({b})$({b})$({b})$({b})\n"
                                         for a, b in zip("BCDEFG", "CDEFGH", strict=True))
        + "H = 0123456789\ntest:\n\tpytest $(A)\n",
        "export\ntest:\n\tpytest\n",
        "requirements.txt:\n\tpytest\ntest: requirements.txt\n\tpytest\n",
        "tests:\n\tpytest\ntest: tests\n",
        "other:\n\tpytest\n",
        "test:\n" + "\tpytest\n" * 60,
        "test:\n\tpytest\n" + "#" * MAX_BYTES,
        "A != ls\ntest:\n\tpytest\n",
    ],
)  # fmt: skip
def test_what_is_more_than_rules_and_variables_is_not_followed(content: str) -> None:
    assert said("make test", content=content) is None


def test_it_is_the_component_s_own_makefile_and_not_that_of_make_s_own() -> None:
    files = Files(["api/Makefile"], {"api/Makefile": b"test:\n\tpytest\n"}.get)
    named = Named({"test": ["make test"], "build": ["./build.sh"]})

    assert made(Component("api", Language.PYTHON), named, files) == (
        Named({"build": ["./build.sh"]}),
        Named({"test": ["pytest"]}),
    )
    assert made(Component("", Language.PYTHON), named, files) == (named, Named())
    assert made(Component("api", Language.MAKE), named, files) == (named, Named())
