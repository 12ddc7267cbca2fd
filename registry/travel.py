"""Time travel: a capsule at any version, from the snapshot before it and the few events between."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from registry.apply import apply
from registry.snapshots import thaw

if TYPE_CHECKING:
    from events.log import EventLog
    from registry.capsule import Capsule


def latest(log: EventLog, name: str) -> Capsule | None:
    """Return a capsule as it is now, None where there is none of that name."""
    return at_position(log, name, sys.maxsize)


def at_version(log: EventLog, name: str, version: int) -> Capsule | None:
    """Return a capsule as one of its versions had it, None where there is no such version."""
    row = log.document("version", name, at=version)
    if row is None or row.seq != version:
        return None
    return at_position(log, name, json.loads(row.body)["position"])


def at_position(log: EventLog, name: str, position: int) -> Capsule | None:
    """Return a capsule as it stood right after the event at a position."""
    snapshot = log.document("snapshot", name, at=position)
    capsule = thaw(snapshot.body) if snapshot else None
    after = snapshot.seq if snapshot else 0
    changes = log.documents("touch", name, after=after, upto=position)
    for envelope in log.at([change.seq for change in changes]):
        capsule = apply(capsule, envelope)
    return capsule
