"""A project with runs of every kind, some of them hostile."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import Project, Role, User
from tests.builders import (
    SOURCE_TEXT,
    add_version,
    evaluate,
    generate_runs,
    make_project,
    make_run,
    make_task,
    make_user,
)
from verification.engine.outcome import Outcome, Verdict
from verification.runs.models import Run, RunState

LONG_WORD = "Incomprehensibilities" * 500
MARKUP = "<script>document.title='owned'</script>\"><img src=x onerror=\"document.title='owned'\">"
TURNED = "invoice\u202efdp.exe"
OUTPUT = "# Figures\n\nRevenue rose. TODO: name the source.\nCosts fell.\n"
FIGURES = b'{\n  "revenue": 1200,\n  "cost":\n}\n'


@dataclass
class Scene:
    project: Project
    rejected: Run
    running: Run
    hostile: Run

    def member(self, role: Role) -> User:
        return make_user(self.project, role)

    @property
    def paths(self) -> list[str]:
        """Every page there is to read."""
        slug = self.project.slug
        process = reverse("process_detail", args=[slug, "small-work"])
        rejected = reverse("run_detail", args=[slug, self.rejected.uuid])
        return [
            reverse("overview", args=[slug]),
            reverse("overview", args=[slug]) + "?since=90d&process=small-work",
            reverse("run_list", args=[slug]),
            reverse("run_list", args=[slug]) + "?outcome=fail&reason_code=syntax_invalid&q=work",
            reverse("run_list", args=[slug]) + "?q=nothing",
            rejected,
            *(f"{rejected}?{query}" for query in ("at=2", "show=tools", "show=diff")),
            reverse("run_detail", args=[slug, self.running.uuid]),
            *(
                reverse("run_detail", args=[slug, self.hostile.uuid]) + query
                for query in ("", "?at=2", "?show=tools")
            ),
            reverse("run_file_page", args=[slug, self.rejected.uuid, "figures.json"]),
            reverse("run_file_page", args=[slug, self.hostile.uuid, "a/<img src=x>.txt"]),
            reverse("process_list", args=[slug]),
            *(f"{process}?view={view}" for view in ("matrix", "rules", "phases", "source")),
            reverse("process_compare", args=[slug, "small-work"]) + "?a=1&b=2",
        ]


def make_scene() -> Scene:
    project = make_project()
    process = project.processes.get()
    add_version(process, SOURCE_TEXT.replace('"TODO|TBD"', '"TODO|TBD|FIXME"'))
    generate_runs(project, 60)
    task = make_task(process)
    now = timezone.now()
    make_run(project, task=task, output="# Figures\n", created_at=now - timedelta(hours=2))
    rejected = make_run(
        project,
        task=task,
        title="Collect the figures",
        created_at=now - timedelta(minutes=2),
        outcome=Outcome.FAIL,
        reason_code="syntax_invalid",
        output=OUTPUT,
        files={"figures.json": FIGURES},
        body={"tool_calls": [{"tool": "web_fetch", "success": False, "error": "404"}]},
        findings=[
            {"rule": "deliverables", "path": "figures.json", "line": 4, "message": "No value."},
            {"enforcement": "advisory", "line": 3, "quote": "TODO", "message": "TODO is left."},
            {"enforcement": "advisory", "place": {"tool_call": 0}, "target": ""},
        ],
        evaluation={"feedback": {"text": "Give cost a value.", "items": []}, "action": "retry"},
    )
    evaluate(rejected, purpose="shadow", outcome="pass", verdict="accept", reason_code="")
    running = make_run(project, state=RunState.RUNNING, title="Still going")
    make_run(project, outcome=Outcome.PARTIAL_VERIFIED, verdict=Verdict.UNDECIDED)
    return Scene(project, rejected, running, _hostile(project))


def _hostile(project: Project) -> Run:
    return make_run(
        project,
        task=make_task(project.processes.get(), f"{MARKUP} {'t' * 100}"),
        title=f"{MARKUP} {TURNED} {'w' * 60}"[:200],
        created_at=timezone.now() - timedelta(minutes=1),
        outcome=Outcome.FAIL,
        reason_code="rule_violated",
        output=f"{MARKUP}\n{TURNED}\n{LONG_WORD}\n",
        files={"a/<img src=x>.txt": f"{MARKUP}\n{LONG_WORD}".encode(), "x" * 300: b"x"},
        body={"tool_calls": [{"tool": MARKUP, "success": False, "error": LONG_WORD}]},
        findings=[
            {"rule": f"{MARKUP}{'r' * 90}"[:200], "message": f"{MARKUP} {LONG_WORD}"},
            {"path": "a/<img src=x>.txt", "line": 2, "message": TURNED, "quote": LONG_WORD},
        ],
        evaluation={
            "feedback": {"text": f"</pre>{MARKUP}{LONG_WORD}", "items": []},
            "rule_trace": [
                {"rule": MARKUP, "phase": "build", "applied": True, "reason": LONG_WORD[:500]}
            ],
        },
    )
