"""Whether a common cause explains an effect: like decisions compared, and a control that no line could have moved.

Who looks first may succeed because it looked, or because it is the better agent, or has the easier task. Compared
are decisions of one run, turn and time that saw the same before, on tasks alike where tasks repeat, beside what
had failed before and what the agent does elsewhere. The control is the same action elsewhere in the episode: if a
hidden trait of agent, task or moment makes an agent do it and succeed, it shows there as well. Then a decision is
held against how likely it was, given how often the agent does so in all: what is left of it has nothing to do with
any such trait. Where that leaves too little to tell, it has to show more than twice what doing so elsewhere does.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from math import sqrt
from operator import mul
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.score import Confounding, DecisionEffect
from strategies.episodes.episode import SUBMIT, moment_s
from strategies.gate.replay.balance import balance, times_as_strong
from strategies.gate.replay.contrast import outcome_of
from strategies.gate.replay.decisions import backgrounds, claimed_action
from strategies.gate.replay.other_attempts import counting_others, goes_with_others, of_others, outcomes_of_others
from strategies.gate.replay.support import NOTICED_Z
from strategies.gate.stats.conditional_odds import chance_here, odds_ratio, weights
from strategies.gate.stats.fixed_effects import GroupedRows, Slope, residuals
from strategies.gate.stats.mantel_haenszel import one_sided_p

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.claimed_episodes import ClaimedEpisodes
    from strategies.gate.replay.decisions import Background, Decision
    from strategies.gate.stats.conditional_odds import ActionCounts
    from strategies.gate.stats.fixed_effects import Residuals

CLASSES: Final = 6
"""How many classes of action of an agent's habit are told apart: the commonest."""
SAME_TASK: Final = 0.5
"""The share of episodes with a decision, on tasks that several of them tried, from which other attempts count."""
CELL: Final = 20
"""Decisions on either side from which a part of the logs can speak for itself."""
MOST_SHARED: Final = 0.8
"""Beyond this share, what other attempts decide alike is taken for no more."""
AS_LOUDLY: Final = 2.0
"""How many times as much a decision may owe to a cause in common as the same action elsewhere does."""
SURELY: Final = 2.33
"""The z beyond which a part speaks against the whole (p .01)."""
_FOUND_Z: Final = 3.86
"""The effect, in standard errors, that is found nine times of ten at half of alpha .01."""


class _Row(NamedTuple):
    """One decision: its episode, task and run, whether it obeyed, its outcome, its time, and what was beside it.

    `elsewhere` counts how much oftener than others the agent obeys, as it were, where the claim does not apply;
    `expected` is how likely it is to, given how often it does so in all, `on_task` given how often others on its
    task do. `others` is what those came to, `others_obeyed` how many of them obeyed; None and 0 where tasks do not
    repeat.
    """

    id: str
    task: str
    run: str
    obeyed: float
    outcome: float
    when: float
    past: Background
    elsewhere: float
    expected: float
    on_task: float
    others: float | None
    others_obeyed: float


class _Compared(NamedTuple):
    """Decisions with their outcomes, their groups, and what is left of both beside all that is alike.

    With `on_task` that is how often all who try the task do the same, too; `others` is what the decision goes with
    in their attempts, None where tasks do not repeat.
    """

    rows: list[_Row]
    grouped: GroupedRows
    itself: Residuals | None
    on_task: bool = False
    others: Slope | None = None


