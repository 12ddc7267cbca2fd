"""A dialogue: a model and its tools on one task, until it says that it is done or a limit is reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from events.clock import monotonic_s
from events.model_errors import CutOffError, DeclinedError, ModelError, TimedOutError
from strategies.models.protocol import ModelMessage, Request, ToolCall, ToolResult, user_message
from strategies.rollouts.run.messages_agent import instructions
from strategies.rollouts.run.tools import Finish, LoadSkill, call_of, offered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strategies.models.protocol import ModelTool, Part, Reply, TextBlock
    from strategies.models.thread_desk import Desk
    from strategies.rollouts.run.messages_agent import GivenSkill, MessagesAgent
    from strategies.rollouts.run.tools import Deed, Toolbox

_GO_ON: Final = "Go on; call finish when the task is done."


class _OverError(Exception):
    """Ends a dialogue: how, and why."""

    def __init__(self, status: Literal["infrastructure", "stopped"], note: str) -> None:
        super().__init__(note)
        self.status: Final = status
        self.note: Final = note


@dataclass
class Dialogue:
    """One trial of a model: the messages, the answer, and what that cost.

    `status` is done, infrastructure (the model, or the sandbox, was not there: the pair is void) or stopped (a
    limit was reached, or the sandbox was lost while it ran a command of the model's). `cost_usd` is None
    where the price of a reply is not known. Units: seconds on the wall.
    """

    agent: MessagesAgent
    skill: GivenSkill | None
    toolbox: Toolbox
    desk: Desk
    now_s: Callable[[], float] = monotonic_s
    status: Literal["done", "infrastructure", "stopped"] = "done"
    note: str = ""
    answer: str = ""
    cost_usd: float | None = 0.0
    tokens: int = 0
    replies: int = 0
    seconds: float = 0.0
    loaded: bool = False
    messages: list[ModelMessage] = field(default_factory=list)

    def __post_init__(self) -> None:
        loadable = f"Skills: {self.skill.name}." if self.skill and self.agent.skill_mode == "choice" else ""
        self.system: tuple[TextBlock, ...] = instructions(self.agent, self.skill)
        self.tools: tuple[ModelTool, ...] = offered(loadable)
        self._may_load = bool(loadable)

    def hold(self) -> None:
        """Go on until the model is done, or a limit is reached.

        Raises: what asking raises but for ModelError; what the sandbox raises.
        """
        began_s = self.now_s()
        self._ends_s = began_s + self.toolbox.task.limit_s
        self.messages.append(user_message(self.toolbox.task.prompt))
        try:
            while self._turn():
                pass
        except _OverError as over:
            self.status, self.note = over.status, over.note
        self.seconds = self.now_s() - began_s

    def _turn(self) -> bool:
        """Take one reply and make its calls; False once the model is done."""
        reply = self._ask()
        if reply is None:
            return False
        self.messages.append(ModelMessage("assistant", reply.parts))
        calls = [part for part in reply.parts if isinstance(part, ToolCall)]
        if not calls:
            self.answer = reply.text
            if reply.stop == "pause_turn":
                self.messages.append(user_message(_GO_ON))
            return reply.stop == "pause_turn"
        results = []
        for at, made in enumerate(calls, 1):
            call = call_of(made.name, made.arguments)
            if isinstance(call, Finish):
                self.answer = call.answer
                return False
            results.append(self._result(made, call, last=at == len(calls)))
        self.messages.append(ModelMessage("user", tuple(results)))
        return True

    def _ask(self) -> Reply[str] | None:
        """Ask for the next reply; None where the model declines to go on, which is its own."""
        self._require_room()
        request = Request(
            role="agent",
            messages=tuple(_cached_at_the_end(self.messages)),
            answer=str,
            max_tokens=self.agent.reply_tokens,
            system=self.system,
            tools=self.tools,
            model=self.agent.model,
        )
        self.replies += 1
        try:
            reply = self.desk.ask(request, within_s=self._left_s())
        except ModelError as error:
            self._pay(error.cost_usd, 0)
            if isinstance(error, DeclinedError):
                self.note = error.message
                return None
            raise self._over(error) from error
        self._pay(reply.cost_usd, reply.usage.total)
        return reply

    def _over(self, error: ModelError) -> _OverError:
        if isinstance(error, CutOffError):
            return _OverError("stopped", error.message)
        if isinstance(error, TimedOutError) and self._left_s() <= 0:
            return _OverError("stopped", self._too_late())
        return _OverError("infrastructure", error.message)

    def _require_room(self) -> None:
        if self.replies >= self.agent.most_replies:
            raise _OverError("stopped", f"not done after {self.replies} replies (rollouts.most_replies)")
        if self.tokens >= self.agent.run_tokens:
            raise _OverError("stopped", f"not done after {self.tokens:,} tokens (rollouts.run_tokens)")
        if self._left_s() <= 0:
            raise _OverError("stopped", self._too_late())

    def _result(self, made: ToolCall, call: Deed | LoadSkill | str, *, last: bool) -> ToolResult:
        """Make one call, and write what it gave back."""
        if isinstance(call, str):
            return ToolResult(made.id, call, failed=True, cache=last)
        if isinstance(call, LoadSkill):
            return self._load(made, call, last=last)
        if self._left_s() <= 0:
            raise _OverError("stopped", self._too_late())
        done = self.toolbox.use(call, within_s=self._left_s())
        if done.ended in {"void", "lost"}:
            status: Final = "infrastructure" if done.ended == "void" else "stopped"
            raise _OverError(status, f"the sandbox was lost: {done.text}")
        return ToolResult(made.id, done.text, failed=done.failed, cache=last)

    def _load(self, made: ToolCall, call: LoadSkill, *, last: bool) -> ToolResult:
        if self.skill is None or not self._may_load or call.name != self.skill.name:
            return ToolResult(made.id, f"there is no skill {call.name!r}", failed=True, cache=last)
        self.loaded = True
        return ToolResult(made.id, self.skill.text, cache=last)

    def _pay(self, cost_usd: float | None, tokens: int) -> None:
        self.tokens += tokens
        self.cost_usd = None if cost_usd is None or self.cost_usd is None else self.cost_usd + cost_usd

    def _left_s(self) -> float:
        return self._ends_s - self.now_s()

    def _too_late(self) -> str:
        return f"the agent ran past the limit of {self.toolbox.task.limit_s:g} s"


def _cached_at_the_end(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Leave the cache mark of the last turn alone: one request may hold few, and what stood before is found."""
    return [*map(unmarked, messages[:-1]), messages[-1]]


def unmarked(message: ModelMessage) -> ModelMessage:
    """Take the cache marks off the results of calls."""
    return ModelMessage(message.by, tuple(map(_unmarked, message.parts)))


def _unmarked(part: Part) -> Part:
    return ToolResult(part.call, part.text, part.failed) if isinstance(part, ToolResult) else part
