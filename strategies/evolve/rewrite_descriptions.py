"""Descriptions that miss what they are for: a signal each, another text, and its verdict on sealed sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from registry.actions.publish import publish
from registry.decide.commands import JudgeDescription
from strategies.gate.injection import suspicious
from strategies.pool.raise_signals import raise_found
from strategies.usage.describe_skill import divided, judge_description, judged_before, rewritten
from strategies.usage.description_signals import MISFITS
from strategies.usage.trigger_audit import seems_amiss, trigger_audit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.types.capsule_events import DescriptionJudged
    from events.types.registry_events import SignalRaised
    from registry.registry import Registry
    from strategies.pool.intake_policy import IntakePolicy
    from strategies.scope.scope import Scope

ACTOR = "germline"


class DescriptionRun(NamedTuple):
    """What came of descriptions: the signals of those that miss what they are for, and the verdicts on others."""

    misfits: tuple[SignalRaised, ...] = ()
    judged: tuple[DescriptionJudged, ...] = ()


def rewrite_descriptions(
    registry: Registry, names: Iterable[str], scope: Scope, policy: IntakePolicy, *, may_promote: bool, write: bool
) -> DescriptionRun:
    """Raise a signal for each description that is surely too wide or too narrow, and judge a better one.

    Without `may_promote` only the signals are raised. Sessions are read again only for skills whose loads look
    amiss. A text that was judged before, on no fewer tasks, is not judged again; one that instructs waits for a
    person. With `write` the files follow.
    """
    misfits, judged = set[str](), []
    for name in names:
        if not seems_amiss(registry, name, scope):
            continue
        audit = trigger_audit(registry, name, scope)
        signals = [signal for misfit in MISFITS for signal in misfit.detect(audit, len(scope.records))]
        raise_found(registry, signals, scope.records, policy)
        misfits.update(signal.fingerprint for signal in signals)
        if not signals or not may_promote:
            continue
        draft = rewritten(audit.description, divided(registry, audit).explore)
        if draft == audit.description:
            continue
        verdict = judge_description(registry, audit, draft)
        if warnings := suspicious((draft,), ()):
            reason = f"a person must look at it first: {warnings[0]}"
            verdict = verdict.model_copy(update={"verdict": "hold", "reasons": (reason,)})
        if judged_before(registry, verdict):
            continue
        registry.execute(JudgeDescription(verdict), actor=ACTOR)
        if write and verdict.verdict == "promote":
            publish(registry, name)
        judged.append(verdict)
    raised = sorted(signal for fingerprint in misfits if (signal := registry.signal(fingerprint)))
    return DescriptionRun(tuple(signal.event for signal in raised), tuple(judged))
