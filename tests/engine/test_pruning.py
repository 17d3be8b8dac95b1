from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.cases import case, ports
from tests.tables import check_rows
from verification.engine.claims.pruned_files import Pruning, prune
from verification.engine.claims.pruning import cut
from verification.engine.claims.spans import kept, without
from verification.engine.claims.submitted_texts import changed, texts_of
from verification.engine.evidence import CouldNotInspect, NotInspected, Probe, SyntaxProblem
from verification.engine.fakes import InProcessProbe, MemoryWorkspace

ADVICE = "Buy the company now."
TEXTS = st.lists(
    st.sampled_from(
        ["a", "b", "ab", " ", "*", "**", "_", "`", "\n", "\r\n", "> ", ".", "- ", "é", "1", ","]
    )
)
CLAIMS = st.lists(st.sampled_from(["a", "b", "a b", "b a", "a.", "a b a", "ab", "1", "", "é"]))


def left_of(text: str, *claims: str) -> str:
    return without(text, cut(text, claims).spans)


def pruned(files: dict[str, Any], *claims: str, probe: Probe | None = None) -> Pruning:
    """Of deliverables that a process declares."""
    asked = case(files=files, deliverables=list(files), output="So.")
    return prune(texts_of(asked, MemoryWorkspace(files)), claims, probe or InProcessProbe())


@check_rows(
    ("text", "claim", "left"),
    [
        ("It rains. Buy the company now. It snows.", ADVICE, "It rains.  It snows."),
        # The mark that closes a claim goes with it, and need not be there.
        ("- Buy the company now\n- Wait", ADVICE, "- \n- Wait"),
        ("Buy the company now.", "Buy the company now", "."),
        # Over the ends of lines, in a quotation too, in other case and with other quotes.
        ("Buy\n  the company\r\nnow. So.", ADVICE, " So."),
        ("> Buy the\n> company now.\n", ADVICE, "> \n"),
        ("BUY the Company now.", ADVICE, ""),
        ("It\u2019s “so”, they say.", 'It\'s "so", they say', "."),
        # Emphasis hides nothing; a mark whose other end goes, goes too.
        ("So: Buy the **company** now. End.", ADVICE, "So:  End."),
        ("So: **Buy** the `company` now. _End_.", ADVICE, "So:  _End_."),
        ("So: Buy the __company now__.", ADVICE, "So: "),
        ("- **Buy the company now.**", ADVICE, "- ****"),
        ("It is 2*3 long, or 23.", "It is 23 long", "It is 2*3 long, or 23."),
        ("Call buy_the_company now.", "buy the company", "Call buy_the_company now."),
        # Every time that it is said.
        ("Sell. Hold. sell. SELL!", "Sell", ". Hold. . !"),
        # An emptied row keeps its marks: only what is said goes.
        ("| a | Sell |\n", "Sell", "| a |  |\n"),
        # What is taken out may bring the words together again.
        ("So sell sell it it.", "sell it", "So ."),
        # A part of a word or of a number is something else.
        ("Resell the sellers.", "sell", "Resell the sellers."),
        ("We grew 12.5 % in 2024.", "We grew 12", "We grew 12.5 % in 2024."),
        ("We grew 1,200 % in 2024.", "200 % in 2024", "We grew 1,200 % in 2024."),
        ("We grew 12.", "We grew 12.", ""),
        # Scripts without spaces between words.
        ("据报道收入增长了。", "收入增长", "据报道了。"),
        ("It is not said.", "", "It is not said."),
        ("", ADVICE, ""),
    ],
)
def test_what_a_claim_says_is_gone_and_every_other_character_stays(
    text: str, claim: str, left: str
) -> None:
    assert left_of(text, claim) == left


@given(TEXTS.map("".join), CLAIMS)
def test_no_claim_is_left_and_what_went_and_what_stayed_are_the_text(
    text: str, claims: list[str]
) -> None:
    result = cut(text, claims)

    left = without(text, result.spans)
    sought = set(claims) - result.remaining
    assert not cut(left, sought).found
    assert left_of(left, *sought) == left
    assert set(claims) >= result.found
    pieces = sorted([*kept(text, result.spans), *result.spans])
    assert "".join(text[start:end] for start, end in pieces) == text


@given(TEXTS.map("".join), CLAIMS, st.randoms())
def test_the_order_of_claims_takes_out_nothing_else(
    text: str, claims: list[str], random: Any
) -> None:
    shuffled = list(claims)
    random.shuffle(shuffled)

    assert cut(text, shuffled) == cut(text, claims)


@given(st.text(max_size=60), st.lists(st.text(max_size=8), max_size=5))
def test_no_text_and_no_claim_is_too_odd_to_be_looked_for(text: str, claims: list[str]) -> None:
    result = cut(text, claims)

    assert result.found <= set(claims)
    assert result.remaining <= set(claims)


@pytest.mark.extended
@pytest.mark.parametrize(
    "text",
    [
        "lorem ipsum dolor sit amet consectetur " * 8_000,
        "a" * 300_000,
        "a " * 150_000,
        "\n> " * 100_000,
        "1.1." * 75_000,
    ],
)
def test_a_long_text_and_two_hundred_claims_take_seconds_at_most(text: str) -> None:
    claims = ["a a b", "1.1", *("a " * number + "c" for number in range(1, 199))]
    started = time.process_time()

    cut(text, claims)

    assert time.process_time() - started < 30


