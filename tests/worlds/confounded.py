"""Worlds in which no action changes an outcome, and yet those who act one way end better.

Each has 4 runs over equally many tasks, episodes of 3 to 8 steps, four actions of looking and asking, and errors
of two templates. What drives both action and outcome is never written into a record; what betrays it is.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from strategies.episodes.episode import EpisodeOutcome, StepRecord
from strategies.gate.replay.contrast import outcome_of
from strategies.gate.replay.explore_split import Explore
from strategies.gate.replay.exposure import moment_of
from strategies.propose.guard import guard
from strategies.propose.habit import habit
from strategies.propose.recovery import recovery
from tests.worlds import NO_TABLE, asking, call, division_of, episode, sent_through

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord
    from strategies.propose.proposal import ProposalRequest, Proposer
    from tests.worlds import Judgement

NO_COLUMN: Final = "Unknown column <*> in <*>"
ACTIONS: Final = ("sql:SELECT", "sql:SHOW", "sql:DESC", "sql:EXPLAIN")
ANSWERS: Final = {NO_TABLE: "sql:SHOW", NO_COLUMN: "sql:DESC"}
"""What to do after which error, where two rules are true."""
RUNS: Final = ("run-a", "run-b", "run-c", "run-d")
QUESTIONS: Final = len(ANSWERS) + len(ACTIONS) + 2
"""How many signals `judgements` asks about: each error, each action, any action, and what no claim covers."""
EVEN: Final = (0.25, 0.25, 0.25, 0.25)
ERRORS: Final = 0.4
LEAST_STEPS, MOST_STEPS = 3, 8

Mix = tuple[float, ...]
"""How often each of ACTIONS is taken."""


def mix(select: float, show: float) -> Mix:
    """Give SELECT and SHOW these shares, and the other two the rest."""
    rest = (1 - select - show) / 2
    return select, show, rest, rest


class Place(NamedTuple):
    """Where in the world an episode lies: its task, its run, and how far in the time of the world."""

    task: int
    run: str
    when: float


def act(draws: random.Random, shares: Mix, errors: float = ERRORS) -> StepRecord:
    """Take one action, which fails or not, whatever it is."""
    action = draws.choices(ACTIONS, shares)[0]
    return call(action, draws.choice((NO_TABLE, NO_COLUMN)) if draws.random() < errors else "")


def some_steps(draws: random.Random, shares: Mix, errors: float = ERRORS) -> list[StepRecord]:
    """Take 3 to 8 actions."""
    return [act(draws, shares, errors) for _ in range(draws.randint(LEAST_STEPS, MOST_STEPS))]


def ended(
    draws: random.Random, steps: list[StepRecord], place: Place, *, won: bool, hands_in: bool | None = None
) -> EpisodeRecord:
    """End an episode, half of them by the agent's own hand."""
    by_itself = draws.random() < 0.5 if hands_in is None else hands_in
    record = episode(
        [*steps, call("submit")] if by_itself else steps,
        outcome=float(won),
        task=f"t{place.task:05}",
        run=place.run,
        difficulty="",
    )
    minute = int(place.when * 500_000)
    day, of_day = divmod(minute, 1440)
    at = f"2026-{1 + day // 28 % 12:02}-{1 + day % 28:02}T{of_day // 60:02}:{of_day % 60:02}:00Z"
    return msgspec.structs.replace(record, started_at=at, ended_by="agent" if by_itself else "environment")


def nothing(draws: random.Random, place: Place, hidden: Mapping[str, float]) -> EpisodeRecord:
    """Live through an episode that nothing decides but luck."""
    del hidden
    return ended(draws, some_steps(draws, EVEN), place, won=draws.random() < 0.5)


def success_ends(draws: random.Random, place: Place, hidden: Mapping[str, float]) -> EpisodeRecord:
    """End with the first success, of which each turn has the same chance."""
    del hidden
    steps: list[StepRecord] = []
    won = False
    while not won and len(steps) < MOST_STEPS:
        won = draws.random() < 0.15
        steps.append(call(draws.choice(ACTIONS)) if won else act(draws, EVEN))
    return ended(draws, steps, place, won=won, hands_in=False)


def difficulty(draws: random.Random, place: Place, hidden: Mapping[str, float]) -> EpisodeRecord:
    """Live through a hard task or an easy one, each done by every run once."""
    hard = hidden["task"] < 0.5
    shares = mix(0.65, 0.15) if hard else mix(0.25, 0.55)
    return ended(draws, some_steps(draws, shares), place, won=draws.random() < (0.2 if hard else 0.8))


