"""Registries of strangers: every event there is, with hostile values wherever validation lets them pass.

The chain is as it must be. The events stand below the rules of `registry/decide/`, as in a file of somebody else.
"""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from shutil import copytree
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from events.sqlite.log import SqliteLog
from events.store.envelope import GENESIS, EventDraft, seal
from events.types.capsule_events import CapsuleVersioned
from events.types.catalogue import event_type, event_types
from events.types.gene_events import GeneBorn
from strategies.policy.preset_toml import written
from strategies.policy.presets import PRESETS
from tests.command_lines import READS
from tests.golden.examples import example
from tests.story_work import tell_with_work
from tests.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    Leaf = str | int | float | bool | None
    Way = tuple[str | int, ...]
    Change = Callable[[str, Leaf], Leaf]
    """Gives what a field (`edits.text`, of the header `@actor`) becomes, of what it was."""

STEERING: Final = "\x1b]52;c;aGk=\x07\x1b[8m\x1b[2J\x9b2J\x7f\x08"
DIRECTION: Final = "\u202e\u2066\u200f\u061c"
MARKUP: Final = "[red]x[/red][@click=app.quit]q[/]<script>alert(1)</script>\" onload='x' {{7*7}}"
TEXTS: Final[dict[str, str]] = {
    "escape": STEERING,
    "direction": DIRECTION,
    "markup": MARKUP,
    "line ends": "a\nb\r\nc\rd\x0b\x0c\x85\u2028e",
    "NUL": "a\0b",
    "traversal": "../../../../escaped",
    "absolute": "/dev/shm/germline-escaped",  # noqa: S108 - nothing may ever lie there
    "reserved": ".git/hooks/post-commit",
    "option": "-o",
    "command": "$(touch escaped);`touch escaped`",
    "empty": "",
    "1 MB": "x" * 2**20,
}
NUMBERS: Final[dict[str, int | float]] = {
    "negative": -1,
    "zero": 0,
    "setuid": 0o106755,
    "64 bits": 2**63,
    "22 digits": 10**22,
    "400 digits": 10**400,
    "largest float": 1.7e308,
}
HEADER: Final = ("@stream", "@event_id", "@at", "@actor", "@causation", "@correlation")
READING: Final = (
    *(line for name, line in READS.items() if name != "evidence show"),
    *(
        "log",
        "log born",
        "show sql-analyst --blame",
        "show born --blame",
        "why born:5",
        "preset show own",
        "search look",
    ),
    *("candidate show c4c4c4", "gate explain c4c4c4", "doctor", "evidence show error_template:x"),
)
"""Command lines that only read."""
WRITING: Final = (
    *("project --to out", "project", "project --discard", "project --annotated --to notes", "backup kept.db"),
    *(
        "export skill sql-analyst -o copied",
        "export skill sql-analyst -o packed.zip",
        "export events -o events.jsonl",
    ),
    *("report -o report.html", "pick sql-analyst --seed 1", "alias set sql-analyst canary 3", "adopt sql-analyst"),
    *("revert sql-analyst --to 1 --reason r", "candidate approve c4c4c4 --reason r", "preset use own --reason r"),
)
"""Command lines that write."""
RAW: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ud800-\udfff]")
"""What no surface may send."""


class StoredRow(NamedTuple):
    """An event before it is sealed: what stands in its header, its type and its fields."""

    header: tuple[str, ...]
    kind: str
    fields: dict[str, Any]

    def leaves(self) -> Iterator[tuple[str, Way, Leaf]]:
        """Give every value with the name of its field and the way there; what is in the header, too."""
        yield from ((name, (at,), value) for at, (name, value) in enumerate(zip(HEADER, self.header, strict=True)))
        for way, leaf in _leaves(self.fields):
            yield ".".join(part for part in way if isinstance(part, str)), way, leaf

    def with_leaves(self, changes: Sequence[tuple[str, Way, Leaf]]) -> StoredRow | None:
        """Replace several values of the fields; None where they do not pass together."""
        fields = self.fields
        for _, way, leaf in changes:
            fields = _with_leaf(fields, way, leaf)
        return self._replace(fields=fields) if not changes or self._passes(fields) else None

    def _passes(self, fields: dict[str, Any]) -> bool:
        try:
            event_type(self.kind).model_validate_json(json.dumps(fields))
        except ValidationError:
            return False
        return True

    def with_leaf(self, field: str, way: Way, leaf: Leaf) -> StoredRow | None:
        """Replace one value; None where validation, or the header, does not let it pass."""
        if field in HEADER:
            header = [leaf if at == way[0] else value for at, value in enumerate(self.header)]
            sound = isinstance(leaf, str) and "\0" not in leaf and (field != "@correlation" or "{" not in leaf)
            return self._replace(header=tuple(map(str, header))) if sound else None
        fields = _with_leaf(self.fields, way, leaf)
        return self._replace(fields=fields) if self._passes(fields) else None


