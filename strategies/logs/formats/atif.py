"""ATIF trajectories (Harbor): one JSON document a run, steps with their calls and what came back.

Source: Harbor's documentation of the Agent Trajectory Interchange Format, versions 1.0 to 1.8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from events.errors import UnreadableLogError
from strategies.episodes.episode_records import plain, plain_time
from strategies.episodes.error_fingerprint import looks_failed
from strategies.episodes.usage import NOTHING_SPENT, Amount, first_known, total, usage_of
from strategies.files.json_offsets import document_of
from strategies.files.log_records import UNREADABLE, NotObject, count_unknown
from strategies.logs.formats.coding_agents.session import Session, TextPart, raw_text, text_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import Json, ReadTally, Span


class _Call(msgspec.Struct):
    tool_call_id: str = ""
    function_name: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class _Result(msgspec.Struct):
    source_call_id: str | None = None
    content: str | list[TextPart] | None = None


class _Observation(msgspec.Struct):
    results: list[_Result] = []


class _Metrics(msgspec.Struct):
    """Tokens of a step; those from a cache are among the prompt."""

    prompt_tokens: Amount = None
    completion_tokens: Amount = None
    cached_tokens: Amount = None
    cost_usd: Amount = None


class _FinalMetrics(msgspec.Struct):
    total_prompt_tokens: Amount = None
    total_completion_tokens: Amount = None
    total_cached_tokens: Amount = None
    total_cost_usd: Amount = None


class _Step(msgspec.Struct):
    source: str = ""
    timestamp: str | None = None
    message: str | list[TextPart] | None = None
    model_name: str | None = None
    tool_calls: list[_Call] | None = None
    observation: _Observation | None = None
    is_copied_context: bool | None = None
    metrics: _Metrics | NotObject = None


class _Agent(msgspec.Struct):
    name: str = ""
    version: str = ""
    model_name: str | None = None


class _Run(msgspec.Struct):
    session_id: str | None = None
    agent: _Agent = msgspec.field(default_factory=_Agent)
    final_metrics: _FinalMetrics | NotObject = None


_RUN: Final = msgspec.json.Decoder(_Run)
_STEP: Final = msgspec.json.Decoder(_Step)


class AtifReader:
    """Reads ATIF trajectories."""

    name = "atif"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether the document names a version of the format."""
        del source
        return head.lstrip()[:1] == b"{" and b'"schema_version"' in head and b'"ATIF-v' in head

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the one run of the document; a sub-agent's trajectory is a document of its own."""
        session = _Trajectory(log, tally)
        document = document_of(log)
        try:
            session.learn_run(_RUN.decode(document.root.raw))
            parts = list(document.elements(document.members(document.root)["steps"]))
        except (*UNREADABLE, KeyError) as error:
            raise UnreadableLogError(
                f"{log.source}: not an ATIF trajectory ({error})", hint="one object with `steps` is expected"
            ) from error
        session.learn_each(((part.raw, document.span(part)) for part in parts), session.learn_step)
        session.settle()
        yield from session.episodes(self.name)


class _Trajectory(Session):
    """A run while its steps come. Its own figures count before the sum of those of its steps."""

    def __init__(self, log: LogFile, tally: ReadTally) -> None:
        super().__init__(log, tally)
        self._whole = NOTHING_SPENT

    def settle(self) -> None:
        """Take the figures of the run where it has any, and those of its steps for what it does not say."""
        self.spent = [first_known(self._whole, total(self.spent) or NOTHING_SPENT)]

    def learn_run(self, run: _Run) -> None:
        self.name = plain(run.session_id or "")
        self.model = plain(run.agent.model_name or "")
        self.labels = {"agent": plain(run.agent.name), "version": plain(run.agent.version)}
        if isinstance(run.final_metrics, _FinalMetrics):
            figures = run.final_metrics
            self._whole = usage_of(
                figures.total_prompt_tokens,
                figures.total_completion_tokens,
                figures.total_cached_tokens,
                cost=figures.total_cost_usd,
                model=self.model,
            )

    def learn_step(self, raw: Json, span: Span) -> None:
        step = _STEP.decode(raw)
        at = plain_time(step.timestamp)
        self.started_at = self.started_at or at
        if step.is_copied_context:
            return
        if step.source == "user":
            self.ask(text_in(step.message), span, at=at)
        elif step.source == "agent":
            self._learn_turn(step, span, at)
        elif step.source == "system":
            self._learn_results(step, span, at)
        else:
            count_unknown(self.tally, f"source {step.source}")

    def _learn_turn(self, step: _Step, span: Span, at: str | None) -> None:
        model = plain(step.model_name or "")
        self.model = self.model or model
        used = step.metrics if isinstance(step.metrics, _Metrics) else _Metrics()
        self.spent.append(
            usage_of(
                used.prompt_tokens,
                used.completion_tokens,
                used.cached_tokens,
                cost=used.cost_usd,
                model=model or self.model,
            )
        )
        group = f"at {span.byte_start}"
        self.say(text_in(step.message), span, group=group, at=at)
        for number, call in enumerate(step.tool_calls or ()):
            call_id = call.tool_call_id or f"{group} {number}"
            self.call(call_id, call.function_name, raw_text(call.arguments), span, group=group, at=at)
        self._learn_results(step, span, at)

    def _learn_results(self, step: _Step, span: Span, at: str | None) -> None:
        """Learn what came back; the format has no field for a failure, so the text says it."""
        for result in step.observation.results if step.observation else ():
            text = text_in(result.content)
            if not self.answer(result.source_call_id or "", text, span, failed=looks_failed(text), at=at):
                count_unknown(self.tally, "result without a call")
