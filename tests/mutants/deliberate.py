"""Twenty defects of our choosing: mistakes that verifiers have made, each one small to make."""

from __future__ import annotations

from dataclasses import dataclass

from tests.mutants.mutant import ENGINE, Mutant

AREA = "deliberate"


@dataclass(frozen=True, slots=True)
class Defect:
    """`before` stands in the module once."""

    told: str
    module: str
    before: str
    after: str


DEFECTS = (
    Defect(
        "What is unknown counts as violated",
        "policy.py",
        "return usual if usual in _LOST else Effect.UNDECIDED",
        "return Effect.REJECT",
    ),
    Defect(
        "What is unknown counts as nothing: lost verification is accepted",
        "policy.py",
        "        if finding.enforcement is ADVISORY:\n            return None\n        return usual",
        "        if True:\n            return None\n        return usual",
    ),
    Defect(
        "An advisory finding rejects the work",
        "policy.py",
        "    if finding.enforcement is ADVISORY:\n        return Effect.NOTE",
        "    if False:\n        return Effect.NOTE",
    ),
    Defect(
        "A rule that is only observed counts",
        "policy.py",
        "if finding.enforcement is OBSERVE or finding.verdict is FindingVerdict.SATISFIED:",
        "if finding.verdict is FindingVerdict.SATISFIED:",
    ),
    Defect(
        "A rule of another phase speaks in this one",
        "scoping.py",
        "return Scope(False, TraceReason.OTHER_PHASE)",
        "return Scope(True, TraceReason.PHASE)",
    ),
    Defect(
        "A regex rule is hard unless it says otherwise",
        "scoping.py",
        "return Enforcement.ADVISORY if flags.regex_default_advisory else Enforcement.HARD",
        "return Enforcement.HARD",
    ),
    Defect(
        "A verdict quoted from the material is the judge's own",
        "judges/hearing.py",
        "if found.reply and is_copied(found.answer, found.reply.passed, prompt):",
        "if False:",
    ),
    Defect(
        "JSON wrapped in prose cannot be read",
        "protocol/recovery.py",
        "    (Stage.EMBEDDED, embedded.read),\n",
        "",
    ),
    Defect(
        "A sentence that mentions a pass is a verdict",
        "protocol/verdict_line.py",
        "if not is_quoted(bare, line.start(), line.end()) and not shown.holds(line[0])",
        "if True",
    ),
    Defect(
        "A reply cut off before its end passes the work",
        "judges/hearing.py",
        "if answer.is_cut and found.reply and found.reply.passed and not _came_whole(found):",
        "if False:",
    ),
    Defect(
        "Passed beside a violated rule passes",
        "judges/weighing.py",
        "    if given:\n        one = given[0]",
        "    if reply.passed:\n        return replace(word, verdict=SATISFIED, gap='')\n"
        "    if given:\n        one = given[0]",
    ),
    Defect(
        "Quotes are believed without a look at the material",
        "judges/weighing.py",
        '!r}."\n    return replace(word, quote_verified=False, gap=gap)\n',
        '!r}."\n    return replace(word, quote_verified=True)\n',
    ),
    Defect(
        "A claim is confirmed because it says so",
        "claims/labels.py",
        "if label == CONFIRMED and support.objection(claim):",
        "if False:",
    ),
    Defect(
        "Recommendations have thirty per cent to spare",
        "claims/routing.py",
        "limit = 0.0 if recommends else case.verifier.flags.unconfirmed_supporting_threshold",
        "limit = case.verifier.flags.unconfirmed_supporting_threshold",
    ),
    Defect(
        "The phase's word on the critical path stands above the task's",
        "floors.py",
        "return phase.is_critical_path\n    return of_task",
        "return phase.is_critical_path\n    return phase.is_critical_path",
    ),
    Defect(
        "Undecided uses up an attempt",
        "attempts.py",
        "    if verdict is Verdict.UNDECIDED:\n        return Accounted(replace(history",
        "    if False:\n        return Accounted(replace(history",
    ),
    Defect(
        "The same rejected work again uses up an attempt",
        "attempts.py",
        "counted = is_rejected and counts_attempt and not is_known and not history.exhausted",
        "counted = is_rejected and counts_attempt and not history.exhausted",
    ),
    Defect(
        "Half of the votes are a majority",
        "judges/ballots.py",
        "if 2 * passes > len(votes):\n        return",
        "if 2 * passes >= len(votes) - 1:\n        return",
    ),
    Defect(
        "No tests are as sure as passed ones",
        "decision.py",
        'frozenset({"gate_error", "gate_contradiction", "sandbox_unavailable", "no_tests"})',
        'frozenset({"gate_error", "gate_contradiction", "sandbox_unavailable"})',
    ),
    Defect(
        "A gate's exit code is believed against its report",
        "gates.py",
        "return len(went_well) > 1",
        "return False",
    ),
)


def mutants() -> list[Mutant]:
    return [_mutant(defect) for defect in DEFECTS]


def _mutant(defect: Defect) -> Mutant:
    path = ENGINE / defect.module
    source = path.read_text(encoding="utf-8")
    times = source.count(defect.before)
    assert times == 1, f"{defect.told}: {defect.before!r} stands {times} times in {defect.module}"
    return Mutant(AREA, path, source.replace(defect.before, defect.after), defect.told)
