"""Process files for tests."""

from __future__ import annotations

SMALL = """\
# kept as it is
name: small
phases:
  - id: build
    description: Build it
    acceptance_criteria: It is built
  - id: check
    description: Check it
    depends_on: [build]
    verification_tier: 2
    acceptance_criteria: It is checked
verification:
  rules:
    - name: no-todo
      check: TODO
      type: regex
      applies_to_phases: [build]
"""

WITH_EVERYTHING = """\
name: everything
title: Everything
schema_version: "2"
version: 1.10
description: All keys
author: A
persona: P
tags: [a, b]
risk_level: normal
phase_mode: strict
tools: {guidance: g, required: [read], excluded: [write]}
tool_guidance: old place
validity_contract: {claim_ratio: 0.5}
evidence: {max: 3}
prompt_contracts:
  verifier_constraints: Judge mildly.
  remediation_instructions: {default: Fix it., evidence_gap: Find proof.}
  executor_constraints: none
memory: [1, 2.5, true, null, .nan]
phases:
  - id: a
    description: A
    depends_on: []
    verification_tier: 3
    model_tier: 2
    is_critical_path: true
    is_synthesis: false
    advisory: no
    acceptance_criteria: done
    deliverables: ["a-b.md — first", c.csv]
    gates: [install, test]
    gates_without_sandbox: Medium
    may_lower_tier: true
    score: {threshold: 7.5, max_iterations: 4}
    custom_verifier: mine
    max_attempts: 5
    confidence_floor: 0.8
    iteration: {max: 2}
verification:
  policy:
    mode: static_first
    max_attempts: 4
    auto_commit: judge_is_enough
    static_checks: {tool_success_policy: method_resilient, lint_commands: plan, gates_without_sandbox: medium, gate_seconds: {test: 600}, syntax_advisory_paths: [samples/*], syntax_policy: all}
    semantic_checks:
      - {id: extra, check: Look twice., severity: error, enforcement: hard}
      - {name: helper, capability: browser}
    output_contract: {required_fields: [passed]}
    outcome_policy: {treat_verifier_infra_as_warning: true}
    review: {sample_rate: 0.1}
  remediation:
    critical_path_behavior: queue_follow_up
    retry_budget: {max_attempts: 1}
    strategies: [{id: s}]
    default_strategy: s
    transient_retry_policy: {retry: true}
  rules:
    - name: r
      description: d
      check: a+
      type: regex
      severity: error
      enforcement: observe
      target: evidence
      applies_to_phases: a
      expect: match
      min_count: 2
      requires_exact_cardinality: true
      failure_class: semantic
      remediation_mode: confirm_or_prune
      suggestion: s
      examples: {pass: [aa b a], fail: [b]}
"""


def with_rule(**fields: object) -> str:
    """A process of one phase, `build`, with one rule of these fields."""
    lines = [
        "name: small",
        "phases:",
        "  - {id: build, description: Build it, acceptance_criteria: Built}",
        "verification:",
        "  rules:",
        "    -",
    ]
    shown = {"name": "r", "check": "TODO", **fields}
    return "\n".join([*lines, *(f"      {key}: {value}" for key, value in shown.items())]) + "\n"


def with_phase(text: str) -> str:
    return f"name: small\nphases:\n  - id: build\n    description: Build it\n{text}\n"
