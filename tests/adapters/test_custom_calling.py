from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from tests.adapters.custom_cases import told_by
from tests.tables import check_rows

INVOICE = json.dumps({"lines": [{"price": "1.50", "count": 2}]})
LINES = json.dumps([{"price": 1, "count": 2}])
PHASE, PROCESS, TASK = "write", "process", "t"


@check_rows(
    ("verifier", "output", "result"),
    [
        ("of_the_submission", "fine", "fine"),
        ("without_a_type", "fine", "fine"),
        ("of_nothing", "fine", "called"),
        ("of_anything", "fine", "fine"),
        ("of_text", "fine", "fine"),
        ("of_a_model", INVOICE, "3.00"),
        ("of_a_model", f"\ufeff\n{INVOICE}\n", "3.00"),
        ("of_a_root_model", LINES, 1),
        ("of_a_list", LINES, 1),
        ("of_a_dataclass", '{"x": 1}', {"x": 1, "y": 0}),
        ("of_a_model_or_none", "null", True),
        ("by_name", "", [TASK, ["a.md"], 2, PROCESS, PHASE]),
        ("by_type", "", [TASK, ["a.md"], PROCESS, PHASE]),
        ("by_type_above_name", "", [TASK, ["a.md"]]),
        ("by_optional_type", "", [TASK, PHASE]),
        ("under_type_checking", "", [["a.md"], TASK]),
        ("first_by_type", "", TASK),
        ("first_by_name", "", ["a.md"]),
        ("only_keywords", "", [TASK, 2]),
        ("only_positions", "", [TASK, 7]),
        ("with_a_default", "", 7),
        ("with_collectors", "", [[], {}]),
        ("asynchronous", "", TASK),
        ("returns_an_awaitable", "", TASK),
        ("in_a_closure", '{"total": 1}', 2),
        ("in_a_closure_by_name", "fine", ["fine", TASK]),
        ("decorated", INVOICE, [1, TASK]),
        ("checker", INVOICE, [True, TASK]),
        ("checker.method", INVOICE, [3, TASK]),
        ("partial", "", 9),
    ],
)
def test_each_parameter_is_given_what_its_type_or_name_says(
    verifier: str, output: str, result: Any
) -> None:
    told = told_by(verifier, output=output, files={"a.md": "x"})

    assert told == {"status": "passed", "result": result}


@check_rows(
    ("verifier", "says"),
    [
        ("not_injectable", "its parameter 'database'"),
        ("unresolved_first", "its parameter 'invoice', annotated 'Elsewhere',"),
        ("unresolved_other", "its parameter 'thing', annotated 'Elsewhere',"),
        ("no_shape", "no output can be read as"),
        ("Checker", "is a class"),
        ("NOT_CALLABLE", "cannot be called"),
        ("generator", "it yields"),
        ("asynchronous_generator", "it yields"),
        ("unkeepable", "(dict) is no JSON: "),
        ("not_a_number", "(list) is no JSON: "),
        ("circular", "(list) is no JSON: "),
        ("too_large", "above 1000000 characters"),
    ],
)
def test_a_verifier_that_cannot_be_used_says_why_and_blames_nobody(
    verifier: str, says: str
) -> None:
    told = told_by(verifier, output="{}")

    assert told["status"] == "error"
    assert told["message"].startswith("The verifier totals cannot be used: ")
    assert says in told["message"]


@pytest.mark.parametrize(
    ("module", "verifier", "says"),
    [
        ("no.such.module", "verify", "ModuleNotFoundError: No module named 'no'"),
        ("tests.adapters.operators", "no_such", "AttributeError: module"),
        ("tests.adapters.operators", "checker.no_such", "AttributeError: 'Checker' object"),
    ],
)
def test_a_verifier_that_cannot_be_loaded_is_a_system_error(
    module: str, verifier: str, says: str
) -> None:
    told = told_by(verifier, module=module)

    assert told["status"] == "error"
    assert says in told["message"]


