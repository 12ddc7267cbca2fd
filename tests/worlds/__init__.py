"""Episodes of made-up worlds, and shuffles of real ones: what a gate must see through, and what it must see."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from events.types.claims import AfterError, Trigger
from events.types.score import Unmeasured
from registry.state.capsule import Capsule
from registry.state.gene import Gene, LiveClaim
from registry.state.line import SkillLine
from strategies.claims.catalogue import sentence
from strategies.episodes.episode import EpisodeOutcome, EpisodeRecord, StepRecord
from strategies.files.log_records import Span
from strategies.gate.replay.explore_split import Explore
from strategies.gate.replay.exposure import moment_of, moments_of
from strategies.gate.replay.measure import MeasurementStamp, ReplayEvidence, evaluator_id, measure, measure_removal
from strategies.gate.replay.recovery_endpoint import attempts, next_attempt
from strategies.gate.verdict import Verdict, judge
from strategies.policy.written_rules import WRITTEN_RULE
from strategies.pool.splits import divide, form_groups
from strategies.propose.mine_claims import mine
from strategies.propose.proposal import ProposalRequest, Removal, answer
from strategies.propose.recovery import recovery
from strategies.propose.transfer import transfer
from tests.registries import raised_signal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from events.types.claims import Claim
    from events.types.parts import Strategy
    from strategies.claims.applicability import Moment
    from strategies.gate.replay.exposure import Inverse
    from strategies.gate.replay.measure import Figures
    from strategies.pool.splits import Division
    from strategies.propose.proposal import Proposer

    Deal = Callable[[Sequence[EpisodeRecord], int], list[EpisodeRecord]]

NO_TABLE = "Table <*> doesn't exist"


def call(action: str, error: str = "", *, turn: int | None = None, same: int | None = None) -> StepRecord:
    """One call of an agent; `turn` and `same` default to the step's own place, which `episode` fills in."""
    return StepRecord(
        turn=-1 if turn is None else turn,
        kind="call",
        actor="agent",
        action=action,
        template=error,
        error=bool(error),
        writes=False,
        same_call=-1 if same is None else same,
        same_result=-1 if same is None else same,
        started_at=None,
        duration_ms=None,
        span=Span(0, 1, 1),
    )


def episode(
    steps: Sequence[StepRecord],
    *,
    outcome: float | None = 1.0,
    task: str = "t1",
    run: str = "r1",
    difficulty: str = "easy",
    trial: int = 0,
) -> EpisodeRecord:
    """One episode with these steps."""
    placed = [
        msgspec.structs.replace(
            step,
            turn=index if step.turn < 0 else step.turn,
            same_call=index if step.same_call < 0 else step.same_call,
            same_result=index if step.same_result < 0 else step.same_result,
        )
        for index, step in enumerate(steps)
    ]
    return EpisodeRecord(
        id=f"{run}/{task}/{trial}",
        name=task,
        source="world",
        format="world",
        task=task,
        run=run,
        difficulty=difficulty,
        labels={},
        prompt_key=f"prompt of {task}",
        answer_key="",
        started_at=None,
        outcome=None if outcome is None else EpisodeOutcome(outcome, "reward"),
        ended_by="environment",
        skills=(),
        steps=tuple(placed),
    )


def linked(task: str, *, prompt: str = "", answer: str = "", trial: int = 0) -> EpisodeRecord:
    """One episode of a task, with what links the task to others."""
    record = episode([call("sql:SELECT")], task=task, trial=trial)
    return msgspec.structs.replace(record, prompt_key=prompt, answer_key=answer)


def world_with_a_rule(seed: int, *, tasks: int = 300, lift: float = 0.45) -> list[EpisodeRecord]:
    """A world in which looking at the schema after a missing table is what helps."""
    draws = random.Random(seed)
    records = []
    for number in range(tasks):
        hard = draws.random() < 0.5
        for run in ("large", "small"):
            looks = draws.random() < (0.6 if run == "large" else 0.4)
            chance = (0.2 if hard else 0.35) + lift * looks
            won = float(draws.random() < chance)
            steps = [call("sql:SELECT", NO_TABLE), call("sql:SHOW" if looks else "sql:SELECT"), call("sql:SELECT")]
            difficulty = "hard" if hard else "easy"
            records.append(episode(steps, outcome=won, task=f"t{number:04}", run=run, difficulty=difficulty))
    return records


