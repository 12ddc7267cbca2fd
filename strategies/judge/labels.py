"""Labels: pairs of outputs that people compared, as JSONL, for the calibration of a judge."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field, ValidationError

from events.errors import UsageError
from events.types.frozen import Frozen
from strategies.judge.calibration_rule import Preference

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HINT: Final = "docs/judge.md shows a labels file"
_MAX_FILE_BYTES: Final = 256 * 1024**2
_SPACE: Final = b" \t\r\n"

Family = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=120)]
"""The name of a family of tasks: a judge is calibrated for one, and for no other."""


class LabelledPair(Frozen):
    """Two outputs for one task, and which a person found better; null where nobody was asked.

    `mixed` says that results differ on this task: some outputs solve it and some do not. Where all do or none
    does, whatever a judge says is as good, so only mixed ones count.
    """

    task: Annotated[str, Field(min_length=1)]
    a: str
    b: str
    family: Family
    mixed: bool
    label: Preference | None = None
    id: str = ""

    @property
    def longer_by(self) -> int:
        """The length of b less that of a, in characters."""
        return len(self.b) - len(self.a)


@dataclass(frozen=True)
class LabelFile:
    """A file of labels as it was read; `digest` is the hash of its bytes."""

    digest: str
    pairs: tuple[LabelledPair, ...]

    @property
    def families(self) -> Mapping[str, tuple[LabelledPair, ...]]:
        """The pairs on which results are mixed, by family, in the order of the file."""
        by_family: dict[str, list[LabelledPair]] = defaultdict(list)
        for pair in self.pairs:
            if pair.mixed:
                by_family[pair.family].append(pair)
        return {family: tuple(pairs) for family, pairs in sorted(by_family.items())}


def read_labels(path: Path) -> LabelFile:
    """Read a labels file, and check all of it; raises UsageError that names the line and says what is wrong."""
    try:
        size = path.stat().st_size
        if size > _MAX_FILE_BYTES:
            raise UsageError(f"{path} has {size:,} bytes, at most {_MAX_FILE_BYTES:,} may be", hint="divide it")
        body = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", hint=HINT) from error
    pairs, seen = [], dict[tuple[str, frozenset[str]], int]()
    for number, line in enumerate(body.split(b"\n"), start=1):
        if not line.strip(_SPACE):
            continue
        pair = _pair(line, f"{path}:{number}")
        before = seen.setdefault((pair.task, frozenset((pair.a, pair.b))), number)
        if before != number:
            raise UsageError(f"{path}:{number} repeats line {before}", hint="each pair of outputs counts once")
        pairs.append(pair)
    file = LabelFile(hashlib.sha256(body).hexdigest(), tuple(pairs))
    if not any(pair.label for pairs_of_one in file.families.values() for pair in pairs_of_one):
        raise UsageError(f"{path} holds no labelled pair with mixed results", hint=HINT)
    return file


def _pair(line: bytes, where: str) -> LabelledPair:
    try:
        return LabelledPair.model_validate_json(line, strict=True)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        text = f"{first['msg'][:1].lower()}{first['msg'][1:]}"
        raise UsageError(f"{where}: {f'{place}: ' if place else ''}{text}", hint=HINT) from None
