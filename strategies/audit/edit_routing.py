"""Which passages are touched next: refine what is sound, repair what conflicts; what helped is left alone.

A passage is touched on evidence of its own: harm where the agent followed it and lost by it, noise where an
interval over pairs says that it does nothing. What a model says of a passage needs a second witness.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from events.types.frozen import Frozen
from strategies.audit.audit_verdict import SAFETY, TaskHurt, failing_tasks, hurts_of, sign_evidence
from strategies.audit.evaluators.evaluator_types import Action, SkillPassage, VoidSignal
from strategies.audit.evaluators.line_rewrites import DROP_REPEAT
from strategies.audit.evaluators.name_checks import is_real_there
from strategies.audit.evaluators.passage_terms import path_terms
from strategies.audit.evaluators.quote_check import everywhere, find_quote, with_sound_signals
from strategies.audit.evaluators.run_contrast import has_contrast
from strategies.audit.evaluators.tool_use_rationality import ToolUseRationality
from strategies.gate.stats.clopper_pearson import upper_limit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from strategies.audit.audit_verdict import AuditedPair
    from strategies.audit.evaluators.evaluator_types import ActionSignal, EvaluatorReport

Pipeline = Literal["refine", "repair"]
ORDER: Final[tuple[Action, ...]] = ("harmful", "noise", "swap", "gap")
"""What is done first: harm is taken away before noise, noise before a text is swapped, and gaps come last."""
BUDGET: Final[Mapping[Pipeline, int]] = {"refine": 3, "repair": 8}
"""Moves of one draft (guesses): few where the core is sound, more where it is not."""
MOST_EFFECT: Final = 0.5
"""A passage is noise where an interval excludes that it shows in this share of pairs: it takes five, and none."""
_STEPS: Final = ToolUseRationality.name
"""The evaluator that names the passages which a failed step comes from."""
_TAIL: Final = 0.05
_LEAST_WITNESSES: Final = 2
_FAR_MORE: Final = 20.0
"""The evidence by which harm outweighs help: an error rate of .05."""


class EditTarget(Frozen):
    """A piece of a passage that is to be changed, or a gap (`passage` None), with all that asks for it.

    `start` and `end` are the characters of the line that are meant. `group` names what counts as one move.
    `suspects` are as for its signals; `hurts` tells that something was lost by it, not only failed beside it.
    """

    key: str
    action: Action
    move: str
    reason: str
    passage: SkillPassage | None = None
    start: int = 0
    end: int = 0
    replacement: str = ""
    section: str = ""
    group: str = ""
    evaluators: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    suspects: int = 1
    hurts: bool = False
    by_model: bool = False


class LeftAlone(Frozen):
    """A passage that a signal asked to touch and that stays as it is, and why."""

    quote: str
    action: Action
    why: str


class EditRoute(Frozen):
    """What is done next: the pipeline, its targets in order, what is left alone, and the signals that were void.

    `halted` tells that a hurt ended Refine. `aims` are the hurts and failing tasks that something is taken away or
    added for: one of them must go better.
    """

    pipeline: Pipeline
    targets: tuple[EditTarget, ...] = ()
    left: tuple[LeftAlone, ...] = ()
    void: tuple[VoidSignal, ...] = ()
    halted: bool = False
    aims: tuple[TaskHurt, ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        """The names of the targets: what is not tried again as it is where the draft is taken back."""
        return frozenset(target.key for target in self.targets)


def route_edits(pairs: Sequence[AuditedPair], refused: Collection[frozenset[str]] = ()) -> EditRoute:
    """Choose what to change in the draft that these pairs were run with.

    `refused` holds, for each draft made from this one that was taken back, the keys of its targets: the same set
    is not tried again, only fewer of them. Refine, which a hurt halts, tries nothing more then.
    """
    skill = pairs[0].material.skill if pairs else ()
    pairs = [pair._replace(reports=tuple(with_sound_signals(r, skill) for r in pair.reports)) for pair in pairs]
    hurts, failing = hurts_of(pairs), failing_tasks(pairs)
    troubled = {*(hurt.task for hurt in hurts), *failing}
    pipeline: Pipeline = "repair" if troubled else "refine"
    reports = [report for pair in pairs for report in pair.reports]
    void = tuple(signal for report in reports for signal in report.void)
    if pipeline == "refine" and refused:
        return EditRoute(pipeline=pipeline, void=void, halted=True)
    left: list[LeftAlone] = []
    evidence = _Evidence(pairs, skill)
    chosen = [*_on_passages(evidence, left)]
    sure = [target for target in chosen if target.suspects == 1]
    unsure = [target for target in chosen if target.suspects > 1]
    gaps = _gaps(reports, skill, failing) if pipeline == "repair" else ()
    targets = (
        _within_budget(sorted(sure, key=_rank), BUDGET[pipeline], refused)
        or _one_suspect(evidence, [target for target in unsure if target.hurts], refused)
        or _within_budget(sorted(gaps, key=_rank), BUDGET[pipeline], refused)
        or _one_suspect(evidence, unsure, refused)
    )
    return EditRoute(
        pipeline=pipeline,
        targets=tuple(targets),
        left=tuple(sorted(left, key=lambda entry: (entry.action, entry.quote, entry.why))),
        void=void,
        aims=tuple(_aims(targets, troubled)),
    )


def _aims(targets: Sequence[EditTarget], troubled: Collection[str]) -> Iterator[TaskHurt]:
    """List what targets are for: their tasks in trouble, and where they are sure, what evaluators see there."""
    tasks = {task for target in targets if target.action != "noise" for task in target.tasks if task in troubled}
    sure = {name for t in targets if t.action in {"harmful", "swap"} and t.suspects == 1 for name in t.evaluators}
    for task in sorted(tasks):
        yield from (TaskHurt(task=task, evaluator=name) for name in ("", *sorted(sure)))


class _Witnessed(NamedTuple):
    """A signal on a passage: the characters that it quotes, and the report that it comes from."""

    signal: ActionSignal
    report: EvaluatorReport
    start: int
    end: int


class _Evidence:
    """What all pairs say about each passage, by its place in the skill."""

    def __init__(self, pairs: Sequence[AuditedPair], skill: tuple[SkillPassage, ...]) -> None:
        self.skill, self.pairs = skill, pairs
        self.signals: dict[int, list[_Witnessed]] = defaultdict(list)
        self.kept: dict[tuple[int, bool], list[tuple[int, int]]] = defaultdict(list)
        self.kept_for: dict[int, set[str]] = defaultdict(set)
        self.traced: dict[int, int] = defaultdict(int)
        self.traced_on: dict[str, set[str]] = defaultdict(set)
        self.asked = {report.task for pair in pairs for report in pair.reports if report.by_model}
        self.hurt = {hurt.task for hurt in hurts_of(pairs)}
        self.tasks = {pair.material.task for pair in pairs}
        worked = [pair for pair in pairs if pair.material.task not in self.hurt]
        self.contrasts = sum(has_contrast(pair.material) for pair in worked)
        self.explained: set[str] = set()
        self.helps: dict[int, int] = defaultdict(int)
        self.harms: dict[int, int] = defaultdict(int)
        for pair in pairs:
            self._trace(pair.reports)
            failed = self._failed_in(pair.reports)
            for report in pair.reports:
                self._take(report, failed)
            self._weigh(pair.reports)

    def _trace(self, reports: Sequence[EvaluatorReport]) -> None:
        quotes = {quote for report in reports for quote in report.traced}
        for at in {span.at for quote in quotes for span in everywhere(quote, self.skill)}:
            self.traced[at] += 1
            self.traced_on[self.skill[at].text.strip()].add(reports[0].task)

    def _failed_in(self, reports: Sequence[EvaluatorReport]) -> frozenset[int]:
        """Find the passages that a failed step surely comes from: what went well in that pair has other causes."""
        signals = [
            s for r in reports if r.evaluator == _STEPS for s in r.signals if not s.by_model and s.suspects == 1
        ]
        return frozenset(span.at for signal in signals for span in everywhere(signal.quote, self.skill))

    def _take(self, report: EvaluatorReport, failed: frozenset[int]) -> None:
        helped = (span for quote in report.protected for span in everywhere(quote, self.skill))
        for span in (span for span in helped if span.at not in failed):
            self.kept[span.at, report.by_model].append((span.start, span.end))
            self.kept_for[span.at].add(report.task)
        for signal in report.signals:
            spans = find_quote(signal.quote, self.skill, file=signal.file, gene=signal.gene, line=signal.line)
            if signal.action == "gap" or isinstance(spans, str):
                continue
            if signal.action == "harmful" and not signal.by_model:
                self.explained.add(report.task)
            for span in spans:
                self.signals[span.at].append(_Witnessed(signal, report, span.start, span.end))

    def _weigh(self, reports: Sequence[EvaluatorReport]) -> None:
        """Count for each passage the pairs that it helped in, and those in which a loss surely comes from it."""
        computed = [report for report in reports if not report.by_model]
        helped = [quote for report in computed for quote in report.protected]
        for at in {span.at for quote in helped for span in everywhere(quote, self.skill)}:
            self.helps[at] += 1
        sure = [s for r in computed for s in r.signals if s.action in {"harmful", "swap"} and s.suspects == 1]
        spans = [find_quote(s.quote, self.skill, file=s.file, gene=s.gene, line=s.line) for s in sure]
        for at in {span.at for places in spans if not isinstance(places, str) for span in places}:
            self.harms[at] += 1

    def is_kept(self, at: int) -> bool:
        """Tell whether a passage that helped is left alone: unless it surely harms in far more pairs."""
        return sign_evidence(self.harms[at], self.helps[at]) < _FAR_MORE

    def is_right(self, passage: SkillPassage, replacement: str) -> bool:
        """Tell whether a path that a swap would take out of a passage is there on some task."""
        paths = frozenset(path_terms(passage.text)) - frozenset(path_terms(replacement))
        return any(is_real_there(path, pair.material) for path in paths for pair in self.pairs)

    def does_nothing(self, at: int, signals: Sequence[_Witnessed]) -> bool:
        """Tell whether a passage is noise on every task, and shows in none of enough pairs.

        Pairs of a task that the skill hurts say nothing: there the agent may not have come so far.
        """
        if not signals[0].signal.by_model and {entry.report.task for entry in signals} != self.tasks:
            return False
        return not self.traced[at] and upper_limit(0, self.contrasts, _TAIL) <= MOST_EFFECT

    def traced_well(self, passage: SkillPassage | None) -> int:
        """Count the tasks without a hurt that a passage shows on."""
        return len(self.traced_on[passage.text.strip()] - self.hurt) if passage else 0

    def has_witness(self, signals: Sequence[_Witnessed]) -> bool:
        """Tell whether models that speak of a passage have a witness: most tasks, or an unexplained hurt."""
        tasks = {entry.report.task for entry in signals}
        most = len(tasks) >= _LEAST_WITNESSES and 2 * len(tasks) > len(self.asked)
        return most or bool(tasks & (self.hurt - self.explained))


def _on_passages(evidence: _Evidence, left: list[LeftAlone]) -> Iterator[EditTarget]:
    """Decide for each passage what is done to it: what was computed comes first, then what models say."""
    for at, signals in sorted(evidence.signals.items()):
        for by_model in (False, True):
            own = [entry for entry in signals if entry.signal.by_model == by_model]
            decided = _decided(at, own, evidence, by_model=by_model) if own else None
            if isinstance(decided, EditTarget):
                yield decided
                break
            if decided is not None:
                left.append(decided)


def _decided(
    at: int, signals: Sequence[_Witnessed], evidence: _Evidence, *, by_model: bool
) -> EditTarget | LeftAlone:
    """Choose one thing to do to a passage: unsafe text goes, then a text is swapped, then it is taken away."""
    passage = evidence.skill[at]
    by_action = {action: [entry for entry in signals if entry.signal.action == action] for action in ORDER}
    unsafe = [entry for entry in by_action["harmful"] if entry.report.evaluator == SAFETY and not by_model]
    swap, taken = _agreed(by_action["swap"]), unsafe or by_action["harmful"] or by_action["noise"]
    kept = list(evidence.kept[at, False]) if evidence.is_kept(at) else []
    kept += evidence.kept[at, True] if by_model or not by_action["harmful"] else []
    whole = (0, len(passage.text.rstrip("\r\n")))
    is_repeat = bool(taken) and all(entry.signal.move == DROP_REPEAT for entry in taken)  # the other one stays
    action, span, why = "swap" if swap else next(action for action in ORDER if by_action[action]), whole, ""
    if by_model and not evidence.has_witness(signals):
        why = "a model alone says so"
    elif swap and not unsafe and not kept and not evidence.is_right(passage, swap[0].signal.replacement):
        taken = swap
    elif not taken:
        why = "it helps, or is right, on other tasks" if swap else "tasks want different texts there"
    elif taken[0].signal.action == "noise" and not is_repeat and not evidence.does_nothing(at, taken):
        why = f"it shows in {evidence.traced[at]} of {evidence.contrasts} pairs: that does not make it noise"
    elif not unsafe and not is_repeat:
        rest = _split(taken, kept)
        span, why = rest or whole, "" if rest else f"it helps on {', '.join(sorted(evidence.kept_for[at]))}"
    if why:
        return LeftAlone(quote=passage.text.strip(), action=action, why=why)
    return _target(taken, passage, span)


def _agreed(signals: Sequence[_Witnessed]) -> list[_Witnessed]:
    """Give the signals of the one text that all tasks want in the place of a passage; none where they differ.

    Of several operations the first by name is made, and the others after it.
    """
    moves = sorted({entry.signal.move for entry in signals if entry.signal.replacement})
    chosen = [entry for entry in signals if entry.signal.replacement and entry.signal.move == moves[0]]
    return chosen if len({entry.signal.replacement for entry in chosen}) == 1 else []


def _split(signals: Sequence[_Witnessed], kept: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Give the longest piece that is asked for and overlaps nothing that is kept; None where there is none."""
    at, end = min(entry.start for entry in signals), max(entry.end for entry in signals)
    pieces: list[tuple[int, int]] = []
    for begin, stop in sorted(kept):
        if begin < end and stop > at:
            pieces.append((at, begin))
            at = stop
    longest = max((*pieces, (at, end)), key=lambda piece: piece[1] - piece[0])
    return longest if longest[1] > longest[0] else None


