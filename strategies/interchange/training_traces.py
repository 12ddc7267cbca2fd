"""Sessions as training data: those of explore tasks with an outcome, read again without personal data."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from events.errors import RefusedError
from registry.evidence.personal_details import personal_data_in
from registry.evidence.scrub_text import scrubbed, texts_in
from registry.query.signals import erased_records
from strategies.advice.advise import counsel
from strategies.advice.failure_stats import LEAST_TASKS
from strategies.episodes.episode import model_of
from strategies.logs.transcripts import read_transcripts
from strategies.signals.survey import truth

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Literal

    from pydantic import JsonValue

    from registry.query.library import Library
    from strategies.episodes.episode import EpisodeRecord
    from strategies.logs.transcripts import Transcript
    from strategies.scope.log_globs import LogGlobs

Message = dict[str, "JsonValue"]

NO_OUTCOME: Final = "without an outcome that the world gave"
OF_OTHERS: Final = "whose log is not your own word"
UNREADABLE: Final = "whose log is gone, changed or erased, or names no task"
COPIES: Final = "that say what another one says"
REJECTED: Final = "that a person rejected"
UNAPPROVED: Final = "that no person approved"
"""Why sessions of explore tasks are left out."""


class TrainingTrace(NamedTuple):
    """A session that training can use: what was asked, then its turns in the form of chat templates.

    `copies` are the ids of other sessions that say the same.
    """

    record: EpisodeRecord
    outcome: float
    prompt: str
    messages: list[Message]
    copies: tuple[str, ...] = ()

    @property
    def model(self) -> str:
        """The model that wrote it, as far as its log tells; else the run configuration."""
        return model_of(self.record)


class TrainingTraces(NamedTuple):
    """What training can use, in the order of the ids of sessions, and how many were left out for which reason."""

    traces: tuple[TrainingTrace, ...]
    left_out: dict[str, int]


def training_traces(library: Library, skill: str = "", logs: LogGlobs | None = None) -> TrainingTraces:
    """Read the sessions that advice on a skill looks at: of sealed and audit tasks none is among them.

    Raises: NotFoundError for an unknown skill.
    """
    left_out = Counter[str]()
    chosen: list[tuple[EpisodeRecord, float]] = []
    for record in sorted(counsel(library, skill, logs=logs).records, key=lambda record: record.id):
        outcome = truth(record)
        if outcome is None:
            left_out[NO_OUTCOME] += 1
        elif record.trust != "mine":
            left_out[OF_OTHERS] += 1
        else:
            chosen.append((record, outcome))
    traces: dict[str, TrainingTrace] = {}
    read = read_transcripts([record for record, _ in chosen], erased_records(library))
    for (record, outcome), transcript in zip(chosen, read, strict=True):
        trace = _trace(record, outcome, transcript) if transcript else None
        if trace is None:
            left_out[UNREADABLE] += 1
        elif (first := traces.setdefault(text := repr((trace.prompt, trace.messages)), trace)) is not trace:
            traces[text] = first._replace(copies=(*first.copies, record.id))
            left_out[COPIES] += 1
    return TrainingTraces(tuple(traces.values()), dict(left_out))


def let_go(
    collected: TrainingTraces, decided: Mapping[str, Literal["approve", "reject"]], *, approved: bool
) -> TrainingTraces:
    """Leave out the sessions that a person rejected, and with `approved` those that nobody let go.

    A word on one of several sessions that say the same is a word on what they say; a rejection goes before.
    """
    kept, left_out = [], Counter(collected.left_out)
    for trace in collected.traces:
        decisions = {decided.get(session) for session in (trace.record.id, *trace.copies)}
        if "reject" in decisions:
            left_out[REJECTED] += 1
        elif approved and "approve" not in decisions:
            left_out[UNAPPROVED] += 1
        else:
            kept.append(trace)
    return TrainingTraces(tuple(kept), dict(left_out))


def _trace(record: EpisodeRecord, outcome: float, transcript: Transcript) -> TrainingTrace | None:
    """Write a session as messages; None where its log holds no request, or no answer to it."""
    messages = list(_messages(transcript))
    if not transcript.task.strip() or not any(message["role"] == "assistant" for message in messages):
        return None
    whole: list[JsonValue] = [transcript.task, *messages]
    clean = cast("list[JsonValue]", scrubbed(whole, personal_data_in(texts_in(whole))))
    return TrainingTrace(record, outcome, str(clean[0]), cast("list[Message]", clean[1:]))


def _messages(transcript: Transcript) -> Iterator[Message]:
    """Write steps as messages: what an agent says and calls in one turn is one, what came back follows it."""
    steps = [
        step
        for step in transcript.steps
        if step.kind == "call" or (step.text.strip() and (step.kind == "message" or step.actor == "agent"))
    ]
    if steps and steps[0].actor == "user" and steps[0].text.strip() == transcript.task.strip():
        steps = steps[1:]
    for (actor, _), turn in groupby(steps, key=lambda step: (step.actor, step.turn)):
        together = [*turn]
        calls = [step for step in together if step.kind == "call"]
        content = "\n\n".join(step.text for step in together if step.kind != "call")
        if actor != "agent":
            if content:
                yield {"role": "user", "content": content}
            continue
        message: Message = {"role": "assistant", "content": content}
        if calls:
            message["tool_calls"] = [
                {
                    "id": f"call_{call.index}",
                    "type": "function",
                    "function": {"name": call.tool, "arguments": call.text},
                }
                for call in calls
            ]
        yield message
        for call in calls:
            result = call.result or call.error_text
            yield {"role": "tool", "tool_call_id": f"call_{call.index}", "content": result}


def distilled(traces: Sequence[TrainingTrace]) -> tuple[str, list[TrainingTrace]]:
    """Name the strongest model, and keep its best session of each task; of equals the shortest.

    Models are compared on the tasks that they share: by how far each is above the mean of the others there.
    Raises: RefusedError where there are several, and none shares enough tasks with others to be compared.
    """
    models = {trace.model for trace in traces}
    leads = _leads(traces)
    if len(models) > 1 and not leads:
        raise RefusedError(
            f"none of {', '.join(sorted(models))} shares {LEAST_TASKS} tasks with another: which is strongest?",
            hint="germline export dataset without --distill",
        )
    strongest = max(sorted(leads), key=lambda model: leads[model]) if leads else next(iter(models), "")
    best: dict[str, TrainingTrace] = {}
    own = (trace for trace in traces if trace.model == strongest)
    for trace in sorted(own, key=lambda trace: (-trace.outcome, len(trace.messages), trace.record.id)):
        best.setdefault(trace.record.task, trace)
    return strongest, list(best.values())


def _leads(traces: Sequence[TrainingTrace]) -> dict[str, float]:
    """Give how far each model is above the others, on average over the tasks that it shares with any."""
    by_task: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for trace in traces:
        by_task[trace.record.task][trace.model].append(trace.outcome)
    gaps = defaultdict[str, list[float]](list)
    for outcomes in by_task.values():
        means = {model: fmean(values) for model, values in outcomes.items()}
        for model, mean in means.items():
            others = [other_mean for other, other_mean in means.items() if other != model]
            if others:
                gaps[model].append(mean - fmean(others))
    return {model: fmean(values) for model, values in gaps.items() if len(values) >= LEAST_TASKS}
