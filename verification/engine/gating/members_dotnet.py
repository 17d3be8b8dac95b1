"""Projects that a solution of .NET builds in each of its configurations."""

from __future__ import annotations

from collections.abc import Iterator

import re2

_PROJECT = re2.compile(r'Project\("[^"]*"\) = "[^"]*", "([^"]*proj)", "(\{[^"{}]*\})"')
_SECTION = re2.compile(r"GlobalSection\((\w+)\)")
_CONFIGURATIONS, _BUILT = "SolutionConfigurationPlatforms", "ProjectConfigurationPlatforms"


def built_projects(content: bytes) -> Iterator[str]:
    """Paths of project files. One that a configuration leaves out may be left out."""
    projects: dict[str, str] = {}
    said: dict[str, set[str]] = {_CONFIGURATIONS: set(), _BUILT: set()}
    section = ""
    for line in map(str.strip, content.decode("utf-8-sig", errors="replace").split("\n")):
        opened = _SECTION.match(line)
        project = _PROJECT.match(line)
        if opened or line == "EndGlobalSection":
            section = opened.group(1) if opened else ""
        elif project and not section:
            projects[project.group(2).upper()] = project.group(1).replace("\\", "/")
        elif section in said and "=" in line:
            said[section].add(line.partition("=")[0].strip().upper())
    configurations = said[_CONFIGURATIONS]
    for key, path in projects.items():
        if configurations and all(f"{key}.{one}.BUILD.0" in said[_BUILT] for one in configurations):
            yield path