def mild_difficulty(draws: random.Random, place: Place, hidden: Mapping[str, float]) -> EpisodeRecord:
    """Live through a task that is a little harder, or easier."""
    hard = hidden["task"] < 0.5
    shares = mix(0.45, 0.25) if hard else mix(0.35, 0.40)
    return ended(draws, some_steps(draws, shares), place, won=draws.random() < (0.4 if hard else 0.6))


def local_difficulty(draws: random.Random, place: Place, hidden: Mapping[str, float]) -> EpisodeRecord:
    """Live through a hard task or an easy one: after errors hard ones are looked into less, elsewhere as often."""
    hard = hidden["task"] < 0.5
    steps: list[StepRecord] = []
    for _ in range(draws.randint(LEAST_STEPS, MOST_STEPS)):
        failed = steps and steps[-1].error
        shows = (0.15 if hard else 0.55) if failed else 0.25
        steps.append(act(draws, mix((1 - shows) / 3, shows)))
    return ended(draws, steps, place, won=draws.random() < (0.2 if hard else 0.8))


def quality(draws: random.Random, place: Place, hidden: Mapping[str, float]) -> EpisodeRecord:
    """Be a good agent or a bad one, each a run of its own."""
    del hidden
    good = place.run in RUNS[:2]
    shares = mix(0.25, 0.55) if good else mix(0.65, 0.15)
    return ended(draws, some_steps(draws, shares), place, won=draws.random() < (0.8 if good else 0.2))


def mixed_quality(draws: random.Random, place: Place, hidden: Mapping[str, float]) -> EpisodeRecord:
    """Be a good agent or a bad one, all under one name."""
    del hidden
    good = draws.random() < 0.5
    shares = mix(0.25, 0.55) if good else mix(0.65, 0.15)
    won = draws.random() < (0.8 if good else 0.2)
    alone = place.task * len(RUNS) + RUNS.index(place.run)  # else every task would be repeated by one run
    return ended(draws, some_steps(draws, shares), place._replace(run=RUNS[0], task=alone), won=won)


def trend(draws: random.Random, place: Place, hidden: Mapping[str, float]) -> EpisodeRecord:
    """Get better with time, and come to look more often."""
    del hidden
    shares = mix(0.65 - 0.4 * place.when, 0.15 + 0.4 * place.when)
    return ended(draws, some_steps(draws, shares), place, won=draws.random() < 0.2 + 0.6 * place.when)


def time_left(draws: random.Random, place: Place, hidden: Mapping[str, float]) -> EpisodeRecord:
    """Look the more seldom the later; each turn has the same chance of success, which ends it."""
    del hidden
    steps: list[StepRecord] = []
    won = False
    while not won and len(steps) < MOST_STEPS:
        won = draws.random() < 0.12
        shows = 0.7 * 0.7 ** len(steps)
        steps.append(act(draws, mix(0.9 - shows, shows), 0.0 if won else ERRORS))
    return ended(draws, steps, place, won=won, hands_in=False)


def crash(draws: random.Random, place: Place, hidden: Mapping[str, float]) -> EpisodeRecord:
    """End at any turn in failure; who gets through wins."""
    del hidden
    hazard = 0.15 if place.run in RUNS[:2] else 0.07
    steps: list[StepRecord] = []
    for _ in range(draws.randint(LEAST_STEPS, MOST_STEPS)):
        steps.append(act(draws, EVEN))
        if draws.random() < hazard:
            return ended(draws, steps, place, won=False, hands_in=False)
    return ended(draws, steps, place, won=True)


def reveal(draws: random.Random, place: Place, hidden: Mapping[str, float]) -> EpisodeRecord:
    """Have solved the task or not from the start; who sees a check pass hands in."""
    del hidden
    solved = draws.random() < 0.5
    steps = some_steps(draws, EVEN)
    checks = draws.random() < 0.6
    if checks:
        steps.append(call("bash:pytest", "" if solved else "<*> failed in <*>"))
    hands_in = draws.random() < (0.9 if checks and solved else 0.3)
    if checks and not solved:
        steps += [act(draws, EVEN) for _ in range(draws.randint(1, 2))]
    return ended(draws, steps, place, won=solved, hands_in=hands_in)


