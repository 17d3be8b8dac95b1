"""What each parameter of a custom verifier is given: by its type, else by its name.

Annotations may be strings, stand under TYPE_CHECKING or name what only a closure holds.
"""

from __future__ import annotations

import functools
import inspect
import logging
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter
from typing import Any, Final

from loomverify import custom

SUBMISSION: Final = "submission"
OF_TYPE: Final[Mapping[Any, str]] = {
    custom.Submission: SUBMISSION,
    custom.Task: "task",
    custom.Workspace: "workspace",
    custom.Process: "process",
    custom.Phase: "phase",
    logging.Logger: "logger",
}
NAMES: Final = (*OF_TYPE.values(), "attempt")
_PUBLIC: Final = {name: getattr(custom, name) for name in custom.__all__} | {
    "Logger": logging.Logger
}
_ANYTHING: Final = (Parameter.empty, Any, object)
_POSITIONAL: Final = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


class CannotCall(Exception):
    """A verifier that nothing can be called with; the message names the parameter."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """An annotation that names what cannot be found."""

    text: str


@dataclass(frozen=True, slots=True)
class Model:
    """What the output is to be validated as."""

    annotation: Any


def arguments(
    verifier: Callable[..., Any],
    offered: Mapping[str, Any],
    validated: Callable[[Any], Any],
) -> tuple[list[Any], dict[str, Any]]:
    """Return what to call a verifier with. `validated` reads the output as an annotated model.

    Raises:
        CannotCall: a parameter that nothing can be given for.
    """
    by_position: list[Any] = []
    by_name: dict[str, Any] = {}
    for parameter, chosen in chosen_for(verifier):
        if isinstance(chosen, Model):
            value = validated(chosen.annotation)
        else:
            value = parameter.default if chosen is None else offered[chosen]
        if parameter.kind is Parameter.POSITIONAL_ONLY:
            by_position.append(value)
        else:
            by_name[parameter.name] = value
    return by_position, by_name


def chosen_for(verifier: Callable[..., Any]) -> list[tuple[Parameter, str | Model | None]]:
    """For each parameter what it is given: a name of `NAMES`, a model, or None for its default.

    Raises:
        CannotCall: a parameter that nothing can be given for.
    """
    parameters = _parameters(verifier)
    hints = _hints(verifier, parameters)
    return [
        (parameter, _choice(parameter, hints[parameter.name], is_first=position == 0))
        for position, parameter in enumerate(parameters)
    ]


def _parameters(verifier: Callable[..., Any]) -> list[Parameter]:
    try:
        signature = inspect.signature(verifier)
    except (ValueError, TypeError) as error:
        raise CannotCall("It does not say which parameters it has.") from error
    collecting = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return [one for one in signature.parameters.values() if one.kind not in collecting]


def _choice(parameter: Parameter, hint: Any, *, is_first: bool) -> str | Model | None:
    if by_type := OF_TYPE.get(_plain(hint)):
        return by_type
    by_name = parameter.name if parameter.name in NAMES else None
    if is_first and parameter.kind in _POSITIONAL and not isinstance(hint, Unresolved):
        if hint not in _ANYTHING:
            return Model(hint)
        return by_name or SUBMISSION
    if by_name:
        return by_name
    if parameter.default is not Parameter.empty:
        return None
    why = f", annotated {hint.text!r}," if isinstance(hint, Unresolved) else ""
    raise CannotCall(
        f"Nothing can be given for its parameter {parameter.name!r}{why}: it is none of "
        f"{', '.join(NAMES)} by its type or its name."
    )


def _plain(hint: Any) -> Any:
    """The type itself, out of Annotated[…] and Optional[…]; None where there is none to name."""
    if typing.get_origin(hint) is typing.Annotated:
        return _plain(typing.get_args(hint)[0])
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        kinds = [one for one in typing.get_args(hint) if one is not types.NoneType]
        return _plain(kinds[0]) if len(kinds) == 1 else None
    return hint if isinstance(hint, type) else None


def _hints(verifier: Callable[..., Any], parameters: list[Parameter]) -> dict[str, Any]:
    known = _known_to(verifier)
    return {one.name: _resolved(one.annotation, known) for one in parameters}


def _resolved(annotation: Any, known: dict[str, Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    holder = type("Holder", (), {"__annotations__": {"it": annotation}})
    try:
        return typing.get_type_hints(holder, known, known, include_extras=True)["it"]
    except Exception:  # whatever an annotation's text leads to, it names nothing
        last = annotation.rpartition(".")[2].strip()
        return _PUBLIC.get(last, Unresolved(annotation))


def _known_to(verifier: Callable[..., Any]) -> dict[str, Any]:
    """The names that a verifier's annotations may use."""
    function = _function(verifier)
    try:
        closed_over = inspect.getclosurevars(function).nonlocals
    except (TypeError, ValueError):
        closed_over = {}
    of_module = getattr(function, "__globals__", {})
    return {**_PUBLIC, **of_module, **closed_over}


def _function(verifier: Any) -> Any:
    """The function behind a partial, a method, a decorator or an object that can be called."""
    while isinstance(verifier, functools.partial):
        verifier = verifier.func
    if not inspect.isroutine(verifier):
        verifier = type(verifier).__call__
    return inspect.unwrap(getattr(verifier, "__func__", verifier))
