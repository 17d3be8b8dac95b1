"""Rules of a draft as forms: each field that changes is a span of the YAML that changes."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from loomverify.accounts.access import AccessRequest
from processes import rule_edits, selectors
from processes.definition.load import load
from processes.definition.model import Definition, Rule
from processes.definition.patch import Append, Remove
from processes.forms import RuleForm
from processes.models import Draft
from processes.renames import published_rule
from processes.sent import differences
from processes.trying import tried
from processes.views.access import back_to, draft_form, draft_page
from processes.views.drafts import PAGE, draft_context
from processes.views.saving import SAVED, STALE, Change, acted, saved, shown_lock


@never_cache
@require_http_methods(PAGE)
@draft_form
def draft_rule(request: AccessRequest, draft: Draft, index: int) -> HttpResponse:
    definition = load(draft.source_text).definition
    if definition is None:
        return _rule_page(request, draft, None, index=index)
    seen_name = request.POST.get("seen_name")
    rule = _rule(definition, index, seen_name)
    if rule is None and seen_name is None:
        raise Http404
    form = RuleForm(request.POST or None, definition=definition, rule=rule)
    if request.method != "POST" or not form.is_valid() or "try" in request.POST:
        return _rule_page(request, draft, form, index=index)
    values = form.values()

    def change(source: str) -> str:
        text = rule_edits.text_of(source)
        found = text.rule(index, seen_name or "")
        return text.patched(rule_edits.rule_edits(text, found, values))

    return _save(request, draft, form, change, index=index)


@never_cache
@require_http_methods(PAGE)
@draft_form
def draft_rule_new(request: AccessRequest, draft: Draft) -> HttpResponse:
    definition = load(draft.source_text).definition
    if definition is None:
        return _rule_page(request, draft, None)
    form = RuleForm(request.POST or None, definition=definition)
    if request.method != "POST" or not form.is_valid() or "try" in request.POST:
        return _rule_page(request, draft, form)
    added = rule_edits.new_rule(form.values())
    return _save(request, draft, form, lambda source: _with_rule(source, added))


def _with_rule(source: str, added: dict[str, Any]) -> str:
    return rule_edits.text_of(source).patched([Append(rule_edits.RULES, added)])


@require_POST
@draft_page
def draft_rule_copy(request: AccessRequest, draft: Draft, index: int) -> HttpResponse:
    """The copy stands at the end, under a name of its own, with all that the file writes."""
    seen_name = request.POST.get("seen_name", "")

    def change(source: str) -> str:
        text = rule_edits.text_of(source)
        rule = text.rule(index, seen_name)
        written = dict(text.written(rule_edits.path_of(rule.path)) or {})
        written.pop("id", None)
        written = {"name": _free_name(rule.name, text.definition), **written}
        written["name"] = _free_name(rule.name, text.definition)
        written.setdefault("applies_to_phases", list(rule.applies_to_phases) or ["*"])
        return text.patched([Append(rule_edits.RULES, written)])

    return acted(
        request,
        draft,
        change,
        f"{seen_name} is copied; its copy stands at the end.",
        back="draft_rules",
    )


@require_POST
@draft_page
def draft_rule_delete(request: AccessRequest, draft: Draft, index: int) -> HttpResponse:
    seen_name = request.POST.get("seen_name", "")

    def change(source: str) -> str:
        text = rule_edits.text_of(source)
        path = rule_edits.path_of(text.rule(index, seen_name).path)
        return text.patched([Remove(path)])

    return acted(
        request, draft, change, f"{seen_name} is deleted. Undo brings it back.", back="draft_rules"
    )


@require_POST
@draft_page
def draft_rule_try(request: AccessRequest, draft: Draft) -> HttpResponse:
    """The pattern on the examples, while both are typed. Nothing is stored."""
    return render(request, "processes/_tried.html", {"tried": tried(request.POST, draft)})


def _rule(definition: Definition, index: int, seen_name: str | None) -> Rule | None:
    rule = definition.rules[index] if index < len(definition.rules) else None
    return rule if rule and seen_name in (None, rule.name) else None


def _free_name(name: str, definition: Definition) -> str:
    taken = {rule.name for rule in definition.rules}
    names = (f"{name[:180]}-{number}" for number in range(2, len(taken) + 3))
    return next(one for one in names if one not in taken)


def _save(
    request: AccessRequest,
    draft: Draft,
    form: RuleForm,
    change: Change,
    *,
    index: int | None = None,
) -> HttpResponse:
    status = saved(request, draft, form, change)
    if status != SAVED:
        return _rule_page(
            request, draft, form, index=index, is_stale=status == STALE, status=status
        )
    messages.success(request, f"{form.cleaned_data['name']} is saved in your draft.")
    return back_to("draft_rules", draft)


def _rule_page(
    request: AccessRequest,
    draft: Draft,
    form: RuleForm | None,
    *,
    index: int | None = None,
    is_stale: bool = False,
    status: int = 200,
) -> HttpResponse:
    """A stale form keeps what was typed, and shows what the saved rule says otherwise."""
    stored = selectors.draft_of(draft.process, request.user) or draft
    names = {"project": request.access.project.slug, "slug": draft.process.slug}
    if form is not None and form.is_bound and form.errors and status == 200:
        status = 422
    context = {
        **draft_context(stored, "rules"),
        "form": form,
        "rule": form.rule if form else None,
        "is_stale": is_stale,
        "lock_version": shown_lock(request, stored, status),
        "differences": _differences(stored, form, index) if is_stale and form else [],
        "tried": tried(request.POST, draft)
        if request.method == "POST"
        else form and tried_of(form, draft),
        "published": published_rule(draft, form.rule.name) if form and form.rule else None,
        "action": reverse("draft_rule_new", kwargs=names)
        if index is None or (is_stale and form and form.rule is None)
        else reverse("draft_rule", kwargs={**names, "index": index}),
    }
    return render(request, "processes/draft_rule.html", context, status=status)


def tried_of(form: RuleForm, draft: Draft) -> Any:
    """The examples that the file has, tried on the pattern that it has."""
    sent = QueryDict(mutable=True)
    sent.update({key: str(form[key].value() or "") for key in ("name", "type", "check", "expect")})
    count = form["min_count"].value()
    sent["min_count"] = "" if count is None else str(count)
    if form["requires_exact_cardinality"].value():
        sent["requires_exact_cardinality"] = "on"
    for key, texts in form.examples.items():
        sent.setlist(f"example_{key}", texts)
    if form.rule:
        sent["seen_name"] = form.rule.name
    return tried(sent, draft)


def _differences(stored: Draft, form: RuleForm, index: int | None) -> list[dict[str, Any]]:
    definition = load(stored.source_text).definition
    if definition is None or index is None or index >= len(definition.rules):
        return []
    rule = definition.rules[index]
    saved = {
        **rule.spec,
        "enforcement": rule.enforcement or "",
        "applies_to_phases": list(rule.applies_to_phases),
    }
    return differences(saved, form.values()) if form.is_valid() else []
