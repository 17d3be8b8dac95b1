"""What every page needs: the frame around it, outcome badges, short times and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from loomverify.accounts.access import Access
from loomverify.accounts.models import Member
from processes import texts
from verification.adapters.viewing_text import HIDDEN
from verification.engine.gates import called
from verification.runs import wording
from verification.runs.selectors import waiting_words

register = template.Library()
register.filter("plain", texts.plain)
MARKS = {"same": ("", ""), "del": ("<del>", "</del>"), "ins": ("<ins>", "</ins>")}

SECTIONS = (
    ("Overview", "overview"),
    ("Runs", "run_list"),
    ("Review", "review_queue"),
    ("Remediations", "remediation_list"),
    ("Landing", "action_list"),
    ("Shadow", "trial_list"),
    ("Corpus", "golden_cases"),
    ("Processes", "process_list"),
    ("Rules", "rule_search"),
    ("Settings", "project_settings"),
)
BELOW = {"trial_list": "acceptance"}
"""Of a section, the page that has an address of its own beside it."""
PERSONAL = (("Account", "account"), ("Projects", "project_list"), ("Administration", "admin:index"))


@register.simple_tag(takes_context=True)
def site_frame(context: dict[str, Any]) -> dict[str, Any]:
    """Navigation, the projects of the signed-in user and what is theirs: only what exists."""
    request = context.get("request")
    user = getattr(request, "user", None)
    if request is None or user is None or not user.is_authenticated:
        return {"home": "/"}
    access: Access | None = getattr(request, "access", None)
    members = Member.objects.filter(user=user).select_related("project").order_by("project__name")
    projects = [
        {
            "name": member.project.name,
            "url": _url("overview", project=member.project.slug),
            "is_current": access is not None and access.project.pk == member.project_id,
        }
        for member in members
    ]
    return {
        "home": _url("overview", project=access.project.slug) if access else "/",
        "projects": projects,
        "current": access.project if access else None,
        "sections": _sections(access, request.path) if access else [],
        "personal": _links(is_staff=user.is_staff),
        "sign_out": _url("sign_out"),
    }


def _sections(access: Access, path: str) -> list[dict[str, Any]]:
    found = []
    for label, name in SECTIONS:
        url = _url(name, project=access.project.slug)
        if url:
            below = _url(BELOW[name], project=access.project.slug) if name in BELOW else ""
            at = (url, below) if below else url
            current = path == url if name == "overview" else path.startswith(at)
            waiting = waiting_words(access.project) if name == "review_queue" else None
            found.append({"label": label, "url": url, "is_current": current, "waiting": waiting})
    return found


def _links(*, is_staff: bool) -> list[dict[str, str]]:
    links = [{"label": label, "url": _url(name)} for label, name in PERSONAL]
    return [link for link in links if link["url"] and (is_staff or link["label"] != PERSONAL[2][0])]


def _url(name: str, **kwargs: Any) -> str:
    """The address, or nothing where this room is not built yet."""
    try:
        return reverse(name, kwargs=kwargs)
    except NoReverseMatch:
        return ""


@register.simple_tag
def outcome_badge(judged: Any) -> SafeString:
    """The badge of a run or of an evaluation."""
    if getattr(judged, "is_in_doubt", False):
        return badge(wording.IN_DOUBT)
    return badge(wording.badge(judged.outcome, judged.verdict, getattr(judged, "state", "")))


@register.simple_tag
@cache
def badge(badge: wording.Badge) -> SafeString:
    """There are some twenty badges: each is drawn once."""
    return render_to_string("_outcome.html", {"badge": badge})


@register.filter
def at(values: Sequence[Any], index: int) -> Any:
    return values[index]


@register.filter
def words(code: str) -> str:
    """A value of the contract, as people say it."""
    return str(code).replace("_", " ")


@register.filter
def reason(code: str) -> str:
    return wording.reason(code)


@register.filter
def shown(text: object) -> SafeString:
    """Hostile text: escaped, and characters that reorder or hide it made visible."""
    escaped = escape(str(text))
    return mark_safe(  # noqa: S308 - escaped above; the replacement holds hex digits alone
        HIDDEN.sub(lambda found: f'<span class="ctl">U+{ord(found[0]):04X}</span>', str(escaped))
    )


@register.filter
def component(name: str) -> str:
    """Where gates ran: the language alone, where all of the work is one component's."""
    return called(name) or "the work"


