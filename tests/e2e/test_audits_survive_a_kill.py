"""kill -9 in the middle of an audit: the same command goes on, makes no finished run again and loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from events.sqlite.log import SqliteLog
from registry.registry import Registry
from strategies.audit.audit_skill import audit_skill
from tests.audit_runs import HARMFUL, SKILL, ScriptedRunner, plan_of
from tests.clocks import TickingClock
from tests.registries import imported, new_registry

ROOT = Path(__file__).resolve().parent.parent.parent
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


def test_a_killed_audit_goes_on_and_makes_no_finished_run_again(tmp_path: Path) -> None:
    registry = new_registry(tmp_path, TickingClock())
    imported(registry, tmp_path, SKILL)
    registry.log.close()
    words = [sys.executable, __file__, str(tmp_path), str(DIES_AT)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    killed = subprocess.run(words, cwd=ROOT, capture_output=True, check=False, env=environment)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    made, kept, text = audited(tmp_path)
    assert made == 4 * 5 - (DIES_AT - 1)  # each finished run once; tests/unit/strategies/audit counts the five
    assert kept == (True, True, True)
    assert HARMFUL not in text


if __name__ == "__main__":
    audited(Path(sys.argv[1]), dies_at=int(sys.argv[2]))