def world_without_a_rule(seed: int, *, tasks: int = 300) -> list[EpisodeRecord]:
    """A world in which actions do not matter, and success ends the episode."""
    draws = random.Random(seed)
    records = []
    for number in range(tasks):
        chance = draws.betavariate(0.6, 2.0)  # of success at each step, by task
        for run, habit in (("large", 0.5), ("small", 0.2)):
            steps: list[StepRecord] = []
            won = False
            while not won and len(steps) < 10:
                action = "sql:SHOW" if draws.random() < habit else draws.choice(["sql:SELECT", "sql:DESC"])
                won = draws.random() < chance
                steps.append(call(action, NO_TABLE if not won and draws.random() < 0.6 else ""))
            difficulty = "hard" if chance < 0.2 else "easy"
            records.append(
                episode(steps, outcome=float(won), task=f"t{number:04}", run=run, difficulty=difficulty)
            )
    return records


def world_where_nothing_matters(seed: int, *, tasks: int = 250) -> list[EpisodeRecord]:
    """A world for every family of claims: no action matters.

    Of two runs one ends with its first success, the other hands in when it has had enough, and is graded then.
    """
    draws = random.Random(seed)
    records = []
    for number in range(tasks):
        chance = draws.betavariate(0.6, 2.0)
        difficulty = "hard" if chance < 0.2 else "easy"
        for run, looks in (("large", 0.5), ("small", 0.2)):
            hands_in = run == "small"
            steps: list[StepRecord] = []
            won = enough = False
            while not won and not enough and len(steps) < 10:
                action = "sql:SHOW" if draws.random() < looks else draws.choice(["sql:SELECT", "sql:DESC"])
                won = not hands_in and draws.random() < chance
                alike = steps and steps[-1].action == action and draws.random() < 0.5
                again = (
                    None if not alike else (steps[-1].same_call if steps[-1].same_call >= 0 else len(steps) - 1)
                )
                steps.append(call(action, NO_TABLE if not won and draws.random() < 0.6 else "", same=again))
                enough = hands_in and draws.random() < 0.25
            if hands_in:
                steps.append(call("submit"))
                won = draws.random() < chance
            record = episode(steps, outcome=float(won), task=f"t{number:04}", run=run, difficulty=difficulty)
            forms = (draws.choice(["json", "code"]), "text")
            ended_by = "agent" if hands_in else "environment"
            records.append(msgspec.structs.replace(record, ended_by=ended_by, answer_forms=forms))
    return records


Habit = Literal["start_with", "before", "finish_with", "output", "guard"]


def world_with_a_habit(seed: int, habit: Habit, *, tasks: int = 250, lift: float = 0.45) -> list[EpisodeRecord]:
    """A world in which one habit helps, and the agent ends each episode itself."""
    draws = random.Random(seed)
    records = []
    for number in range(tasks):
        difficulty = draws.choice(["easy", "hard"])
        for run in ("large", "small"):
            begins, looks, checks, stops = (draws.random() < 0.5 for _ in range(4))
            form = draws.choice(["json", "code"])
            helped = {
                "start_with": begins,
                "before": looks,
                "finish_with": checks,
                "output": form == "json",
                "guard": stops,
            }[habit]
            won = float(draws.random() < 0.25 + lift * helped - 0.1 * (difficulty == "hard"))
            steps = [
                call("ls" if begins else "grep"),
                call("make", "broken"),
                call("Read") if stops else call("make", same=1),
                call("Read" if looks else "grep"),
                call("Edit"),
                call("test" if checks else "lint"),
                call("submit"),
            ]
            record = episode(steps, outcome=won, task=f"t{number:04}", run=run, difficulty=difficulty)
            records.append(msgspec.structs.replace(record, ended_by="agent", answer_forms=(form, "text")))
    return records


def recovering(seed: int, *, lift: float = 0.5) -> list[EpisodeRecord]:
    """The world with a rule as most logs have it: no outcomes, but what would have won works when tried again."""
    failed = call("sql:SELECT", NO_TABLE)
    records = world_with_a_rule(seed, lift=lift)
    bare = []
    for record in records:
        won = record.outcome is not None and record.outcome.value == 1
        last = call("sql:SELECT") if won else call("sql:SELECT", NO_TABLE)
        first = record.steps[1].action
        steps = [failed, call(first), last] if first == "sql:SHOW" else [failed, last, call("sql:DESC")]
        bare.append(episode(steps, outcome=None, task=record.task, run=record.run, difficulty=record.difficulty))
    return bare


