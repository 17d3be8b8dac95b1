from __future__ import annotations

from collections.abc import Iterator

from verification.engine.case import Case, Ports
from verification.engine.checks.drafts import violated
from verification.engine.checks.registry import Observation, check


@check("return-code")
def return_code(case: Case, _ports: Ports) -> Iterator[Observation]:
    code = case.submission.return_code
    if code:
        yield violated(
            "return-code",
            "nonzero_return_code",
            f"The work ended with return code {code}.",
            suggestion="Find out why the program stopped, and let it end with return code 0.",
        )