@pytest.mark.parametrize(
    ("verifier", "output", "errors"),
    [
        ("of_a_model", "not JSON", [("", "Invalid JSON: ")]),
        ("of_a_model", "", [("", "Invalid JSON: ")]),
        ("of_a_model", f"```json\n{INVOICE}\n```", [("", "Invalid JSON: ")]),
        ("of_a_model", '{"lines": [{"count": 1}, {"price": 1, "count": 0}]}', [
            ("lines.0.price", "Field required"),
            ("lines.1.count", "Input should be greater than 0"),
        ]),
        ("of_a_model", "[]", [("", "Input should be an object")]),
        ("of_a_list", '[{"price": "x", "count": 1}]', [
            ("0.price", "Input should be a valid decimal"),
        ]),
        ("in_a_closure", '{"total": "x"}', [("total", "Input should be a valid integer")]),
        ("of_a_model", "[" * 5000, [("", "Invalid JSON: recursion limit exceeded")]),
    ],
)  # fmt: skip
def test_an_output_of_another_shape_is_told_error_by_error(
    verifier: str, output: str, errors: list[tuple[str, str]]
) -> None:
    told = told_by(verifier, output=output)

    assert told["status"] == "failed"
    found = [(".".join(map(str, one["loc"])), one["msg"]) for one in told["errors"]]
    assert [place for place, _ in found] == [place for place, _ in errors]
    assert all(
        said.startswith(wanted) for (_, said), (_, wanted) in zip(found, errors, strict=True)
    )


def test_of_many_errors_of_shape_the_rest_is_counted() -> None:
    told = told_by("of_a_list", output=json.dumps([{}] * 40))

    assert len(told["errors"]) == 50
    assert told["errors"][-1] == {"loc": [], "msg": "31 more errors of shape."}


def test_rich_values_are_kept_as_json() -> None:
    told = told_by("rich")

    assert told["result"] == {
        "model": {"lines": [{"price": "1.50", "count": 2}], "due": None},
        "point": {"x": 1, "y": 0},
        "at": "2026-01-02T03:04:00Z",
        "amount": "3.00",
        "colour": "red",
        "id": "00000000-0000-0000-0000-000000000001",
        "path": "a/b",
        "set": [1],
        "2": None,
    }


@pytest.mark.parametrize(("verifier", "result"), [("false", False), ("nothing", None)])
def test_only_an_error_rejects(verifier: str, result: Any) -> None:
    assert told_by(verifier) == {"status": "passed", "result": result}


def test_a_rejection_is_told_whole() -> None:
    words = "wrong </tag> \u202e " * 500

    told = told_by("rejects", output=words)

    assert told == {
        "status": "failed",
        "message": words,
        "code": "wrong",
        "metadata": {"line": 3},
        "fatal": False,
    }


@pytest.mark.parametrize(
    ("verifier", "message", "is_fatal"),
    [
        ("rejects_without_words", "", False),
        ("rejects_with_odd_metadata", "wrong", False),
        ("rejects_with_unkeepable_metadata", "wrong", False),
        ("rejects_by_a_subclass", "wrong", False),
        ("rejects_in_a_group", "wrong 1\nwrong 2", False),
        ("fatal", "The customer does not exist.", True),
    ],
)
def test_every_rejection_counts_whatever_is_said_beside_it(
    verifier: str, message: str, is_fatal: bool
) -> None:
    told = told_by(verifier)

    assert (told["status"], told["message"], told["fatal"]) == ("failed", message, is_fatal)


def test_what_is_said_beside_a_rejection_is_bounded() -> None:
    told = told_by("rejects_with_odd_metadata")

    assert len(told["code"]) == 200
    assert told["metadata"]["ok"] == 1
    assert len(json.dumps(told["metadata"])) < 21_000


@pytest.mark.parametrize(
    ("verifier", "last_line"),
    [
        ("breaks", "KeyError: 'fine'"),
        ("asserts", "AssertionError: 11 is not 12"),
        ("validates_later", "ValidationError: 1 validation error for Invoice"),
        ("exits", "SystemExit: 0"),
        ("interrupts", "KeyboardInterrupt"),
        ("breaks_unspeakably", "<exception str() failed>"),
        ("recurses", "RecursionError: maximum recursion depth exceeded"),
        ("rejects_and_breaks", "ValueError: broken"),
    ],
)
def test_anything_else_is_a_system_error_with_its_last_line(verifier: str, last_line: str) -> None:
    told = told_by(verifier, output="fine")

    assert told["status"] == "error"
    assert told["message"].startswith("The verifier totals broke: ")
    assert last_line in told["message"] + told["stack"]
    assert len(told["stack"]) < 10_000


def test_what_the_logger_is_told_goes_where_prints_go(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="loomverify.verifier.totals"):
        told_by("by_name")

    assert caplog.messages == ["Looked at."]
