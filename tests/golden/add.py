"""Adds golden files for what has none: `python -m tests.golden.add`. What is there is never written again.

An event has one for each schema of its type, a registry one for each schema of its database.
"""

from __future__ import annotations

import gzip
import json
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from events.sqlite.log import SqliteLog
from events.sqlite.open_database import SCHEMA_VERSION
from events.store.envelope import GENESIS, Envelope, EventDraft, encode, seal
from events.types.capsule_events import CapsuleImported
from events.types.catalogue import event_types, schema_of
from registry.decide.commands import MoveAlias, Protect, RevertVersion, SwitchPreset
from registry.projection.projector import projecting
from registry.query.library import Library
from registry.skill_md.render import skill_text
from tests.clocks import TickingClock
from tests.golden.examples import example
from tests.registries import NAME, imported, learn, new_registry

if TYPE_CHECKING:
    from events.types.frozen import Frozen
    from registry.registry import Registry

HERE = Path(__file__).parent
EVENTS = HERE / "events"
REGISTRIES = HERE / "registries"


def read_golden(path: Path) -> Envelope:
    """Read a golden file of an event."""
    fields = json.loads(path.read_text(encoding="utf-8"))
    return Envelope(**{**fields, "payload": fields["payload"].encode()})


def envelope_of(event: Frozen) -> Envelope:
    """Give an event as the first of a log."""
    draft = EventDraft(
        "registry", event, "0192f3a0-golden", "2026-11-22T00:00:00.000000Z", "person:ada", "cause", "turn"
    )
    (sealed,) = seal([(draft, encode(event))], position=0, previous=GENESIS, versions={"registry": 0})
    return sealed


def golden_of(kind: str, schema: int) -> Path:
    """Name the golden file of an event type at a schema."""
    return EVENTS / f"{kind}.{schema}.json"


def add_event(kind: type[Frozen]) -> Path:
    """Write the golden file of a type at the schema that it has now."""
    envelope = envelope_of(example(kind))
    path = golden_of(envelope.type, envelope.schema)
    fields = {**envelope._asdict(), "payload": envelope.payload.decode()}
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(fields, ensure_ascii=False, indent=1) + "\n")
    return path


def registry_files(schema: int) -> tuple[Path, Path]:
    """Name the golden database of a schema, and the file that says what stands in it."""
    return REGISTRIES / f"schema-{schema}.db.gz", REGISTRIES / f"schema-{schema}.json"


def add_registry(schema: int) -> Path:
    """Write a registry of today's schema, and what stands in it."""
    packed, contents_file = registry_files(schema)
    with TemporaryDirectory() as made_in:
        path = Path(made_in) / "golden.db"
        with closing(SqliteLog.open(path, create=True)) as log:
            fill(log, Path(made_in))
            stands = {"head": log.head().hash, "events": log.head().position, "texts": texts(Library(log))}
        with packed.open("xb") as file:
            file.write(gzip.compress(path.read_bytes(), mtime=0))
    contents_file.write_text(json.dumps(stands, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return packed


def fill(log: SqliteLog, folder: Path) -> None:
    """Append what a small registry went through; its skill lies in a folder of no machine."""
    registry = new_registry(folder, TickingClock())
    with closing(registry.log):
        live(registry, folder)
        for envelope in registry.log.read():
            event = envelope.event
            if isinstance(event, CapsuleImported):
                event = event.model_copy(update={"source": f"/skills/{NAME}"})
            draft = EventDraft(
                envelope.stream,
                event,
                envelope.event_id,
                envelope.at,
                envelope.actor,
                envelope.causation,
                envelope.correlation,
            )
            log.append([draft], expected={envelope.stream: envelope.version - 1}, project=projecting(log))


def live(registry: Registry, folder: Path) -> None:
    """Let a skill be imported, learn, be protected and reverted."""
    imported(registry, folder, files={"scripts/look.py": "print('→')\n"})
    registry.execute(SwitchPreset("bold", "a quiet week"))
    for number in range(6):
        learn(registry, f"Lesson {number} → look.\n", candidate=f"c{number}", claims=())
    registry.execute(MoveAlias(NAME, "production", 3))
    registry.execute(Protect(NAME, f"{NAME}.2", (1,), "settled"))
    registry.execute(RevertVersion(NAME, 4, "enough"))


def texts(library: Library) -> dict[str, str]:
    """Give what the skill says at each version."""
    versions = range(1, library.capsule(NAME).version + 1)
    return {str(version): skill_text(library.capsule(NAME, str(version))) for version in versions}


def main() -> None:
    """Add what is missing, and name it."""
    EVENTS.mkdir(exist_ok=True)
    REGISTRIES.mkdir(exist_ok=True)
    lacking = (kind for kind in event_types() if not golden_of(kind.__name__, schema_of(kind.__name__)).exists())
    added = [add_event(kind) for kind in lacking]
    if not registry_files(SCHEMA_VERSION)[0].exists():
        added.append(add_registry(SCHEMA_VERSION))
    for path in added:
        sys.stdout.write(f"added {path.relative_to(HERE)}\n")


if __name__ == "__main__":
    main()