def without_outcomes(records: Iterable[EpisodeRecord]) -> list[EpisodeRecord]:
    """The same episodes, as most logs have them: nobody says how they ended."""
    return [msgspec.structs.replace(record, outcome=None) for record in records]


def hinted(
    records: Iterable[EpisodeRecord], seed: int, *, right: float, flatters: str = ""
) -> list[EpisodeRecord]:
    """The same episodes without labels: the last check hints at how they ended, and is right only so often.

    Where the action that it `flatters` was taken, it passes whatever the truth, as tests do that the agent wrote.
    """
    draws = random.Random(seed)
    hinting = []
    for record in records:
        assert record.outcome is not None
        value = record.outcome.value if draws.random() < right else 1.0 - record.outcome.value
        if flatters and any(step.action == flatters for step in record.steps):
            value = 1.0
        hinting.append(msgspec.structs.replace(record, outcome=EpisodeOutcome(value, "last_check")))
    return hinting


def skill_with(claims: Sequence[Claim], *, name: str = "skill", fingerprint: str = "") -> Capsule:
    """A skill of one gene whose lines carry these claims, one each."""
    words = [sentence(claim) for claim in claims]
    lines = tuple(SkillLine(place, f"{text}\n", 10 + place, 1) for place, text in enumerate(words, 1))
    return Capsule(
        name=name,
        source="",
        encoding="utf-8",
        mode=0o644,
        version=1,
        position=1,
        at="",
        cause="import",
        front=(),
        next_front=1,
        genes=(
            Gene(
                id=f"{name}-gene",
                capsule=name,
                version=1,
                title="",
                lines=lines,
                next_line=len(lines) + 1,
                claims=tuple(LiveClaim(claim, 10 + place) for place, claim in enumerate(claims, 1)),
                triggers=(Trigger(fingerprint=fingerprint, kind="uncovered_failure"),) if fingerprint else (),
            ),
        ),
        gone=(),
        files=(),
        aliases=(),
        stamped=False,
        unproven=False,
        retired=False,
        born=1,
        score=Unmeasured(reason="imported"),
        delta=None,
    )


def outcomes_shuffled(records: Sequence[EpisodeRecord], seed: int) -> list[EpisodeRecord]:
    """Shuffle outcomes among the episodes of one run and difficulty."""
    pools: defaultdict[tuple[str, str], list[EpisodeRecord]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.id):
        pools[record.run, record.difficulty].append(record)
    return [
        msgspec.structs.replace(record, outcome=members[place].outcome)
        for members in pools.values()
        for record, place in zip(members, _shuffled(len(members), seed), strict=True)
    ]


class Recoveries:
    """Episodes without outcomes, and the attempts after a claim's moment: whether they work is dealt out again."""

    def __init__(self, records: Sequence[EpisodeRecord], claim: Claim) -> None:
        self._bare = without_outcomes(records)
        self._tried = attempts(claim, self._bare)
        self._places = {record.id: _attempt_and_failure(claim, record) for record in self._tried}

    def dealt(self, deal: Deal, seed: int) -> list[EpisodeRecord]:
        """Deal as a placebo deals outcomes."""
        works = {
            record.id: record.outcome.value for record in deal(self._tried, seed) if record.outcome is not None
        }
        return [
            _recovering(record, *self._places[record.id], works=bool(works[record.id]))
            if record.id in works
            else record
            for record in self._bare
        ]


def _attempt_and_failure(claim: Claim, record: EpisodeRecord) -> tuple[int, int]:
    at, moment = next_attempt(claim, record), moment_of(claim, record)
    assert at is not None
    assert moment is not None
    return at, moment.step


def _recovering(record: EpisodeRecord, at: int, failed: int, *, works: bool) -> EpisodeRecord:
    template = "" if works else record.steps[failed].template
    steps = list(record.steps)
    steps[at] = msgspec.structs.replace(steps[at], error=not works, template=template)
    return msgspec.structs.replace(record, steps=tuple(steps))


def _shuffled(count: int, seed: int) -> list[int]:
    """Draw a permutation; equally long ones of a seed are one permutation."""
    places = list(range(count))
    random.Random(seed).shuffle(places)
    return places


