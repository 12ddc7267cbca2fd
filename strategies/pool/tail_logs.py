"""Tailing: logs followed into a registry as they grow; loads watchdog, so that reading once does not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from strategies.files.watch import LOOK_EVERY_S, only_watcher, watch
from strategies.pool.intake import scan_into
from strategies.pool.intake_policy import DEFAULT_POLICY, IntakePolicy

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

    from registry.registry import Registry
    from strategies.logs.scan import Scan
    from strategies.pool.intake import Intake


def tail_into(  # noqa: PLR0913 - what a reading is told
    registry: Registry,
    paths: Sequence[Path],
    stop: threading.Event,
    *,
    on_batch: Callable[[Scan, Intake], None],
    after_look: Callable[[], None] = lambda: None,
    every_s: float = LOOK_EVERY_S,
    only: Callable[[Path], bool] | None = None,
    policy: IntakePolicy = DEFAULT_POLICY,
) -> None:
    """Follow logs into a registry until `stop` is set, then finish the batch and leave.

    `on_batch` is called after each batch in which something was read, `after_look` after each look, whatever it
    found. `only` tells which files of a folder count. Paths may come into being later. A lock beside the
    database, or for one on a
    server in this person's own state, keeps a second watcher of this machine away.
    Raises: BusyError while another watcher follows logs for the registry.
    """

    def look() -> None:
        scan, taken = scan_into(registry, paths, live=True, only=only, policy=policy)
        if scan.files:
            on_batch(scan, taken)
        after_look()

    with only_watcher(Path(f"{registry.log.beside}.watch")):
        watch(paths, look, stop, every_s=every_s)
