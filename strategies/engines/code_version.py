"""What a process would read logs and make runs with: compared before work is handed to it."""

from __future__ import annotations

import sys
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Final

from strategies.claims.catalogue import ENTRY_POINTS
from strategies.logs.reader_plugins import GROUP

_SOURCES: Final = ("events", "registry", "strategies")
_PACKAGES: Final = (
    # what results depend on: readers, claims and graders
    "google-re2",
    "hyperscan",
    "inspect-ai",
    "msgspec",
    "pydantic",
    "xxhash",
    "zstandard",
    # and what hands work over
    "cloudpickle",
    "dask",
    "distributed",
)


@cache
def code_here() -> dict[str, str]:
    """Name what this process runs: germline by its sources, Python, packages and log readers by their versions."""
    root = Path(__file__).resolve().parents[2]
    digest = sha256()
    for path in sorted(path for name in _SOURCES for path in (root / name).rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\n".encode() + path.read_bytes())
    return {
        "germline": f"{_version('germline')} ({digest.hexdigest()[:12]})",
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        **{name: _version(name) for name in _PACKAGES},
        "log readers": _plugins(GROUP),
        "claims": _plugins(ENTRY_POINTS),
    }


def differences(here: dict[str, str], there: dict[str, str]) -> tuple[str, ...]:
    """Say in which parts two processes differ."""
    names = sorted(here.keys() | there.keys())
    return tuple(
        f"{name} {there.get(name, 'missing')}, here {here.get(name, 'missing')}"
        for name in names
        if here.get(name) != there.get(name)
    )


def _plugins(group: str) -> str:
    """Name what other packages bring, with their versions."""
    plugins = sorted(
        f"{entry_point.name} {entry_point.dist.version if entry_point.dist else ''}"
        for entry_point in entry_points(group=group)
    )
    return ", ".join(plugins) or "none"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