class KnownMoments:
    """Moments found once: for episodes of which only the outcomes are dealt out again, over and over."""

    def __init__(self) -> None:
        self._found: dict[Claim | Inverse, dict[str, Moment | None]] = {}

    def __call__(self, claim: Claim | Inverse) -> Callable[[EpisodeRecord], Moment | None]:
        """Stand in for `moments_of`."""
        known, find = self._found.setdefault(claim, {}), moments_of(claim)

        def moment(record: EpisodeRecord) -> Moment | None:
            try:
                return known[record.id]
            except KeyError:
                return known.setdefault(record.id, find(record))

        return moment


def asking(
    explore: Sequence[EpisodeRecord] | Explore,
    *,
    template: str = "",
    action: str = "",
    kind: str = "error_template",
    calls_for: Strategy = "repair",
) -> ProposalRequest:
    """What a proposer is asked about one signal."""
    signal = raised_signal(
        kind,
        fingerprint=f"{kind}/{template}/{action}",
        calls_for=calls_for,
        template=template,
        action=action,
        episodes=2,
    )
    return ProposalRequest(signal, explore if isinstance(explore, Explore) else Explore(explore))


class Judgement(NamedTuple):
    """What became of one signal's candidate; `evidence` is that of the inverse where a claim is to go."""

    about: str
    proposer: str
    claim: Claim
    evidence: ReplayEvidence
    verdict: Verdict


def division_of(records: Sequence[EpisodeRecord], split_key: str) -> Division:
    """Divide episodes as a first scan does."""
    return divide(records, form_groups({}, records), split_key)


def evolved(division: Division, templates: Iterable[str], split_key: str) -> list[Judgement]:
    """Mine each template on explore and send what survives through the gate, one after the other."""
    explore = Explore(division.explore)
    asks = [(asking(explore, template=template), (recovery,)) for template in templates]
    return sent_through(asks, division, split_key)


def sent_through(
    asks: Iterable[tuple[ProposalRequest, Sequence[Proposer]]],
    division: Division,
    split_key: str,
    *,
    keeping: bool = False,
    sent: int = 0,
) -> list[Judgement]:
    """Answer each signal from explore, and send what survives through the gate, one after the other.

    `sent` questions were asked before and not answered; each signal of which any claim was tried is one more,
    until its claim is promoted. Each is measured on a skill without claims, or, with `keeping`, on one that keeps
    what was promoted before.
    What only its endpoint keeps out counts as promoted: the other rules must hold chance off without it.
    """
    live: tuple[Claim, ...] = ()
    stamp = MeasurementStamp(evaluator_id(division, split_key), "2026-01-01T00:00:00.000000Z")
    deciding = replace(division, audit=())  # which is reported, and takes as long to measure as what decides
    judgements: list[Judgement] = []
    for ask, proposers in asks:
        mined = answer(ask, proposers)
        proposal = mined.proposal
        sent += mined.tried > 0
        if proposal is None or proposal.inert:
            continue  # a line that seemed to do nothing may go, and rightly where nothing does anything
        if isinstance(proposal, Removal):
            (claim,) = proposal.removes
            evidence = measure_removal(claim, (claim,), deciding, stamp, seed=7)
        else:
            claim = proposal.claims[0]
            evidence = measure(
                proposal.claims,
                live,
                deciding,
                stamp,
                seed=7,
                endpoint=proposal.endpoint,
                chosen_of=proposal.chosen_of,
            )
        verdict = judge(_on_any_endpoint(evidence.figures), WRITTEN_RULE, sent)
        if verdict.decision == "promote" and not isinstance(proposal, Removal):
            sent -= 1
            live += evidence.kept if keeping else ()
        about = ask.signal.template or ask.signal.action
        judgements.append(Judgement(about, proposal.proposer, claim, evidence, verdict))
    return judgements


def _on_any_endpoint(figures: Figures) -> Figures:
    if figures.effect is None:
        return figures
    return replace(figures, effect=figures.effect.model_copy(update={"endpoint": "outcome"}))


def recovering_by(claim: Claim, division: Division, key: str) -> list[Judgement]:
    """Send a claim through the gate by each way in which logs without outcomes can lead to it."""
    about = asking(division.explore, template=claim.template if isinstance(claim, AfterError) else "")
    theirs = replace(about, others=(skill_with([claim], fingerprint=about.signal.fingerprint),))
    own: Proposer = recovery if isinstance(claim, AfterError) else lambda ask: mine("guard", ask, [claim])
    return sent_through([(about, (own,)), (theirs, (transfer,))], division, key)


def promoted(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Keep what the gate would let through."""
    return [judgement for judgement in judgements if judgement.verdict.decision == "promote"]
