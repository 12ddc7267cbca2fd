"""Writing skills: for a signal that no skill answers a model drafts one, and a person decides on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.types.candidate_events import CandidateProposed
from events.types.claims import Trigger
from registry.skill_md.front_matter import description_of
from registry.state.capsule import unborn
from strategies.evolve.draft import unmeasured
from strategies.evolve.reflect import PASSING, UNCOVERED, vocabulary_shown
from strategies.evolve.turn import recorded
from strategies.gate.explain import WRITER
from strategies.gate.lint import Limits, findings_on
from strategies.gate.replay.measure import candidate_id
from strategies.models.tasks.write_section import NewSkillCase, write_skill
from strategies.propose.proposal import Mined
from strategies.propose.writer import skill_drafted
from strategies.signals.open_signals import Sightings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.types.parts import NewSkill
    from events.types.registry_events import SignalRaised
    from registry.query.library import Library
    from strategies.evolve.draft import TurnContext
    from strategies.evolve.reflect import Reflecting
    from strategies.evolve.results import CycleResult
    from strategies.models.protocol import Reply
    from strategies.models.tasks.write_section import WrittenSkill
    from strategies.propose.writer import DraftedSkill


def unanswered(library: Library, signals: Sequence[SignalRaised]) -> list[SignalRaised]:
    """List the signals that ask for a skill of their own, but for those that one was drafted for before.

    A draft that waits is not written again, and one that a person rejected is not forced on them.
    """
    return [
        signal
        for signal in signals
        if signal.kind in UNCOVERED
        and not any(known.proposed.skill for known in library.answers(signal.fingerprint))
    ]


def written_skills(
    turn: TurnContext, reflecting: Reflecting, unrouted: Sequence[SignalRaised], most: int
) -> Iterator[CycleResult]:
    """Draft a skill for each of the first signals that no skill answers, and hold it for a person.

    What goes wrong is listed with the run's failures, and ends nothing.
    """
    if not reflecting.drafted or not turn.preset.bears_genes:
        return
    for signal in unanswered(turn.registry, unrouted)[:most]:
        try:
            written = _asked(turn, reflecting, signal)
        except PASSING as error:
            reflecting.failures.append(error.message)
            continue
        if written is not None:
            reply, drafted = written
            result = _held(turn, signal, drafted, reply.actor)
            if isinstance(result, str):
                reflecting.failures.append(result)
            else:
                yield result


def _asked(
    turn: TurnContext, reflecting: Reflecting, signal: SignalRaised
) -> tuple[Reply[WrittenSkill], DraftedSkill] | None:
    """Ask for a skill; None where no episode that a writer may see can be shown."""
    explore = turn.ground.division.explore
    shown = Sightings(explore).of(signal)
    batches = reflecting.minibatches(turn, shown)
    if not batches:
        return None
    reflecting.model.begin_cycle()
    registry = turn.registry
    there = [registry.capsule(name) for name in registry.live_names()]
    waiting = {
        candidate.proposed.capsule for candidate in registry.candidates() if candidate.proposed.skill is not None
    }
    case = NewSkillCase(
        signal=f"{signal.kind}: {signal.template or signal.action}",
        shown_in=len(shown),
        skills="\n".join(f"{capsule.name}: {description_of(capsule)}" for capsule in there),
        vocabulary=vocabulary_shown(explore),
        episodes=batches[0],
    )
    reply = write_skill(reflecting.model, case)
    taken = {*registry.names(), *waiting}
    return reply, skill_drafted(reflecting.skills_folder, explore, reply.answer, taken)


def _held(turn: TurnContext, signal: SignalRaised, drafted: DraftedSkill, actor: str) -> CycleResult | str:
    """Propose a skill and record the gate's word, which is that a person decides; or say why it is not proposed.

    A text that nobody could approve is kept in the reply alone: not in an event, which stays for ever.
    """
    if drafted.skill is None:
        return drafted.reason
    proposed = _proposed(turn, signal, drafted.name, drafted.skill, drafted.reason)
    base = unborn(drafted.name, drafted.skill)
    limits = Limits(edits=turn.edit_budget, trust_region=turn.preset.trust_region)
    refused = [finding.what for finding in findings_on(base, proposed, limits) if finding.severity == "refuse"]
    if refused:
        return f"the new skill {drafted.name} that the model wrote cannot be: {'; '.join(refused)}"
    measured = unmeasured(proposed, "a skill of its own: nothing to compare it with", actor=actor)
    return recorded(turn, signal, base, Mined(None, 0, None), measured)


def _proposed(
    turn: TurnContext, signal: SignalRaised, name: str, skill: NewSkill, reason: str
) -> CandidateProposed:
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
