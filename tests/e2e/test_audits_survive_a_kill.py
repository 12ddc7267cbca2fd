"""kill -9 in the middle of an audit: the same command goes on, makes no finished run again and loses nothing."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from events.sqlite.log import SqliteLog
from registry.registry import Registry
from strategies.audit.audit_skill import audit_skill
from tests.audit_runs import HARMFUL, SKILL, ScriptedRunner, plan_of
from tests.clocks import TickingClock
from tests.forked import ForkedCommand
from tests.registries import imported, new_registry

if TYPE_CHECKING:
    from collections.abc import Sequence

DIES_AT = 10


def audited(folder: Path, *, dies_at: int = 0) -> tuple[int, tuple[bool, ...], str]:
    """Audit the small skill in this process: how many runs were made, which drafts were kept, the text left."""

    def die(made: int) -> None:
        if made == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    registry = Registry(SqliteLog.open(folder / "registry.db"), TickingClock(seed=dies_at + 2), "person:ada")
    runner = ScriptedRunner(before=die)
    end = audit_skill(plan_of(registry, runner, count=4))
    text = "".join(line.text for gene in end.draft.capsule.genes for line in gene.lines)
    assert registry.log.verify().problems == ()
    registry.log.close()
    return runner.made, tuple(judged.kept for judged in end.record.judged), text


def die(words: Sequence[str]) -> None:
    """Audit it, and be killed on the way."""
    audited(Path(words[0]), dies_at=DIES_AT)


def test_a_killed_audit_goes_on_and_makes_no_finished_run_again(tmp_path: Path) -> None:
    registry = new_registry(tmp_path, TickingClock())
    imported(registry, tmp_path, SKILL)
    registry.log.close()
    with ForkedCommand([tmp_path], called="tests.e2e.test_audits_survive_a_kill:die") as killed:
        assert killed.wait() == -signal.SIGKILL, killed.stderr.read()
    made, kept, text = audited(tmp_path)
    assert made == 4 * 5 - (DIES_AT - 1)  # each finished run once; tests/unit/strategies/audit counts the five
    assert kept == (True, True, True)
    assert HARMFUL not in text
