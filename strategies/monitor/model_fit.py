"""Which model a skill goes with: live versions held against two models, from sessions and kept runs.

The two are treated alike: none counts for being newer. Sessions are observed, so what made an agent load a skill,
or a person choose a model, may have made a difference; runs of the same tasks rule that out.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import sqrt
from shlex import quote
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import RefusedError
from events.types.capsule_events import LineUnderModels, MeanAmount, ModelFigures, SkillModelsCompared
from events.types.score import Delta
from registry.decide.commands import RecordSkillFact
from registry.query.versions import event_of
from registry.skill_md.render import label
from registry.state.line_claims import claims_of
from strategies.episodes.episode import lasted_ms, model_of
from strategies.gate.replay.contrast import cases_of, contrast, judged, outcome_of, settings_of
from strategies.gate.rollout_rule import figures_of, sign_flip_p
from strategies.gate.stats.alpha_spending import nth_share
from strategies.gate.stats.mantel_haenszel import Z95, one_sided_p
from strategies.pool.known_episodes import split_groups
from strategies.pool.splits import divide
from strategies.rollouts.run.arms import NO_SKILL
from strategies.signals.proportion import wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Literal

    from registry.query.library import Library
    from registry.registry import Registry
    from registry.state.capsule import Capsule
    from registry.state.gene import Gene
    from registry.state.line import SkillLine
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.contrast import Contrast, JudgeableEpisodes
    from strategies.rollouts.run.export import FinishedRun
    from strategies.scope.scope import Scope

ALPHA: Final = 0.01
"""The error rate that all comparisons of models which a registry ever makes share."""
LEAST_TASKS: Final = 10
"""Tasks below which nothing is said (a guess)."""
ALIKE: Final = 0.05
"""Two models are alike with a skill where the difference is surely smaller than this (a guess)."""
ACTOR: Final = "germline"


class UseWithOutcome(NamedTuple):
    """A session or a run that had a skill and has an outcome. Units: US dollars, seconds; None where not known."""

    task: str
    outcome: float
    cost_usd: float | None
    seconds: float | None


class _Tested(NamedTuple):
    """A difference, and the one-sided chances of it where it does nothing: that it helps, and that it harms."""

    delta: Delta
    p_more: float
    p_less: float


@dataclass(frozen=True)
class _Side:
    """A skill under one model."""

    model: str
    uses: tuple[UseWithOutcome, ...]
    effect: _Tested | None


def compared_models(
    registry: Registry, names: Sequence[str], models: tuple[str, str], scope: Scope, runs: Sequence[FinishedRun]
) -> list[SkillModelsCompared]:
    """Hold live skills against two models; record what is new of each, and find again what was recorded.

    In either order of the models the question is one, answered in the order of their names. Each skill is recorded
    before the next is asked about, so that every question has a share of the error rate of its own.
    Raises: RefusedError where nothing is known of any of them under these models.
    """
    first, second = sorted(models)
    compared, telling = [], []
    for name in names:
        event = _compared(registry, name, (first, second), scope, runs)
        compared.append(event)
        if _says_nothing(event):
            continue
        telling.append(event)
        if event not in _before(registry, name):
            registry.execute(RecordSkillFact(event), actor=ACTOR)
    if not telling:
        most = max(compared, key=lambda event: event.shared_tasks, default=None)
        what = f"{most.reason} ({label(registry.capsule(most.capsule))})" if most else "there is no live skill"
        raise RefusedError(
            f"too little is known under {' and '.join(models)}: {what}",
            hint=f"germline compare {most.capsule if most else 'SKILL'} --models {quote(','.join(models))}",
        )
    return compared


def _says_nothing(event: SkillModelsCompared) -> bool:
    of_lines = [verdict for line in event.lines for verdict in (line.first_verdict, line.second_verdict)]
    verdicts = {event.first.verdict, event.second.verdict, *of_lines}
    return event.difference is None and verdicts == {"too little"}


def _before(library: Library, name: str) -> list[SkillModelsCompared]:
    recorded = library.log.read(stream=f"capsule:{name}", types=("SkillModelsCompared",), newest_first=True)
    return [event_of("SkillModelsCompared", envelope) for envelope in recorded]


def _compared(
    library: Library, name: str, models: tuple[str, str], scope: Scope, runs: Sequence[FinishedRun]
) -> SkillModelsCompared:
    """Compare one skill; the same figures as before keep the share of the error rate that they had."""
    known = next((e for e in _before(library, name) if (e.first.model, e.second.model) == models), None)
    if known is not None and known == model_fit(library, name, models, scope, runs, known.alpha):
        return known
    asked = sum(1 for _ in library.log.read(types=("SkillModelsCompared",)))
    return model_fit(library, name, models, scope, runs, nth_share(ALPHA, asked + 1))


def model_fit(
    library: Library,
    name: str,
    models: tuple[str, str],
    scope: Scope,
    runs: Sequence[FinishedRun],
    alpha: float,
) -> SkillModelsCompared:
    """Say what a live version does under two models, and which of them it goes with; appends nothing.

    Kept runs decide where both models share enough tasks there, else sessions do.
    """
    capsule = library.capsule(name)
    records = scope.restricted(name, scope.records)
    of_runs = [_side_of_runs(capsule, model, runs) for model in models]
    by_runs = len(_shared(*of_runs)) >= LEAST_TASKS
    first, second = of_runs if by_runs else [_side_of_sessions(library, capsule, m, records) for m in models]
    lines = [(gene, line) for gene in capsule.genes for line in gene.lines if claims_of(gene, line)]
    share = alpha / (8 + 4 * len(lines))  # both ways: two effects, their difference and its cost; each line twice
    between = _between(first, second)
    figures = [_figures(side, share, "runs" if by_runs else "sessions") for side in (first, second)]
    sealed = divide(records, split_groups(library), library.about().split_key).sealed
    of_models = [judged([record for record in sealed if model_of(record) == model]) for model in models]
    rows = tuple(_line(gene, line, of_models, share) for gene, line in lines)
    shared = _shared(first, second)
    compared = SkillModelsCompared(
        capsule=name,
        version=capsule.version,
        first=figures[0],
        second=figures[1],
        shared_tasks=len(shared),
        difference=between.delta if between else None,
        cost_usd=_amount(first, second, lambda use: use.cost_usd),
        seconds=_amount(first, second, lambda use: use.seconds),
        lines=rows,
        suits="unknown",
        reason="",
        alpha=alpha,
    )
    suits, reason = _suits(compared, between, share)
    return compared.model_copy(update={"suits": suits, "reason": reason})


def _side_of_runs(capsule: Capsule, model: str, runs: Sequence[FinishedRun]) -> _Side:
    """Read the kept runs of a version under a model, on tasks that no proposer saw, paired with those without."""
    arms: dict[str, dict[tuple[str, int], FinishedRun]] = {label(capsule): {}, NO_SKILL.name: {}}
    for run in runs:
        transcript, trial = run.transcript, run.kept.trial
        counts = run.sound and trial.status != "infrastructure" and transcript.split != "explore"
        if counts and transcript.model == model and run.kept.arm in arms:
            arms[run.kept.arm][trial.task, run.kept.round] = run
    own, without = arms.values()
    uses = tuple(
        UseWithOutcome(task, run.score, run.kept.trial.cost_usd, run.kept.trial.seconds)
        for (task, _), run in sorted(own.items())
    )
    pairs: dict[str, list[float]] = defaultdict(list)
    for (task, number), run in own.items():
        if beside := without.get((task, number)):
            pairs[task].append(run.score - beside.score)
    return _Side(model, uses, _paired(list(pairs.values())))


def _side_of_sessions(library: Library, capsule: Capsule, model: str, records: Sequence[EpisodeRecord]) -> _Side:
    """Read the sessions of a model that loaded what a version says, beside others of the same run."""
    now = {*map(str, library.outline(capsule.name).lineage()[-1]), ""}
    own = [record for record in records if model_of(record) == model]
    known = [record for record in own if dict(record.skills).get(capsule.name, "") in now]
    compared = judged(known)
    loaded = [record for record in compared.records if capsule.name in dict(record.skills)]
    uses = tuple(map(_use, loaded))
    if compared.heuristic:  # outcomes that are guessed from signals tell nothing of a skill
        return _Side(model, uses, None)
    settings = settings_of(compared.records)
    cases = [
        (stratum, task, capsule.name in dict(record.skills), outcome)
        for record, (stratum, task, outcome) in zip(compared.records, settings, strict=True)
    ]
    return _Side(model, uses, _contrasted(contrast(cases)))


def _use(record: EpisodeRecord) -> UseWithOutcome:
    lasted, usage = lasted_ms(record), record.usage
    seconds = None if lasted is None else lasted / 1000
    return UseWithOutcome(record.task, outcome_of(record), usage.cost_usd if usage else None, seconds)


def _contrasted(figures: Contrast | None) -> _Tested | None:
    if figures is None or min(figures.tasks, figures.obeyed, figures.disobeyed) < LEAST_TASKS:
        return None
    difference = figures.difference
    delta = Delta(value=difference.value, low=difference.low, high=difference.high, tasks=figures.tasks)
    return _Tested(delta, one_sided_p(figures.z), one_sided_p(-figures.z))


def _paired(pairs: Sequence[Sequence[float]]) -> _Tested | None:
    """Compare by task; shapes: for each task its differences."""
    if len(pairs) < LEAST_TASKS:
        return None
    figures = figures_of([list(task) for task in pairs], max(map(len, pairs)))
    means = [fmean(task) for task in pairs]
    delta = Delta(value=figures.difference, low=figures.low, high=figures.high, tasks=figures.tasks)
    return _Tested(delta, figures.p, sign_flip_p([-mean for mean in means]))


def _by_task(side: _Side) -> dict[str, list[UseWithOutcome]]:
    tasks: dict[str, list[UseWithOutcome]] = defaultdict(list)
    for use in side.uses:
        tasks[use.task].append(use)
    return tasks


def _shared(first: _Side, second: _Side) -> list[tuple[list[UseWithOutcome], list[UseWithOutcome]]]:
    """Give the uses of both for each task that both did."""
    had, has = _by_task(first), _by_task(second)
    return [(had[task], has[task]) for task in sorted(had.keys() & has.keys())]


def _between(first: _Side, second: _Side) -> _Tested | None:
    """Compare the two models with the skill, over tasks that both did."""
    return _paired(
        [[fmean(u.outcome for u in has) - fmean(u.outcome for u in had)] for had, has in _shared(first, second)]
    )


def _amount(first: _Side, second: _Side, amount_of: Callable[[UseWithOutcome], float | None]) -> MeanAmount | None:
    differences = []
    for had, has in _shared(first, second):
        before, after = ([value for use in uses if (value := amount_of(use)) is not None] for uses in (had, has))
        if before and after:
            differences.append(fmean(after) - fmean(before))
    if len(differences) < LEAST_TASKS:
        return None
    mean, error = fmean(differences), stdev(differences) / sqrt(len(differences))
    return MeanAmount(value=mean, low=mean - Z95 * error, high=mean + Z95 * error, tasks=len(differences))


def _figures(side: _Side, share: float, grounds: Literal["runs", "sessions"]) -> ModelFigures:
    outcomes = [use.outcome for use in side.uses]
    low, high = wilson(sum(outcomes), len(outcomes))
    verdict: Literal["helps", "harms", "unclear", "too little"] = "too little"
    if side.effect is not None:
        verdict = "unclear"
        if side.effect.p_more <= share:
            verdict = "helps"
        elif side.effect.p_less <= share:
            verdict = "harms"
    return ModelFigures(
        model=side.model,
        grounds=grounds,
        uses=len(outcomes),
        success=fmean(outcomes) if outcomes else None,
        low=low,
        high=high,
        cost_usd=_mean([use.cost_usd for use in side.uses]),
        seconds=_mean([use.seconds for use in side.uses]),
        effect=side.effect.delta if side.effect else None,
        verdict=verdict,
    )


def _mean(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return fmean(known) if known else None


def _line(gene: Gene, line: SkillLine, of_models: Sequence[JudgeableEpisodes], share: float) -> LineUnderModels:
    """Ask the sealed sessions of each model whether what a line claims holds."""
    claim = claims_of(gene, line)[0]
    tested = []
    for compared in of_models:
        figures = None if compared.heuristic else contrast(cases_of(claim, compared.records))
        tested.append(_contrasted(figures))
    return LineUnderModels(
        gene=gene.id,
        line=line.id,
        text=line.text.strip(),
        first=tested[0].delta if tested[0] else None,
        second=tested[1].delta if tested[1] else None,
        first_verdict=_line_verdict(tested[0], share),
        second_verdict=_line_verdict(tested[1], share),
    )


def _line_verdict(tested: _Tested | None, share: float) -> Literal["holds", "refuted", "unclear", "too little"]:
    if tested is None:
        return "too little"
    if tested.p_more <= share:
        return "holds"
    return "refuted" if tested.p_less <= share else "unclear"


def _suits(
    compared: SkillModelsCompared, between: _Tested | None, share: float
) -> tuple[Literal["first", "second", "either", "neither", "unknown"], str]:
    """Say which model the skill goes with: not with one that it harms, then with the one that does better."""
    first, second = compared.first, compared.second
    match first.verdict == "harms", second.verdict == "harms":
        case True, True:
            return "neither", "it harms with both"
        case True, False:
            return "second", f"it harms with {first.model}"
        case False, True:
            return "first", f"it harms with {second.model}"
        case _ if between is None:
            return "unknown", f"{compared.shared_tasks} tasks were done with it by both, {LEAST_TASKS} are needed"
        case _:
            return _better(compared, between, share)


def _better(
    compared: SkillModelsCompared, between: _Tested, share: float
) -> tuple[Literal["first", "second", "either", "unknown"], str]:
    delta, second = between.delta, compared.second.model
    words = f"{delta.value:+.3f} [{delta.low:+.3f}, {delta.high:+.3f}] on {delta.tasks} tasks"
    if between.p_more <= share:
        return "second", f"with it {second} does better than {compared.first.model}: {words}"
    if between.p_less <= share:
        return "first", f"with it {second} does worse than {compared.first.model}: {words}"
    if delta.low > -ALIKE and delta.high < ALIKE:
        return "either", f"alike with it, {words}{_cheaper(compared, share)}"
    return "unknown", f"with it no difference is shown: {words}"


def _cheaper(compared: SkillModelsCompared, share: float) -> str:
    cost = compared.cost_usd
    if cost is None or not cost.value:
        return ""
    error = (cost.high - cost.low) / (2 * Z95)
    if error and one_sided_p(abs(cost.value) / error) > share:
        return ""
    cheaper = compared.second.model if cost.value < 0 else compared.first.model
    return f"; {cheaper} costs less, {abs(cost.value):.4f} USD a task"
