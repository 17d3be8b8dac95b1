"""For authors of cases: each case that does not hold, and on request all that was observed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence

from loomverify.submitting.progress import ProgressLine
from loomverify.submitting.report import plain
from verification.engine.golden.standing import Change
from verification.golden.cases.likeness import Alike, Sketched
from verification.golden.cases.versions import Content
from verification.golden.documents.reading import read_case
from verification.golden.local import Replayed, Setting, replay_all
from verification.golden.local_files import Wanted, cases_of


def check(paths: Sequence[str], *, is_verbose: bool, progress: ProgressLine) -> int:
    """Return 0 where every case holds, the held set among them; else 1."""
    found = replay_all(
        cases_of(paths, Wanted(with_canary=True)),
        Setting(),
        on_progress=lambda done, total: progress.say(f"{done} of {total} cases"),
    )
    progress.clear()
    failing = [one for one in found if one.issues or one.change is not Change.HELD]
    near = _near(found) if is_verbose else {}
    for one in found if is_verbose else failing:
        lines = [*_lines(one, is_verbose), *_much_like(near.get(one.case.name, ()))]
        sys.stdout.writelines(f"{plain(line)}\n" for line in lines)
    sys.stdout.write(f"{len(found)} cases, {len(failing)} not held\n")
    return 1 if failing or not found else 0


def _near(found: Sequence[Replayed]) -> Mapping[str, Sequence[str]]:
    """By name: others of these files in which much the same is submitted."""
    read = [read_case(one.case.document, loc=()) for one in found if not one.issues]
    contents = [Content.of(one) for one in read]
    cases = [Sketched(one.name, one.input_sha256, one.likeness) for one in contents]
    alike = Alike(cases)
    return {one.name: alike.near(one) for one in cases}


def _much_like(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"    much like: {', '.join(names)}"


def _lines(one: Replayed, is_verbose: bool) -> Iterator[str]:
    yield f"{_word(one)} {one.case.file} {one.case.name}"
    yield from (f"    {issue}" for issue in one.issues)
    if one.error:
        yield f"    {one.error}"
    for each in one.differences:
        yield f"    {each['place']}: expected {each['expected']!r}, observed {each['observed']!r}"
    yield from (f"    missing: {question}" for question in one.missing)
    if is_verbose and one.observed:
        yield json.dumps(one.observed, indent=1, ensure_ascii=False)
        yield f"    legacy: {one.legacy or 'could not be judged'}"


def _word(one: Replayed) -> str:
    if one.issues:
        return "UNREADABLE"
    words = {Change.HELD: "HELD", Change.NOT_JUDGED: "NOT JUDGED"}
    return words.get(one.change, "FAILING")
