from __future__ import annotations

from verification.engine.gating.essence import essence

PYTEST = """def test_new():
>       again('')

test_more.py:5:
_ _ _ _ _ _ _ _

    def again(line: str) -> None:
>       assert line == 'x'
E       AssertionError: assert '' == 'x'
E         - x

more.py:7: AssertionError"""


def test_of_pytests_account_the_failing_line_and_the_error_are_told() -> None:
    assert essence(PYTEST).split("\n") == [
        ">       assert line == 'x'",
        "E       AssertionError: assert '' == 'x'",
        "E         - x",
    ]


def test_an_error_without_a_line_is_told_alone_and_other_accounts_are_told_whole() -> None:
    assert essence("E   ImportError: no") == "E   ImportError: no"
    for account in ("", "calc_test.go:7: wrong\n--- FAIL", "Expected 1\n>  2", "Error: no"):
        assert essence(account) == account
