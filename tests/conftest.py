"""What every test may ask for."""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import tempfile
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import count
from multiprocessing.util import Finalize
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

from tests.clocks import TickingClock
from tests.in_memory import MEMORY, ON_DISK, folder_in_memory
from tests.recorded import recorded_folder
from tests.registries import imported, new_registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord
    from strategies.logs.scan import Scan
    from tests.anthropic_stub import AnthropicStub
    from tests.postgres_server import Server
    from tests.terminal import Beginning, Terminal
    from tests.worlds import KnownMoments


_DISK = Path(tempfile.gettempdir())
"""Where temporary folders are that all workers share."""
_AT_EXIT = ExitStack()
"""What is removed when this process ends, after what multiprocessing keeps below it (which has -100)."""
Finalize(None, _AT_EXIT.close, exitpriority=-200)
_NUMBERS = count()
"""Of the folders in memory: names of tests are cut short, and would meet."""

# The same examples in every run, and no failure because a machine is slow.
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("steady")


def pytest_configure() -> None:
    """Keep a person's lists away from whoever runs this, and let Ctrl-C reach what tests start.

    A suite that runs in the background inherits that it is ignored.
    """
    gc.disable()  # until all is imported and collected
    memory = MEMORY if os.access(MEMORY, os.W_OK) else None  # a file of 200 bytes for each registry
    os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="germline-tests-own-", dir=memory)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_unconfigure() -> None:
    """Remove the lists."""
    shutil.rmtree(os.environ["XDG_DATA_HOME"], ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Keep groups on one worker under `-n` alone too: else each worker begins again what they share.

    A worker reads the command line itself, so it has to be told.
    """
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "loadgroup"
    config.option.loadscopereorder = False  # dear tests first, modules of cheap ones last
    if hasattr(config, "workerinput"):
        config.option.loadgroup = config.workerinput["loadgroup"]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # noqa: ANN401 - xdist tells no types
    """Tell a worker of xdist whether groups count."""
    node.workerinput["loadgroup"] = node.config.option.dist == "loadgroup"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:  # noqa: ANN401 - xdist tells no types
    """Hand out groups and modules of cheap tests, not tests."""
    if config.option.dist != "loadgroup":
        return None
    from tests.work_division import GroupsAndModules  # xdist need not be there

    return GroupsAndModules(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Let a worker of xdist send one report of a test that passed, not three: each costs half a small test."""
    if not hasattr(item.config, "workerinput") or item.config.option.durations:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Say of each test which group it is in, as xdist means to.

    It writes a field that pytest 9.2 does not read any more, and groups are ignored without a word (pytest-xdist
    issue 1386): this may go once that is mended.
    """
    if not getattr(config.option, "loadgroup", False):
        return
    for item in items:
        marker = item.get_closest_marker("xdist_group")
        recorded = "recorded" if "recorded_scan" in getattr(item, "fixturenames", ()) else ""  # scanned in seconds
        group = str(marker.args[0]) if marker else recorded or sharing_group(item)
        if group and not item.nodeid.endswith(f"@{group}"):
            item._id = type(item.id).parse(f"{item.nodeid}@{group}")


def sharing_group(item: pytest.Item) -> str:
    """Name the module of a test that uses what its module sets up once: else each worker sets it up again."""
    module = item.getparent(pytest.Module)
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    shares = any(
        fixture.scope == "module" and module is not None and fixture.baseid == module.nodeid
        for fixtures in known.values()
        for fixture in fixtures
    )
    return module.name.removesuffix(".py") if module is not None and shares else ""


def pytest_collection_finish() -> None:
    """Look for garbage again, but less often, and never in what was imported: measured, 4 % of two modules."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(100_000, 20, 20)


@pytest.fixture(scope="session")
def recorded_data() -> Path:
    """Give the folder of recorded logs and skills that lies beside the project, or skip by name."""
    folder = recorded_folder()
    if not folder.is_dir():
        pytest.skip("recorded data is not beside the project: set GERMLINE_TEST_DATA")
    return folder


@pytest.fixture(scope="session")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """Give this worker's folder in memory; None where there is no room."""
    tmp_path_factory.getbasetemp()  # on the disk: below, temporary folders lie in memory
    return _AT_EXIT.enter_context(folder_in_memory())


@pytest.fixture(scope="module", autouse=True)
def _temporary_in_memory(memory: Path | None, request: pytest.FixtureRequest) -> Iterator[None]:
    """Let temporary folders lie in memory too: a file on a disk takes 20 times as much of the processor."""
    if memory is None or request.path.stem in ON_DISK:
        yield
        return
    with patch.object(tempfile, "tempdir", str(memory)):
        yield


@contextmanager
def forgotten_registries(folder: Path) -> Iterator[None]:
    """Take registries of a test's folder out of the list again: each import looks at every one that is in it."""
    listed = Path(os.environ["XDG_DATA_HOME"]) / "germline" / "registries"
    before = {*listed.glob("*.json")}
    yield
    for record in {*listed.glob("*.json")} - before:
        if f'"{folder}/' in record.read_text(encoding="utf-8"):
            record.unlink()


@pytest.fixture
def tmp_path(
    tmp_path_factory: pytest.TempPathFactory, memory: Path | None, request: pytest.FixtureRequest
) -> Iterator[Path]:
    """Give a folder of the test's own, in memory where it can be: waiting for the disk took most of the time."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    if memory is None or request.path.stem in ON_DISK:
        folder = tmp_path_factory.mktemp(name)
        with forgotten_registries(folder):
            yield folder
        return
    folder = memory / f"{name}{next(_NUMBERS)}"
    folder.mkdir()
    with forgotten_registries(folder):
        yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def own_folder(
    tmp_path_factory: pytest.TempPathFactory, memory: Path | None, request: pytest.FixtureRequest
) -> Iterator[Path]:
    """Give a folder of the module's own, in memory where it can be."""
    folder = tmp_path_factory.mktemp(request.path.stem)
    if memory is not None and request.path.stem not in ON_DISK:
        folder = memory / folder.name
        folder.mkdir()
    with forgotten_registries(folder):
        yield folder


@pytest.fixture(scope="session")
def learned_once(tmp_path_factory: pytest.TempPathFactory, memory: Path | None) -> Beginning:
    """Let a skill learn a line from the demo's logs: once for all tests of a worker."""
    from tests.terminal import Beginning, Terminal  # what a test of the events alone has no use for

    folder = (memory or tmp_path_factory.mktemp("learned")) / "learned"
    folder.mkdir()
    return Beginning(Terminal(folder).evolved())


@pytest.fixture
def learned(learned_once: Beginning) -> Terminal:
    """Give a registry with the demo's skills, of which one has learned a line, as it began."""
    return learned_once.again()


@pytest.fixture(scope="session")
def recorded_scan(recorded_data: Path) -> Callable[[str], Scan]:
    """Give a way to scan a folder of recorded logs, some of thousands of runs: once for all tests of a worker."""
    from strategies.logs.scan import scan  # what a test of the events alone has no use for
    from tests.read_once import recordings_read_once

    def scanned(name: str) -> Scan:
        with recordings_read_once():
            return scan([recorded_data / name])

    return cache(scanned)


@pytest.fixture(scope="session")
def intercode(recorded_scan: Callable[[str], Scan]) -> Sequence[EpisodeRecord]:
    """Give the recorded runs on SQL tasks."""
    return recorded_scan("intercode_sql").records


@pytest.fixture(scope="session")
def moments_of_intercode() -> KnownMoments:
    """Remember where claims apply to the runs of `intercode`, for as many deals of their outcomes as there are."""
    from tests.worlds import KnownMoments  # loads the gate, which few tests need

    return KnownMoments()


@pytest.fixture
def outcomes_alone_differ(moments_of_intercode: KnownMoments, monkeypatch: pytest.MonkeyPatch) -> None:
    """Find the moments of the runs of `intercode` once, where a test changes nothing but their outcomes."""
    for module in ("contrast", "decisions", "exposure", "leave_one_out"):
        monkeypatch.setattr(f"strategies.gate.replay.{module}.moments_of", moments_of_intercode)


@pytest.fixture
def clock() -> TickingClock:
    """Give a clock that moves one second at each look."""
    return TickingClock()


@pytest.fixture
def registry(tmp_path: Path, clock: TickingClock) -> Iterator[Registry]:
    """Give a registry without skills, in a file of its own."""
    registry = new_registry(tmp_path, clock)
    yield registry
    registry.log.close()


@pytest.fixture
def place(registry: Registry, tmp_path: Path) -> Path:
    """Import the small skill of tests/registries.py into `registry`, and give its folder."""
    return imported(registry, tmp_path)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[AnthropicStub]:
    """Give a model server on loopback that no variable of the environment keeps a test from."""
    from tests.anthropic_stub import AnthropicStub  # loads the clients, which few tests need

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("ANTHROPIC_CUSTOM_HEADERS", raising=False)
    with AnthropicStub() as stub:
        yield stub


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """Start a server, or use the one that another worker of this run has started.

    What it keeps need not survive a power cut, so it does not wait for the disk: the bench does.
    """
    from tests.postgres_server import serving  # loads psycopg, which few tests need

    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or f"pid{os.getpid()}"
    folder = _DISK / f"germline-postgres-{run[:16]}"
    folder.mkdir(exist_ok=True)
    with serving(folder) as server:
        server.execute("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
        yield server
