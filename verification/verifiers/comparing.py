"""Two verifier versions side by side, part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from verification.engine.verifier import ENGINE_BUILD, PROMPT_VERSION, VerifierSpec
from verification.verifiers.models import VerifierVersion
from verification.verifiers.parts import FLAGS, LIMITS, SEATS, Part

PROGRAM = (
    ("prompt_version", "Prompt version", "What judges were told, and how, when it was made."),
    ("engine_build", "Engine build", "The checks, parsers and policy that it was made with."),
)

GroupName = Literal["flags", "models", "limits", "program"]


@dataclass(frozen=True, slots=True)
class Line:
    """One part of two versions, as it is stored and in words."""

    group: GroupName
    name: str
    label: str
    about: str
    old: Any
    new: Any
    old_words: str
    new_words: str

    @property
    def is_same(self) -> bool:
        return bool(self.old == self.new)


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    lines: Sequence[Line]

    @property
    def differing(self) -> list[Line]:
        return [line for line in self.lines if not line.is_same]


def side_by_side(old: VerifierVersion, new: VerifierVersion) -> list[Group]:
    """All parts, by what they belong to. Flags and limits that a version lacks are the usual."""
    before, after = VerifierSpec.from_json(old.spec), VerifierSpec.from_json(new.spec)
    return [
        Group("Flags", list(_of_parts("flags", FLAGS, asdict(before.flags), asdict(after.flags)))),
        Group("Judges", list(_of_seats(before, after))),
        Group(
            "Limits", list(_of_parts("limits", LIMITS, asdict(before.limits), asdict(after.limits)))
        ),
        Group("Program", list(_of_program(before, after))),
    ]


def differing(old: VerifierVersion, new: VerifierVersion) -> list[Line]:
    """What they have otherwise."""
    return [line for group in side_by_side(old, new) for line in group.differing]


def judges_by(version: VerifierVersion) -> VerifierSpec:
    """What it judges by in this program: whichever build it was made with, this one runs."""
    spec = VerifierSpec.from_json(version.spec)
    return replace(spec, prompt_version=PROMPT_VERSION, engine_build=ENGINE_BUILD)


def judge_alike(old: VerifierVersion, new: VerifierVersion) -> bool:
    """Whether only the program they were made with tells them apart, if anything does."""
    return judges_by(old) == judges_by(new)


def same_verdicts(old: VerifierVersion, new: VerifierVersion) -> bool:
    """Whether they judge alike but for the flag that has legacy judge beside, if for anything."""
    return _without_standing(judges_by(old)) == _without_standing(judges_by(new))


def _without_standing(spec: VerifierSpec) -> VerifierSpec:
    return replace(spec, flags=replace(spec.flags, shadow_compare_enabled=False))


def is_of_this_program(version: VerifierVersion) -> bool:
    return judges_by(version) == VerifierSpec.from_json(version.spec)


def _of_parts(
    group: GroupName, parts: Sequence[Part], old: dict[str, Any], new: dict[str, Any]
) -> Iterator[Line]:
    for part in parts:
        before, after = old[part.name], new[part.name]
        yield Line(
            group,
            part.name,
            part.label,
            part.about,
            before,
            after,
            part.words(before),
            part.words(after),
        )


def _of_seats(old: VerifierSpec, new: VerifierSpec) -> Iterator[Line]:
    for seat, label, about in SEATS:
        before, after = getattr(old.models, seat), getattr(new.models, seat)
        yield Line("models", seat, label, about, before, after, _names(before), _names(after))


def _of_program(old: VerifierSpec, new: VerifierSpec) -> Iterator[Line]:
    for name, label, about in PROGRAM:
        before, after = getattr(old, name), getattr(new, name)
        yield Line("program", name, label, about, before, after, str(before), str(after))


def _names(seated: str | tuple[str, ...]) -> str:
    names = (seated,) if isinstance(seated, str) else seated
    return ", ".join(filter(None, names)) or "none"
