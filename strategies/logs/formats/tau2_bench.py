"""Results of tau2-bench: one JSON document a run, with every simulation of a task and what it was worth.

Source: src/tau2/data_model/{simulation,message}.py of sierra-research/tau2-bench, 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from events.errors import UnreadableLogError
from strategies.episodes.conversation import elapsed_ms
from strategies.episodes.episode import EndedBy, EpisodeOutcome
from strategies.episodes.episode_records import plain, plain_time
from strategies.episodes.usage import NOTHING_SPENT, Amount, dollars, first_known, total, usage_of
from strategies.files.json_offsets import document_of
from strategies.files.log_records import UNREADABLE, Malformed, NotObject, count_unknown
from strategies.logs.formats.coding_agents.session import Session, raw_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import Episode
    from strategies.files.json_offsets import JsonDocument, JsonPart
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import Json, ReadTally, Span

_ABOUT: Final = (b'"agent_info"', b'"user_info"')
_SIMULATIONS: Final = b'"simulations"'
_SIMULATED_USER: Final = "###"
"""How the simulated user ends a conversation: with a word for the harness, which is none for the agent."""

_INFRASTRUCTURE: Final = "infrastructure_error"
_ENDS: Final[dict[str, EndedBy]] = {
    "agent_stop": "agent",
    "max_steps": "limit",
    "timeout": "limit",
    "context_window_exceeded": "limit",
}
"""What a reason of the end means; any other is the simulated user's or the harness's."""


class _Agent(msgspec.Struct):
    llm: str | None = None


class _Environment(msgspec.Struct):
    domain_name: str = ""


class _Info(msgspec.Struct):
    agent_info: _Agent | None = None
    environment_info: _Environment | None = None


class _Results(msgspec.Struct):
    info: _Info | None = None


class _Reward(msgspec.Struct):
    reward: float | int | None = None


class _Used(msgspec.Struct):
    prompt_tokens: Amount = None
    completion_tokens: Amount = None


class _Simulation(msgspec.Struct):
    id: str = ""
    task_id: str | int = ""
    trial: int | str | None = None
    start_time: str | None = None
    end_time: str | None = None
    termination_reason: str | None = None
    reward_info: _Reward | None = None
    agent_cost: Amount = None
    duration: Amount = None


class _Call(msgspec.Struct):
    id: str = ""
    name: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class _Message(msgspec.Struct):
    role: str = ""
    content: str | None = None
    tool_calls: list[_Call] | None = None
    id: str | None = None
    requestor: str | None = None
    error: bool | None = None
    timestamp: str | None = None
    tool_messages: list[_Message] | None = None
    usage: _Used | NotObject = None


_RESULTS: Final = msgspec.json.Decoder(_Results)
_SIMULATION: Final = msgspec.json.Decoder(_Simulation)
_MESSAGE: Final = msgspec.json.Decoder(_Message)


class Tau2BenchReader:
    """Reads the results of a run of tau2-bench."""

    name = "tau2-bench"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether a document names agent and user of a run, or holds its simulations."""
        del source
        about = [name in head for name in _ABOUT]
        return head.lstrip()[:1] == b"{" and any(about) and (all(about) or _SIMULATIONS in head)

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the simulations in the order of the file."""
        document = document_of(log)
        try:
            info = _RESULTS.decode(document.root.raw).info or _Info()
            simulations = list(document.elements(document.members(document.root)["simulations"]))
        except (*UNREADABLE, KeyError) as error:
            raise UnreadableLogError(
                f"{log.source}: no results of tau2-bench ({error})",
                hint="one object with `simulations` is expected",
            ) from error
        for part in simulations:
            simulation = _SimulationSteps(log, tally, info)
            try:
                simulation.learn_about(_SIMULATION.decode(part.raw))
                messages = _messages(document, part)
            except (*UNREADABLE, KeyError) as error:
                place = document.span(part)
                tally.records += 1
                tally.malformed.append(Malformed(log.source, place.line, place.byte_start, str(error)))
                continue
            simulation.learn_each(messages, simulation.learn)
            simulation.ended_by = simulation.ending
            simulation.spent = [first_known(simulation.whole, total(simulation.spent) or NOTHING_SPENT)]
            yield from simulation.episodes(self.name)


def _messages(document: JsonDocument, simulation: JsonPart) -> list[tuple[msgspec.Raw | bytes, Span]]:
    parts = document.elements(document.members(simulation)["messages"])
    return [(part.raw, document.span(part)) for part in parts]


class _SimulationSteps(Session):
    def __init__(self, log: LogFile, tally: ReadTally, info: _Info) -> None:
        super().__init__(log, tally)
        self.model = plain((info.agent_info.llm if info.agent_info else None) or "")
        self.dataset = (info.environment_info.domain_name if info.environment_info else "") or "tau2-bench"
        self.ending: EndedBy = "unknown"
        self.whole = NOTHING_SPENT

    def learn_about(self, simulation: _Simulation) -> None:
        trial = "" if simulation.trial is None else str(simulation.trial)
        self.task, self.labels = str(simulation.task_id), {"trial": trial}
        self.name = simulation.id or f"{self.task}/{trial}"
        self.started_at = plain_time(simulation.start_time)
        seconds = dollars(simulation.duration)
        lasted = seconds * 1000 if seconds else elapsed_ms(simulation.start_time, simulation.end_time)
        self.whole = usage_of(cost=simulation.agent_cost, duration_ms=lasted)
        reason = simulation.termination_reason or ""
        self.ending = _ENDS.get(reason, "environment" if reason else "unknown")
        reward = simulation.reward_info.reward if simulation.reward_info else None
        if reward is None or reason == _INFRASTRUCTURE:
            return
        if 0 <= reward <= 1:
            self.outcome = EpisodeOutcome(float(reward), "reward")
        else:
            count_unknown(self.tally, "outcome outside 0 to 1")

    def learn(self, raw: Json, span: Span) -> None:
        """Learn a message; what the simulated user calls by itself is no deed of the agent."""
        message = _MESSAGE.decode(raw)
        at = plain_time(message.timestamp)
        text = message.content or ""
        if message.role == "user":
            if not text.strip().startswith(_SIMULATED_USER):
                self.ask(text, span, at=at)
        elif message.role == "assistant":
            group = f"at {span.byte_start}"
            if isinstance(message.usage, _Used):
                used = usage_of(message.usage.prompt_tokens, message.usage.completion_tokens, model=self.model)
                self.spent.append(used)
            self.say(text, span, group=group, at=at)
            for number, call in enumerate(message.tool_calls or ()):
                call_id = call.id or f"{group} {number}"
                self.call(call_id, call.name, raw_text(call.arguments), span, group=group, at=at)
        elif message.role == "tool":
            for result in message.tool_messages or [message]:
                self._learn_result(result, span, at)
        elif message.role != "system":
            count_unknown(self.tally, f"role {message.role}")

    def _learn_result(self, result: _Message, span: Span, at: str | None) -> None:
        if result.requestor != "user" and not self.answer(
            result.id or "", result.content or "", span, failed=bool(result.error), at=at
        ):
            count_unknown(self.tally, "result without a call")
