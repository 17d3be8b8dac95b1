from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.engine.claims.passages import passages
from verification.engine.claims.pruning import cut
from verification.engine.claims.settlement import ArtefactKind, CountedClaim
from verification.engine.claims.spans import kept, merged
from verification.engine.claims.submitted_texts import SubmittedText
from verification.engine.claims.synthesis import part, parted

REPORT = """\
# Report

Prices rose by 4 % (see e.g. the index). Rents will fall. Nobody knows why.

## Advice

- Buy the house.
- Wait until
  May.

## Outlook

It will rain.
"""


def claim(text: str, label: str = "unsupported", section: str = "other", *ids: str) -> CountedClaim:
    return CountedClaim(text, label, label, section, ids)


@pytest.mark.parametrize(
    ("text", "moved", "verified"),
    [
        # A sentence, with the space behind it.
        ("It rose. Rents will fall. So what?", "Rents will fall", "It rose. So what?"),
        # The whole sentence, where the claim is a part of it.
        ("It rose. We think that rents will fall soon. End.", "rents will fall", "It rose. End."),
        ("Dr. Ames and e.g. J. Smith agree. It holds.", "J. Smith agree", "It holds."),
        ("1. Buy.\n2. Wait.\n3. Sell.\n", "Wait.", "1. Buy.\n3. Sell.\n"),
        ("- Buy the\n  house.\n- Wait.\n", "Buy the house.", "- Wait.\n"),
        (
            "| a | b |\n|---|---|\n| x | Buy |\n| y | z |\n",
            "Buy",
            "| a | b |\n|---|---|\n| y | z |\n",
        ),
        # A heading under which nothing is left goes too, and so does the one above it.
        (
            "# A\n\nSo.\n\n# B\n\n## C\n\nBuy.\n\n# D\n\nEnd.\n",
            "Buy.",
            "# A\n\nSo.\n\n# D\n\nEnd.\n",
        ),
        # A heading that had nothing under it before stays.
        ("# A\n\n# B\n\nBuy. So.\n", "Buy.", "# A\n\n# B\n\nSo.\n"),
        ("収入は増えた。家を買う。", "家を買う", "収入は増えた。"),
        ("It rose.", "Rents will fall.", "It rose."),
        ("", "Rents will fall.", ""),
    ],
)
def test_the_passage_of_an_unconfirmed_claim_moves_whole(
    text: str, moved: str, verified: str
) -> None:
    assert part(text, [claim(moved)]).verified == verified


def test_a_confirmed_claim_stays_where_it_stands_in_the_same_sentence() -> None:
    claims = [claim("rents will fall"), claim("prices rose", "confirmed")]

    parts = part("Since prices rose, rents will fall. End.", claims)

    assert parts.verified == "Since prices rose, . End."


def test_the_appendix_names_each_claim_with_its_label_and_evidence_and_what_moved() -> None:
    claims = [
        claim("Buy the house.", "inferred", "recommendation", "e1", "e2"),
        claim("Rents will\nfall"),
        claim("Prices rose by 4 %", "confirmed", "supporting", "e1"),
        claim("It snows."),
    ]

    verified, appendix = parted([SubmittedText("", REPORT)], claims)

    assert verified.kind is ArtefactKind.VERIFIED_FINDINGS
    assert verified.content.decode() == REPORT.replace("- Buy the house.\n", "").replace(
        "Rents will fall. ", ""
    )
    assert appendix.kind is ArtefactKind.UNCONFIRMED_APPENDIX
    assert appendix.content.decode() == (
        "# Unconfirmed Appendix\n\n"
        "Nothing that was submitted confirms these claims.\n\n"
        "- Buy the house.\n  (inferred, recommendation, evidence: e1, e2)\n\n"
        "- Rents will fall\n  (unsupported, other, no evidence)\n\n"
        "- It snows.\n  (unsupported, other, no evidence, stands nowhere in the texts)\n\n"
        "## Where they stood\n\n"
        "Rents will fall. \n\n"
        "- Buy the house.\n"
    )


def test_each_text_is_parted_and_files_of_a_form_are_left_whole() -> None:
    texts = [
        SubmittedText("", "See the report."),
        SubmittedText("report.md", "It holds. Rents will fall."),
        SubmittedText("notes.txt", "It holds."),
        SubmittedText("table.csv", "Rents will fall."),
    ]

    made = parted(texts, [claim("Rents will fall.")])

    assert [(one.kind, one.path) for one in made] == [
        ("verified_findings", ""),
        ("unconfirmed_appendix", ""),
        ("verified_findings", "report.md"),
        ("unconfirmed_appendix", "report.md"),
    ]
    assert made[2].content == b"It holds. "


def test_parts_keep_the_encoding_of_their_file() -> None:
    text = SubmittedText("a.txt", "\ufeffÉté. Rents will fall.", "utf-16-le")

    verified, appendix = parted([text], [claim("Rents will fall.")])

    assert verified.content == "\ufeffÉté. ".encode("utf-16-le")
    assert "Rents will fall." in appendix.content.decode("utf-16-le")


PIECES = [
    "# a\n",
    "## b\n",
    "- ",
    "1. ",
    "| x |\n",
    "go.",
    "stay.",
    "go",
    " ",
    "\n",
    "\n\n",
    "e.g. ",
    "! ",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_nothing_is_lost_and_no_unconfirmed_claim_stands_among_what_holds(text: str) -> None:
    claims = [claim("go."), claim("stay", "confirmed"), claim("x")]

    parts = part(text, claims)

    assert not cut(parts.verified, {"go.", "x"} - parts.remaining).found
    assert "stay" not in "".join(text[start:end] for start, end in parts.spans if "go" not in text)
    assert merged(parts.spans) == parts.spans
    pieces = sorted([*kept(text, parts.spans), *parts.spans])
    assert "".join(text[start:end] for start, end in pieces) == text


@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_passages_are_the_whole_text(text: str) -> None:
    whole = passages(text)

    assert whole.starts[0] == 0
    assert list(whole.starts) == sorted(set(whole.starts))
    assert all(start < len(text) for start in whole.starts[1:])
    for at in range(len(text)):
        start, end = whole.around((at, at + 1))
        assert start <= at < end
