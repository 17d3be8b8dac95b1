"""What the work needs and names nowhere: it fails for want of it, whatever its code is worth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from verification.engine.gating.components import Language
from verification.engine.gating.judging import Judged
from verification.engine.gating.stages import RUN, TEST, Part
from verification.engine.outcome import Status

MODULES = frozenset(
    {
        "aiofiles", "aiohttp", "aiosqlite", "alembic", "anthropic", "anyio", "arrow", "attr", "attrs",
        "babel", "bcrypt", "boto3", "botocore", "bs4", "cachetools", "celery", "certifi", "cffi",
        "chardet", "click", "colorama", "cryptography", "cv2", "dateutil", "discord", "django", "docx",
        "dotenv", "faker", "fastapi", "flask", "flask_cors", "flask_sqlalchemy", "freezegun", "google",
        "gevent", "grpc", "gunicorn", "h5py", "httpx", "hypothesis", "itsdangerous", "jinja2", "joblib",
        "jose", "jsonschema", "jwt", "keras", "langchain", "loguru", "lxml", "mako", "markdown",
        "markupsafe", "marshmallow", "matplotlib", "mock", "moto", "msgpack", "multidict", "networkx",
        "nltk", "numba", "numpy", "openai", "openpyxl", "orjson", "pandas", "paramiko", "passlib",
        "peewee", "PIL", "plotly", "polars", "prometheus_client", "psutil", "psycopg", "psycopg2",
        "pyarrow", "pydantic", "pydantic_settings", "pygame", "pymongo", "pymysql", "pytest_asyncio",
        "pytest_mock", "pytz", "redis", "regex", "requests", "requests_mock", "respx", "rest_framework",
        "rich", "ruamel", "scipy", "seaborn", "selenium", "setuptools", "simplejson", "six", "skimage",
        "sklearn", "slugify", "socketio", "spacy", "sqlalchemy", "sqlmodel", "starlette", "statsmodels",
        "streamlit", "structlog", "sympy", "tabulate", "tenacity", "tensorflow", "textual", "tomli",
        "tomli_w", "toml", "torch", "torchvision", "tqdm", "transformers", "trio", "twisted", "typer",
        "typing_extensions", "tzlocal", "ujson", "urllib3", "uvicorn", "uvloop", "watchdog", "websocket",
        "websockets", "werkzeug", "wtforms", "xlrd", "xlsxwriter", "xmltodict", "yaml", "yarl", "zmq",
    }
)  # fmt: skip
"""Such as everybody means by their names. A name that is none of them may be the work's own, forgotten."""
_LACKS = re.compile(r"^(?:E +)?ModuleNotFoundError: No module named '(\w+)", re.MULTILINE)
_PLUGINS = {
    "--cov": "pytest-cov", "-n": "pytest-xdist", "--timeout": "pytest-timeout",
    "--asyncio": "pytest-asyncio", "--reruns": "pytest-rerunfailures", "--ds": "pytest-django",
    "--html": "pytest-html", "--benchmark": "pytest-benchmark",
    "mocker": "pytest-mock", "httpx_mock": "pytest-httpx", "requests_mock": "requests-mock",
    "respx_mock": "respx", "benchmark": "pytest-benchmark", "freezer": "pytest-freezer",
    "aiohttp_client": "pytest-aiohttp", "django_user_model": "pytest-django", "faker": "faker",
}  # fmt: skip
"""Plugins of pytest, by how their options begin, and by their fixtures."""
_OPTIONS = re.compile(r"^\S+: error: unrecognized arguments: (.+)", re.MULTILINE)
_OPTION = re.compile(r"--?[a-z]+")
_FIXTURE = re.compile(r"^E +fixture '(\w+)' not found", re.MULTILINE)
_ASYNC = re.compile(
    r"^(?:E +)?(?:Failed: )?async def functions are not natively supported", re.MULTILINE
)


def unnamed(part: Part, told: Judged) -> Judged:
    """Of work in Python that names nothing to install: where nothing else failed, it blames nobody."""
    report = told.report
    is_bare = part.component.language is Language.PYTHON and not part.install.command
    if report.status is not Status.FAILED or report.gate not in (TEST, RUN) or not is_bare:
        return told
    lacking = [_lacking(said) for said in _why(told)]
    if not all(lacking):
        return told
    names = ", ".join(sorted(set(lacking)))
    detail = f"{report.name} needs {names}, and no file of the work says so: name it in requirements.txt."
    return replace(told, report=replace(report, status=Status.ERROR, detail=detail))


def _why(told: Judged) -> Iterator[str]:
    """What each failure says, also of one that is not told."""
    counts = told.report.tests
    bad = [one.message for one in told.tests.cases if one.status.is_bad] if told.tests else []
    yield from bad or [told.report.detail]
    if counts and counts.failed + counts.errors > max(1, len(bad)):
        yield ""


def _lacking(said: str) -> str:
    """What it ended for, where that is something that everybody knows; else ''."""
    if modules := _LACKS.findall(said):
        return modules[-1] if modules[-1] in MODULES else ""
    if options := _OPTIONS.search(said):
        asked = [one for one in map(_OPTION.match, options[1].split()) if one]
        plugins = [_PLUGINS.get(one[0], "") for one in asked]
        return plugins[0] if plugins and all(plugins) else ""
    if fixtures := _FIXTURE.findall(said):
        return _PLUGINS.get(fixtures[-1], "")
    return "pytest-asyncio" if _ASYNC.search(said) else ""
