"""The desk: many threads ask at once, and one thread of its own keeps the records and the caps."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from events.errors import CredentialsError
from events.model_errors import DisconnectedError, ModelError, TimedOutError
from registry.evidence.scrub_text import compact, scrubbed, texts_in
from strategies.models.http_errors import AGAIN
from strategies.models.protocol import A, Reply

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pydantic import JsonValue

    from strategies.models.prompts import Arrived
    from strategies.models.protocol import Request
    from strategies.models.recorded_model import Begun, RecordedModel

P = ParamSpec("P")
T = TypeVar("T")


class Desk:
    """Lends one model to threads; opened when somebody first asks, and again after it was closed.

    `opening` makes the model, in the desk's own thread: with a registry of its own, because a log belongs to the
    thread that opened it. The caller waits for the reply in its own thread, so that as many are under way as
    there are threads.
    """

    def __init__(self, opening: Callable[[], AbstractContextManager[RecordedModel]]) -> None:
        self._opening = opening
        self._lock = Lock()
        self._thread: ThreadPoolExecutor | None = None
        self._lent: AbstractContextManager[RecordedModel] | None = None
        self._model: RecordedModel | None = None
        self._stopped: Future[None] = Future()

    def ask(self, request: Request[A], *, within_s: float) -> Reply[A]:
        """Ask once, and wait for the reply no longer than this.

        Raises: as `Model.ask`; TimedOutError for a reply that did not come in time, DisconnectedError for one
        that nobody waits for any more: both are written down as lost.
        """
        begun = self._here(self._begin, request)
        if isinstance(begun, Reply):
            return begun
        reply: Future[Arrived] = Future()
        Thread(target=_send, args=(begun, reply), daemon=True).start()  # a daemon: Ctrl-C waits for no server
        ends: tuple[Future[Any], ...] = (reply, self._stopped)
        try:
            wait(ends, timeout=within_s, return_when=FIRST_COMPLETED)
        except KeyboardInterrupt:
            self._here(self._lose, begun, None)
            raise
        if not reply.done():
            raise self._here(self._give_up, begun, within_s)
        error = reply.exception()
        if error is None:
            return self._here(self._take, begun, reply.result())
        self._here(self._lose, begun, error if isinstance(error, ModelError | CredentialsError) else None)
        raise error

    def keep(self, value: JsonValue, *, kind: str) -> str:
        """Keep a JSON value as a blob, without secrets, and return its name."""
        return self._here(self._keep, value, kind)

    def stop(self) -> None:
        """Let nobody wait any more: what is asked from now on, or under way, is lost."""
        with self._lock:
            if not self._stopped.done():
                self._stopped.set_result(None)

    def close(self) -> None:
        """Let go of the model and its registry; asking opens them again."""
        with self._lock:
            thread, self._thread, self._stopped = self._thread, None, Future()
        if thread is not None:
            with thread:
                thread.submit(self._leave).result()

    # -- in the desk's own thread ----------------------------------------------------------------------

    def _here(self, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        with self._lock:
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, thread_name_prefix="desk")
            done = self._thread.submit(work, *args, **named)
        return done.result()

    def _open(self) -> RecordedModel:
        if self._model is None:
            self._lent = self._opening()
            self._model = self._lent.__enter__()
        return self._model

    def _leave(self) -> None:
        lent, self._lent, self._model = self._lent, None, None
        if lent is not None:
            lent.__exit__(None, None, None)

    def _begin(self, request: Request[A]) -> Reply[A] | Begun[A]:
        if self._stopped.done():
            raise _unawaited(request.role)
        return self._open().begin(request)

    def _take(self, begun: Begun[A], arrived: Arrived) -> Reply[A]:
        return self._open().take(begun, arrived)

    def _lose(self, begun: Begun[A], error: ModelError | CredentialsError | None) -> None:
        self._open().lose(begun, error)

    def _give_up(self, begun: Begun[A], within_s: float) -> ModelError:
        if self._stopped.done():
            self._open().lose(begun, None)
            return _unawaited(begun.prompt.model)
        model = begun.prompt.model
        late = TimedOutError(
            f"{model} did not answer within {within_s:.0f} s", model=model, unsettled=1, hint=AGAIN
        )
        self._open().lose(begun, late)
        return late

    def _keep(self, value: JsonValue, kind: str) -> str:
        model = self._open()
        body = compact(scrubbed(value, model.find_leaks(texts_in(value)))).encode()
        with model.registry.log.transaction():
            return model.registry.log.put_blob(body, kind=kind)


def _send(begun: Begun[A], reply: Future[Arrived]) -> None:
    try:
        reply.set_result(begun.endpoint.send(begun.prompt))
    except BaseException as error:  # noqa: BLE001 - the waiting thread raises it
        reply.set_exception(error)


def _unawaited(model: str) -> DisconnectedError:
    return DisconnectedError(f"nobody waits for {model} any more", model=model, hint=AGAIN)
