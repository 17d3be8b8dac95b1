"""What an endpoint hears of, and in which form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loomverify.accounts.models import Project
from loomverify.errors import InputError
from processes.models import Process
from verification.actions.formats import mail, status
from verification.actions.models import WebhookFormat
from verification.actions.targets import TargetRefused, allowed_target
from verification.runs import outbox
from verification.verifiers.selectors import may_be_named

MAX_PROCESSES = 50


@dataclass(frozen=True, slots=True)
class Subscription:
    """`processes` are slugs; none: events of all. `template` is JSON, '' for the usual one.

    `credential_reference` names the variable with the token that is sent along, '' for none.
    """

    url: str
    topics: Sequence[str]
    processes: Sequence[str] = ()
    format: str = WebhookFormat.EVENT
    template: str = ""
    credential_reference: str = ""

    def check(self, project: Project) -> None:
        """Raises `InputError`, `webhook.<what>`, with its place."""
        if self.format not in WebhookFormat.values:
            raise _refused("format_unknown", f"One of {', '.join(WebhookFormat.values)}.", "format")
        _check_topics(
            self.topics, status.TOPICS if self.format == WebhookFormat.STATUS else outbox.TOPICS
        )
        _check_processes(self.processes, project)
        if self.credential_reference and not may_be_named(self.credential_reference):
            said = "This is not the name of a variable that projects may name: LOOMVERIFY_KEY_…"
            raise _refused("credential_refused", said, "credential_reference")
        self._check_template()
        if self.format == WebhookFormat.MAIL:
            self._check_member(project)
            return
        try:
            allowed_target(self.url.replace("{commit}", status.NO_COMMIT))
        except TargetRefused as error:
            raise _refused("url_refused", str(error), "url") from error

    def _check_member(self, project: Project) -> None:
        if self.credential_reference:
            raise _refused("credential_refused", "A mail needs no token.", "credential_reference")
        try:
            mail.member_at(project, self.url)
        except mail.MailRefused as error:
            raise _refused("url_refused", str(error), "url") from error

    def _check_template(self) -> None:
        if self.format != WebhookFormat.STATUS:
            if self.template:
                said = "Only a commit's status is sent by a template."
                raise _refused("template_refused", said, "template")
            return
        for place, check, value in (
            ("url", status.check_url, self.url),
            ("template", status.checked, self.template),
        ):
            try:
                check(value)
            except status.TemplateRefused as error:
                raise _refused(f"{place}_refused", str(error), place) from error


def _check_topics(topics: Sequence[str], known: Sequence[str]) -> None:
    if not topics:
        raise _refused("no_topic", "Name at least one topic.", "topics")
    for index, topic in enumerate(topics):
        if topic not in known:
            said = f"There is no topic {topic[:60]}; there are {', '.join(known)}."
            raise _refused("topic_unknown", said, "topics", index)


def _check_processes(slugs: Sequence[str], project: Project) -> None:
    if len(slugs) > MAX_PROCESSES:
        raise _refused("too_many_processes", f"Name at most {MAX_PROCESSES}.", "processes")
    named = Process.objects.filter(project=project, slug__in=[one[:80] for one in slugs])
    known = set(named.values_list("slug", flat=True))
    for index, slug in enumerate(slugs):
        if slug not in known:
            said = f"This project has no process {slug[:80]}."
            raise _refused("process_unknown", said, "processes", index)


def _refused(code: str, said: str, *place: str | int) -> InputError:
    return InputError(f"webhook.{code}", said, loc=("body", *place))
