"""With the real relay, a real worker and a real mail server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reviews.mail_server import running_mail_server
from tests.runs.conftest import body_of
from tests.stack import running_stack, wait_for

WANTS_MAILS = """
    with reader as (
        update accounts_user set email = 'ada@example.org' where username = 'admin' returning id
    )
    insert into reviews_noticepreference (member_id, notice, min_urgency)
    select member.id, 'at_once', 0 from accounts_member member join reader on reader.id = user_id
    returning id
"""


@pytest.mark.extended
def test_a_flagged_run_is_one_mail_to_the_reviewer_who_wants_it(tmp_path: Path) -> None:
    folder = tmp_path / "stack"
    folder.mkdir()
    with running_mail_server() as mail_server:
        variables = {"EMAIL_URL": f"smtp://127.0.0.1:{mail_server.port}/"}
        with running_stack(folder, variables=variables) as stack, stack.client() as client:
            stack.query(WANTS_MAILS)

            run = client.post("/runs?wait=60", json=body_of(tier=2)).json()
            assert run["review"]["state"] == "pending"
            wait_for(lambda: mail_server.mails, "the mail")
            sent_at = "select sent_at from reviews_noticepreference where sent_at is not null"
            wait_for(lambda: stack.query(sent_at), "the note of it")

            [letter] = mail_server.mails
            text = str(letter.get_content())
            [[review]] = stack.query("select uuid from runs_review")
            assert letter["To"] == "ada@example.org"
            assert f"{stack.url}/p/default/review/{review}/" in text
            assert "no judge is configured" in text