def answer_form(draws: random.Random, place: Place, hidden: Mapping[str, float]) -> EpisodeRecord:
    """Say a number where it is known, and explain where it is not."""
    del hidden
    knows = draws.random() < 0.5
    record = ended(
        draws, some_steps(draws, EVEN), place, won=draws.random() < (0.8 if knows else 0.2), hands_in=True
    )
    number = draws.random() < (0.8 if knows else 0.2)
    return msgspec.structs.replace(record, answer_forms=("number", "text") if number else ("text",))


def momentum(draws: random.Random, place: Place, hidden: Mapping[str, float]) -> EpisodeRecord:
    """Be on track or lost, and mostly stay so: who is on track looks more, fails less and ends well."""
    del hidden
    steps: list[StepRecord] = []
    on_track = draws.random() < 0.5
    for _ in range(draws.randint(LEAST_STEPS, MOST_STEPS)):
        steps.append(act(draws, mix(0.25, 0.5), 0.25) if on_track else act(draws, mix(0.55, 0.2), 0.55))
        on_track = on_track if draws.random() < 0.85 else not on_track
    return ended(draws, steps, place, won=draws.random() < (0.85 if on_track else 0.15))


WORLDS: Final = {
    "null": nothing,
    "success ends": success_ends,
    "difficulty": difficulty,
    "mild difficulty": mild_difficulty,
    "local difficulty": local_difficulty,
    "quality": quality,
    "mixed quality": mixed_quality,
    "trend": trend,
    "time left": time_left,
    "crash": crash,
    "reveal": reveal,
    "answer form": answer_form,
    "momentum": momentum,
}
"""Every world by its name; in none of them does an action matter."""


def world(name: str, seed: int, *, episodes: int) -> list[EpisodeRecord]:
    """Live through a world: every run does every task once."""
    draws = random.Random(f"{name}/{seed}")
    tasks = episodes // len(RUNS)
    records = []
    for task in range(tasks):
        hidden = {"task": draws.random()}
        for run in RUNS:
            record = WORLDS[name](draws, Place(task, run, task / tasks), hidden)
            records.append(record)
    return records


def with_rules(
    seed: int, *, episodes: int, lift: float = 0.3, base: float = 0.2, answers: Mapping[str, str] = ANSWERS
) -> list[EpisodeRecord]:
    """Meet errors in any order, each with an answer of its own that helps; without them `base` succeed."""
    draws = random.Random(seed)
    records = []
    for number in range(episodes):
        steps, chance = list[StepRecord](), base
        for template, answer in draws.sample(sorted(answers.items()), len(answers)):
            obeys = draws.random() < 0.5
            if draws.random() < 0.7:
                other = draws.choice(["sql:SELECT", "sql:EXPLAIN"])
                steps += [call("sql:SELECT", template), call(answer if obeys else other)]
                chance += lift * obeys
        task, run = divmod(number, len(RUNS))
        place = Place(task, RUNS[run], number / episodes)
        records.append(ended(draws, [*steps, call("sql:SELECT")], place, won=draws.random() < chance))
    return records


def judgements(
    records: Sequence[EpisodeRecord],
    split_key: str,
    *,
    keeping: bool = False,
    sent: int = 0,
    errors_alone: bool = False,
) -> list[Judgement]:
    """Ask every proposer about every error and action of these worlds, and judge what they propose.

    Errors are asked about first: with `errors_alone`, what becomes of their rules is the same.
    """
    division = division_of(records, split_key)
    explore = Explore(division.explore)
    asks: list[tuple[ProposalRequest, Sequence[Proposer]]] = [
        (asking(explore, template=template), (recovery,)) for template in ANSWERS
    ]
    if not errors_alone:
        asks += [
            (asking(explore, action=action, kind="repeated_call", calls_for="harden"), (guard,))
            for action in (*ACTIONS, "")
        ]
        asks.append((asking(explore, kind="uncovered_failure", calls_for="innovate"), (habit,)))
    return sent_through(asks, division, split_key, keeping=keeping, sent=sent)


def with_rule(records: Sequence[EpisodeRecord], claim: Claim, seed: int, *, lift: float) -> list[EpisodeRecord]:
    """Let some of those who obey a claim, and would have lost, win because they obeyed."""
    draws = random.Random(seed)
    obeyed = {r.id for r in records if (moment := moment_of(claim, r)) is not None and moment.obeyed}
    lost = sum(outcome_of(record) == 0 for record in records if record.id in obeyed)
    saved = lift * len(obeyed) / lost
    return [
        msgspec.structs.replace(record, outcome=EpisodeOutcome(1.0, "reward"))
        if record.id in obeyed and outcome_of(record) == 0 and draws.random() < saved
        else record
        for record in records
    ]
