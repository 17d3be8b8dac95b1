"""Files of cases, for whoever replays them without a server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loomverify.errors import InputError
from loomverify.submitting.errors import UsageError
from processes.definition.load import load
from verification.golden.documents.parsing import parse_cases
from verification.golden.documents.schemas import CANARY
from verification.golden.shipped import shipped_documents

ENDINGS = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class CaseOfFile:
    """A case's document, unchecked, and the file it stands in."""

    file: str
    document: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.document.get("id") or "a case without id")

    @property
    def process(self) -> str:
        return str(self.document.get("process") or "")

    @property
    def tags(self) -> list[str]:
        tags = self.document.get("tags")
        return [str(tag) for tag in tags] if isinstance(tags, list) else []


@dataclass(frozen=True, slots=True)
class Wanted:
    """Any of `tags`; nothing narrows where it is empty. Canaries are asked for by name."""

    tags: Sequence[str] = ()
    process: str = ""
    with_canary: bool = False

    def fits(self, case: CaseOfFile) -> bool:
        is_asked = self.with_canary or CANARY in self.tags or CANARY not in case.tags
        is_tagged = not self.tags or bool(set(self.tags) & set(case.tags))
        return is_asked and is_tagged and self.process in ("", case.process)


def cases_of(paths: Sequence[str], wanted: Wanted = Wanted()) -> list[CaseOfFile]:
    """Read the cases of files and folders; of none, those that come with the program.

    Raises:
        UsageError: a file that is no list of cases, or two cases of one name.
    """
    found = list(_shipped() if not paths else _of_paths(paths))
    names = Counter(one.name for one in found)
    twice = sorted(name for name, count in names.items() if count > 1)
    if twice:
        raise UsageError(f"More than one case is named {twice[0]}; each needs a name of its own.")
    return [one for one in found if wanted.fits(one)]


def _shipped() -> Iterator[CaseOfFile]:
    return (CaseOfFile(file, document) for file, document in shipped_documents())


def _of_paths(paths: Sequence[str]) -> Iterator[CaseOfFile]:
    for given in paths:
        path = Path(given)
        for file in _files(path) if path.is_dir() else [path]:
            yield from _of_file(file)


def _files(folder: Path) -> list[Path]:
    found = sorted(one for one in folder.rglob("*") if one.suffix in ENDINGS and one.is_file())
    if not found:
        raise UsageError(f"{folder} holds no file of cases: none ends in .yaml, .yml or .json.")
    return found


def _of_file(file: Path) -> Iterator[CaseOfFile]:
    try:
        parsed = parse_cases(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error
    except InputError as error:
        lines = [f"  {file}: {issue.msg}" for issue in error.issues]
        raise UsageError("\n".join([f"{file} is no list of cases.", *lines])) from error
    return (CaseOfFile(str(file), dict(document)) for document in parsed.documents)


def processes_of(paths: Sequence[str]) -> dict[str, str]:
    """The texts of process files, by the names that they give themselves.

    Raises:
        UsageError: a file that cannot be read, or holds errors.
    """
    found: dict[str, str] = {}
    for path in paths:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
        except ValueError as error:
            raise UsageError(f"{path} is not UTF-8 text.") from error
        loaded = load(text)
        if loaded.definition is None:
            lines = [f"  {path}:{one.line}: {one.message}" for one in loaded.errors[:20]]
            raise UsageError("\n".join([f"{path} does not load.", *lines]))
        found[loaded.definition.name] = text
    return found