@register.filter
def marked(pieces: Sequence[texts.Piece]) -> SafeString:
    """Hostile text with the words that went and came; thousands of lines may stand on a page."""
    told = ((MARKS[piece.kind], shown(piece.text)) for piece in pieces)
    return mark_safe("".join(f"{mark[0]}{text}{mark[1]}" for mark, text in told))  # noqa: S308 - each escaped


@register.filter
def visible(text: object) -> str:
    """The same where no markup may stand, as in a title or an attribute."""
    return HIDDEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", str(text))


@register.simple_tag
def when(at: datetime | None, *, now: datetime | None = None) -> SafeString | str:
    """How long ago, with the full time as title."""
    if at is None:
        return ""
    full = at.astimezone(UTC)
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>',
        full.isoformat(timespec="seconds"),
        f"{full:%Y-%m-%d %H:%M:%S}",
        ago((now or timezone.now()) - at),
    )


@register.filter
def clock(at: datetime) -> str:
    return f"{at.astimezone(UTC):%H:%M:%S}"


def ago(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    if seconds < 5:
        return "now"
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "now"


@register.filter
def age(at: datetime) -> str:
    return ago(max(timezone.now() - at, timedelta(seconds=5))).removesuffix(" ago")


@register.filter
def usd(amount: Decimal | float | None) -> str:
    """Dollars with as many places as say something; `free` for none."""
    value = Decimal(amount or 0)
    if not value:
        return "free"
    return f"${value:,.2f}" if value >= 1 else f"${value:.4f}"


@register.filter
def dollars(amount: Decimal | None) -> str:
    value = Decimal(amount or 0)
    return f"${value:,.4f}" if 0 < value < 1 else f"${value:,.2f}"


@register.filter
def ms(duration: int | None) -> str:
    """A duration given in milliseconds."""
    if duration is None:
        return ""
    if duration < 1000:
        return f"{duration} ms"
    return f"{duration / 1000:.1f} s" if duration < 60_000 else f"{duration / 60_000:.1f} min"


@register.filter
def took(run: Any) -> str:
    if not run.finished_at:
        return ""
    return ms(int((run.finished_at - run.created_at).total_seconds() * 1000))


@register.filter
def size(count: int | None) -> str:
    """A size given in bytes."""
    if count is None:
        return ""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


@register.filter
def percent(share: float) -> str:
    """A share of 0 to 1. Never rounded to nothing or to everything."""
    if 0 < share < 0.001:
        return "<0.1 %"
    if 0.999 < share < 1:
        return ">99.9 %"
    return f"{share * 100:.0f} %" if share in (0, 1) else f"{share * 100:.1f} %"


@register.simple_tag(takes_context=True)
def query_with(context: dict[str, Any], **changes: Any) -> str:
    """The page's query with changes; an empty value takes a parameter away."""
    query = context["request"].GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value not in (None, ""):
            query[name] = str(value)
    for name in [name for name in query if not query[name]]:
        query.pop(name)
    return f"?{query.urlencode()}" if query else "?"


MATERIAL = ("at", "show", "file", "evidence", "made", "view", "sheet", "rows", "page", "places")


@register.simple_tag(takes_context=True)
def look(context: dict[str, Any], **place: Any) -> str:
    """The page's query, looking at another place of the material."""
    return query_with(context, **{name: place.get(name) for name in MATERIAL})


@register.simple_tag
def site_link(name: str, project: str) -> str:
    """The address of a project's page, or nothing where there is no such page."""
    return _url(name, project=project)


@register.filter
def unlocalized(value: float) -> str:
    """A number for an attribute."""
    return f"{value:.4f}".rstrip("0").rstrip(".")
