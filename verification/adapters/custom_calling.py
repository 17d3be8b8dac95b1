"""Calling a custom verifier, in its child: load, inject, call, and put into words how it ended."""

from __future__ import annotations

import importlib
import inspect
import json
import logging
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from loomverify.custom import FatalVerificationError, VerificationRejected, Workspace
from verification.adapters.custom_injection import CannotCall, arguments
from verification.adapters.custom_wire import (
    MAX_CODE_CHARS,
    MAX_ERRORS,
    MAX_MESSAGE_CHARS,
    MAX_RESULT_CHARS,
    Given,
    both_ends,
    bounded,
    shortened,
)

Told = dict[str, Any]


class OutputInvalid(Exception):
    """The output does not have the shape that the verifier's model asks for."""

    def __init__(self, errors: list[Told]) -> None:
        super().__init__("invalid output")
        self.errors = errors


class CannotKeep(Exception):
    """What a verifier returned is no JSON, or too much of it."""


def answer_for(given: Given) -> Told:
    """Call the verifier. Whatever it does short of ending the process is put into words."""
    try:
        verifier = _loaded(given.target)
    except CannotCall as error:
        return _unusable(error, given.name)
    except BaseException as error:  # a rejection too: nothing has been looked at
        return _broken(error, error, given.name)
    try:
        return {"status": "passed", "result": _kept(_called(verifier, given))}
    except OutputInvalid as error:
        return {"status": "failed", "errors": error.errors}
    except (CannotCall, CannotKeep) as error:
        return _unusable(error, given.name)
    except BaseException as error:  # SystemExit too: nothing but its own errors rejects
        return _ended_by(error, given.name)


def _loaded(target: str) -> Callable[..., Any]:
    module, _, path = target.partition(":")
    found: Any = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    if inspect.isclass(found):
        raise CannotCall(f"{target} is a class: name a function, or an object made of it.")
    if not callable(found):
        raise CannotCall(f"{target} cannot be called.")
    return found  # type: ignore[no-any-return]


def _called(verifier: Callable[..., Any], given: Given) -> Any:
    output = given.submission.output
    by_position, by_name = arguments(
        verifier, _offered(given), lambda annotation: _validated(output, annotation)
    )
    returned = verifier(*by_position, **by_name)
    if inspect.isawaitable(returned):
        import asyncio  # a third of the start, which most verifiers need not pay

        returned = asyncio.run(_awaited(returned))
    if inspect.isgenerator(returned) or inspect.isasyncgen(returned):
        raise CannotKeep("it yields, so that nothing of it was run. Let it return.")
    return returned


async def _awaited(returned: Awaitable[Any]) -> Any:
    return await returned


def _offered(given: Given) -> Mapping[str, Any]:
    return {
        "submission": given.submission,
        "task": given.submission.task,
        "workspace": Workspace(Path(given.folder), given.paths),
        "attempt": given.attempt,
        "logger": _logger(given.name),
        "process": given.process,
        "phase": given.phase,
    }


def _logger(name: str) -> logging.Logger:
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(message)s")
    return logging.getLogger(f"loomverify.verifier.{name}")


def _validated(output: str, annotation: Any) -> Any:
    """The output as what the first parameter is annotated with.

    Raises:
        CannotCall: nothing can be validated as it.
        OutputInvalid: the output has another shape.
    """
    if annotation is str:
        return output
    try:
        shape: TypeAdapter[Any] = TypeAdapter(annotation)
    except Exception as error:
        raise CannotCall(f"no output can be read as {annotation!r}.") from error
    try:
        return shape.validate_json(output.removeprefix("\ufeff"))
    except ValidationError as error:
        raise OutputInvalid(_errors(error)) from None


def _errors(error: ValidationError) -> list[Told]:
    told = error.errors(include_url=False, include_context=False, include_input=False)
    rest = len(told) - MAX_ERRORS
    named = [{"loc": list(one["loc"]), "msg": one["msg"]} for one in told[:MAX_ERRORS]]
    if rest > 0:
        named[-1] = {"loc": [], "msg": f"{rest + 1} more errors of shape."}
    return named


def _kept(returned: Any) -> Any:
    """What was returned, as plain JSON.

    Raises:
        CannotKeep: it is none, or too large.
    """
    try:
        plain = to_jsonable_python(returned)
        text = json.dumps(plain, allow_nan=False)
    except Exception as error:
        kind = type(returned).__name__
        raise CannotKeep(f"what it returned ({kind}) is no JSON: {_last_line(error)}") from error
    if len(text) > MAX_RESULT_CHARS:
        raise CannotKeep(f"what it returned is above {MAX_RESULT_CHARS} characters of JSON.")
    return plain


def _unusable(why: Exception, name: str) -> Told:
    return {"status": "error", "message": f"The verifier {name} cannot be used: {why}"}


def _broken(error: BaseException, leaf: BaseException, name: str) -> Told:
    return {
        "status": "error",
        "message": f"The verifier {name} broke: {_last_line(leaf)}",
        "stack": both_ends("".join(traceback.format_exception(error, limit=50))),
    }


def _ended_by(error: BaseException, name: str) -> Told:
    leaves = list(_leaves(error))
    own = [one for one in leaves if isinstance(one, VerificationRejected | FatalVerificationError)]
    if len(own) < len(leaves):
        return _broken(error, next(one for one in leaves if one not in own), name)
    return {
        "status": "failed",
        "message": shortened("\n".join(str(one.message) for one in own), MAX_MESSAGE_CHARS),
        "code": shortened(next((str(one.code) for one in own if one.code), ""), MAX_CODE_CHARS),
        "metadata": _metadata(own[0].metadata),
        "fatal": any(isinstance(one, FatalVerificationError) for one in own),
    }


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """The errors themselves, out of the groups in which asynchronous tasks end."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _leaves(one)
    else:
        yield error


def _metadata(metadata: Mapping[str, Any]) -> Told:
    """What was said beside a rejection never undoes it, whatever it is."""
    try:
        plain = to_jsonable_python(dict(metadata), fallback=repr)
        json.dumps(plain, allow_nan=False)
        return bounded(plain)
    except Exception as error:
        return {"metadata": f"It could not be kept: {_last_line(error)}"}


def _last_line(error: BaseException) -> str:
    return shortened(traceback.format_exception_only(error)[-1].strip(), 500)
