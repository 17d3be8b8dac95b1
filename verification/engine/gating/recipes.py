"""How each language is installed, built, tried and looked at, where nobody says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from verification.engine.gating.components import Component, Language, Read
from verification.engine.gating.looking import look
from verification.engine.gating.recipe_dotnet import dotnet
from verification.engine.gating.recipe_go import go
from verification.engine.gating.recipe_java import java
from verification.engine.gating.recipe_node import node
from verification.engine.gating.recipe_php import php
from verification.engine.gating.recipe_python import python
from verification.engine.gating.recipe_ruby import ruby
from verification.engine.gating.recipe_rust import rust
from verification.engine.gating.stages import INSTALL, SECONDS, SECURITY, Install, Part, Stage

__all__ = ["Files", "part_of"]


@dataclass(frozen=True, slots=True)
class Files:
    """The workspace: all its paths, and their contents."""

    paths: Sequence[str]
    read: Read


Recipe = Callable[[Component, Sequence[str], Read], Part]
RECIPES: Mapping[Language, Recipe] = {
    Language.PYTHON: python,
    Language.NODE: node,
    Language.GO: go,
    Language.RUST: rust,
    Language.JAVA: java,
    Language.RUBY: ruby,
    Language.PHP: php,
    Language.DOTNET: dotnet,
}


def part_of(component: Component, files: Files, components: Sequence[Component] = ()) -> Part:
    """A component with what is run for it, and what looks at it whatever its language.

    `components` are all that are tried, so that none is looked at twice.
    """
    recipe = RECIPES.get(component.language, _without_recipe)
    part = recipe(component, files.paths, files.read)
    return replace(part, stages=(*part.stages, look(component, components)))


def _without_recipe(component: Component, _paths: Sequence[str], _read: Read) -> Part:
    why = f"There are no commands for {component.language}."
    gates = (gate for gate in SECONDS if gate not in (INSTALL, SECURITY))
    return Part(component, Install(), tuple(Stage(gate, skipped=why) for gate in gates))
