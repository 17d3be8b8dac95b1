from verification.runs.models.evaluation import (
    Artefact,
    BaseGateResult,
    Evaluation,
    Finding,
    GateProgress,
    GateResult,
    ModelCall,
    TierResult,
    Vote,
)
from verification.runs.models.figures import (
    CallHour,
    DirtyHour,
    RollupHour,
    RuleHour,
    TargetHour,
    TargetMark,
)
from verification.runs.models.followup import OutboxEvent, Remediation
from verification.runs.models.heartbeat import Heartbeat
from verification.runs.models.review import Review, ReviewState
from verification.runs.models.run import (
    OPEN_STATES,
    RUN_OVER,
    BaseFile,
    Blob,
    Event,
    Run,
    RunFile,
    RunState,
    Submission,
    Task,
)
from verification.runs.models.waiver import Waiver

__all__ = [
    "OPEN_STATES",
    "RUN_OVER",
    "Artefact",
    "BaseFile",
    "BaseGateResult",
    "Blob",
    "CallHour",
    "DirtyHour",
    "Evaluation",
    "Event",
    "Finding",
    "GateProgress",
    "GateResult",
    "Heartbeat",
    "ModelCall",
    "OutboxEvent",
    "Remediation",
    "Review",
    "ReviewState",
    "RollupHour",
    "RuleHour",
    "Run",
    "RunFile",
    "RunState",
    "Submission",
    "TargetHour",
    "TargetMark",
    "Task",
    "TierResult",
    "Vote",
    "Waiver",
]
