"""The processes of the scene: what each asks of its reviewers."""

from __future__ import annotations

_PHASES = """\
phases:
  - id: collect
    description: Find the figures
    acceptance_criteria: Each figure names where it comes from
    verification_tier: 2
  - id: write
    description: Write them down
    depends_on: [collect]
    verification_tier: 3
"""
_RULES = """\
verification:
  rules:
    - name: no-placeholders
      check: "TODO|TBD|FIXME"
      type: regex
      applies_to_phases: ["*"]
    - name: sections-present
      check: "^## Size"
      type: regex
      expect: match
      applies_to_phases: [write]
    - name: figures-have-sources
      check: Every figure names its source
      severity: error
      applies_to_phases: ["*"]
    - name: sober-tone
      check: The text praises nobody
      applies_to_phases: [write]
  policy:
    review:
      reasons: [undecided, divergence, low_confidence, terminal, rejected, partial]
      sample_rate: 0.05
"""


def source(name: str, *more: str) -> str:
    """A process file; `more` are further lines of its review policy."""
    policy = "".join(f"      {line}\n" for line in more)
    return f'name: {name}\nversion: "1.0"\n{_PHASES}{_RULES}{policy}'


SOURCES = {
    "market-study": source("market-study"),
    "blind-study": source("blind-study", "blind: true"),
    "double-study": source("double-study", "reviewers: 2"),
    "capped-study": source("capped-study", "cap_per_day: 4"),
}
