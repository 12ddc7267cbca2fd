"""Recounting: what a look through all episodes found is kept, so that nobody has to count again to know it.

Whatever a scan brings is looked through for signals anyway; the figures lie beside how far logs were read.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from registry.recounts import FIGURES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.registry import Registry
    from strategies.signals.signal import Signal


def keep_figures(registry: Registry, found: Iterable[Signal]) -> None:
    """Keep the figures of all signals that were found; inside a transaction, with the episodes they come from."""
    figures = {one.fingerprint: (one.count, one.episodes, one.severity, one.runs) for one in found}
    body = json.dumps(figures, sort_keys=True, separators=(",", ":")).encode()
    registry.log.put_checkpoint(FIGURES, body)
