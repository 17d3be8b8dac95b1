"""What is to be said about texts of cases that nobody stored yet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loomverify.accounts.models import Project
from loomverify.errors import InputError, Issue, Loc
from processes.definition.model import Definition
from processes.models import Process
from processes.selectors import definitions_of
from verification.engine.floors import values_below_phase
from verification.engine.outcome import Outcome, Verdict
from verification.golden.documents.parsing import BODY, CaseFile, parse_cases
from verification.golden.documents.reading import read_case
from verification.runs.intake.reading import MAX_SHOWN_ISSUES

PLACED = re.compile(r"Line (\d{1,9})(?:, column (\d{1,9}))?: (.*)", re.DOTALL)
NEVER_TOGETHER = {
    (Outcome.PASS, Verdict.REJECT),
    (Outcome.PASS_WITH_WARNINGS, Verdict.REJECT),
    (Outcome.FAIL, Verdict.ACCEPT),
}


@dataclass(frozen=True, slots=True)
class Problem:
    """`path` leads into the document; `line` and `column` count from 1."""

    message: str
    path: str = ""
    line: int = 1
    column: int = 1
    level: str = "error"


@dataclass(frozen=True, slots=True)
class Checked:
    """`document` is None exactly where there are errors."""

    document: Mapping[str, Any] | None
    problems: Sequence[Problem] = ()

    @property
    def errors(self) -> list[Problem]:
        return [one for one in self.problems if one.level == "error"]


def check(text: str, project: Project) -> Checked:
    """One case, or a list of just one."""
    try:
        file = parse_cases(_bytes(text))
    except InputError as error:
        return Checked(None, problems_of(error))
    if len(file.documents) != 1:
        said = f"Write one case here; these are {len(file.documents)}. Import takes several."
        return Checked(None, [Problem(said)])
    try:
        read = read_case(file.documents[0], loc=(BODY, 0))
    except InputError as error:
        return Checked(None, problems_of(file.placed(error)))
    warnings = warnings_of(file, project, read.definition, is_one=True)
    return Checked(file.documents[0], warnings)


def refused(text: str, error: InputError) -> Checked:
    """What a service had against the case of a text that is fit to be read."""
    issues = [Issue(one.code, one.msg, (BODY, 0, *one.loc[1:])) for one in error.issues]
    placed = parse_cases(_bytes(text)).placed(InputError.of(issues))
    return Checked(None, problems_of(placed))


def problems_of(error: InputError, level: str = "error", *, is_one: bool = True) -> list[Problem]:
    """Of an error whose messages begin with their places. `is_one`: no case needs its number."""
    found = []
    for issue in error.issues:
        path = ".".join(map(str, issue.loc[2 if is_one else 1 :]))
        placed = PLACED.fullmatch(issue.msg)
        if placed is None:
            found.append(Problem(issue.msg, path, level=level))
        else:
            line, column, message = placed.groups()
            message = message[:1].upper() + message[1:]
            found.append(Problem(message, path, int(line), int(column or 1), level))
    return found


def warnings_of(
    file: CaseFile, project: Project, own: Definition | None = None, *, is_one: bool = False
) -> list[Problem]:
    """What can be stored, and could not be judged here or could never hold, in their order.

    `own` is the definition that the only case brings along.
    """
    known = _published(project, {case["process"] for case in file.documents})
    issues = [
        Issue("case.unfit", f"{said}.", (BODY, number, *field))
        for number, case in enumerate(file.documents)
        for field, said in _unfit(case, known, own)
    ][:MAX_SHOWN_ISSUES]
    if not issues:
        return []
    return problems_of(file.placed(InputError.of(issues)), "warning", is_one=is_one)


def _published(project: Project, slugs: set[str]) -> dict[str, Definition]:
    named = Process.objects.filter(project=project, slug__in=slugs, published__isnull=False)
    versions = dict(named.values_list("slug", "published_id"))
    definitions = definitions_of(versions.values())
    return {slug: definitions[version] for slug, version in versions.items()}


def _unfit(
    case: Mapping[str, Any], known: Mapping[str, Definition], own: Definition | None
) -> Iterator[tuple[Loc, str]]:
    unjudged = "the case can be stored, and could not be judged"
    definition = own or known.get(case["process"])
    phase = definition.phase(case["phase"]) if definition else None
    if phase is not None:
        of_task = (case["run"].get("task") or {}).get("is_critical_path")
        for value in values_below_phase(phase, tier=case.get("tier"), is_critical_path=of_task):
            place = value.field if value.field == ("tier",) else ("run", *value.field)
            yield place, f"{value.message.rstrip('.')}: {unjudged}"
    elif definition is not None:
        yield ("phase",), f"The process has no phase {case['phase']!r}: {unjudged}"
    elif not case.get("process_text"):
        yield ("process",), f"No process {case['process']!r} is published here: {unjudged}"
    expected = case["expected"]
    outcome, verdict = expected.get("outcome"), expected.get("verdict")
    if (outcome, verdict) in NEVER_TOGETHER:
        yield (
            ("expected", "verdict"),
            f"Outcome {outcome} and verdict {verdict} never come together: the case could not hold",
        )


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
