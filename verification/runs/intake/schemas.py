"""The body of `POST /runs`, as the HTTP contract has it. Types are strict: nothing is coerced."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

MAX_FILES = 10_000
MAX_TEXT = 5_000_000
MAX_LIST = 5_000
MAX_MESSAGES = 20_000
MAX_NAME = 200
MAX_ODDITIES = 10
MAX_ODDITY = 300

Text = Annotated[str, Field(max_length=MAX_TEXT)]
Short = Annotated[str, Field(max_length=200)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
TaskId = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Path = Annotated[str, Field(min_length=1, max_length=500)]


class Strict(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="forbid")


class TaskIn(Strict):
    """The subtask. `id` is the caller's and groups attempts: one id per piece of work."""

    id: TaskId
    description: Text
    plan: Text | None = None
    acceptance_criteria: Text | None = None
    expected_outputs: Annotated[list[Path], Field(max_length=MAX_FILES)] | None = None
    is_critical_path: Annotated[
        bool | None,
        Field(
            description="Null: as the phase says. False on a phase of the critical path is refused "
            "with `tier.below_phase`, unless the phase says `may_lower_tier: true`."
        ),
    ] = None
    max_attempts: Annotated[int, Field(ge=1, le=100)] | None = None


class ToolCallIn(Strict):
    """Anything may stand in `args`, `result` and `files_changed`.

    `success` is null where nothing states how the call ended. `oddities` say what was unusual about
    its shape as it was submitted.
    """

    tool: Name
    success: bool | None = None
    error: Text | None = None
    args: Any = None
    result: Any = None
    files_changed: Any = None
    oddities: (
        Annotated[
            list[Annotated[str, Field(max_length=MAX_ODDITY)]], Field(max_length=MAX_ODDITIES)
        ]
        | None
    ) = None


class ClaimIn(Strict):
    text: Text
    label: Short
    section: Short
    evidence: Annotated[list[Name], Field(max_length=MAX_LIST)] | None = None


class EvidenceIn(Strict):
    id: Name
    tool: Short | None = None
    source_url: Annotated[str, Field(max_length=2000)] | None = None
    text: Text | None = None


class Base64File(Strict):
    base64: str


def _kind_of_file(file: object) -> str:
    return "binary" if isinstance(file, dict | Base64File) else "text"


File = Annotated[
    Annotated[Text, Tag("text")] | Annotated[Base64File, Tag("binary")],
    Discriminator(_kind_of_file),
]
"""What is wrong with one kind says nothing of the other."""


Files = Annotated[dict[str, File], Field(max_length=MAX_FILES)]


class ExecutorIn(Strict):
    model: Annotated[str, Field(max_length=120)] | None = None
    context_id: Short | None = None


class ChangeIn(Strict):
    """A change to a registered repository, upon `base`: one of `patch`, `bundle`, `commit`."""

    repository: Name
    base: Name
    patch: Text | None = None
    bundle: Base64File | None = None
    commit: Name | None = None


class RunIn(Strict):
    """One submission of a task's work, as it is stored and as golden cases hold it."""

    process: Name
    task: TaskIn
    process_version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    phase: Name | None = None
    tier: Annotated[
        Annotated[int, Field(ge=1, le=3)] | None,
        Field(
            description="The highest tier; null: the phase's own. A lower one is refused with "
            "`tier.below_phase`, unless the phase says `may_lower_tier: true`."
        ),
    ] = None
    output: Text | None = None
    tool_calls: Annotated[list[ToolCallIn], Field(max_length=MAX_LIST)] | None = None
    files: Files | None = None
    base: Files | None = None
    claims: Annotated[list[ClaimIn], Field(max_length=MAX_LIST)] | None = None
    evidence: Annotated[list[EvidenceIn], Field(max_length=MAX_LIST)] | None = None
    alternatives: Annotated[list[Text], Field(max_length=50)] | None = None
    diff: Text | None = None
    change: ChangeIn | None = None
    executor: ExecutorIn | None = None
    return_code: Annotated[int, Field(ge=-(2**31), le=2**31 - 1)] | None = None
    remediation: Name | None = None


class RunRequest(RunIn):
    """One submission of a task's work, as it is sent."""

    tool_calls: (
        Annotated[
            list[ToolCallIn | Any],
            Field(
                max_length=MAX_LIST,
                description="Calls, and results that name the call they belong to. The shapes of "
                "OpenAI, Anthropic and MCP are read, too; a call of any other shape is kept as far "
                "as it can be read, with the remark `odd_payload`.",
            ),
        ]
        | None
    ) = None
    messages: (
        Annotated[
            list[Any],
            Field(
                max_length=MAX_MESSAGES,
                description="In place of `tool_calls`: messages of OpenAI or Anthropic, or items "
                "of OpenAI's Responses. The tool calls are taken from them; the messages are not "
                "stored.",
            ),
        ]
        | None
    ) = None
