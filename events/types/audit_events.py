"""What happens in an audit: what tasks ask for, what evaluators report of two runs, what became of each draft."""

from typing import Final, Literal

from events.types.frozen import Frozen
from events.types.parts import Reason
from events.types.runs import Count

METHOD: Final = "audit-4"
"""How drafts are evaluated and judged; a change that moves verdicts takes the next number."""

MOST_ITERATIONS: Final = 5
"""Iterations of one audit at most, after the look at the skill as it was given; each keeps at most one draft."""
MOST_TRIES: Final = 2
"""Drafts of one iteration at most (a guess): the next one is made where the one before it is rolled back."""

AuditResult = Literal["helped", "inert", "hurt", "null"]
"""What a skill did to a task; `null` where nobody can tell, or there is nothing to look at."""
ReadBy = Literal["rule", "model", "person"]
"""Who read what a task asks for."""


class AuditTaskInterpreted(Frozen):
    """What a task asks for is read once, and its anchors are locked: a later event is a person's correction.

    `digest` is that of prompt and workspace. `requirements` and `anchors` name blobs; the latter's name is the
    hash that locks the checks, `kept` are their names, `dropped` says which were compiled and why they are none.
    """

    type: Literal["AuditTaskInterpreted"] = "AuditTaskInterpreted"
    task: str
    digest: str
    requirements: str
    anchors: str
    kept: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    by: ReadBy = "rule"


class AuditStarted(Frozen):
    """The audit of a skill on tasks begins; version 0 is a draft that no registry holds.

    `audit` is the hash of what makes it the same audit when the command is typed again. `model` is the one that
    evaluators ask, "" for none; `pairs` how often each task is run with the skill and without.
    """

    type: Literal["AuditStarted"] = "AuditStarted"
    audit: str
    capsule: str
    version: Count
    draft: str
    tasks: Count
    agent: str
    model: str
    pairs: Count
    method: str = METHOD


class TaskReport(Frozen):
    """What an evaluator says of one pair of runs of a task."""

    task: str
    result: AuditResult
    reason: str


class EvaluatorReported(Frozen):
    """An evaluator looks at the runs of a draft, each beside one without any skill.

    `iteration` 0 is the skill as it was given. `material` is the hash of all that evaluators read, `report` the
    blob that holds what all of them report. `signals` counts what this one asks to be changed, `void` what it
    quoted that is not in the skill, `by_model` its results for which a model was asked.
    """

    type: Literal["EvaluatorReported"] = "EvaluatorReported"
    audit: str
    capsule: str
    iteration: Count
    draft: str
    evaluator: str
    tasks: tuple[TaskReport, ...]
    signals: Count
    void: Count
    by_model: Count
    material: str
    report: str


class AuditMove(Frozen):
    """A change of a draft: which operation, who asked for it on which task, and why.

    `quote` is what it takes away, `lines` what it brings, `files` which other files it changes. At `step` (from
    1) the two runs part: what the agent did with the skill, and without; step 0 where they did the same.
    """

    move: str
    action: str
    evaluator: str
    task: str
    reason: Reason
    quote: str = ""
    lines: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    step: Count = 0
    with_skill: str = ""
    without_skill: str = ""


class AuditJudged(Frozen):
    """A draft of an audit is judged; `by` names the rule that decided.

    Iteration 0 judges the skill as it was given; `attempt` counts the drafts of one iteration, from 0. A draft
    that is not `kept` was rolled back; one without `moves` was looked at once more, in further pairs. `left`
    counts what is still to be changed, `left_out` says which changes were not made, and why, `void` counts signals
    without a quote of the skill, `lost_pairs` says which pairs infrastructure lost, and why. Of `model_held`
    results of a model that could be held against what was made, `model_wrong` contradict it; `drift` is the share
    of results that were others when the first questions were asked again, null where none were.
    """

    type: Literal["AuditJudged"] = "AuditJudged"
    audit: str
    capsule: str
    iteration: Count
    attempt: Count = 0
    draft: str
    result: AuditResult
    by: str
    reason: str
    way: str
    kept: bool
    moves: tuple[AuditMove, ...] = ()
    lost_anchors: tuple[str, ...] = ()
    anchors_held: Count = 0
    anchors: Count = 0
    left: Count = 0
    left_out: tuple[str, ...] = ()
    void: Count = 0
    lost_pairs: tuple[str, ...] = ()
    model_held: Count = 0
    model_wrong: Count = 0
    drift: float | None = None


class AuditEnded(Frozen):
    """An audit ends: why, with which draft, and the candidate that it became, "" for none.

    `runs` and `reused` count the runs of the agent, now and from the bank; units: US dollars.
    """

    type: Literal["AuditEnded"] = "AuditEnded"
    audit: str
    capsule: str
    draft: str
    because: str
    candidate: str
    runs: Count
    reused: Count
    cost_usd: float
