"""Work handed to Dask: the one place that imports it, and only when the first call is made.

Dask hands calls over, and makes a call again whose worker died. Added here: a cluster that lasts as long as the
work, workers that are known to run the same code, errors that say what to do, and silence on the terminal.
`Client.get_executor()` is not used: it reads the state of a future after its result (cfexecutor.py of 2026.8), so
that a result is taken for an error where the worker that held it dies in between.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import tempfile
import threading
from concurrent.futures import CancelledError, Executor
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeVar

from events.errors import EngineError, EngineMismatchError, UsageError
from events.extras import install_hint
from strategies.engines.code_version import code_here, differences
from strategies.engines.forks import LOADED, forks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from distributed import Client
    from distributed import Future as DaskFuture

    from strategies.engines.engine_settings import EngineSettings

_T = TypeVar("_T")

_SILENT: Final = logging.CRITICAL + 10
_LOGGERS: Final = ("distributed", "distributed.client", "distributed.gc", "tornado", "tornado.application")
"""Those that Dask gives a level and a handler of their own."""
_CLUSTER: Final = {
    "distributed.worker.multiprocessing-method": "forkserver",
    "distributed.scheduler.http.routes": [],  # nobody is to look at a cluster that lasts a command
    "distributed.worker.http.routes": [],
}
_CLIENT: Final = {"distributed.admin.large-graph-warning-threshold": "1TiB"}  # a skill's files may be large
_LOADED: Final = ("distributed", __name__, *LOADED, "strategies.rollouts.compare.remote")


class DaskWorkers:
    """The workers of a Dask cluster: that of the scheduler in the settings, else processes on this machine.

    They are sought when the first call is made, and let go by `close`. Safe to be asked from several threads.
    """

    def __init__(self, settings: EngineSettings, *, forget: Callable[[], object] | None = None) -> None:
        """Take the settings; raises UsageError where Dask is not installed.

        `forget` is called on each worker at the end of its calls about episodes, to let go of what it kept.
        """
        if find_spec("distributed") is None:
            raise UsageError("Dask is not installed", hint=f"{install_hint('dask')}    or: --engine local")
        self._settings, self._forget = settings, forget
        self._lock = threading.Lock()
        self._opened = ExitStack()
        self._client: Client | None = None
        self._calls: set[Future[Any]] = set()

    @property
    def places(self) -> int:
        """How many calls are made at once; raises EngineError."""
        if not self._settings.scheduler:
            return self._settings.workers or os.cpu_count() or 1
        return sum(self._connected().nthreads().values())

    @property
    def session(self) -> str:
        """What the calls of this command are known by where they are made; raises EngineError."""
        return str(self._connected().id)

    @contextmanager
    def files(self, sizes: Sequence[int]) -> Iterator[Executor | None]:
        """Give an executor to share files among; None where there is no file. Raises: EngineError."""
        try:
            with _told():
                yield _Sharing(self) if sizes else None
        finally:
            self.close()

    @contextmanager
    def calls(self) -> Iterator[Executor]:
        """Give an executor for calls about episodes, which workers keep until the end. Raises: EngineError."""
        try:
            with _told():
                yield _Sharing(self)
                if self._client is not None and self._forget is not None:
                    self._client.run(self._forget, on_error="ignore")
        finally:
            self.close()

    def submit(self, function: Callable[[], _T]) -> Future[_T]:
        """Hand over a call; raises EngineError."""
        client = self._connected()
        handed = client.submit(function, pure=False)  # not a call that is known: a file may hold more by now
        loop: asyncio.AbstractEventLoop = client.loop.asyncio_loop  # type: ignore[union-attr]  # tornado's, started
        return asyncio.run_coroutine_threadsafe(_outcome(handed), loop)

    def call(self, function: Callable[[], _T]) -> _T:
        """Make a call and wait for it, again where its worker dies. Raises: EngineError; what it raises."""
        with _told():
            future = self.submit(function)
            self._calls.add(future)
            try:
                return future.result()
            finally:
                self._calls.discard(future)

    def end(self, ending: Callable[[str], object]) -> None:
        """Take back every call that is not done, and call `ending` with the session on each worker."""
        for future in tuple(self._calls):
            future.cancel()
        if self._client is not None:
            self._client.run(ending, self.session, on_error="ignore")

    def close(self) -> None:
        """Let go of the workers; the next call finds some again."""
        with self._lock:
            opened, self._opened, self._client = self._opened, ExitStack(), None
        opened.close()

    def _connected(self) -> Client:
        with self._lock:
            if self._client is None:
                with ExitStack() as stack:
                    client = self._connect(stack)
                    self._opened = stack.pop_all()
                self._client = client
            return self._client

    def _connect(self, stack: ExitStack) -> Client:
        import dask  # noqa: PLC0415 - an extra, and it takes half a second to load
        from distributed import Client  # noqa: PLC0415 - the same

        silence()
        stack.enter_context(dask.config.set(_CLIENT))
        settings = self._settings
        address = settings.scheduler or _cluster_here(stack, self.places)
        try:
            client = Client(address, timeout=settings.connect_s, set_as_default=False, name="germline")
        except (OSError, ValueError, TypeError) as error:
            raise EngineError(
                f"no Dask scheduler answers at {address} within {settings.connect_s:g} s: {_last_line(error)}",
                hint="see that `dask scheduler` runs there, or leave --scheduler out: a cluster on this machine",
            ) from error
        stack.callback(client.close)
        _require_same_code(client, address, settings.connect_s)
        return client


class _Sharing(Executor):
    """Hands calls to workers that are sought when the first of them is made."""

    def __init__(self, workers: DaskWorkers) -> None:
        self._workers = workers

    def submit(self, fn: Callable[..., _T], /, *args: object, **kwargs: object) -> Future[_T]:
        """Hand over a call."""
        return self._workers.submit(partial(fn, *args, **kwargs))


async def _outcome(handed: DaskFuture[_T]) -> _T:
    """Wait for a call; the scheduler forgets it when nobody waits any more."""
    try:
        result: _T = await handed
    finally:
        handed.release()
    return result


def silence() -> None:
    """Keep what Dask logs off the terminal: what matters becomes an error."""
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(_SILENT)


def settle_worker(folder: str) -> None:
    """Prepare a worker process of a cluster on this machine: silent, with its temporary files in one folder.

    Ctrl-C reaches every process of a terminal; workers leave it to the command, which ends them in good order. A
    handler, unlike an ignored signal, is not handed on to the agents that run here.
    """
    silence()
    tempfile.tempdir = folder
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _cluster_here(stack: ExitStack, workers: int) -> str:
    """Start a cluster on this machine, which nothing outlives; returns the address of its scheduler."""
    import dask  # noqa: PLC0415 - an extra
    from distributed import LocalCluster  # noqa: PLC0415 - the same
    from distributed.utils import LoopRunner, get_mp_context  # noqa: PLC0415 - the same

    silence()
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="germline-dask-", ignore_cleanup_errors=True))
    stack.enter_context(dask.config.set({**_CLUSTER, "temporary-directory": folder}))  # that of the scheduler
    get_mp_context()  # asks for modules of its own to be loaded, the first time
    forks(*_LOADED)
    runner = LoopRunner()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        runner.start()  # its thread starts the workers, which inherit that they hear no Ctrl-C while they start
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    stack.callback(runner.stop)
    cluster = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        scheduler_kwargs={"dashboard": False},
        memory_limit=0,  # as in a process pool: the machine's own limits hold
        local_directory=folder,
        silence_logs=_SILENT,
        preload=[f"from strategies.engines.dask_engine import settle_worker; settle_worker({folder!r})"],
        loop=runner.loop,
    )
    stack.callback(cluster.close)
    return str(cluster.scheduler_address)


def _require_same_code(client: Client, address: str, within_s: float) -> None:
    """Raise EngineError where there is no worker, EngineMismatchError where one would come to other results."""
    if not client.nthreads():
        try:
            client.wait_for_workers(1, timeout=within_s)
        except TimeoutError as error:
            raise EngineError(
                f"the Dask scheduler at {address} has no worker, and none came within {within_s:g} s",
                hint=f"dask worker {address}",
            ) from error
    here, wrong = code_here(), dict[str, None]()
    for worker, there in sorted(client.run(code_here, on_error="return").items()):
        different = differences(here, there) if isinstance(there, dict) else (f"germline missing ({there})",)
        wrong.update(dict.fromkeys(f"{worker}: {difference}" for difference in different))
    if wrong:
        more = f", and {len(wrong) - 3} more" if len(wrong) > 3 else ""  # noqa: PLR2004 - a line's worth
        raise EngineMismatchError(
            f"workers of {address} would not come to the same results: {'; '.join([*wrong][:3])}{more}",
            hint="install the same germline, dask and packages on every worker, then start the workers again",
        )


@contextmanager
def _told() -> Iterator[None]:
    """Say in germline's words what Dask could not do; its errors, classes of an extra, are known by name."""
    try:
        yield
    except CancelledError as error:
        raise EngineError(
            "the Dask scheduler went away, or took work back",
            hint="start it again, then the same command: what was kept is found again",
        ) from error
    except Exception as error:
        kind = type(error).__name__
        if kind not in {"KilledWorker", "NoValidWorkerError", "CommClosedError"}:
            raise
        raise EngineError(
            f"Dask gave up on a call: {_last_line(error)}",
            hint="look into the workers' memory and their logs; --engine local does the same work here",
        ) from error


def _last_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[-1]
