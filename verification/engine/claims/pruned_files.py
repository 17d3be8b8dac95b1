"""Claims leave every text of the work, and files keep their form."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from verification.engine.claims.pruning import Cut, cut
from verification.engine.claims.spans import without
from verification.engine.claims.submitted_texts import SubmittedText, SubmittedTexts
from verification.engine.evidence import CouldNotInspect, NotInspected, Probe, SyntaxProblem
from verification.engine.grammars import grammar_of


@dataclass(frozen=True, slots=True)
class Pruning:
    """`contents` by path, '' the output, of what changes; `gone` are the claims it takes out.

    `hindered` are texts that could not be changed, or not be looked into.
    """

    contents: Mapping[str, bytes] = field(default_factory=dict, hash=False)
    gone: frozenset[str] = frozenset()
    hindered: tuple[str, ...] = ()


def prune(submitted: SubmittedTexts, claims: Collection[str], probe: Probe) -> Pruning:
    """Take the claims out of all texts. What would lose its form, or all it says, stays as it is.

    Raises:
        CouldNotInspect: whether files keep their form could not be looked into.
    """
    cuts = {one.path: cut(one.text, claims) for one in submitted.texts}
    changed = [one for one in submitted.texts if cuts[one.path].spans]
    left = {one.path: without(one.text, cuts[one.path].spans) for one in changed}
    contents = {one.path: one.encoded(left[one.path]) for one in changed}
    files = [one for one in changed if one.path]
    broken = _bare(submitted, left) | _broken(files, contents, probe)
    return Pruning(
        contents={path: content for path, content in contents.items() if path not in broken},
        gone=frozenset() if submitted.closed else _gone(cuts, broken),
        hindered=(*submitted.closed, *sorted(broken)),
    )


def _gone(cuts: Mapping[str, Cut], broken: Collection[str]) -> frozenset[str]:
    """A claim that stands in no text was never there to be taken out."""
    found = frozenset[str]().union(*(one.found for one in cuts.values()))
    left = [one.remaining for one in cuts.values()]
    left += [one.found for path, one in cuts.items() if path in broken]
    return found.difference(*left)


def _bare(submitted: SubmittedTexts, left: Mapping[str, str]) -> frozenset[str]:
    """Texts of which nothing would be left; an output may be, if a file still says something."""
    after = {one.path: left.get(one.path, one.text) for one in submitted.texts}
    says = {path for path, text in after.items() if any(map(str.isalnum, text))}
    bare = left.keys() - says
    return frozenset(bare - {""} if says else bare)


def _broken(
    files: Sequence[SubmittedText], contents: Mapping[str, bytes], probe: Probe
) -> frozenset[str]:
    """Files that would no longer be of their form, or of which nobody can tell."""
    return frozenset(
        one.path
        for one in files
        if (grammar := grammar_of(one.path))
        and (
            len(contents[one.path]) > grammar.max_bytes
            or _is_worse(probe, one.path, one.encoded(one.text), contents[one.path])
        )
    )


def _is_worse(probe: Probe, path: str, before: bytes, after: bytes) -> bool:
    was, now = probe.syntax([(path, before), (path, after)])
    if isinstance(now, NotInspected):
        raise CouldNotInspect(now.why)
    if isinstance(was, NotInspected):
        return bool(now)
    return len(now) > len(was) or _certain(now) > _certain(was)


def _certain(problems: Sequence[SyntaxProblem]) -> int:
    return sum(one.certain for one in problems)
