"""What rooms above accounts add to a new project: they register it in `AppConfig.ready()`."""

from __future__ import annotations

from typing import Protocol

from loomverify.accounts.models import Project


class ProjectCallback(Protocol):
    def __call__(self, *, project: Project) -> object: ...


_on_project_created: list[ProjectCallback] = []


def on_project_created(callback: ProjectCallback) -> None:
    """Call `callback(project=…)` inside the transaction that creates each project."""
    if callback not in _on_project_created:
        _on_project_created.append(callback)


def project_created(project: Project) -> None:
    for callback in _on_project_created:
        callback(project=project)