def confounding(
    held: ClaimedEpisodes,
    sealed: Sequence[EpisodeRecord] | None = None,
    *,
    chosen_of: int = 0,
    to_end: bool = True,
) -> Confounding:
    """Compare like decisions on sealed, and on explore; look for a cause in common on both together.

    `sealed` are the episodes that explore does not hold, None for all. Units: `chosen_of` is the number of claims
    that explore chose this one of, 0 where that cannot be counted.
    """
    decided = _rows(held, to_end=to_end)
    compared = _compared(decided)
    rows, itself = compared.rows, compared.itself
    known = {record.id for record in (held.records if sealed is None else sealed)}
    sides = [[row.id in known for row in rows], [row.id not in known for row in rows]]
    effect, mined = (itself.slope(side) if itself else None for side in sides)
    elsewhere = _control(compared) if effect else None
    control = elsewhere.slope() if elsewhere else None
    noticed = control is not None and control.z >= NOTICED_Z
    beside = _beyond(compared, elsewhere) if elsewhere and noticed else None
    beyond, mined_beyond = (beside(side) if beside else None for side in sides)
    bare = _bare(rows) if effect else None
    return Confounding(
        decisions=sum(sides[0]) if effect else 0,
        same_task=rows is not decided,
        others=_kept(compared.others),
        risk_difference=effect.value if effect else 0.0,
        error=effect.error if effect else 1.0,
        p=one_sided_p(effect.z) if effect else 1.0,
        later=control.value if control else 0.0,
        later_error=control.error if control else 1.0,
        against=_against(decided, effect.value if effect else 0.0),
        mined=_kept(mined) if chosen_of else None,
        beyond=_kept(beyond),
        mined_beyond=_kept(mined_beyond) if chosen_of else None,
        chosen_of=chosen_of,
        balance=balance(_seen(rows), bare, itself) if bare and itself else None,
        times_as_strong=times_as_strong(bare, itself) if bare and itself else None,
    )


def _kept(slope: Slope | None) -> DecisionEffect | None:
    return None if slope is None else DecisionEffect(value=slope.value, error=slope.error)


def _rows(held: ClaimedEpisodes, *, to_end: bool) -> list[_Row]:
    records, stratum_of, subject = held.records, held.stratum_of, claimed_action(held.claim)
    decided = [
        (record, decision) for record, made in zip(records, held.decisions, strict=True) for decision in made
    ]
    if not decided:
        return []
    common = Counter([step.action for record in records for step in record.steps if step.kind == "call"])
    named = {subject.about, *(action for action, _ in common.most_common(CLASSES + 1))} - {"", SUBMIT}
    usual = {action: common[action] / common.total() for action in sorted(named)}
    times = {record.id: time for record, _ in decided if (time := moment_s(record.started_at)) is not None}
    first, last = min(times.values(), default=0.0), max(times.values(), default=0.0)
    pasts = backgrounds(decided, subject, usual, to_end=to_end)
    turns = [past.turn for past in pasts]
    chances = _chances([past.dealt for past in pasts], turns)
    on_task, others, others_obeyed = chances, dict[str, float](), dict[str, float]()
    if _repeat(decided):
        with_others, others = counting_others(subject, records), outcomes_of_others(records, stratum_of)
        last_decided = {record.id: float(decision.obeyed) for record, decision in decided}
        others_obeyed = of_others(records, [last_decided.get(record.id, 0.0) for record in records])
        counts = [with_others(record, past.dealt) for (record, _), past in zip(decided, pasts, strict=True)]
        on_task = _chances(counts, turns)
    share = sum(past.same for past in pasts) / max(sum(past.free for past in pasts), 1)

    def row(
        record: EpisodeRecord, decision: Decision, past: Background, expected: float, expected_on_task: float
    ) -> _Row:
        run, difficulty, _ = stratum_of(record)
        return _Row(
            record.id,
            record.task,
            f"{run}\x1f{difficulty}",
            float(decision.obeyed),
            outcome_of(record),
            (times[record.id] - first) / (last - first) if last > first and record.id in times else 0.0,
            past,
            subject.sign * (past.same - share * past.free),
            subject.sign * expected,
            subject.sign * expected_on_task,
            others.get(record.id),
            others_obeyed.get(record.id, 0.0),
        )

    return [
        row(record, decision, past, chance, chance_on_task)
        for (record, decision), past, chance, chance_on_task in zip(decided, pasts, chances, on_task, strict=True)
    ]


def _chances(tables: Sequence[ActionCounts], turns: Sequence[int]) -> list[float]:
    """Give how likely each decision is, given how often it is made in all; one turn asks as much of all."""
    by_turn: defaultdict[int, list[ActionCounts]] = defaultdict(list)
    for table, turn in zip(tables, turns, strict=True):
        by_turn[turn].append(table)
    higher, lower = weights(tables)
    usual = ((higher + 0.5) / (higher + lower + 1), (lower + 0.5) / (higher + lower + 1))
    odds = {turn: odds_ratio(alike, usual) for turn, alike in by_turn.items()}
    chances = {
        (turn, table): chance_here(table, odds[turn]) for turn, alike in by_turn.items() for table in {*alike}
    }
    return [chances[pair] for pair in zip(turns, tables, strict=True)]