def _leaves(value: Any, way: Way = ()) -> Iterator[tuple[Way, Leaf]]:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if name != "type":
                yield from _leaves(inner, (*way, name))
    else:
        yield way, value


def _with_leaf(value: Any, way: Way, leaf: Leaf) -> Any:  # noqa: ANN401 - as above
    if not way:
        return leaf
    copied = value.copy()
    copied[way[0]] = _with_leaf(value[way[0]], way[1:], leaf)
    return copied


class HostileHistory:
    """A history with every type of event, which folds: to be changed, and written as a registry."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = tell_with_work(folder)
        with closing(SqliteLog.open(self.file)) as log:
            envelopes = list(log.read())
            blob = log.put_blob(b"print(1)\n", kind="file")
        self._at = envelopes[-1].at
        self.rows = [
            StoredRow(
                (e.stream, e.event_id, e.at, e.actor, e.causation, e.correlation), e.type, json.loads(e.payload)
            )
            for e in envelopes
        ]
        made = next(
            e.event
            for e in reversed(envelopes)
            if e.stream == "capsule:sql-analyst" and e.type == "CapsuleVersioned"
        )
        assert isinstance(made, CapsuleVersioned)
        self._go_on(blob, [pin.model_dump() for pin in made.genes])
        self._be_born()
        there = {row.kind for row in self.rows}
        for kind in event_types():
            if kind.__name__ not in there:
                self._add(kind.__name__)

    def _go_on(self, blob: str, pins: list[dict[str, Any]]) -> None:
        gene, own = pins[0]["gene"], written(PRESETS["balanced"]).replace('"balanced"', '"own"')
        file = {"path": "scripts/run.py", "blob": blob, "mode": 0o755, "size_bytes": 9}
        edit = {"op": "insert_after", "gene": "", "target": [3], "text": ["license: MIT\n"]}
        self._add("FileChanged", path=file["path"], entry=file)
        self._add("CapsuleDescribed", edits=[edit])
        self._add("GeneProtected", gene=gene, lines=[1])
        self._add("GeneReleased", gene=gene)
        self._add("GeneMoved", gene=gene, after_gene=None)
        self._add("CapsuleVersioned", version=4, genes=pins, cause="override", stamped=True)
        self._add("VersionScored", version=4)
        self._add("VersionRetired", version=2)
        self._add("AliasMoved", version=3, previous=2)
        self._add("CandidateReviewed", candidate="c4" * 32)
        self._add("PromotionReviewed", candidate="c1" * 32, version=2)
        self._add("ComparisonFrozen", candidate="c4" * 32, base_version=3)
        self._add("SeenLineJudged", candidate="c1" * 32)
        self._add("LineTierChanged", candidate="c1" * 32)
        self._add("PresetDefined", preset="own", definition=own)
        self._add("PresetSwitched", preset="balanced")
        self._add("CapsuleMoved", source="skills/sql-analyst")

    def _be_born(self) -> None:
        front = ["---\n", "name: born\n", "description: x\n", "---\n"]
        pins = [{"gene": "born.1", "version": 1}]
        self._add("CapsuleBorn", capsule="born", source="skills/born", front=front)
        unclaimed = [0] * len(example(GeneBorn).model_dump()["claims"])
        self._add("GeneBorn", capsule="born", gene="born.1", lines=["Look.\n"], after_gene=None, claimed=unclaimed)
        self._add("CapsuleVersioned", capsule="born", version=1, genes=pins, stamped=False, cause="import")
        self._add("GeneRetired", capsule="born", gene="born.1")
        self._add("CapsuleVersioned", capsule="born", version=2, genes=[], stamped=False, cause="import")
        self._add("CapsuleRetired", capsule="born")

    def _add(self, kind: str, **stated: Any) -> None:  # noqa: ANN401 - fields of any event
        fields = example(event_type(kind)).model_dump(mode="json")
        known = {"capsule": "sql-analyst", "candidate": "", "scored": "", **stated}
        fields |= {name: value for name, value in known.items() if name in fields}
        candidate, capsule = fields.get("candidate"), fields.get("capsule")
        stream = f"candidate:{candidate}" if candidate else f"capsule:{capsule}" if capsule else "registry"
        self.rows.append(
            StoredRow((stream, f"x{len(self.rows):08}", self._at, "person:ada", "", ""), kind, fields)
        )

    def changed(self, change: Change) -> tuple[list[StoredRow], int]:
        """Change all values at once, where that is let pass; returns the rows, and how many were changed."""
        rows, number = [], 0
        for row in self.rows:
            now, inside = row, []
            for field, way, leaf in row.leaves():
                other = change(field, leaf)
                if other != leaf and field not in HEADER:
                    inside.append((field, way, other))
                elif other != leaf and (passed := now.with_leaf(field, way, other)):
                    now, number = passed, number + 1
            if together := now.with_leaves(inside):
                now, number = together, number + len(inside)
            else:  # not all of them pass: those that do, one by one
                for field, way, other in inside:
                    if passed := now.with_leaf(field, way, other):
                        now, number = passed, number + 1
            rows.append(now)
        return rows, number

    def one_by_one(self, is_drawn: Callable[[], bool]) -> Iterator[tuple[str, list[StoredRow]]]:
        """Put the values that are drawn into each field of each type of event, alone: in the first that has it."""
        seen: set[tuple[str, str]] = set()
        for at, row in enumerate(self.rows):
            for field, way, leaf in row.leaves():
                if (row.kind, field) in seen or isinstance(leaf, bool) or leaf is None:
                    continue
                seen.add((row.kind, field))
                values: dict[str, Any] = {**TEXTS} if isinstance(leaf, str) else {**NUMBERS}
                for name, value in values.items():
                    if is_drawn() and (passed := row.with_leaf(field, way, value)):
                        yield f"{row.kind}.{field}: {name}", [*self.rows[:at], passed, *self.rows[at + 1 :]]

    def write(self, place: Path, rows: Sequence[StoredRow]) -> Path:
        """Write events as a registry at a place, without its documents: they are folded when it is opened."""
        with closing(sqlite3.connect(self.file)) as source, closing(sqlite3.connect(place)) as made:
            source.backup(made)
            triggers = made.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for name, _ in triggers:
                made.execute(f"DROP TRIGGER {name}")
            for table in ("events", "documents"):
                made.execute(f"DELETE FROM {table}")
            drafts = [
                (EventDraft(row.header[0], event_type(row.kind).model_construct(), *row.header[1:]), _payload(row))
                for row in rows
            ]
            streams = dict.fromkeys({draft.stream for draft, _ in drafts}, 0)
            events = seal(drafts, position=0, previous=GENESIS, versions=streams)
            made.executemany(f"INSERT INTO events VALUES ({', '.join('?' * 13)})", events)
            for _, sql in triggers:
                made.execute(sql)
            made.commit()
        return place


def _payload(row: StoredRow) -> bytes:
    """Write the fields; the hash of what a version projects is left out, as a stranger may who changes it."""
    kept = {name: value for name, value in row.fields.items() if name != "projected_hash"}
    return json.dumps(kept).encode()


class Sandbox:
    """A folder with the registry of a stranger, in which every command is typed; counts what was looked at."""

    def __init__(self, folder: Path, history: HostileHistory, rows: Sequence[StoredRow]) -> None:
        self.folder = folder / "inside"
        self.folder.mkdir(parents=True)
        copytree(history.folder / "skills", self.folder / "skills")
        self.registry = history.write(self.folder / "registry.db", rows)
        (self.folder / "germline.toml").touch()  # a person answers for it, who may write what it says
        self.terminal = Terminal(self.folder, GERMLINE_REGISTRY=str(self.registry))
        self.looks = self.answered = 0

    def faults(self, lines: Sequence[str]) -> list[str]:
        """Type command lines, and say which failed, sent what steers, or wrote outside."""
        faults = []
        for line in lines:
            answer = self.terminal(*line.split())
            self.looks, self.answered = self.looks + 1, self.answered + (answer.code == 0)
            output = answer.out + answer.err
            if "germline itself failed" in answer.err or answer.code not in {0, 1, 2, 3}:
                faults.append(f"{line}: {answer.code} {answer.err[:300]!a}")
            steers = None if line == "show sql-analyst" else RAW.search(output)  # into a pipe it goes as it is
            if steers:
                faults.append(
                    f"{line}: sends {steers[0]!a} in {output[max(0, steers.start() - 30) : steers.end()]!a}"
                )
            if answer.code == 0 and line.endswith("--json"):
                faults += _broken_json(line, answer.out)
        outside = [path.name for path in self.folder.parent.iterdir() if path != self.folder]
        return faults + [f"written outside: {name}" for name in outside]


def _broken_json(line: str, out: str) -> list[str]:
    try:
        for text in out.splitlines() if line.startswith("log") else [out]:
            json.loads(text)
    except ValueError as error:
        return [f"{line}: no JSON, {error}"]
    return []
