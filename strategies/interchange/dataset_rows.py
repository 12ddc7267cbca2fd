"""Training data in the forms that trainers read: good sessions, pairs, groups with advantages, labels."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, Literal

from strategies.advice.failure_stats import EXAMPLE_FROM, FAILS_UNDER
from strategies.gate.track_record import ALIKE, standardised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pydantic import JsonValue

    from strategies.interchange.training_traces import TrainingTrace

DatasetFormat = Literal["sft", "dpo", "grpo", "kto"]
Row = dict[str, "JsonValue"]


def dataset_rows(form: DatasetFormat, traces: Sequence[TrainingTrace]) -> list[Row]:
    """Write sessions in one of the forms."""
    return list(_ROWS[form](traces))


def _examples(traces: Iterable[TrainingTrace]) -> Iterator[Row]:
    """Yield good sessions as conversations to follow."""
    for trace in traces:
        if trace.outcome >= EXAMPLE_FROM:
            yield {"messages": [*_asked(trace), *trace.messages], **_about(trace)}


def _labelled(traces: Iterable[TrainingTrace]) -> Iterator[Row]:
    """Yield good and failed sessions with a label; those in between say neither."""
    for trace in traces:
        if trace.outcome >= EXAMPLE_FROM or trace.outcome < FAILS_UNDER:
            label = trace.outcome >= EXAMPLE_FROM
            yield {"prompt": _asked(trace), "completion": [*trace.messages], "label": label, **_about(trace)}


def _pairs(traces: Iterable[TrainingTrace]) -> Iterator[Row]:
    """Yield a good and a failed session of the same request as a pair, each session once: best with worst."""
    for group in _by_request(traces):
        good = [trace for trace in group if trace.outcome >= EXAMPLE_FROM]
        failed = [trace for trace in group if trace.outcome < FAILS_UNDER]
        good.sort(key=lambda trace: (-trace.outcome, len(trace.messages), trace.record.id))
        failed.sort(key=lambda trace: (trace.outcome, len(trace.messages), trace.record.id))
        for better, worse in zip(good, failed, strict=False):
            yield {
                "prompt": _asked(better),
                "chosen": [*better.messages],
                "rejected": [*worse.messages],
                "task": better.record.task,
                "chosen_session": better.record.id,
                "rejected_session": worse.record.id,
                "chosen_outcome": better.outcome,
                "rejected_outcome": worse.outcome,
            }


def _groups(traces: Iterable[TrainingTrace]) -> Iterator[Row]:
    """Yield the sessions of one request as a group with advantages; one in which all did alike teaches nothing."""
    for group in _by_request(traces):
        gains = standardised({trace.record.id: trace.outcome for trace in group})
        if not any(abs(gain) > ALIKE for gain in gains.values()):
            continue
        completions: list[JsonValue] = [
            {
                "messages": [*trace.messages],
                "reward": trace.outcome,
                "advantage": round(gains[trace.record.id], 6),
                "session": trace.record.id,
                "model": trace.model,
            }
            for trace in group
        ]
        yield {"prompt": _asked(group[0]), "task": group[0].record.task, "completions": completions}


_ROWS: Final[dict[DatasetFormat, Callable[[Iterable[TrainingTrace]], Iterator[Row]]]] = {
    "sft": _examples,
    "dpo": _pairs,
    "grpo": _groups,
    "kto": _labelled,
}


def _by_request(traces: Iterable[TrainingTrace]) -> list[list[TrainingTrace]]:
    groups = defaultdict[tuple[str, str], list["TrainingTrace"]](list)
    for trace in traces:
        groups[trace.record.task, trace.prompt].append(trace)
    return list(groups.values())


def _asked(trace: TrainingTrace) -> list[JsonValue]:
    return [{"role": "user", "content": trace.prompt}]


def _about(trace: TrainingTrace) -> Row:
    """Say where a session comes from."""
    record = trace.record
    return {
        "task": record.task,
        "session": record.id,
        "run": record.run,
        "model": trace.model,
        "outcome": trace.outcome,
    }
