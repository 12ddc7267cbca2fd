"""A model whose prompts and replies are kept before anything else is done with them, and that keeps its caps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from events.clock import pause
from events.errors import CredentialsError, NotRecordedError, RefusedError, SpendingCapError
from events.model_errors import DeclinedError, ModelError
from events.types.model_events import ModelAsked, ModelBatchSent, TokenUsage
from strategies.models.batch_rounds import PromptEnd, Round, ids_of
from strategies.models.budget import CallEstimate, Ledger, ModelSpending, require_room
from strategies.models.call_records import answered, keep, keep_batch, kept_reply, unanswered
from strategies.models.http_errors import LOOK
from strategies.models.prompts import prompt_of
from strategies.models.protocol import A, Reply
from strategies.models.replies import read_reply
from strategies.models.served_model import served_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from registry.registry import Registry
    from strategies.models.model_settings import ModelSettings
    from strategies.models.prompts import Arrived, Endpoint, FindLeaks, Prompt
    from strategies.models.protocol import Request
    from strategies.models.replies import ReadReply
    from strategies.models.tape import Tape


P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Begun(Generic[A]):
    """A request that is about to be sent, with what it may cost at most."""

    request: Request[A]
    prompt: Prompt
    endpoint: Endpoint
    most: CallEstimate


@dataclass
class RecordedModel:
    """Asks the models that the settings name, and writes down what was asked, what came back and what it cost.

    Without an `endpoint` nothing is ever sent: what a `tape` does not hold is refused. One thread at a time, and
    never inside a transaction: a reply that was paid for must not be taken back with it. Two processes that ask at
    the same moment may each take the last room under a cap.
    """

    registry: Registry
    settings: ModelSettings
    endpoint: Endpoint | None = None
    tape: Tape | None = None
    find_leaks: FindLeaks = lambda _: ()
    pause: Callable[[float], None] = pause
    cycle: str = ""
    _ledger: Ledger = field(default_factory=Ledger)
    _read_to: int = 0
    _flying: list[Begun[Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.prices = self.settings.price_list
        self.cycle = self.cycle or self.begin_cycle()

    def begin_cycle(self) -> str:
        """Begin a turn of evolution: caps per cycle start from zero; returns the correlation id of its calls."""
        self.cycle = self.registry.clock.new_id()
        return self.cycle

    def ask(self, request: Request[A]) -> Reply[A]:
        """Ask once; see `Model.ask`. Where the model declines, the fallback of its role is asked."""
        return self._ask_or_other(request, self.prompt(request))

    def _ask_or_other(self, request: Request[A], prompt: Prompt) -> Reply[A]:
        try:
            return self._ask(request, prompt)
        except DeclinedError:
            other = self._after_refusal(request)
            if other is None:
                raise
            return self._ask(other)

    def _ask(self, request: Request[A], prompt: Prompt | None = None) -> Reply[A]:
        begun = self.begin(request, prompt)
        if isinstance(begun, Reply):
            return begun
        try:
            arrived = begun.endpoint.send(begun.prompt)
        except (ModelError, CredentialsError) as error:
            self.lose(begun, error)
            raise
        except BaseException:  # Ctrl-C, or what nobody foresaw: it may have been billed
            self.lose(begun, None)
            raise
        return self.take(begun, arrived)

    def _after_refusal(self, request: Request[A]) -> Request[A] | None:
        """Give the same question to the fallback of its role; None where there is none, or that was asked."""
        name = "" if request.model else self.settings.fallback_for(request.role)
        return replace(request, model=name) if name else None

    def begin(self, request: Request[A], prompt: Prompt | None = None) -> Reply[A] | Begun[A]:
        """Answer from what is known, or reserve what asking may cost; what was begun ends by `take` or `lose`.

        `prompt` is the request as it would be sent, where it is written already.
        Raises: as `ask`, but for what sending raises.
        """
        prompt = prompt or self.prompt(request)
        known = self._known(request, prompt)
        if known is not None:
            return known
        endpoint = self._open_endpoint(prompt)
        (prompt,), most = self._reserve([prompt], batch=False)
        begun = Begun(request, prompt, endpoint, most)
        self._flying.append(begun)
        return begun

    def take(self, begun: Begun[A], arrived: Arrived) -> Reply[A]:
        """Keep what came back, and read it; raises ModelError where it is of no use."""
        self._flying.remove(begun)
        return self._take(begun.request, begun.prompt, arrived)

    def lose(self, begun: Begun[Any], error: ModelError | CredentialsError | None) -> None:
        """Write down that nothing came back; without an error, because somebody did not wait for it."""
        self._flying.remove(begun)
        self._lose(begun.request, begun.prompt, error)

    def ask_all(self, requests: Sequence[Request[A]]) -> list[Reply[A] | ModelError | SpendingCapError]:
        """Ask a round of questions; see `Model.ask_all`."""
        asked = [(request, self.prompt(request)) for request in requests]
        batched = self.settings.batch and not any(served_model(prompt.model) for _, prompt in asked)
        if self.endpoint is None or not batched:
            return self._one_by_one(asked)
        known = [_settled(self._known, request, prompt) for request, prompt in asked]
        answers = self._by_batch(
            [question for question, answer in zip(asked, known, strict=True) if answer is None]
        )
        every = [next(answers) if answer is None else answer for answer in known]
        return [self._answer_or_other(*pair) for pair in zip(requests, every, strict=True)]

    def _answer_or_other(
        self, request: Request[A], answer: Reply[A] | ModelError | SpendingCapError
    ) -> Reply[A] | ModelError | SpendingCapError:
        other = self._after_refusal(request) if isinstance(answer, DeclinedError) else None
        return answer if other is None else _settled(self._ask, other)

    def _one_by_one(
        self, asked: Sequence[tuple[Request[A], Prompt]]
    ) -> list[Reply[A] | ModelError | SpendingCapError]:
        """Ask one question after the other; a model that its server does not know is asked once."""
        answers = list[Reply[A] | ModelError | SpendingCapError]()
        unknown = dict[str, ModelError]()
        for request, prompt in asked:
            known = unknown.get(prompt.model)
            answer = _settled(self._ask_or_other, request, prompt) if known is None else known
            if isinstance(answer, ModelError) and answer.unknown_model:
                unknown[prompt.model] = answer
            answers.append(answer)
        return answers

    def prompt(self, request: Request[Any]) -> Prompt:
        """Write a request as it would be sent; raises UsageError where no model is named for its role."""
        model = request.model or self.settings.model_for(request.role)
        effort, cache_from = self.settings.effort.get(request.role), self.prices.cache_from(model)
        return prompt_of(request, model, self.find_leaks, effort, cache_from)

    # -- what is known already -------------------------------------------------------------------------

    def _known(self, request: Request[A], prompt: Prompt) -> Reply[A] | None:
        """Answer from the tape, or from what was paid for before; None where neither can."""
        taped = self.tape.find(prompt) if self.tape else None
        if taped is not None:
            return self._take(request, prompt, taped)
        kept = kept_reply(self.registry, prompt) if request.again else None
        if kept is None:
            return None
        asked, body = kept
        read = read_reply(request, body)
        return None if isinstance(read.answer, ModelError) else _reply(read.answer, read, asked.event)

    def _open_endpoint(self, prompt: Prompt) -> Endpoint:
        """Give what sends the prompt; raises where nothing may be sent, or not without a key."""
        if self.tape is not None and not self.tape.records:
            raise NotRecordedError(
                f"{self.tape.path} holds no reply to prompt {prompt.hash[:16]}, which the {prompt.role} asks "
                f"{prompt.model}",
                prompt_hash=prompt.hash,
                hint=f"--model-replay {self.tape.path} --model-record asks for what it lacks",
            )
        lacking = f"; {self.tape.path} holds no reply to prompt {prompt.hash[:16]}" if self.tape else ""
        if self.endpoint is None:
            raise RefusedError(
                f"nothing is sent to {prompt.model}: what a dry run paid for could not be kept{lacking}",
                hint="the same command without --dry-run, or with --model-replay FILE that holds it",
            )
        try:
            self.endpoint.require_key(prompt.model)
        except CredentialsError as error:
            raise CredentialsError(f"{error.message}{lacking}", hint=error.hint) from error
        return self.endpoint

    # -- money -----------------------------------------------------------------------------------------

    def _reserve(self, prompts: Sequence[Prompt], *, batch: bool) -> tuple[Sequence[Prompt], CallEstimate]:
        """Refuse what could pass a cap, and say what it may cost at most.

        What the estimate alone would refuse is counted by the server; the prompts come back with what it says.
        """
        try:
            return prompts, self._require_room(prompts, batch=batch)
        except SpendingCapError:
            counted = self._counted(prompts) if self._may_fit(prompts, batch=batch) else None
            if counted is None:
                raise
            return counted, self._require_room(counted, batch=batch)

    def _may_fit(self, prompts: Sequence[Prompt], *, batch: bool) -> bool:
        """Tell whether a count can change anything: the replies alone would not pass a cap."""
        try:
            self._require_room([replace(prompt, counted=1) for prompt in prompts], batch=batch)
        except SpendingCapError:
            return False
        return True

    def _counted(self, prompts: Sequence[Prompt]) -> list[Prompt] | None:
        """Have the server count the tokens of prompts; None where it does not tell of all of them."""
        counted = []
        for prompt in prompts:
            tokens = self.endpoint.count(prompt) if self.endpoint else None
            if tokens is None:
                return None
            counted.append(replace(prompt, counted=tokens))
        return counted

    def _require_room(self, prompts: Sequence[Prompt], *, batch: bool) -> CallEstimate:
        """Refuse what could pass a cap, and say what it may cost at most."""
        self._read_on()
        prices = [self.prices.most_usd(prompt, batch=batch) for prompt in prompts]
        unpriced = next((prompt.model for prompt, usd in zip(prompts, prices, strict=True) if usd is None), "")
        wanted = CallEstimate(
            model=unpriced or prompts[0].model,
            usd=None if unpriced else sum(usd or 0.0 for usd in prices),
            tokens=sum(prompt.most_tokens for prompt in prompts),
        )
        today = self.registry.clock.now()[: len("2026-01-01")]
        flying = ModelSpending(
            sum(call.most.usd or 0.0 for call in self._flying), sum(call.most.tokens for call in self._flying)
        )
        cycle, day = self._ledger.during(self.cycle).plus(flying), self._ledger.on(today).plus(flying)
        require_room(self.settings.caps, wanted, cycle=cycle, day=day)
        return wanted

    def _read_on(self) -> None:
        """Enter what was spent since the last look, by whichever process."""
        head = self.registry.log.head().position
        envelopes = self.registry.log.read(after=self._read_to, types=("ModelAsked", "ModelBatchSent"))
        for envelope in envelopes:
            event = envelope.event
            if envelope.position <= head and isinstance(event, ModelAsked | ModelBatchSent):
                self._ledger.enter(event, at=envelope.at, cycle=envelope.correlation)
        self._read_to = head

    # -- what came back --------------------------------------------------------------------------------

    def _take(self, request: Request[A], prompt: Prompt, arrived: Arrived) -> Reply[A]:
        """Keep what came back, and only then look whether it is of use."""
        if arrived.lost is not None:
            self._lose(request, prompt, arrived.lost)
        read = read_reply(request, arrived.body, self.find_leaks)
        event = answered(request, prompt, arrived, read, self.prices)
        name = keep(self.registry, prompt, event, read.kept, cycle=self.cycle)
        if self.tape is not None and not arrived.replayed:
            self.tape.add(prompt, arrived, read.kept)
        if isinstance(read.answer, ModelError):
            read.answer.model, read.answer.request_id = prompt.model, event.request_id
            read.answer.cost_usd, read.answer.reply = event.cost_usd, name
            read.answer.hint = read.answer.hint or LOOK
            raise read.answer
        return _reply(read.answer, read, event.model_copy(update={"reply": name}))

    def _lose(
        self, request: Request[Any], prompt: Prompt, error: ModelError | CredentialsError | None, batch: str = ""
    ) -> None:
        """Write down that nothing came back."""
        event = unanswered(request, prompt, error, self.prices, batch=batch)
        keep(self.registry, prompt, event, None, cycle=self.cycle)
        if isinstance(error, ModelError):
            error.cost_usd = event.cost_usd

    # -- batches ---------------------------------------------------------------------------------------

    def _by_batch(
        self, asked: Sequence[tuple[Request[A], Prompt]]
    ) -> Iterator[Reply[A] | ModelError | SpendingCapError]:
        """Yield what became of each prompt, in order, by way of batches."""
        if not asked:
            return
        endpoint = self._open_endpoint(asked[0][1])
        self._read_on()
        requests = {prompt.hash: request for request, prompt in asked}
        send = partial(self._send_batch, requests)
        sending = Round(endpoint, send, self.settings.batch_wait_s, self.pause)
        ends = sending.ends([prompt for _, prompt in asked], self._ledger.batches)
        for (request, prompt), end in zip(asked, ends, strict=True):
            if not isinstance(end, PromptEnd):
                yield end
            elif isinstance(end.what, ModelError):
                self._lose(request, prompt, end.what, end.batch)
                yield end.what
            else:
                yield _settled(self._take, request, prompt, end.what)

    def _send_batch(self, requests: Mapping[str, Request[Any]], prompts: Sequence[Prompt]) -> str:
        """Send a batch where the caps allow it, and write down at once that it is out."""
        prompts, most = self._reserve(prompts, batch=True)
        endpoint = self._open_endpoint(prompts[0])
        ids = ids_of(prompt.hash for prompt in prompts)
        try:
            batch = endpoint.send_batch(dict(zip(ids, prompts, strict=True)))
        except KeyboardInterrupt:  # it may be out, under a name that nobody knows
            for prompt in prompts:
                self._lose(requests[prompt.hash], prompt, None)
            raise
        keep_batch(self.registry, prompts, batch, most, cycle=self.cycle)
        return batch


def _reply(answer: A, read: ReadReply[A], event: ModelAsked) -> Reply[A]:
    return Reply(
        answer=answer,
        text=read.text,
        parts=read.parts,
        stop=read.stop,
        usage=event.usage or TokenUsage(),
        cost_usd=event.cost_usd,
        model=event.model,
        prompt_hash=event.prompt_hash,
        request_id=event.request_id,
        kept=event.reply,
    )


def _settled(ask: Callable[P, T], *args: P.args, **named: P.kwargs) -> T | ModelError | SpendingCapError:
    """Ask, and give what went wrong with this one question instead of raising it."""
    try:
        return ask(*args, **named)
    except (ModelError, SpendingCapError) as error:
        return error
