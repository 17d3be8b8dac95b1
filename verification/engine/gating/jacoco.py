"""Reports of the work's own JaCoCo, as text of a shell."""

from __future__ import annotations

from verification.engine.gating.stages import COVERAGE

MAVEN_REPORTS = "-path '*/target/site/jacoco/jacoco.xml'"
GRADLE_REPORTS = "-path '*/build/reports/jacoco/*.xml'"


def is_there(named: str) -> str:
    """Whether `find` finds such a file."""
    return f'[ -n "$(find . {named} -type f | head -n 1)" ]'


def join_jacoco_reports(named: str) -> str:
    """Put all of them into one report; none is there where there are none."""
    return f"""! {is_there(named)} || {{ echo '<report>'
find . {named} -type f -exec sed 's/^<?xml[^>]*?>//; s/<!DOCTYPE[^>]*>//' {{}} \\;
echo '</report>'; }} > "{COVERAGE}\""""
