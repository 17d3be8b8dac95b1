"""How each language is installed, built, tried and looked at, where nobody says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from verification.engine.gating.components import Component, Language, Read
from verification.engine.gating.looking import look
from verification.engine.gating.packages import with_workspace
from verification.engine.gating.recipe_dotnet import dotnet
from verification.engine.gating.recipe_go import go
from verification.engine.gating.recipe_java import java
from verification.engine.gating.recipe_make import make
from verification.engine.gating.recipe_node import node
from verification.engine.gating.recipe_php import php
from verification.engine.gating.recipe_python import python, without_inner
from verification.engine.gating.recipe_ruby import ruby
from verification.engine.gating.recipe_rust import rust
from verification.engine.gating.stages import Part

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
    Language.MAKE: make,
}


def part_of(component: Component, files: Files, components: Sequence[Component] = ()) -> Part:
    """A component with what is run for it, and what looks at it whatever its language.

    `components` are all that are tried, so that none is looked at twice.
    """
    part = RECIPES[component.language](component, files.paths, files.read)
    part = with_workspace(part, components, files.paths, files.read)
    part = without_inner(part, components, files.paths)
    return replace(part, stages=(*part.stages, look(component, components)))