def test_a_word_that_stands_everywhere_is_not_taken_out() -> None:
    result = cut("so it is " * 3_000, ["it"])

    assert result.remaining == {"it"}
    assert not result.spans


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfBefore.\r\nBuy the company now.\r\nAfter.\r\n",
        b"Latin-1: \xe9\xe8.\nBuy the company now.\n",
        "\ufeffBuy the company now. é\r\n".encode("utf-16-le"),
        "\ufeffBuy the company now. é\r\n".encode("utf-16-be"),
        "\ufeffé Buy the company now.".encode("utf-32-le"),
        b"No end of line, and Buy the company now.",
    ],
)
def test_every_other_byte_of_a_file_stays(content: bytes) -> None:
    codecs = ("utf-8", "utf-16-be", "utf-16-le", "utf-32-le")
    advice = next(said for codec in codecs if (said := ADVICE.encode(codec)) in content)

    result = pruned({"report.md": content}, ADVICE)

    assert result.contents == {"report.md": content.replace(advice, b"")}
    assert result.gone == {ADVICE}


@pytest.mark.parametrize(
    ("path", "content", "left"),
    [
        ("a.json", '{"advice": "Buy the company now.", "n": 1}', '{"advice": "", "n": 1}'),
        ("a.csv", "year,advice\n2024,Buy the company now.\n", "year,advice\n2024,\n"),
        ("a.yaml", "advice: Buy the company now.\n", "advice: \n"),
        ("a.py", 'x = "Buy the company now."\n', 'x = ""\n'),
        ("a.html", "<p>Buy the company now.</p>", "<p></p>"),
    ],
)
def test_a_claim_leaves_a_file_of_any_form(path: str, content: str, left: str) -> None:
    result = pruned({path: content}, ADVICE)

    assert result.contents == {path: left.encode()}
    assert result.gone == {ADVICE}


@pytest.mark.parametrize(
    ("path", "content", "claim"),
    [
        ("a.json", '{"a": "She said \\"go\\"."}', 'She said "go"'),
        ("a.json", '{"a": "Umsatz gr\\u00f6\\u00dfer."}', "Umsatz größer"),
        ("a.html", "<p>R&amp;D is &lt; 5 %</p>", "R&D is < 5 %"),
    ],
)
def test_a_claim_is_found_as_its_file_spells_it(path: str, content: str, claim: str) -> None:
    assert pruned({path: content}, claim).gone == {claim}


def test_a_file_that_would_lose_its_form_stays_and_so_does_the_claim() -> None:
    result = pruned({"a.json": '{"a": 1}', "b.md": 'So "a": 1}'}, '"a": 1}')

    assert result.contents == {"b.md": b"So "}
    assert (result.gone, result.hindered) == (frozenset(), ("a.json",))


@pytest.mark.parametrize(
    ("output", "files", "hindered"),
    [
        (ADVICE, {}, ("",)),
        (f"- {ADVICE}\n", {"a.png": b"\x89PNG\r\n\x1a\n\0"}, ("",)),
        ("So.", {"a.md": f"# {ADVICE}\n"}, ("a.md",)),
        (ADVICE, {"a.md": ADVICE}, ("", "a.md")),
        # The output only tells of a file that still says something.
        (ADVICE, {"a.md": f"So. {ADVICE}"}, ()),
        (f"So. {ADVICE}", {}, ()),
    ],
)
def test_a_text_of_which_nothing_would_be_left_stays(
    output: str, files: dict[str, Any], hindered: tuple[str, ...]
) -> None:
    asked = case(files=files, output=output)

    result = prune(texts_of(asked, MemoryWorkspace(files)), [ADVICE], InProcessProbe())

    assert result.hindered == hindered
    assert result.gone == (frozenset() if hindered else {ADVICE})
    assert not set(result.contents) & set(hindered)


def test_a_claim_that_stands_nowhere_was_never_taken_out() -> None:
    result = pruned({"a.md": "It rains."}, ADVICE)

    assert result == Pruning()


@pytest.mark.parametrize("start", [b"%PDF-1.7\n", b"PK\x03\x04"])
def test_where_a_document_cannot_be_looked_into_nothing_is_surely_gone(start: bytes) -> None:
    result = pruned({"a.md": f"So. {ADVICE}", "b.pdf": start + b"\0\1"}, ADVICE)

    assert (result.gone, result.hindered) == (frozenset(), ("b.pdf",))


def test_an_image_beside_it_hinders_nothing() -> None:
    result = pruned({"a.md": f"So. {ADVICE}", "b.png": b"\x89PNG\r\n\x1a\n\0"}, ADVICE)

    assert result.gone == {ADVICE}


class LosingProbe(InProcessProbe):
    def syntax(
        self, sources: Sequence[tuple[str, bytes]]
    ) -> Sequence[Sequence[SyntaxProblem] | NotInspected]:
        return [NotInspected("The probe ended.") for _ in sources]


def test_a_lost_look_at_a_file_is_no_answer() -> None:
    with pytest.raises(CouldNotInspect):
        pruned({"a.json": '{"advice": "Buy the company now."}'}, ADVICE, probe=LosingProbe())


def test_the_rest_of_the_work_is_a_case_of_its_own() -> None:
    files = {"a.md": ADVICE, "b.md": "It rains."}
    asked = case(files=files, output=ADVICE)

    rest, reach = changed(asked, ports(files), {"a.md": b"-", "": b"+"})

    assert (rest.submission.output, reach.workspace.read("a.md")) == ("+", b"-")
    assert reach.workspace.read("b.md") == b"It rains."
    assert rest.submission.files == MemoryWorkspace({**files, "a.md": "-"}).files
