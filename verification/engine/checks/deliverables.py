"""What was declared is there, and is not empty."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from processes.definition.model import Enforcement, Target
from verification.engine.case import Case, Ports
from verification.engine.checks.drafts import not_inspected, violated
from verification.engine.checks.registry import Observation, check
from verification.engine.evidence import SubmittedFile, Workspace
from verification.engine.finding import Finding
from verification.engine.paths import anchored, is_empty, is_empty_by_nature, relative
from verification.engine.tree import Meant, Tree, meant_by, tree_of

ID = "deliverables-exist"
MAX_BLANK_BYTES = 256
"""What is longer is taken to say something."""
_BLANK_IS_NO_SYNTAX = (".json", ".ipynb", ".xml", ".svg")
"""Of a blank one the syntax check has more to say."""
_EM_DASH = "—"


def declared(case: Case) -> tuple[str, ...]:
    """Paths that the phase or the task declares, each once."""
    tree = tree_of(case.submission.files)
    paths = [
        *(one.path for one in case.phase.deliverables),
        *(_without_description(one, tree) for one in case.submission.task.expected_outputs),
    ]
    inside = {path: found for path in paths if (found := relative(path))}
    names = set(inside.values())
    return tuple(
        dict.fromkeys(inside.get(path, path) for path in paths if not _stands_for(path, names))
    )


def declared_meanings(case: Case) -> Mapping[str, Meant | None]:
    """The files that each declared path means; None: it was not looked for."""
    return meant_by(declared(case), case.submission.files)


def declared_files(case: Case) -> dict[str, SubmittedFile]:
    """Submitted files that a declaration means, by path."""
    meanings = filter(None, declared_meanings(case).values())
    return {file.path: file for meant in meanings for file in meant.files}


@check(ID)
def deliverables_exist(case: Case, ports: Ports) -> Iterator[Observation]:
    tree = tree_of(case.submission.files)
    for path, meant in declared_meanings(case).items():
        if meant is None:
            yield _too_many(path)
        else:
            yield from _problem(path, meant, ports.workspace, tree)


def _problem(path: str, meant: Meant, workspace: Workspace, tree: Tree) -> Iterator[Finding]:
    """One at most: what is missing is not empty too."""
    if not meant.files:
        elsewhere = tree.called(path)
        wanted = f"Write {path} and submit it."
        if elsewhere:
            wanted = f"There is {elsewhere}: if that is meant, submit it as {path}."
        yield _found("deliverable_missing", "missing", path, wanted)
    elif all(is_empty(file) for file in meant.files):
        wanted = f"Fill {path} with what it is declared to hold."
        yield _found("deliverable_empty", "empty", path, wanted)
    elif not meant.is_same:
        name = meant.files[0].path
        is_case = name.casefold().startswith(path.rstrip("/").casefold())
        wanted = f"Write it as {path}: other systems tell the two apart."
        if not is_case:
            wanted = f"Submit it as {path}, without the folder before all paths."
        yield _found("deliverable_missing", f"there as {name}", path, wanted, is_certain=False)
    elif _says_nothing(path, meant.files, workspace):
        wanted = f"Fill {path} with what it is declared to hold."
        yield _found("deliverable_empty", "blank", path, wanted, is_certain=False)


def _found(
    reason_code: str, state: str, path: str, wanted: str, *, is_certain: bool = True
) -> Finding:
    return violated(
        ID,
        reason_code,
        f"Declared as a deliverable, and {state}.",
        enforcement=None if is_certain else Enforcement.ADVISORY,
        target=Target.DELIVERABLES,
        path=path,
        place=None if is_certain else {"certain": False},
        suggestion=wanted,
    )


def _too_many(path: str) -> Finding:
    return not_inspected(
        ID,
        "Too many wildcards are declared for so many files: this one was not looked for.",
        enforcement=Enforcement.HARD,
        target=Target.DELIVERABLES,
        path=path,
    )


def _says_nothing(path: str, files: Sequence[SubmittedFile], workspace: Workspace) -> bool:
    """Whether no file of them holds anything; one that was declared itself may be empty by nature."""
    name = path.rstrip("/").rsplit("/", 1)[-1].casefold()
    if len(files) == 1 and files[0].path.casefold().endswith(name):
        return _is_blank(files[0], workspace)
    return all(not file.size or _is_blank(file, workspace) for file in files)


def _is_blank(file: SubmittedFile, workspace: Workspace) -> bool:
    """Whether a small file holds nothing but spaces and line ends."""
    speaks = is_empty_by_nature(file.path) or file.path.lower().endswith(_BLANK_IS_NO_SYNTAX)
    if speaks or file.size > MAX_BLANK_BYTES:
        return False
    return not workspace.read(file.path).decode(errors="replace").strip("\ufeff \t\r\n\f\v")


def _stands_for(path: str, names: Container[str]) -> bool:
    """Whether an absolute path is one of these names with its workspace before it."""
    start = anchored(path)
    parts = start.parts if start else ()
    return any("/".join(parts[-depth:]) in names for depth in range(1, min(len(parts), 20) + 1))


def _without_description(expected: str, tree: Tree) -> str:
    """`file`, where `file — what it is` stands and no file is called so."""
    head = expected.split(_EM_DASH, 1)[0].strip()
    return expected if not head or tree.at(expected) else head
