"""Genes of Evolver: files in its Genome Evolution Protocol (GEP), read as what somebody else wrote.

Source: the public repository EvoMap/evolver (`assets/gep/genes.seed.json`, schema 1.6.0; capsules and events as
its `capsules.json` and `events.jsonl` hold them) and its page on the protocol. A file is a document with `genes`,
`capsules` or `events`, a list, one object, or one object a line; each object names its `type`.
Nothing of it is run or fetched, and its scores are left where they are: `outcome.score`, `confidence` and
`success_streak` are constants there, measured on nothing.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from events.errors import UnreadableLogError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_BYTES: Final = 4 * 1024 * 1024
MOST_GENES: Final = 200
MOST_RECORDS: Final = 20_000
MOST_ITEMS: Final = 64
"""Steps, signals or checks of one gene. The caps are guesses, ten times what the largest file seen holds."""
MOST_CHARS: Final = 2_000
"""Characters of one step."""
_HASH: Final = "sha256:"

Json = object


@dataclass(frozen=True, slots=True)
class GepGene:
    """A gene as Evolver writes it: when it applies, its steps, what to avoid, and commands that check the result.

    `asset_id` is "" where it has none; `sealed` tells whether it is the hash of the rest.
    """

    id: str
    category: str = ""
    summary: str = ""
    signals: tuple[str, ...] = ()
    preconditions: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    asset_id: str = ""
    sealed: bool = False


@dataclass(frozen=True, slots=True)
class GepRecord:
    """A capsule or an event: that genes were used, for what, and how it reportedly ended, without scores."""

    kind: str
    id: str
    genes: tuple[str, ...]
    summary: str = ""
    status: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class GepFile:
    """What a file holds; `others` counts objects of other types, which say nothing of a gene."""

    genes: tuple[GepGene, ...]
    records: tuple[GepRecord, ...]
    others: int = 0


@dataclass(slots=True)
class _Reading:
    """Reads one file; `name` is what errors call it."""

    name: str
    genes: list[GepGene] = field(default_factory=list)
    records: list[GepRecord] = field(default_factory=list)
    others: int = 0

    def take(self, row: Json, where: str) -> None:
        """Take in one object of a known type; raises UnreadableLogError for one that is broken."""
        if not isinstance(row, dict):
            raise self.broken(f"{where} is no object")
        kind = row.get("type")
        if kind == "Gene":
            self.genes.append(self._gene(row, where))
        elif kind in {"Capsule", "EvolutionEvent"}:
            self.records.append(self._record(row, where))
        else:
            self.others += 1
        if len(self.genes) > MOST_GENES or len(self.records) > MOST_RECORDS:
            raise self.broken(f"it holds more than {MOST_GENES:,} genes or {MOST_RECORDS:,} records")

    def broken(self, what: str) -> UnreadableLogError:
        """Give the error for this file."""
        hint = "import-gep reads genes.json, capsules.json and events.jsonl of Evolver"
        return UnreadableLogError(f"{self.name} does not read as GEP: {what}", hint=hint)

    def _gene(self, row: Mapping[str, Json], where: str) -> GepGene:
        name = self._text(row, "id", where) or self._text(row, "asset_id", where)
        if not name:
            raise self.broken(f"the gene in {where} has no id")
        steps = self._texts(row, "strategy", where)
        if not steps:
            raise self.broken(f"the gene {name[:80]!r} has no strategy")
        asset_id = self._text(row, "asset_id", where)
        return GepGene(
            id=name,
            category=self._text(row, "category", where),
            summary=self._text(row, "summary", where),
            signals=self._texts(row, "signals_match", where),
            preconditions=self._texts(row, "preconditions", where),
            steps=steps,
            avoid=self._texts(row, "avoid", where),
            checks=self._texts(row, "validation", where),
            asset_id=asset_id,
            sealed=bool(asset_id) and asset_id == asset_hash(row),
        )

    def _record(self, row: Mapping[str, Json], where: str) -> GepRecord:
        outcome, meta = row.get("outcome"), row.get("meta")
        gene = self._text(row, "gene", where)
        genes = (gene,) if gene else self._texts(row, "genes_used", where)
        status = outcome.get("status") if isinstance(outcome, dict) else outcome
        at = meta.get("at") if isinstance(meta, dict) else row.get("timestamp") or row.get("created_at")
        return GepRecord(
            kind=str(row["type"]),
            id=self._text(row, "id", where) or self._text(row, "asset_id", where),
            genes=genes,
            summary=self._text(row, "summary", where) or self._text(row, "intent", where),
            status=status[:40] if isinstance(status, str) else "",
            at=at[:40] if isinstance(at, str) else "",
        )

    def _text(self, row: Mapping[str, Json], key: str, where: str) -> str:
        value = row.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.broken(f"{key} in {where} is no text")
        if len(value) > MOST_CHARS:
            raise self.broken(f"{key} in {where} is longer than {MOST_CHARS:,} characters")
        return " ".join(value.split())

    def _texts(self, row: Mapping[str, Json], key: str, where: str) -> tuple[str, ...]:
        value = row.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or len(value) > MOST_ITEMS:
            raise self.broken(f"{key} in {where} is no list of at most {MOST_ITEMS} texts")
        texts = [self._text({key: item}, key, where) for item in value]
        return tuple(dict.fromkeys(filter(None, texts)))


def read_gep(raw: bytes, name: str) -> GepFile:
    """Read a file of genes, capsules or events: JSON, or JSON lines.

    Raises: UnreadableLogError, with what is wrong and where, for anything that is not wholly such a file.
    """
    reading = _Reading(name)
    if len(raw) > MOST_BYTES:
        raise reading.broken(f"it is larger than {MOST_BYTES:,} bytes")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise reading.broken(f"byte {error.start:,} is no UTF-8") from error
    for where, row in _objects(reading, text):
        reading.take(row, where)
    if not reading.genes and not reading.records:
        raise reading.broken("it holds no Gene, Capsule or EvolutionEvent")
    return GepFile(tuple(reading.genes), tuple(reading.records), reading.others)


def _objects(reading: _Reading, text: str) -> Iterator[tuple[str, Json]]:
    """Give every object with the words for its place."""
    try:
        whole = _decoded(text)
    except (ValueError, RecursionError) as error:
        if "\n" not in text.strip():
            raise reading.broken(f"it is no JSON: {error}") from error
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                try:
                    yield f"line {number}", _decoded(line)
                except (ValueError, RecursionError) as broken:
                    raise reading.broken(f"line {number} is no JSON: {broken}") from broken
        return
    listed = [whole]
    if isinstance(whole, list):
        listed = whole
    elif isinstance(whole, dict) and "type" not in whole:
        listed = [
            listed_item
            for key in ("genes", "capsules", "events", "assets")
            for listed_item in _listed(reading, whole, key)
        ]
    yield from ((f"object {at}", item) for at, item in enumerate(listed, start=1))


def _listed(reading: _Reading, whole: Mapping[str, Json], key: str) -> list[Json]:
    value = whole.get(key, [])
    if not isinstance(value, list):
        raise reading.broken(f"{key} is no list")
    return value


def _decoded(text: str) -> Json:
    """Decode JSON; a key that occurs twice, and a number that is none, are refused."""
    decoded: Json = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    return decoded


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return row


def _no_number(name: str) -> Json:
    raise ValueError(f"{name} is no number of JSON")


def asset_hash(row: Mapping[str, Json]) -> str:
    """Hash an object as GEP does: SHA-256 over canonical JSON without `asset_id`."""
    rest = {key: value for key, value in row.items() if key != "asset_id"}
    text = json.dumps(_whole(rest), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return _HASH + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _whole(value: Json) -> Json:
    """Write whole numbers as JavaScript does: 1.0 as 1."""
    if isinstance(value, dict):
        return {key: _whole(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
