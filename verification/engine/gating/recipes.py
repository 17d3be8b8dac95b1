"""How each language is installed, built, tried and looked at, where nobody says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from verification.engine.gating.components import Component, Language, Read
from verification.engine.gating.recipe_dotnet import dotnet
from verification.engine.gating.recipe_go import go
from verification.engine.gating.recipe_java import java
from verification.engine.gating.recipe_node import node
from verification.engine.gating.recipe_php import php
from verification.engine.gating.recipe_python import python
from verification.engine.gating.recipe_ruby import ruby
from verification.engine.gating.recipe_rust import rust
from verification.engine.gating.stages import SECONDS, Install, Part, Stage

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


def part_of(component: Component, files: Files) -> Part:
    """A component with what is run for it; a language without a recipe has nothing to run."""
    recipe = RECIPES.get(component.language)
    if recipe is None:
        why = f"There are no commands for {component.language}."
        stages = tuple(Stage(gate, skipped=why) for gate in SECONDS if gate != "install")
        return Part(component, Install(), stages)
    return recipe(component, files.paths, files.read)
