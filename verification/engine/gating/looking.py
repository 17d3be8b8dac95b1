"""What looks for dangers, secrets and bad patterns, in work of every language."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from verification.engine.gating.components import Component
from verification.engine.gating.stages import SECURITY, TOOLS, Expected, Stage, workdir
from verification.engine.reports.model import WORKSPACE
from verification.engine.reports.problems import ProblemFormat

LOOK = (f"{TOOLS}/python/bin/python", "-Es", f"{TOOLS}/look.py")


def look(component: Component, components: Sequence[Component] = ()) -> Stage:
    """Each file is looked at once, with the nearest component above it; those of none with the upmost.

    `components` are all that are tried; none: there is but this one.
    """
    known = components or (component,)
    here = next(one for one in known if one.folder == component.folder)
    if here != component:
        return Stage(SECURITY, skipped=f"Its folder is looked at with {here.name}.")
    upmost = min(known, key=lambda one: (one.folder.count("/"), bool(one.folder)))
    folder = WORKSPACE if component == upmost else workdir(component)
    below = {workdir(one) for one in known if workdir(one).startswith(f"{folder}/")}
    words = [*LOOK, folder, *sorted(below - {workdir(component)})]
    return Stage(SECURITY, shlex.join(words), Expected(ProblemFormat.SARIF), is_apart=True)
