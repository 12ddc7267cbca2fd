"""What every test may ask for."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.clocks import TickingClock
from tests.registries import imported, new_registry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.registry import Registry
    from tests.postgres_server import Server


@pytest.fixture(scope="session")
def recorded_data() -> Path:
    """Give the folder of recorded logs and skills that lies beside the project, or skip by name."""
    named = os.environ.get("GERMLINE_TEST_DATA")
    beside = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    folder = Path(named) if named else beside
    if not folder.is_dir():
        pytest.skip("recorded data is not beside the project: set GERMLINE_TEST_DATA")
    return folder


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


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """Start a server, or use the one that another worker of this run has started.

    What it keeps need not survive a power cut, so it does not wait for the disk: the bench does.
    """
    from tests.postgres_server import serving  # loads psycopg, which few tests need

    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or f"pid{os.getpid()}"
    folder = Path(tempfile.gettempdir()) / f"germline-postgres-{run[:16]}"
    folder.mkdir(exist_ok=True)
    with serving(folder) as server:
        server.execute("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
        yield server
