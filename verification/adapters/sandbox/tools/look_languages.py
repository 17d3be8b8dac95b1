"""In which language a file is, as the rules call it: by its name, else by its first line."""

import json
import re
import warnings
from pathlib import Path

PYTHON = (".py", ".pyi", ".pyw")
NOTEBOOK = ".ipynb"
LANGUAGES = {
    "python": PYTHON,
    "javascript": (".js", ".jsx", ".mjs", ".cjs"),
    "typescript": (".ts", ".tsx", ".mts", ".cts"),
    "go": (".go",),
    "java": (".java",),
    "ruby": (".rb", ".rake", ".gemspec"),
    "php": (".php", ".phtml"),
}
INTERPRETERS = {
    "python": r"(?:python|pypy)[\d.]*w?|uv",
    "javascript": r"node(?:js)?\d*|bun|zx",
    "typescript": r"deno|tsx|ts-node(?:-\w+)?",
    "ruby": r"j?ruby[\d.]*",
    "php": r"php[\d.]*",
}
"""Whom a script's first line names, where its own name does not say what it is in."""
ALSO_CODE = (".vue", ".svelte", ".astro")
"""Code among other text, which no rule of ours is read in."""
MAX_FIRST_LINE_BYTES = 500
LANGUAGE_OF = {suffix: language for language, many in LANGUAGES.items() for suffix in many}


def language_of(path: str) -> str:
    """As the rules call it, by its name, else by its first line; '' for none of theirs."""
    known = LANGUAGE_OF.get(Path(path).suffix.lower())
    named = "" if known else interpreter_of(path)
    if known or not named:
        return known or ""
    return next((one for one, said in INTERPRETERS.items() if re.fullmatch(said, named)), "")


def interpreter_of(path: str) -> str:
    """The name of the program that a file's first line says it is run by; '' where none is said."""
    with Path(path).open("rb") as file:
        line = file.readline(MAX_FIRST_LINE_BYTES).decode(errors="replace")
    words = line.removeprefix("#!").split() if line.startswith("#!") else []
    names = [word.rpartition("/")[2] for word in words]
    if names[:1] == ["env"]:
        names = [one for one in names[1:] if not one.startswith("-") and "=" not in one]
    return names[0] if names else ""


def is_passed_over(path: str) -> bool:
    suffix = Path(path).suffix.lower()
    return suffix in ALSO_CODE or (not suffix and bool(interpreter_of(path)))


def is_run(path: str) -> bool:
    """Whether Python runs a file, or could: not a template, nor what is there to be broken."""
    content = Path(path).read_bytes()
    if path.endswith(NOTEBOOK):
        return has_cells(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(content, "", "exec", dont_inherit=True)
    except SyntaxError:
        return b"\0" in content  # Pythons differ in what they make of it
    except (ValueError, OverflowError, MemoryError, RecursionError):
        return True
    return True


def has_cells(content: bytes) -> bool:
    """Whether it is a notebook of today's form: an older or an empty one is run by nobody as it is."""
    try:
        cells = json.loads(content)["cells"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return False
    return isinstance(cells, list) and bool(cells)
