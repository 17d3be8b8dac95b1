"""Commands of a developer's machine are said as in a container, and everything else as it is."""

from __future__ import annotations

import pytest

from tests.tables import check_rows
from verification.engine.gating.launchers import launched, stepped


@check_rows(
    ("command", "plain"),
    [
        ("uv run pytest -q", "pytest -q"),
        ("uv run -q --frozen --extra test --with pytest -- pytest", "pytest"),
        ("uv run -m pytest tests", "python -m pytest tests"),
        ("uv run main.py --fast", "python main.py --fast"),
        ("uv run python -m app", "python -m app"),
        ("uvx ruff check .", "ruff check ."),
        ("uv pip install six", "pip install six"),
        ("poetry run pytest && poetry run mypy .", "pytest && mypy ."),
        ("CI=1 DEBUG=0 poetry run pytest", "CI=1 DEBUG=0 pytest"),
        ("pipenv run python manage.py test", "python manage.py test"),
        ("pdm run pytest", "pytest"),
        ("hatch run pytest", "pytest"),
        (".venv/bin/pytest -x", "pytest -x"),
        ("./venv/bin/python -m pytest", "python -m pytest"),
        ("export A=1\nuv run pytest", "export A=1\npytest"),
    ],
)
def test_what_only_leads_to_a_tool_is_left_out(command: str, plain: str) -> None:
    assert launched(command) == plain


@pytest.mark.parametrize(
    "command",
    [
        "pytest tests/uv run",
        "uv run --with numpy pytest",
        "uv run",
        "uv tool run pytest",
        "hatch run test",
        "poetry runs pytest",
        "echo poetry run pytest",
        "myvenv/bin/pytest",
        "/opt/venv/bin/pytest",
        "pytest .venv/bin/x",
        "uvx cowsay",
    ],
)
def test_anything_else_stays(command: str) -> None:
    assert launched(command) == command


@check_rows(
    ("command", "plain"),
    [
        ("npm --prefix web test", "cd web && npm test"),
        ("npm test --prefix=./web/", "cd web && npm test"),
        ("npm run test:unit --prefix web -- --bail", "cd web && npm run test:unit -- --bail"),
        ("pnpm -C web test", "cd web && pnpm test"),
        ("pnpm --dir web run test", "cd web && pnpm run test"),
        ("yarn --cwd web test", "cd web && yarn test"),
        ("make -C web check", "cd web && make check"),
        ("go -C web test ./...", "cd web && go test ./..."),
        ("cargo test --manifest-path web/Cargo.toml --release", "cd web && cargo test --release"),
        ("mvn -B -f web/pom.xml test", "cd web && mvn -B test"),
        ("poetry -C web run pytest", "cd web && poetry run pytest"),
        ("uv run --directory web pytest", "cd web && uv run pytest"),
        ("npm --prefix web ci && npm --prefix web test", "cd web && npm ci && cd web && npm test"),
    ],
)
def test_a_folder_that_is_named_is_stepped_into(command: str, plain: str) -> None:
    assert stepped(command, ["web"]) == plain


@pytest.mark.parametrize(
    "command",
    ["npm --prefix other test", "npm test", "make -C web; rm x", "echo 'npm --prefix web test'",
     "npm --prefix ../web test"],
)  # fmt: skip
def test_any_other_folder_is_left_where_it_stands(command: str) -> None:
    assert stepped(command, ["web"]) == command