def _repeat(decided: Sequence[tuple[EpisodeRecord, Decision]]) -> bool:
    """Tell whether most episodes with a decision are on tasks that several of them tried."""
    episodes = {record.id: record.task for record, _ in decided}
    tried = Counter(episodes.values())
    return sum(count for count in tried.values() if count > 1) >= max(SAME_TASK * len(episodes), 1)


def _compared(decided: list[_Row]) -> _Compared:
    """Compare decisions of all tasks, or each outcome against the other attempts of its task.

    Of all tasks where what other attempts show is less than the error of the effect, even a standard error above
    what it seems: few of them tell little. An action that is hardly done but in one place says nothing of a task.
    """
    grouped = _grouped(decided)
    if all(row.others is None for row in decided):
        return _Compared(decided, grouped, _effect(decided, grouped))
    across, against = _effect(decided, grouped, on_task=True), _against_others(decided, grouped)
    effect, beside = (left.slope() if left else None for left in (across, against.itself))
    others = across and goes_with_others(
        across.cause, [row.task for row in decided], [row.others for row in decided]
    )
    is_surer = effect is not None and (beside is None or effect.error <= beside.error)
    if effect and is_surer and others and others.value + others.error <= effect.error:
        return _Compared(decided, grouped, across, on_task=True, others=others)
    return against._replace(others=others)


def _against_others(decided: list[_Row], grouped: GroupedRows) -> _Compared:
    """Hold each outcome against those of the other attempts of its task, where there are any.

    Where these decide alike, because the task asks for it, part of what the decision changes is in theirs as well,
    and in the difference so much less: it is made as large again.
    """
    rows = [row._replace(outcome=row.outcome - row.others) for row in decided if row.others is not None]
    grouped = grouped if len(rows) == len(decided) else _grouped(rows)
    left = _effect(rows, grouped)
    if left is None:
        return _Compared(rows, grouped, None)
    shared = goes_with_others(left.cause, [row.task for row in rows], [row.others_obeyed for row in rows])
    kept = 1 - min(max(shared.value, 0.0), MOST_SHARED) if shared else 1.0
    rows = [row._replace(outcome=row.outcome / kept) for row in rows]
    return _Compared(rows, grouped, left._replace(outcome=[outcome / kept for outcome in left.outcome]))


def _grouped(rows: Sequence[_Row]) -> GroupedRows:
    """Group decisions by run, turn and what was seen before."""
    groups = [[row.run for row in rows], [str(row.past.turn) for row in rows], [row.past.seen for row in rows]]
    return GroupedRows(groups, [row.task for row in rows])


def _bare(rows: Sequence[_Row]) -> Residuals | None:
    """Compare decisions within run alone, whatever was seen before."""
    grouped = GroupedRows([[row.run for row in rows]], [row.task for row in rows])
    return residuals([row.outcome for row in rows], [row.obeyed for row in rows], [], grouped)


def _effect(
    rows: Sequence[_Row], grouped: GroupedRows, *, beyond: bool = False, on_task: bool = False
) -> Residuals | None:
    """Compare like decisions; `beyond` gives how much more a decision goes with than the same done elsewhere does.

    An agent that does something so often does it here so often by chance. Beside that, what is left of doing it
    here is where it was done, not by whom: whatever outcomes have to do with who does it often, however oddly,
    falls on neither side. `on_task` holds it so against all who try the task. Source: Rosenbaum & Rubin 1983 (the
    propensity score).
    """
    beside = [tuple([row.expected for row in rows])] if beyond else _columns([row.past.habit for row in rows])
    beside += [tuple([row.on_task for row in rows])] if on_task else []
    return _alike(rows, [row.obeyed for row in rows], beside, grouped)


