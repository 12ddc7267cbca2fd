"""Runs of LangSmith, exported as JSON Lines or as one array.

Source: python/langsmith/schemas.py of langchain-ai/langsmith-sdk, 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.episode_records import plain
from strategies.episodes.usage import NOTHING_SPENT, Amount, Usage, usage_of
from strategies.files.json_records import records_of
from strategies.files.log_records import NotObject
from strategies.logs.formats.traces.trace_runs import TraceRun, episodes_of_runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import Json, ReadTally

_KINDS: Final = {"llm": "model", "tool": "tool", "retriever": "tool"}


class _Tokens(msgspec.Struct):
    prompt_tokens: Amount = None
    completion_tokens: Amount = None


class _Costs(msgspec.Struct):
    total_cost: Amount = None


class _CachedTokens(msgspec.Struct):
    cache_read: Amount = None


class _UsageMetadata(msgspec.Struct):
    """Tokens as LangChain counts them; those from a cache are among the input."""

    input_tokens: Amount = None
    output_tokens: Amount = None
    total_cost: Amount = None
    input_token_details: _CachedTokens | NotObject = None


class _Metadata(msgspec.Struct):
    usage_metadata: _UsageMetadata | NotObject = None
    ls_model_name: str | None = None
    session_id: str | None = None
    thread_id: str | None = None


class _Extra(msgspec.Struct):
    metadata: _Metadata | None = None


class _Run(msgspec.Struct):
    name: str = ""
    run_type: str = ""
    id: str = ""
    run_id: str = ""
    trace_id: str = ""
    parent_run_id: str | None = None
    start_time: str | None = None
    end_time: str | None = None
    inputs: object = None
    outputs: object = None
    error: str | None = None
    status: str | None = None
    extra: _Extra | None = None
    prompt_tokens: Amount = None
    completion_tokens: Amount = None
    total_cost: Amount = None
    token_usage: _Tokens | NotObject = None
    costs: _Costs | NotObject = None


_RUN: Final = msgspec.json.Decoder(_Run)


class LangSmithReader:
    """Reads exported runs of LangSmith."""

    name = "langsmith"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether records name their type of run and their trace."""
        del source
        return head.lstrip()[:1] in {b"{", b"["} and b'"run_type"' in head and b'"trace_id"' in head

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the threads, and the traces of none, in the order of their first run in the file."""
        return episodes_of_runs(records_of(log, tally, "runs"), _run_of, log, tally, self.name)


def _run_of(raw: Json) -> TraceRun | None:
    run = _RUN.decode(raw)
    kind = _KINDS.get(run.run_type) or (None if run.parent_run_id or run.run_type == "prompt" else "root")
    if kind is None:
        return None
    about = (run.extra.metadata if run.extra else None) or _Metadata()
    return TraceRun(
        trace=run.trace_id or run.id or run.run_id,
        kind=kind,
        name=run.name,
        started=run.start_time or "",
        ended=run.end_time or "",
        input=run.inputs,
        output=run.outputs,
        error=run.error or "",
        failed=run.status == "error",
        model=about.ls_model_name or "",
        session=about.thread_id or about.session_id or "",
        usage=_usage_of(run, about) if kind in {"model", "root"} else NOTHING_SPENT,
    )


def _usage_of(run: _Run, about: _Metadata) -> Usage:
    """Give the usage of a call of a model: of the runs around it each adds up those within."""
    counted = run.token_usage if isinstance(run.token_usage, _Tokens) else _Tokens()
    used = about.usage_metadata if isinstance(about.usage_metadata, _UsageMetadata) else _UsageMetadata()
    details = used.input_token_details
    read = (run.prompt_tokens, counted.prompt_tokens, used.input_tokens)
    wrote = (run.completion_tokens, counted.completion_tokens, used.output_tokens)
    costs = (run.total_cost, run.costs.total_cost if isinstance(run.costs, _Costs) else None, used.total_cost)
    return usage_of(
        _first(read),
        _first(wrote),
        details.cache_read if isinstance(details, _CachedTokens) else None,
        cost=_first(costs),
        model=plain(about.ls_model_name or ""),
    )


def _first(written: tuple[Amount, ...]) -> Amount:
    return next((amount for amount in written if amount is not None), None)
