"""Readers of another package, good ones and bad ones, installed as pip would."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from strategies.logs import reader_plugins

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pytest

PLUGIN = """
from strategies.episodes.episode import Episode, Step
from strategies.files.log_records import Span

class Ours:
    name = "ours"
    def sniff(self, head, source):
        return head.startswith(b"OURS")
    def read(self, log, tally):
        step = Step(index=0, turn=0, kind="call", actor="agent", tool="x", span=Span(0, 4, 1))
        yield Episode(id="1", source=log.source, format=self.name, steps=(step,))

class Taken(Ours):
    name = "chat"

class Nosy(Ours):
    name = "nosy"
    def sniff(self, head, source):
        raise KeyError("nosy")

class Weak(Ours):
    name = "weak"
    def sniff(self, head, source):
        return head.startswith(b"WEAK")
    def read(self, log, tally):
        yield from super().read(log, tally)
        raise KeyError("weak")

def fails():
    raise RuntimeError("no licence")
"""
ENTRIES = {
    "a-missing": "no_such_module:Reader",
    "b-fails": "plugged_readers:fails",
    "c-shapeless": "builtins:object",
    "d-taken": "plugged_readers:Taken",
    "e-nosy": "plugged_readers:Nosy",
    "f-ours": "plugged_readers:Ours",
    "g-weak": "plugged_readers:Weak",
}


@contextmanager
def plugged(folder: Path, monkeypatch: pytest.MonkeyPatch, entries: Mapping[str, str] = ENTRIES) -> Iterator[None]:
    """Install a package with readers into a folder, for as long as the context lasts."""
    site = folder / "site"
    (site / "plugged-1.0.dist-info").mkdir(parents=True)
    (site / "plugged_readers.py").write_text(PLUGIN)
    (site / "plugged-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n"
    )
    lines = "".join(f"{name} = {target}\n" for name, target in entries.items())
    (site / "plugged-1.0.dist-info" / "entry_points.txt").write_text(f"[{reader_plugins.GROUP}]\n{lines}")
    monkeypatch.syspath_prepend(str(site))
    reader_plugins.plugged_in.cache_clear()
    yield
    reader_plugins.plugged_in.cache_clear()
    sys.modules.pop("plugged_readers", None)
