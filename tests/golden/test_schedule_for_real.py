"""With the real relay, a real worker and a real mail server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.reviews.mail_server import running_mail_server
from tests.stack import Stack, running_stack, wait_for

WANTS_MAILS = """
    with reader as (
        update accounts_user set email = 'ada@example.org' where username = 'admin' returning id
    )
    insert into golden_goldennotice (member_id, created_at)
    select member.id, now() from accounts_member member join reader on reader.id = user_id
    returning id
"""
BREAKS = """
    update golden_goldencaseversion set spec = jsonb_set(spec, '{expected}', '{"tier_achieved": 0}')
    where id = (select min(current_id) from golden_goldencase where not 'canary' = any(tags))
    returning id
"""
AT_MIDNIGHT = """
    insert into golden_goldenschedule (project_id, is_enabled, hour, tags)
    select id, true, 0, '{}' from accounts_project where slug = 'default' returning id
"""
NIGHT = """
import django; django.setup()
from verification.golden.tasks import start_nightly
start_nightly.delay()
"""


def state_of(stack: Stack) -> list[tuple[str]]:
    return stack.query("select state from golden_replay where purpose = 'nightly'")


@pytest.mark.extended
def test_a_case_that_regressed_at_night_is_one_mail_to_who_wants_it(tmp_path: Path) -> None:
    folder = tmp_path / "stack"
    folder.mkdir()
    with running_mail_server() as mail_server:
        variables = {"EMAIL_URL": f"smtp://127.0.0.1:{mail_server.port}/"}
        names = ("web", "worker-bulk", "relay")
        with running_stack(folder, *names, variables=variables) as stack:
            stack.query(WANTS_MAILS)
            stack.query(BREAKS)
            stack.query(AT_MIDNIGHT)
            subprocess.run([sys.executable, "-c", NIGHT], env=stack.environment, check=True)

            wait_for(lambda: state_of(stack) == [("finished",)], "the night's replay")
            wait_for(lambda: mail_server.mails, "the mail")
            told = "select told_until from golden_goldennotice where told_until is not null"
            wait_for(lambda: stack.query(told), "the note of it")

            [letter] = mail_server.mails
            [[replay]] = stack.query("select uuid from golden_replay where purpose = 'nightly'")
            text = str(letter.get_content())
            assert letter["To"] == "ada@example.org"
            assert f"{stack.url}/p/default/golden/replays/{replay}/" in text
            events = "select count(*) from runs_outboxevent where topic = 'golden.regressed'"
            assert stack.query(events) == [(1,)]
