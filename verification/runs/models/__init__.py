from verification.runs.models.evaluation import (
    Artefact,
    Evaluation,
    Finding,
    GateResult,
    ModelCall,
    TierResult,
    Vote,
)
from verification.runs.models.figures import CallHour, DirtyHour, RollupHour, RuleHour
from verification.runs.models.followup import OutboxEvent, Remediation
from verification.runs.models.heartbeat import Heartbeat
from verification.runs.models.review import Decision, FindingLabel, Review
from verification.runs.models.run import (
    OPEN_STATES,
    RUN_OVER,
    Blob,
    Event,
    Run,
    RunFile,
    RunState,
    Submission,
    Task,
)

__all__ = [
    "OPEN_STATES",
    "RUN_OVER",
    "Artefact",
    "Blob",
    "CallHour",
    "Decision",
    "DirtyHour",
    "Evaluation",
    "Event",
    "Finding",
    "FindingLabel",
    "GateResult",
    "Heartbeat",
    "ModelCall",
    "OutboxEvent",
    "Remediation",
    "Review",
    "RollupHour",
    "RuleHour",
    "Run",
    "RunFile",
    "RunState",
    "Submission",
    "Task",
    "TierResult",
    "Vote",
]
