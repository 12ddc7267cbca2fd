"""Writing skills: for a signal that no skill answers a model drafts one, and a person decides on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.candidate_events import CandidateProposed
from events.claims import Trigger
from registry.births import unborn
from registry.front_matter import described
from strategies.answering import Sightings
from strategies.cycle import recorded
from strategies.drafts import unmeasured
from strategies.gate.evaluator import candidate_id
from strategies.gate.explain import WRITER
from strategies.gate.lint import Limits, findings_on
from strategies.models.writing import NewSkillCase, write_skill
from strategies.proposers.proposal import Mined
from strategies.proposers.writer import skill_drafted
from strategies.reflecting import PASSING, UNCOVERED, vocabulary_shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.parts import NewSkill
    from events.registry_events import SignalRaised
    from registry.library import Library
    from strategies.drafts import Turn
    from strategies.models.asking import Reply
    from strategies.models.writing import WrittenSkill
    from strategies.proposers.writer import DraftedSkill
    from strategies.reflecting import Reflecting
    from strategies.shown import CycleResult


def unanswered(library: Library, signals: Sequence[SignalRaised]) -> list[SignalRaised]:
    """List the signals that ask for a skill of their own, but for those that one was drafted for before.

    A draft that waits is not written again, and one that a person rejected is not forced on them.
    """
    return [
        one
        for one in signals
        if one.kind in UNCOVERED and not any(known.proposed.skill for known in library.answers(one.fingerprint))
    ]


def written_skills(
    turn: Turn, reflecting: Reflecting, unrouted: Sequence[SignalRaised], most: int
) -> Iterator[CycleResult]:
    """Draft a skill for each of the first signals that no skill answers, and hold it for a person.

    What goes wrong is told with the run's failures, and ends nothing.
    """
    if "writer" not in reflecting.model.settings.named or not turn.preset.bears_genes:
        return
    for signal in unanswered(turn.registry, unrouted)[:most]:
        try:
            found = _asked(turn, reflecting, signal)
        except PASSING as error:
            reflecting.failures.append(error.message)
            continue
        if found is not None:
            reply, drafted = found
            result = _held(turn, signal, drafted, reply.actor)
            if isinstance(result, str):
                reflecting.failures.append(result)
            else:
                yield result


def _asked(
    turn: Turn, reflecting: Reflecting, signal: SignalRaised
) -> tuple[Reply[WrittenSkill], DraftedSkill] | None:
    """Ask for a skill; None where no episode that a writer may see can be shown."""
    explore = turn.ground.division.explore
    shown = Sightings(explore).of(signal)
    batches = reflecting.minibatches(turn, shown)
    if not batches:
        return None
    reflecting.model.begin_cycle()
    registry = turn.registry
    there = [registry.capsule(name) for name in registry.names()]
    waiting = {one.proposed.capsule for one in registry.candidates() if one.proposed.skill is not None}
    case = NewSkillCase(
        signal=f"{signal.kind}: {signal.template or signal.action}",
        shown_in=len(shown),
        skills="\n".join(f"{one.name}: {described([line.text for line in one.front])}" for one in there),
        vocabulary=vocabulary_shown(explore),
        episodes=batches[0],
    )
    reply = write_skill(reflecting.model, case)
    taken = {*registry.names(), *waiting}
    return reply, skill_drafted(reflecting.skills_folder, explore, reply.answer, taken)


def _held(turn: Turn, signal: SignalRaised, drafted: DraftedSkill, actor: str) -> CycleResult | str:
    """Propose a skill and record the gate's word, which is that a person decides; or say why it is not proposed.

    A text that nobody could approve is kept in the reply alone: not in an event, which stays for ever.
    """
    if drafted.skill is None:
        return drafted.reason
    proposed = _proposed(turn, signal, drafted.name, drafted.skill, drafted.reason)
    base = unborn(drafted.name, drafted.skill)
    limits = Limits(edits=turn.edit_budget, trust_region=turn.preset.trust_region)
    refused = [one.what for one in findings_on(base, proposed, limits) if one.severity == "refuse"]
    if refused:
        return f"the new skill {drafted.name} that the model wrote cannot be: {'; '.join(refused)}"
    measured = unmeasured(proposed, "a skill of its own: nothing to compare it with", actor=actor)
    return recorded(turn, signal, base, Mined(None, 0, None), measured)


def _proposed(turn: Turn, signal: SignalRaised, name: str, skill: NewSkill, reason: str) -> CandidateProposed:
    claims = tuple(claim for section in skill.sections for claim in section.claims)
    evaluator = turn.ground.evaluator
    text = "".join((*skill.front, *(line for section in skill.sections for line in section.lines)))
    trigger = Trigger(
        fingerprint=signal.fingerprint, kind=signal.kind, template=signal.template, action=signal.action
    )
    return CandidateProposed(
        candidate=candidate_id(name, claims, evaluator, text=text),
        capsule=name,
        base_version=0,
        strategy=signal.calls_for,
        preset=turn.preset.name,
        proposer=WRITER,
        fingerprint=signal.fingerprint,
        edits=(),
        claims=claims,
        triggers=(trigger,),
        reason=reason,
        evaluator=evaluator,
        skill=skill,
    )
