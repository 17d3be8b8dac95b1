"""Commands of a developer's machine: what only leads to a tool there is left out, or said plainly.

In a container the component's packages are installed already, and its folder is where one is.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_ENV = r"(?:[A-Za-z_]\w*=[^\s;&|<>`$()'\"]*\s+)*"
_BEGIN = rf"(?P<begin>(?:^|&&|\|\||[;(])\s*{_ENV})"
"""Where a command may begin, with what it sets for itself."""
_FOLDER = r"(?P<folder>(?:\./)?[\w@+-][\w./@+-]*)"
_UV_OPTIONS = (
    r"(?:\s+(?:-[qvn]|--(?:quiet|verbose|frozen|locked|no-sync|offline|dev|no-dev|all-extras|all-groups|"
    r"all-packages|isolated|active|no-progress)|(?:--(?:extra|group|package|python)[ =]|-p\s+)[\w.@+-]+|"
    r"--with[ =](?:pytest|mypy|ruff)\b))*(?:\s+--(?=\s))?"
)
_BY_UV = rf"uv\s+run{_UV_OPTIONS}"
_BY_OTHERS = r"poetry\s+(?:-q\s+|--quiet\s+)?run|(?:pipenv|pdm|rye)\s+run|hatch\s+run(?=\s+(?:python|pytest)\b)"
_LAUNCHERS = re.compile(
    rf"{_BEGIN}(?:{_BY_UV}|{_BY_OTHERS}|uvx(?=\s+(?:pytest|mypy|ruff)\b))\s+(?!-)", re.M
)
_MODULE = re.compile(rf"{_BEGIN}{_BY_UV}\s+(?=-m\s)", re.M)
_SCRIPT = re.compile(
    rf"{_BEGIN}(?:{_BY_UV}|(?:pipenv|pdm|rye)\s+run)\s+(?:--script\s+)?(?=[\w./-]+\.py\b)", re.M
)
_VENV = re.compile(rf"{_BEGIN}(?:\./)?\.?v?env/bin/(?=\w)", re.M)
_UV_PIP = re.compile(rf"{_BEGIN}uv\s+(?=pip\s)", re.M)
_STEPPING = (
    rf"(?P<tool>npm|pnpm|yarn)\s+(?P<verb>(?:(?:run\s+)?[\w:-]+\s+)?)"
    rf"(?:--prefix|--dir|--cwd|-C)[ =]{_FOLDER}(?P<rest>.*)",
    rf"(?P<tool>make)\s+(?P<verb>)(?:-C\s*|--directory[ =]){_FOLDER}(?P<rest>.*)",
    rf"(?P<tool>go)\s+(?P<verb>)-C[ =]{_FOLDER}(?P<rest>.*)",
    rf"(?P<tool>poetry|uv)\s+(?P<verb>(?:run\s+)?)(?:-C|--directory|--project)[ =]{_FOLDER}(?P<rest>.*)",
    rf"(?P<tool>mvn)\s+(?P<verb>(?:-[Bq]\s+)*)-f[ =]?{_FOLDER}/pom\.xml(?P<rest>.*)",
    rf"(?P<tool>cargo)\s+(?P<verb>[\w-]+\s+)--manifest-path[ =]{_FOLDER}/Cargo\.toml(?P<rest>.*)",
)  # fmt: skip
_STEPS = tuple(re.compile(one) for one in _STEPPING)


def stepped(command: str, folders: Collection[str]) -> str:
    """`npm --prefix web test` as `cd web && npm test`, where that is one of these folders."""
    parts = re.split(r"\s*&&\s*", command) if not re.search("[\"'`]", command) else [command]
    return " && ".join(_stepped(one, folders) for one in parts)


def _stepped(command: str, folders: Collection[str]) -> str:
    for pattern in _STEPS:
        match = pattern.fullmatch(command.strip())
        folder = match["folder"].removeprefix("./").rstrip("/") if match else ""
        if match and folder in folders and not re.search(r"[;&|]", match["rest"]):
            words = (match["tool"], match["verb"].strip(), match["rest"].strip())
            return f"cd {folder} && {' '.join(filter(None, words))}"
    return command


def launched(command: str) -> str:
    """What a project's manager, or the programs of a virtual environment, would run of Python."""
    command = _SCRIPT.sub(r"\g<begin>python ", command)
    command = _MODULE.sub(r"\g<begin>python ", command)
    command = _LAUNCHERS.sub(r"\g<begin>", command)
    return _UV_PIP.sub(r"\g<begin>", _VENV.sub(r"\g<begin>", command))
