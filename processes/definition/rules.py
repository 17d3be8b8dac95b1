"""The rules of a process file, and the judge's extra instructions that become rules."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from processes.definition.model import (
    ANY_PHASE,
    Enforcement,
    Expect,
    Level,
    Rule,
    RuleExamples,
    RuleType,
    Severity,
    Target,
)
from processes.definition.phases import PlacedPhase
from processes.definition.reading import Fields, Value, listed

MAX_RULE_NAME = 200
MAX_RULES = 500
MAX_COUNT = 1_000_000
NONE = "none"
FAILURE_CLASSES = (NONE, "hard_integrity", "recoverable_placeholder", "semantic")
REMEDIATION_MODES = (
    NONE,
    "confirm_or_prune",
    "targeted_remediation",
    "queue_follow_up",
    "remediate_and_retry",
)


def read_rules(fields: Fields, phase_ids: Collection[str]) -> tuple[Rule, ...]:
    entries = fields.entries("rules", "a list of rules")
    if len(entries) > MAX_RULES:
        fields.values["rules"].complain(
            "rules.too_many", f"A process may hold at most {MAX_RULES} rules."
        )
        return ()
    mappings = [mapping for entry in entries if (mapping := entry.mapping()) is not None]
    return tuple(_read_rule(mapping, phase_ids) for mapping in mappings)


def read_phase_rules(phases: Sequence[PlacedPhase], phase_ids: Collection[str]) -> list[Rule]:
    """Read the rules under each phase, which belong to it unless they name others.

    They stand at `phases[].rules`, or at `phases[].verification.rules` as in old files.
    """
    rules: list[Rule] = []
    for placed in phases:
        old_place = placed.fields.values.get("verification")
        verification = (old_place and old_place.mapping()) or Fields(placed.fields.value, {})
        for fields in (placed.fields, verification):
            entries = fields.entries("rules", "a list of rules")
            if len(rules) + len(entries) > MAX_RULES:
                fields.values["rules"].complain(
                    "rules.too_many", f"The phases may hold at most {MAX_RULES} rules together."
                )
                return []
            mappings = [mapping for entry in entries if (mapping := entry.mapping()) is not None]
            rules += [_read_rule(one, phase_ids, own_phase=placed.phase.id) for one in mappings]
        verification.close()
    return rules


def read_semantic_checks(fields: Fields, phase_ids: Collection[str]) -> tuple[Rule, ...]:
    """An extra instruction to the judge is an llm rule, of every phase unless it names some."""
    entries = fields.entries("semantic_checks", "a list of checks")
    if len(entries) > MAX_RULES:
        fields.values["semantic_checks"].complain(
            "rules.too_many", f"A process may hold at most {MAX_RULES} semantic checks."
        )
        return ()
    rules = []
    for entry in entries:
        mapping = entry.mapping()
        if mapping is None:
            continue
        if not mapping.has("check"):
            # Old development packages name a helper program instead of an instruction.
            entry.complain("key.kept", f"{entry.path} is kept, and has no effect here.", Level.NOTE)
            continue
        rules.append(_read_rule(mapping, phase_ids, name_keys=("id", "name"), is_check=True))
    return tuple(rules)


def _read_rule(
    fields: Fields,
    phase_ids: Collection[str],
    *,
    name_keys: tuple[str, ...] = ("name",),
    own_phase: str = "",
    is_check: bool = False,
) -> Rule:
    """`own_phase` is the phase that the rule stands under; '' at the top of the file."""
    name_key = next((key for key in name_keys if fields.has(key)), name_keys[0])
    target, scope = _target_and_scope(fields)
    phases = fields.get("applies_to_phases")
    applies = (_phases(phases, phase_ids) if phases else None) or ()
    if scope == "global" or (is_check and not applies and not scope):
        applies = (ANY_PHASE,)
    elif not applies and own_phase:
        applies = (own_phase,)
    rule = Rule(
        name=fields.required_name(name_key, limit=MAX_RULE_NAME),
        check=fields.required_text("check", strip=False),
        type=RuleType(fields.word("type", tuple(RuleType), RuleType.LLM)),
        severity=Severity(fields.word("severity", tuple(Severity), Severity.WARNING)),
        description=fields.text("description"),
        enforcement=fields.read("enforcement", _enforcement, None),
        target=target,
        applies_to_phases=applies,
        expect=Expect(fields.word("expect", tuple(Expect), Expect.NO_MATCH)),
        min_count=fields.read("min_count", lambda value: value.integer(0, MAX_COUNT), None),
        requires_exact_cardinality=fields.flag("requires_exact_cardinality"),
        failure_class=fields.word("failure_class", FAILURE_CLASSES, NONE).replace(NONE, ""),
        remediation_mode=fields.word("remediation_mode", REMEDIATION_MODES, NONE).replace(NONE, ""),
        suggestion=fields.text("suggestion"),
        examples=fields.read("examples", _examples, RuleExamples()),
        path=fields.value.path,
        line=fields.value.line,
    )
    kept = [key for key in name_keys if key != name_key]
    fields.close(kept=kept)
    return rule


def _enforcement(value: Value) -> Enforcement | None:
    word = value.word(tuple(Enforcement))
    return None if word is None else Enforcement(word)


def _target_and_scope(fields: Fields) -> tuple[Target, str]:
    """Read `target` and `scope`: phase, global or ''. Old files write the target as `scope`."""
    target = fields.word("target", tuple(Target), "")
    scope = fields.word("scope", ("phase", "global", *Target), "")
    if scope in tuple(Target):
        if target and target != scope:
            fields.values["scope"].complain(
                "rule.scope", f"scope says {scope}, target says {target}."
            )
        target, scope = scope, ""
    return Target(target or Target.OUTPUT), scope


def _phases(value: Value, phase_ids: Collection[str]) -> tuple[str, ...] | None:
    names = value.texts()
    if names is None:
        return None
    if ANY_PHASE in names:
        return (ANY_PHASE,)
    strangers = [name for name in names if name not in phase_ids]
    if strangers and phase_ids:  # without phases that complaint says it all
        value.complain("phase.unknown", f"There is no phase {listed(strangers)}.")
    return tuple(dict.fromkeys(names))


def _examples(value: Value) -> RuleExamples | None:
    fields = value.mapping()
    if fields is None:
        return None
    examples = RuleExamples(
        passing=fields.texts("pass", strip=False), failing=fields.texts("fail", strip=False)
    )
    fields.close()
    return examples
