"""Folders of tests in memory, where there is room: a registry there waits for no disk."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMORY: Final = Path("/dev/shm")  # noqa: S108 - each worker makes a folder of its own there
LEAST_FREE_BYTES: Final = 1 << 30
"""Free memory from which it is used: all folders of a whole run come to 464 MB (measured), and each goes early."""

ON_DISK: Final = frozenset(
    {
        "test_agent_sessions",
        "test_audit_cases",
        "test_cli_audit",
        "test_cli_messages_agent",
        "test_command_graders",
        "test_doctor",
        "test_engines",
        "test_example_rollouts",
        "test_example_train",
        "test_harbor_tasks",
        "test_hostile_graders",
        "test_messages_agent",
        "test_own_code_only",
        "test_metric",
        "test_rollouts_survive_a_kill",
        "test_sandbox",
        "test_task_container",
        "test_short_torture",
        "test_training_proposers",
        "test_trials",
        "test_world_hints",
        "test_trust",
    }
)
"""Modules that stay on the disk: a confined command has a `/dev` of its own, and torture is about disks."""


@contextmanager
def folder_in_memory() -> Iterator[Path | None]:
    """Give a folder in memory until the end; None where there is no room."""
    if not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < LEAST_FREE_BYTES:
        yield None
        return
    folder = mkdtemp(prefix="germline-tests-", dir=MEMORY)
    try:
        yield Path(folder)
    finally:  # not a TemporaryDirectory, which goes before what multiprocessing keeps in it
        shutil.rmtree(folder, ignore_errors=True)