def _control(compared: _Compared) -> Residuals | None:
    """Ask what doing the same elsewhere goes with, each time, beside the decision itself."""
    rows = compared.rows
    beside = [tuple([row.obeyed for row in rows])]
    beside += [tuple([row.on_task for row in rows])] if compared.on_task else []
    return _alike(rows, [row.elsewhere for row in rows], beside, compared.grouped)


def _beyond(compared: _Compared, elsewhere: Residuals) -> Callable[[Sequence[bool]], Slope | None]:
    """Give a way to tell, over some of the rows, what an effect shows beyond who decides so often anyway.

    Two ways are known. Held against how likely the decision was, it keeps nothing of any trait, and little of an
    action that is hardly done elsewhere. Less than twice what the action goes with elsewhere keeps that, and loses
    much where traits speak loudly. Taken is what finds the smaller effect nine times of ten.
    """
    by_habit = _effect(compared.rows, compared.grouped, beyond=True, on_task=compared.on_task)
    habit, control = by_habit.slope() if by_habit else None, elsewhere.slope()
    less = _less(compared.itself, elsewhere)
    if less and control and (not habit or control.value + _FOUND_Z * less.error < _FOUND_Z * habit.error):
        return lambda side: _less(compared.itself, elsewhere, side)
    return by_habit.slope if by_habit else lambda _: None


def _less(effect: Residuals | None, elsewhere: Residuals, side: Sequence[bool] | None = None) -> Slope | None:
    """Give what is left of an effect where a cause in common speaks twice as loudly from it as from elsewhere.

    The two are measured at right angles, so their errors add as if nothing tied them.
    """
    here, there = effect.slope(side) if effect else None, elsewhere.slope(side)
    if here is None or there is None:
        return None
    value = here.value - AS_LOUDLY * max(there.value, 0.0)
    return Slope(value, sqrt(here.error**2 + (AS_LOUDLY * there.error) ** 2))


def _alike(
    rows: Sequence[_Row], cause: Sequence[float], beside: Sequence[tuple[float, ...]], grouped: GroupedRows
) -> Residuals | None:
    """Compare within run, turn and what was seen before, beside the time, what had failed, and further columns.

    All splits share what these explain: it costs each of them as little as it can, and what is left of outcomes on
    sealed has nothing to do with what chose the claim.
    """
    if not rows:
        return None
    when = tuple([row.when for row in rows])
    varying = [when, tuple(map(mul, when, when)), *_columns([row.past.failed for row in rows]), *beside]
    return residuals([row.outcome for row in rows], cause, varying, grouped)


def _columns(rows: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
    return [*zip(*rows, strict=True)]


def _seen(rows: Sequence[_Row]) -> dict[str, list[tuple[float, ...]]]:
    """Give what was seen before each decision, in columns by name."""
    return {
        "time": [tuple(row.when for row in rows)],
        "actions before": [tuple(float(row.past.turn) for row in rows)],
        "failures before": _columns([row.past.failed for row in rows]),
        "mix of actions before": _columns([row.past.habit for row in rows]),
    }


def _against(rows: Sequence[_Row], whole: float) -> str:
    """Name a run, or what was seen before, where obeying surely goes with the opposite; "" where there is none."""
    parts: defaultdict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for row in rows:
        for part in (row.run.partition("\x1f")[0], row.past.seen):
            parts[part][bool(row.obeyed)].append(row.outcome)
    for part, (disobeyed, obeyed) in sorted(parts.items()):
        if min(len(obeyed), len(disobeyed)) >= CELL and _apart(obeyed, disobeyed, whole) < -SURELY:
            return part
    return ""


def _apart(obeyed: Sequence[float], disobeyed: Sequence[float], whole: float) -> float:
    """Give the difference of two means in standard errors, seen from the sign of the whole."""
    means = [sum(side) / len(side) for side in (obeyed, disobeyed)]
    variance = sum(
        sum((value - mean) ** 2 for value in side) / len(side) ** 2
        for side, mean in zip((obeyed, disobeyed), means, strict=True)
    )
    apart = means[0] - means[1]
    return (apart if whole >= 0 else -apart) / sqrt(variance) if variance else 0.0