def _asked(signals: Iterable[tuple[ActionSignal, EvaluatorReport]]) -> dict[str, Any]:
    """Give what all who ask for one edit say: the words of the first, and their names and tasks, its own first."""
    pairs = sorted(signals, key=lambda pair: (*_words(pair[0]), pair[1].evaluator, pair[1].task))
    return {
        **pairs[0][0].model_dump(include={"action", "move", "reason", "replacement", "section"}),
        "evaluators": tuple(dict.fromkeys(report.evaluator for _, report in pairs)),
        "tasks": tuple(dict.fromkeys(report.task for _, report in pairs)),
        "by_model": all(signal.by_model for signal, _ in pairs),
    }


def _words(signal: ActionSignal) -> tuple[str, str, str]:
    return signal.move, signal.reason, signal.replacement


def _target(signals: Sequence[_Witnessed], passage: SkillPassage, span: tuple[int, int]) -> EditTarget:
    asked = _asked((entry.signal, entry.report) for entry in signals)
    where = f"{passage.file}:{passage.gene}:{passage.line}"
    group = f"{asked['move']} {passage.file}:{passage.gene}:{passage.section}"
    return EditTarget(
        key=f"{asked['action']} {where}",
        passage=passage,
        start=span[0],
        end=span[1],
        group=group if asked["action"] == "noise" else where,
        suspects=min(entry.signal.suspects for entry in signals),
        hurts=any(entry.report.result == "hurt" for entry in signals),
        **asked,
    )


def _gaps(
    reports: Iterable[EvaluatorReport], skill: Sequence[SkillPassage], failing: Sequence[str]
) -> Iterator[EditTarget]:
    """Give what the skill lacks on tasks that fail with it, each text once, and none that it holds already."""
    gaps: dict[str, list[tuple[ActionSignal, EvaluatorReport]]] = defaultdict(list)
    for report in reports:
        for signal in report.signals:
            if signal.action == "gap" and signal.replacement and report.task in failing:
                gaps[signal.replacement].append((signal, report))
    for text, asking in sorted(gaps.items()):
        if not any(text in passage.text for passage in skill):
            yield EditTarget(key=f"gap {text}", group=text, **_asked(asking))


def _one_suspect(
    evidence: _Evidence, suspects: Sequence[EditTarget], refused: Collection[frozenset[str]]
) -> list[EditTarget]:
    """Take one passage of those that a loss may come from, with its copies: the draft shows whether it did.

    The one comes first that few others share the suspicion with, then the one that shows least on tasks without a
    hurt, then the one that is suspected on most tasks.
    """
    tried = frozenset[str]().union(*refused)
    free = [target for target in suspects if target.key not in tried and target.passage is not None]
    ranked = sorted(free, key=lambda t: (t.suspects, evidence.traced_well(t.passage), -len(t.tasks), t.key))
    text = ranked[0].passage.text.strip() if ranked and ranked[0].passage else ""
    return [target for target in ranked if target.passage and target.passage.text.strip() == text]


def _rank(target: EditTarget) -> tuple[int, bool, int, str]:
    return ORDER.index(target.action), target.by_model, -len(target.tasks), target.key


def _within_budget(
    targets: Iterable[EditTarget], most: int, refused: Collection[frozenset[str]]
) -> list[EditTarget]:
    """Take targets in order while moves are left, and never a set that holds all of one that was taken back."""
    taken, groups, keys = [], set[str](), frozenset[str]()
    for target in targets:
        if target.group not in groups and len(groups) == most:
            continue
        if any(tried <= keys | {target.key} for tried in refused if target.key in tried):
            continue
        taken.append(target)
        groups.add(target.group)
        keys |= {target.key}
    return taken
